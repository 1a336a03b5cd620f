"""What an inspection found, as a document: one source, or two side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gymbal.model.inspection import (
    CountCheck,
    Example,
    Inspection,
    InspectionReport,
    RuleCheck,
    Sign,
    SignPair,
    SignVerdict,
)
from gymbal.report.counts import count_section, count_table, without_zeros
from gymbal.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    Table,
    Text,
    Tone,
    cells,
    paragraph,
)

MOST_TOOLS = 15
"""Tools that are listed, the most called first."""

_LETTERS = "S system, U user, M assistant text, R reasoning, C call, O result, H other call, X other item"

_VERDICTS = {
    SignVerdict.LEFT_ONLY: Text("left only", Tone.BAD),
    SignVerdict.RIGHT_ONLY: Text("right only", Tone.BAD),
    SignVerdict.TOO_FEW: Text("too few to tell", Tone.DOUBT),
    SignVerdict.BOTH: Text("both"),
}
"""In the order in which they are listed."""


def inspection_document(report: InspectionReport) -> Document:
    """One source with all that was found, or two with what only one of them shows."""
    if report.right is None:
        found = report.left
        return Document(f"Inspection of {_title(found)}", tuple(_sections(found)))
    sections = [
        Section("", (_sides(report.left, report.right),)),
        Section("Signs", tuple(_sign_pairs(report.signs))),
        Section("What this means", (Bullets(report.notes),)) if report.notes else None,
    ]
    title = f"Inspection of {_title(report.left)} and {_title(report.right)}"
    return Document(title, tuple(section for section in sections if section is not None))


def _title(found: Inspection) -> str:
    first, *others = found.sources
    name = first.rpartition("/")[2]
    return f"{name} and {len(others)} more" if others else name


def _sections(found: Inspection) -> Iterator[Section]:
    yield Section("", (_summary(found),))
    yield (
        Section("Notes", (Bullets(found.notes),)) if found.notes else Section("Notes", (paragraph("None."),))
    )
    yield _decisions(found)
    yield from _optional("Skipped by a build", "model calls", found.skips)
    yield from _optional("Tool calls in one response", "model calls", found.batch_sizes, name="calls")
    yield Section("Where model calls end", tuple(_rule_blocks(found.rules)))
    yield Section("Recorded number of model calls", tuple(_count_blocks(found.count_check)))
    yield Section("Reasoning", tuple(_reasoning_blocks(found)))
    yield from _tools(found)
    yield from _optional("Rewards", "trajectories", found.rewards)
    yield from _optional("Tasks by their rewards", "tasks", found.groups)
    shapes = count_table("trajectories", without_zeros(found.shapes))
    yield Section("Item sequences", (shapes, paragraph(_LETTERS, Tone.QUIET)))
    yield from _optional("Turns that make no row", "turns", found.non_model_turns)
    yield from _optional("Conversions", "times", found.conversions)
    shown = tuple(sign for sign in found.signs if sign.count)
    if shown:
        yield Section("Signs", (_signs(shown),))


def _summary(found: Inspection) -> Paragraph:
    formats = ", ".join(found.formats) or "no format"
    text = (
        f"{found.trajectories} trajectories of {found.tasks} tasks, read as {formats}. "
        f"{found.model_calls} model calls, {found.kept} of which a build would keep."
    )
    return paragraph(text, Tone.PLAIN if found.kept else Tone.DOUBT)


def _decisions(found: Inspection) -> Section:
    decisions = without_zeros(found.decisions)
    shown = count_table("model calls", decisions) if decisions else paragraph("None.")
    return Section("Decision points", (shown,))


def _optional(title: str, unit: str, counts: Mapping[str, int], *, name: str = "") -> tuple[Section, ...]:
    return count_section(title, unit, without_zeros(counts), name=name)


def _rule_blocks(rules: Sequence[RuleCheck]) -> Iterator[Block]:
    header = ("rule", "trajectories", "model calls", "agree", "disagree", "unusable", "skipped")
    rows = tuple(
        (
            *cells(check.rule, str(check.applies), str(check.model_calls), str(check.agree)),
            Text(str(check.disagree), Tone.DOUBT if check.disagree else Tone.PLAIN),
            Text(str(check.unusable), Tone.DOUBT if check.unusable else Tone.PLAIN),
            *cells(str(check.skipped)),
        )
        for check in rules
    )
    yield Table(header, rows, numeric=frozenset(range(1, 7)))
    examples = [example for check in rules for example in check.examples]
    if examples:
        yield _examples(examples)


def _count_blocks(check: CountCheck) -> Iterator[Block]:
    if not check.fields:
        yield paragraph("No field holds one. Name it with --call-count-field.", Tone.DOUBT)
        return
    fields = ", ".join(f"{name} ({count})" for name, count in check.fields.items())
    tone = Tone.DOUBT if check.disagree else Tone.GOOD
    yield paragraph(
        f"Field: {fields}. {check.agree} agree, {check.disagree} disagree, {check.skipped} without; "
        f"seeded greeting: {check.seeded_greeting}.",
        tone,
    )
    if any(name != "0" for name in check.differences):
        yield count_table("trajectories", without_zeros(check.differences), name="recorded minus found")
    if check.examples:
        yield _examples(check.examples)


def _reasoning_blocks(found: Inspection) -> Iterator[Block]:
    placement = found.reasoning
    counts = {
        "none": placement.without,
        "one item, before the first action": placement.leading,
        "hoisted: several before the first action": placement.hoisted,
        "interleaved: between or after the actions": placement.interleaved,
        "nothing but reasoning": placement.alone,
    }
    yield count_table("model calls", without_zeros(counts))
    if placement.examples:
        yield _examples(placement.examples)


def _tools(found: Inspection) -> Iterator[Section]:
    if not found.tools:
        return
    rows = tuple(
        (
            *cells(name, str(use.declared), str(use.calls)),
            Text(str(use.undeclared_calls), Tone.DOUBT if use.undeclared_calls else Tone.PLAIN),
        )
        for name, use in list(found.tools.items())[:MOST_TOOLS]
    )
    blocks: list[Block] = [
        Table(("tool", "listed by", "calls", "not listed"), rows, numeric=frozenset({1, 2, 3}))
    ]
    if len(found.tools) > MOST_TOOLS:
        blocks.append(paragraph(f"and {len(found.tools) - MOST_TOOLS} more", Tone.QUIET))
    yield Section("Tools", tuple(blocks))


def _examples(examples: Sequence[Example]) -> Bullets:
    return Bullets(tuple(f"{_place(example)}: {example.detail}" for example in examples))


def _place(example: Example) -> str:
    source = example.source
    record = "" if source.record is None else f", record {source.record}"
    call = "" if example.call is None else f", model call {example.call}"
    return f"{source.path}:{source.line}{record}{call}"


def _signs(signs: Sequence[Sign]) -> Table:
    rows = tuple(cells(sign.name, _share(sign), sign.unit) for sign in signs)
    return Table(("sign", "seen", "of all"), rows, numeric=frozenset({1}))


def _share(sign: Sign) -> str:
    return f"{sign.count} of {sign.chances}"


def _sides(left: Inspection, right: Inspection) -> Table:
    lines: Sequence[tuple[str, str, str]] = [
        ("file", _title(left), _title(right)),
        ("format", ", ".join(left.formats), ", ".join(right.formats)),
        ("trajectories", str(left.trajectories), str(right.trajectories)),
        ("tasks", str(left.tasks), str(right.tasks)),
        ("model calls", str(left.model_calls), str(right.model_calls)),
        ("kept by a build", str(left.kept), str(right.kept)),
        *(
            (name, str(count), str(right.decisions.get(name, 0)))
            for name, count in left.decisions.items()
            if count or right.decisions.get(name, 0)
        ),
    ]
    return Table(("", "left", "right"), tuple(cells(*line) for line in lines), numeric=frozenset({1, 2}))


def _sign_pairs(pairs: Sequence[SignPair]) -> Iterator[Block]:
    """What only one source shows first; what neither shows by name alone."""
    order = list(_VERDICTS)
    shown = [pair for pair in pairs if pair.verdict is not SignVerdict.NEITHER]
    rows = tuple(
        (*cells(pair.name, _share(pair.left), _share(pair.right)), _VERDICTS[pair.verdict], Text(pair.unit))
        for pair in sorted(shown, key=lambda pair: order.index(pair.verdict))
    )
    if rows:
        yield Table(("sign", "left", "right", "shown by", "of all"), rows, numeric=frozenset({1, 2}))
    absent = [pair.name for pair in pairs if pair.verdict is SignVerdict.NEITHER]
    if absent:
        yield paragraph(f"Neither shows: {', '.join(absent)}.", Tone.QUIET)
