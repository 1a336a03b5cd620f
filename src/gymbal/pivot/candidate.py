"""Judges every model call of one trajectory: a row, or the reason why it is none."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec

from gymbal.model.item import CALLS
from gymbal.model.pivot import ModelCall, Refusal, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.label import Label, label_of
from gymbal.pivot.prefix import Prefix, prefixes_of
from gymbal.pivot.request_tools import Tools, read_tools
from gymbal.pivot.row import Row, frame_of, row_of
from gymbal.pivot.segment import split
from gymbal.pivot.targets.contract import RowTarget, self_score_refusal
from gymbal.verify import Comparator, ComparatorConfig, UnscorableError


class Candidate(msgspec.Struct, frozen=True, gc=False):
    call: ModelCall
    outcome: Row | Refusal


class Judged(NamedTuple):
    """What one trajectory yields."""

    trajectory: Trajectory
    seed_calls: int
    """Model calls that the seed holds: the policy made none of them here."""
    candidates: tuple[Candidate, ...]
    dropped_fields: Counter[str]


def judge(
    trajectory: Trajectory,
    dataset: str,
    comparator: Comparator,
    *,
    source: str | None = None,
    left_out: Refusal | None = None,
    with_reference: bool = False,
    target: RowTarget | None = None,
) -> Judged:
    """Return every model call of `trajectory` with its row or the first reason against one.

    The order of the reasons is that of `SkipReason`: what concerns the whole trajectory, then the call
    itself, then its prefix, then its score. `source` is what rows call the file that it comes from, by
    default its name. `left_out` is a reason against all of them; they are then cut
    and counted, and not looked into. `with_reference` is that of `row_of`. `target` is None for the
    single-step one; `comparator` is that one's.
    """
    seed_calls = len(split(trajectory.seed))
    calls = split(trajectory.items, trajectory.call_sizes)
    if left_out is not None:
        refused = tuple(Candidate(call, left_out) for call in calls)
        return Judged(trajectory, seed_calls, refused, Counter())
    prefixes = prefixes_of(trajectory, calls)
    tools = read_tools(trajectory.tools)
    flaw = _trajectory_flaw(trajectory, tools)
    if source is None:
        source = trajectory.source.path.rpartition("/")[2]
    frame = frame_of(trajectory, dataset, source=source, seed_calls=seed_calls, calls=len(calls))
    takes_equal_scalars = equal_scalars_match(comparator.config)
    candidates = []
    for call, prefix in zip(calls, prefixes.of_calls, strict=True):
        found = flaw or _label(trajectory, call, prefix, tools, target)
        outcome: Row | Refusal
        if isinstance(found, Label):
            if target is not None:
                refusal = self_score_refusal(found, target, trajectory.tools)
            elif takes_equal_scalars and (found.holds_scalars or not found.tools):
                refusal = None
            else:
                refusal = _score_refusal(found, comparator)
            outcome = refusal or row_of(frame, call, prefix, found, with_reference=with_reference)
        else:
            outcome = found
        candidates.append(Candidate(call, outcome))
    return Judged(trajectory, seed_calls, tuple(candidates), prefixes.dropped)


def _trajectory_flaw(trajectory: Trajectory, tools: Tools) -> Refusal | None:
    if trajectory.hidden_state is not None:
        detail = f"the request refers to input held elsewhere: {trajectory.hidden_state}"
        return Refusal(SkipReason.EMPTY_PREFIX, detail)
    if not trajectory.seed:
        return Refusal(SkipReason.EMPTY_PREFIX, "the source keeps no request input")
    if tools.is_empty and any(item.kind in CALLS for item in (*trajectory.seed, *trajectory.items)):
        return Refusal(SkipReason.MISSING_TOOL_SCHEMA, "tools are called, but the source lists none")
    if tools.problem is not None:
        return Refusal(SkipReason.UNSUPPORTED_TOOL, tools.problem)
    return None


def _label(
    trajectory: Trajectory, call: ModelCall, prefix: Prefix, tools: Tools, target: RowTarget | None
) -> Label | Refusal:
    if trajectory.is_truncated and call.stop == len(trajectory.items):
        return Refusal(SkipReason.TRUNCATED, "the source marks its last response as unfinished")
    label = (
        label_of(call, tools.names) if target is None else target.label(call, trajectory.tools, tools.names)
    )
    return prefix.refusal or label if isinstance(label, Label) else label


def _score_refusal(label: Label, comparator: Comparator) -> Refusal | None:
    try:
        score = comparator.score_label(msgspec.json.decode(label.raw))
    except UnscorableError as error:
        return Refusal(SkipReason.LABEL_REJECTED, f"cannot be scored: {error}")
    if score.reward == 1.0:
        return None
    return Refusal(SkipReason.LABEL_REJECTED, f"scores {score.reward} against itself: {score.category}")


def equal_scalars_match(config: ComparatorConfig) -> bool:
    """Whether equal texts and integers surely match: so they do in the stock config, up to this threshold."""
    threshold = config.word_count_similarity_threshold
    return threshold <= 0.5 and config == ComparatorConfig(word_count_similarity_threshold=threshold)
