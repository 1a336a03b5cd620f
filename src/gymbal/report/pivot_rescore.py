"""What other settings would change, as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gymbal.model.rescore import Direction, FlipGroup, OptionChange, RescoreReport, SettingsSource
from gymbal.report.counts import count_section
from gymbal.report.document import Bullets, Document, Paragraph, Section, Table, Text, Tone, cells, paragraph

MOST_GROUPS = 20
"""Groups in the document; the JSON has all."""

_SOURCES = {
    SettingsSource.JOURNAL: "as the journal records",
    SettingsSource.CONFIG: "of a Gym config",
    SettingsSource.INDEX: "with the threshold of the index",
    SettingsSource.STOCK: "assumed: Gym's stock config",
}

_OUTCOMES = {
    "mixed": "mixed",
    "all_one": "always 1",
    "all_zero": "always 0",
    "all_equal": "always the same, between",
    "unknown": "no sample",
}

_JUDGEMENT = (
    "Nothing is proposed. A change is right where the verdicts on the pairs below were wrong before and are "
    "right now; a higher mean or more mixed pivots alone is no reason."
)


def rescore_document(report: RescoreReport) -> Document:
    """What changes first, then the pairs that it rests on."""
    sections = [
        Section("", tuple(_summary(report))),
        Section("Settings", (_settings(report.changes),)),
        Section("Pivots", (_pivots(report),)),
    ]
    sections += [_group(number, group) for number, group in enumerate(report.flips[:MOST_GROUPS], start=1)]
    rest = report.flips[MOST_GROUPS:]
    if rest:
        samples = sum(group.samples for group in rest)
        told = f"{samples} more samples flip at {len(rest)} more places; --format json lists them."
        sections.append(Section("More flips", (paragraph(told),)))
    sections += count_section("Samples left out", "samples", report.samples.left_out, name="reason")
    if report.notes:
        sections.append(Section("Before believing it", (Bullets(report.notes),)))
    return Document("Rescored samples", tuple(sections))


def _summary(report: RescoreReport) -> Iterator[Paragraph]:
    rewards, moves = report.rewards, report.pivot_moves
    flips = rewards.up + rewards.down
    yield paragraph(
        f"{report.samples.rescored} samples of {moves.with_samples} pivots: rewards that change: {flips}, "
        f"of them {rewards.up} up and {rewards.down} down."
    )
    if moves.entering_share is not None and moves.leaving_share is not None:
        yield paragraph(
            f"Pivots that become mixed: {moves.entering} ({moves.entering_share:.1%}); "
            f"that are mixed no more: {moves.leaving} ({moves.leaving_share:.1%})."
        )
    agree, differ = report.recorded.agree, report.recorded.differ
    yield paragraph(
        f"Settings before {_SOURCES[report.before_from]}: "
        f"of the recorded rewards {agree} agree with them, {differ} differ.",
        Tone.DOUBT if differ else Tone.PLAIN,
    )
    yield paragraph(_JUDGEMENT)


def _settings(changes: Sequence[OptionChange]) -> Paragraph | Table:
    if not changes:
        return paragraph("All options have the same values.", Tone.DOUBT)
    rows = tuple(
        cells(f"{change.server}: {change.option}" if change.server else change.option, *_values(change))
        for change in changes
    )
    return Table(("option", "before", "after"), rows)


def _values(change: OptionChange) -> tuple[str, str]:
    return _value(change.before), _value(change.after)


def _value(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _pivots(report: RescoreReport) -> Table:
    before, after = report.pivot_moves.before, report.pivot_moves.after
    rows = [
        cells(said, str(was), str(now), f"{now - was:+d}")
        for name, said in _OUTCOMES.items()
        if (was := getattr(before, name)) + (now := getattr(after, name)) or name == "mixed"
    ]
    mean_before, mean_after = report.rewards.mean_before, report.rewards.mean_after
    if mean_before is not None and mean_after is not None:
        change = f"{mean_after - mean_before:+.4f}"
        rows.append(cells("mean reward of a sample", f"{mean_before:.4f}", f"{mean_after:.4f}", change))
    header = ("pivots whose rewards are", "before", "after", "change")
    return Table(header, tuple(rows), numeric=frozenset({1, 2, 3}))


def _group(number: int, group: FlipGroup) -> Section:
    where = group.argument if group.tool is None else f"{group.tool}, {group.argument}"
    verb = "rises" if group.direction is Direction.UP else "falls"
    when = "under the settings before" if group.direction is Direction.UP else "under the new settings"
    told = paragraph(
        f"Samples: {group.samples}, pivots: {group.pivots}, different pairs: {group.different_pairs}. "
        f"What fails {when}: {group.rule}."
    )
    rows = tuple(
        (
            Text(str(pair.samples)),
            Text(f"{pair.reward_before:.3g} to {pair.reward_after:.3g}"),
            Text(pair.expected),
            Text(pair.actual),
            Text(pair.detail, Tone.QUIET),
        )
        for pair in group.pairs
    )
    header = ("samples", "reward", "expected", "actual", "rule")
    return Section(
        f"{number}. The reward {verb}: {where}", (told, Table(header, rows, numeric=frozenset({0})))
    )
