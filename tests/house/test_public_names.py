"""What `import gymbal` offers is small, listed and loaded on first use."""

import pkgutil

import click
import pytest

import gymbal
from gymbal.cli.main import COMMANDS, LazyGroup

NAMED_OTHERWISE = {"triage": {"triage_runs", "triage_many"}}
"""A package has the name of the command."""


def functions_of_commands(group: click.Group, prefix: str = "") -> set[str]:
    """The library functions that the command line must have."""
    names: set[str] = set()
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            names |= functions_of_commands(command, f"{name}_")
        else:
            names |= NAMED_OTHERWISE.get(name, {prefix + name})
    return names


def test_every_command_is_a_public_function() -> None:
    functions = functions_of_commands(LazyGroup())
    assert len(functions) > len(COMMANDS)
    assert functions == {name for name in gymbal.__all__ if name.islower()}


def test_public_names_are_sorted() -> None:
    assert list(gymbal.__all__) == sorted(gymbal.__all__)


@pytest.mark.parametrize("name", gymbal.__all__)
def test_public_name_resolves_to_something_documented(name: str) -> None:
    assert getattr(gymbal, name).__doc__


def test_public_name_is_no_module() -> None:
    # Importing the module `gymbal.x` sets `gymbal.x`, which would hide a function of that name.
    modules = {module.name for module in pkgutil.iter_modules(gymbal.__path__)}
    assert modules & set(gymbal.__all__) == set()


def test_dir_lists_the_public_names_alone() -> None:
    assert dir(gymbal) == sorted(gymbal.__all__)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = gymbal.nonesuch
