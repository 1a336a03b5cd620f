"""An evidence sheet as a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.sheet import EvidenceSheet, SheetFile
from gymbal.report.document import Block, Bullets, Document, Section, Table, Text, Tone, paragraph

GROUPS: tuple[tuple[str, tuple[Role, ...]], ...] = (
    ("Code", (Role.CODE,)),
    ("Model", (Role.MODEL,)),
    ("Serving", (Role.SERVING,)),
    ("Sampling and limits", (Role.SAMPLING, Role.LIMITS)),
    ("Prompt and tools", (Role.PROMPT, Role.TOOLS)),
    ("Harness, judge, user simulator", (Role.HARNESS, Role.JUDGE, Role.USER_SIMULATOR)),
    ("Repeats and accounting", (Role.REPEATS, Role.ACCOUNTING)),
)

_TONES = {
    Strength.RECORDED: Tone.PLAIN,
    Strength.REBUILT: Tone.QUIET,
    Strength.STATED: Tone.QUIET,
    Strength.MISSING: Tone.DOUBT,
}


def evidence_document(sheet: EvidenceSheet) -> Document:
    """Return `sheet` as scores, files, facts by subject, and what contradicts itself or cannot be read."""
    sections = [Section("Scores", (_facts(sheet.scores),))]
    if sheet.files:
        sections.append(Section("Files", (_files(sheet.files),)))
    for title, roles in GROUPS:
        facts = [fact for fact in sheet.facts if fact.role in roles]
        if facts:
            sections.append(Section(title, (_facts(_known_first(facts)),)))
    if sheet.contradicted:
        items = tuple(fact.contradiction for fact in sheet.contradicted)
        sections.append(Section("Contradictions", (Bullets(items),)))
    if sheet.problems:
        items = tuple(f"{problem.where}: {problem.detail}" for problem in sheet.problems)
        sections.append(Section("Cannot be read", (Bullets(items),)))
    sections.append(Section("", _summary(sheet)))
    return Document(f"Evidence for {sheet.label}", tuple(sections))


def _known_first(facts: Iterable[Fact]) -> list[Fact]:
    """Known facts before missing ones, and what has a name of its own before the rest of a config."""
    return sorted(facts, key=lambda fact: (not fact.is_known, fact.name.startswith("config.")))


def _facts(facts: Sequence[Fact]) -> Table:
    rows = tuple(
        (Text(fact.name), Text(_value(fact)), Text(fact.strength.value, _TONES[fact.strength]))
        for fact in facts
    )
    notes = tuple(_place(fact) if fact.is_known else fact.remedy or fact.place for fact in facts)
    return Table(("", "value", "strength"), rows, notes=notes, note_header="where, or how to get it")


def _place(fact: Fact) -> str:
    """File and key; the file alone where the name holds the key."""
    return fact.file or "" if fact.key and fact.name == f"config.{fact.key}" else fact.place


def _value(fact: Fact) -> str:
    if not fact.is_known:
        return "?"
    if fact.value is None:
        return "null"
    if isinstance(fact.value, bool):
        return "true" if fact.value else "false"
    text = f"{fact.value:.6g}" if isinstance(fact.value, float) else str(fact.value)
    return text or '""'


def _files(files: Iterable[SheetFile]) -> Table:
    """The files that are there, and those whose absence matters."""
    rows = (
        (
            Text(file.name),
            Text("present") if file.is_present else Text("missing", Tone.DOUBT),
            Text(file.holds if file.is_present else f"{file.holds}: {file.remedy}", Tone.QUIET),
        )
        for file in files
        if file.is_present or file.remedy
    )
    return Table(("", "", ""), tuple(rows))


def _summary(sheet: EvidenceSheet) -> tuple[Block, ...]:
    counts = {strength: sum(fact.strength is strength for fact in sheet.facts) for strength in Strength}
    quiet = sum(fact.role is Role.BOOKKEEPING for fact in sheet.facts)
    said = ", ".join(f"{count} {strength.value}" for strength, count in counts.items() if count)
    text = f"{len(sheet.facts)} facts: {said}."
    if quiet:
        text += f" {quiet} of them are bookkeeping, such as ports and paths: --format json lists them."
    return (paragraph(text, Tone.QUIET),)
