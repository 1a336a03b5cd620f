"""Counts what a build saw, as one flat tally that adds up over trajectories; `metrics.json` is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, repeat

import msgspec

from gymbal.errors import LedgerMismatchError
from gymbal.model.pivot import (
    ACT,
    TEXT,
    THOUGHT,
    ActionKind,
    Boundary,
    BuildMetrics,
    CallCountCheck,
    ModelCall,
    PivotOrigin,
    PivotPlace,
    ReasoningCounts,
    Refusal,
    SkipReason,
)
from gymbal.pivot.call_counts import expected_counts
from gymbal.pivot.candidate import Candidate, Judged
from gymbal.pivot.groups import Groups, count_groups
from gymbal.pivot.notes import notes_on
from gymbal.pivot.options import BuildOptions, MixedGroups, shown_options
from gymbal.pivot.reasoning import is_hoisted, is_interleaved
from gymbal.pivot.row import Row
from gymbal.pivot.tally import Tally, group_counts, in_order

_Shape = tuple[object, ...]
_MOST_SHAPES = 4096

PROVENANCE = (*PivotOrigin.__struct_fields__, *(n for n in PivotPlace.__struct_fields__ if n != "target"))
OPTIONAL_PROVENANCE = ("record", "task", "rollout", "reward")
"""What a source may not say."""


def count_trajectory(judged: Judged) -> Iterator[tuple[str, str]]:
    """Yield what one trajectory adds to a tally, its candidates left out."""
    yield "trajectories", ""
    yield "source_rewards", reward_class(judged.trajectory.reward)
    yield "call_count_check", _call_count_verdict(judged)
    yield from repeat(("seed_calls", ""), judged.seed_calls)
    for name in judged.dropped_fields.elements():
        yield "dropped_fields", name
    yield "formats", judged.trajectory.format
    for turn, count in judged.trajectory.non_model_turns.items():
        yield from repeat(("non_model_turns", turn), count)
    for conversion, count in judged.trajectory.conversions.items():
        yield from repeat(("conversions", conversion), count)
    for done, count in judged.trajectory.repairs.items():
        yield from repeat(("repairs", done), count)


def count_candidate(candidate: Candidate, part: str) -> Sequence[tuple[str, str]]:
    """What one candidate of the side `part` adds to a tally, with its final outcome."""
    return (*_of_call(candidate.call), *count_outcome(candidate.outcome, part))


class CandidateCounts:
    """Counts the candidates of trajectories, and makes a tally of the counts.

    Many candidates add the same to a tally: what that is, is found once, and counted many times.
    """

    def __init__(self) -> None:
        self._tally: Tally = Counter()
        self._counts: Counter[_Shape] = Counter()
        self._adds: dict[_Shape, Sequence[tuple[str, str]]] = {}

    def add(self, candidates: Sequence[Candidate], part: str) -> None:
        """Count the candidates of a trajectory of the side `part`, with their final outcomes."""
        if len(self._adds) > _MOST_SHAPES:
            self._add_up()
        shapes = _shapes(candidates, part)
        self._counts.update(shapes)
        if len(self._counts) == len(self._adds):
            return
        for shape, candidate in zip(shapes, candidates, strict=True):
            if shape not in self._adds:
                self._adds[shape] = count_candidate(candidate, part)

    def tally(self) -> Tally:
        """What all candidates so far add to a tally."""
        self._add_up()
        return self._tally

    def _add_up(self) -> None:
        for shape, count in self._counts.items():
            for name in self._adds[shape]:
                self._tally[name] += count
        self._counts.clear()
        self._adds.clear()


def _shapes(candidates: Sequence[Candidate], part: str) -> list[_Shape]:
    """All that decides what each candidate of a trajectory adds to a tally."""
    shapes: list[_Shape] = []
    missing: tuple[bool, ...] = ()
    for candidate in candidates:
        call, outcome = candidate.call, candidate.outcome
        if isinstance(outcome, Row):
            label = outcome.label
            missing = missing or _missing(outcome.origin)  # the same of all rows of a trajectory
            depth = outcome.place.depth
            shapes.append((call.boundary, call.shape, part, label.kind, label.tools, depth, missing))
        else:
            shapes.append((call.boundary, call.shape, outcome.reason))
    return shapes


def count_outcome(outcome: Row | Refusal, part: str) -> Sequence[tuple[str, str]]:
    """What the outcome alone adds: the rest of a candidate counts whatever became of it."""
    if isinstance(outcome, Refusal):
        return [("skipped", outcome.reason)]
    label, place = outcome.label, outcome.place
    missing = _missing(outcome.origin)
    return _of_row(part, label.kind, label.tools, place.depth, place.own_reasoning_items, missing)


def _missing(origin: PivotOrigin) -> tuple[bool, ...]:
    """Which of `OPTIONAL_PROVENANCE` a row lacks."""
    return origin.record is None, origin.task is None, origin.rollout is None, origin.reward is None


def _of_row(
    part: str,
    kind: ActionKind,
    tools: tuple[str, ...],
    depth: int,
    own_reasoning: int,
    missing: tuple[bool, ...],
) -> tuple[tuple[str, str], ...]:
    """What a row adds. `missing` says of each of `OPTIONAL_PROVENANCE` whether the row lacks it."""
    counted = [("kept", ""), ("parts", part), ("split", kind), ("depth", str(depth))]
    if kind is ActionKind.FUNCTION_CALL_BATCH:
        counted.append(("batch_sizes", str(len(tools))))
    counted += [("tools", tool) for tool in tools]
    counted += [("reasoning", "withheld")] * own_reasoning
    counted += [("without_provenance", name) for name in compress(OPTIONAL_PROVENANCE, missing)]
    return tuple(counted)


def _of_call(call: ModelCall) -> list[tuple[str, str]]:
    counted = [("candidates", ""), ("boundaries", call.boundary)]
    if THOUGHT in call.shape[1:]:
        if is_hoisted(call):
            counted.append(("reasoning", "hoisted"))
        if is_interleaved(call):
            counted.append(("reasoning", "interleaved"))
    if TEXT in call.shape and ACT in call.shape:
        counted.append(("narrate_and_call", ""))
    return counted


def reward_class(reward: float | None) -> str:
    """Few classes, since a reward can be any number and a tally must stay small."""
    if reward is None:
        return "missing"
    if reward in (0.0, 1.0):
        return str(int(reward))
    if reward < 0.0:
        return "below 0"
    return "between" if reward < 1.0 else "above 1"


def _call_count_verdict(judged: Judged) -> str:
    recorded = judged.trajectory.call_count
    if recorded is None:
        return "skipped"
    expected = expected_counts(judged.trajectory, len(judged.candidates), judged.seed_calls)
    return "agree" if recorded in expected else "disagree"


def metrics_of(tally: Tally, dataset: str, options: BuildOptions, groups: Groups) -> BuildMetrics:
    """Turn a tally into metrics. Raises LedgerMismatchError when candidates are not kept plus skipped.

    `groups` counts only where `options` asks for mixed groups.
    """
    candidates, kept = tally["candidates", ""], tally["kept", ""]
    skipped = _group(tally, "skipped", SkipReason)
    if candidates != kept + sum(skipped.values()):
        raise LedgerMismatchError(f"{candidates} candidates, but {kept} kept and {skipped} skipped")
    split = _group(tally, "split", ActionKind)
    boundaries = _group(tally, "boundaries", Boundary)
    narrated = tally["narrate_and_call", ""]
    of_candidates = {"kept": kept, "narrate_and_call": narrated, **skipped, **boundaries}
    metrics = BuildMetrics(
        dataset=dataset,
        trajectories=tally["trajectories", ""],
        candidates=candidates,
        kept=kept,
        skipped=skipped,
        options=shown_options(options),
        parts=_group(tally, "parts", (part.name for part in options.split)) if options.split else {},
        groups=count_groups(groups) if options.mixed_groups is not MixedGroups.IGNORE else {},
        split=split,
        batch_sizes=_group(tally, "batch_sizes"),
        tools=_group(tally, "tools"),
        depth=_group(tally, "depth"),
        narrate_and_call=narrated,
        boundaries=boundaries,
        call_count_check=CallCountCheck(
            **{name: tally["call_count_check", name] for name in CallCountCheck.__struct_fields__}
        ),
        seed_calls=tally["seed_calls", ""],
        reasoning=ReasoningCounts(
            **{name: tally["reasoning", name] for name in ReasoningCounts.__struct_fields__}
        ),
        source_rewards=_group(tally, "source_rewards"),
        dropped_fields=_group(tally, "dropped_fields"),
        formats=_group(tally, "formats"),
        non_model_turns=_group(tally, "non_model_turns"),
        conversions=_group(tally, "conversions"),
        repairs=_group(tally, "repairs"),
        provenance={name: kept - tally["without_provenance", name] for name in PROVENANCE},
        shares={**_shares(of_candidates, candidates), **_shares(split, kept)},
        notes=(),
    )
    return msgspec.structs.replace(metrics, notes=tuple(notes_on(metrics)))


def _group(tally: Tally, group: str, names: Iterable[str] = ()) -> dict[str, int]:
    return in_order(group_counts(tally, group, names))


def _shares(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Shares of `total`, or nothing where there is no whole to share."""
    return {name: round(count / total, 6) for name, count in counts.items()} if total else {}
