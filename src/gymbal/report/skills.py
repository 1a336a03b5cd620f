"""The shipped skills, and what an installation did, as documents."""

from __future__ import annotations

from gymbal.model.skill import FileStatus, SkillInfo, SkillInstallation, SkillList
from gymbal.report.document import Document, Section, Table, Text, Tone, cells, paragraph

TONES = {
    FileStatus.WRITTEN: Tone.GOOD,
    FileStatus.UPDATED: Tone.GOOD,
    FileStatus.UNCHANGED: Tone.QUIET,
    FileStatus.KEPT: Tone.DOUBT,
}
WORDS = {FileStatus.KEPT: "kept (changed by you; use --force)"}
"""Statuses that need more than their own name."""


def list_document(result: SkillList) -> Document:
    """One section a skill: what it is for, and its files."""
    return Document("Agent skills", tuple(_skill_section(skill) for skill in result.skills))


def _skill_section(skill: SkillInfo) -> Section:
    return Section(
        skill.name,
        (paragraph(skill.description), paragraph(f"Files: {', '.join(skill.files)}", Tone.QUIET)),
    )


def install_document(result: SkillInstallation) -> Document:
    """One table: every file with what happened to it."""
    rows = tuple(
        (*cells(file.path), Text(WORDS.get(file.status, file.status.value), TONES[file.status]))
        for file in result.files
    )
    title = f"Agent skills for {result.target} ({result.scope})"
    return Document(title, (Section("", (Table(("File", "Status"), rows),)),))
