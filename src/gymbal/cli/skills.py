"""`gymbal skills`: list and install the agent skills."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.commands.skills import skills_install, skills_list
from gymbal.model.skill import SkillInstallation, SkillList, SkillScope, SkillTarget
from gymbal.report.skills import install_document, list_document


@click.group()
def skills() -> None:
    """List and install the agent skills."""


@skills.command("list")
@format_option
def list_command(format: str) -> None:
    """Show the skills that this version ships."""
    result = SkillList(skills_list())
    emit(list_document(result), result, format)


@skills.command("install")
@click.argument("names", nargs=-1)
@click.option(
    "--target",
    type=click.Choice([target.value for target in SkillTarget]),
    default=SkillTarget.CLAUDE.value,
    show_default=True,
    help="The coding agent to install for; `agents` is the shared .agents/skills folder.",
)
@click.option(
    "--project/--user",
    "for_project",
    default=True,
    show_default=True,
    help="Into the working directory, or into the home folder for every project.",
)
@click.option("--force", is_flag=True, help="Replace files that were changed since they were installed.")
@format_option
def install_command(names: tuple[str, ...], target: str, for_project: bool, force: bool, format: str) -> None:
    """Copy skills to where a coding agent looks for them; all of them unless NAMES are given.

    A file that was changed since it was installed is kept and reported.
    """
    scope = SkillScope.PROJECT if for_project else SkillScope.USER
    files = skills_install(names, target=target, scope=scope, overwrite=force)
    result = SkillInstallation(target=SkillTarget(target), scope=scope, files=files)
    emit(install_document(result), result, format)
