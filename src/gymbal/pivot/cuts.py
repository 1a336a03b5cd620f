"""Every rule that says where the model calls of a trajectory end, to be held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gymbal.model.inspection import Rule
from gymbal.model.pivot import ModelCall
from gymbal.model.trajectory import CutEvidence, Trajectory
from gymbal.pivot.call_ids import call_indices, count_on

_RULE_OF_EVIDENCE = {CutEvidence.TURNS: Rule.TURNS, CutEvidence.TOKEN_IDS: Rule.TOKEN_IDS}


class Cut(NamedTuple):
    """What one rule says about a trajectory."""

    rule: Rule
    sizes: tuple[int, ...] | None
    """Items of the policy per model call; of the call-id index, tool calls per model call that has any.
    None: the source records boundaries, but they do not fit its items."""


class Disagreement(NamedTuple):
    call: int
    """Position of the first model call, by execution runs, that the other rule cuts differently."""
    detail: str


def cuts_of(trajectory: Trajectory, runs: Sequence[ModelCall]) -> tuple[Cut, ...]:
    """All rules that apply to `trajectory`; `runs` are its model calls by execution runs.

    Execution runs come first, then the recorded boundaries, then the call-id index.
    """
    recorded = [Cut(_RULE_OF_EVIDENCE[cut.evidence], cut.sizes) for cut in trajectory.cuts]
    by_runs = Cut(Rule.EXECUTION_RUNS, tuple(len(call.items) for call in runs))
    indexed = _call_id_cut(runs)
    return (by_runs, *recorded, *(() if indexed is None else (indexed,)))


def disagreement(cut: Cut, runs: Sequence[ModelCall]) -> Disagreement | None:
    """Where `cut` first differs from the model calls by execution runs; None where it does not."""
    if cut.sizes is None:
        return None
    counts_calls = cut.rule is Rule.CALL_ID_INDEX
    expected = [(call.index, len(call.calls if counts_calls else call.items)) for call in runs]
    found = [(index, size) for index, size in expected if size]
    for position, (index, size) in enumerate(found):
        other = cut.sizes[position] if position < len(cut.sizes) else 0
        if other != size:
            what = "tool calls" if counts_calls else "items"
            return Disagreement(index, f"{cut.rule}: {other} {what}, execution runs: {size}")
    return None


def _call_id_cut(runs: Sequence[ModelCall]) -> Cut | None:
    """The cut by ids `<tool>:<index>` whose index restarts at 0 in each response; None where it says nothing.

    Producers that count on through the whole trajectory name calls alike, but say nothing about boundaries.
    """
    numbers = call_indices([item for run in runs for item in run.calls])
    if numbers is None or count_on(numbers, sum(bool(run.calls) for run in runs)):
        return None
    starts = [at for at, index in enumerate(numbers) if not at or index != numbers[at - 1] + 1]
    if any(numbers[at] != 0 for at in starts):
        return Cut(Rule.CALL_ID_INDEX, None)
    ends = [*starts[1:], len(numbers)]
    return Cut(Rule.CALL_ID_INDEX, tuple(end - start for start, end in zip(starts, ends, strict=True)))
