"""Counts what a selection saw and kept, as one flat tally; `metrics.json` is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gymbal.errors import LedgerMismatchError
from gymbal.model.pivot import ActionKind
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.selection import FunnelStep, RateClass, SelectionMetrics, SelectReason
from gymbal.pivot.selection.contamination import Avoided
from gymbal.pivot.selection.notes import DECIDED, notes_on
from gymbal.pivot.selection.options import SelectOptions, shown_options
from gymbal.pivot.selection.order import TrajectoryKey
from gymbal.pivot.selection.rates import LEVEL, Rate, settled_probability
from gymbal.pivot.tally import Tally, group_counts

STEPS: tuple[tuple[str, tuple[SelectReason, ...]], ...] = (
    ("one row per id and task", (SelectReason.DUPLICATE, SelectReason.NO_TASK)),
    ("profiled", (SelectReason.NOT_PROFILED, SelectReason.NO_SAMPLES)),
    (
        "mixed rewards",
        (
            SelectReason.UNDECIDED,
            SelectReason.NEVER_PASSED,
            SelectReason.ALWAYS_PASSED,
            SelectReason.UNIFORM,
        ),
    ),
    ("pass rate", (SelectReason.RATE_TOO_HIGH,)),
    ("messages thinned", (SelectReason.MESSAGE_THINNED,)),
    ("not in an evaluation", (SelectReason.CONTAMINATED,)),
    ("near duplicates", (SelectReason.NEAR_DUPLICATE,)),
    ("cap per trajectory", (SelectReason.TRAJECTORY_CAP,)),
    ("budget", (SelectReason.OVER_BUDGET,)),
)
"""The funnel: each step with the reasons for which it leaves pivots out."""

TENTHS = 10


class Setting(NamedTuple):
    """What a selection was made of."""

    dataset: str
    pivots: str
    profile: str
    options: SelectOptions
    avoid: tuple[str, ...]
    unwritten: tuple[str, ...] = ()
    """Settings of the pivots' own config that the new one does not have."""


class Counts:
    """What the pivots so far add up to. Tasks and trajectories of kept rows are held by name."""

    def __init__(self) -> None:
        self._tally: Tally = Counter()
        self._tasks: set[str] = set()
        self._trajectories: set[TrajectoryKey] = set()
        self._profiled: set[str] = set()
        self._settled = 0.0
        self._is_settled_known = True

    def add(self, entry: PivotEntry, rate: Rate, reason: SelectReason | None, part: str) -> None:
        """Count one pivot of the side `part`; `reason` says why it was not kept."""
        self._tally.update(_of_candidate(entry, rate))
        self._tally["bytes", "candidates"] += entry.size
        self._tally["samples", "failed"] += rate.failed
        self._tally["samples", "answered"] += rate.k or 0
        if rate.kind is not RateClass.NOT_PROFILED:
            self._profiled.add(entry.id)
        if reason is not None:
            self._tally["skipped", reason] += 1
            return
        self._tally.update(_of_kept(entry, rate, part))
        self._tally["bytes", "kept"] += entry.size
        self._tasks.update([entry.task] if entry.task is not None else ())
        trajectory = entry.origin or entry.rollout
        self._trajectories.update([trajectory] if trajectory is not None else ())
        if rate.k and rate.mean is not None:
            self._settled += settled_probability(rate.mean, rate.k)
        else:
            self._is_settled_known = False

    def metrics(self, setting: Setting, profiled: int, avoided: Avoided | None) -> SelectionMetrics:
        """Return the metrics; `profiled` is the number of pivots that the profile names.

        Raises LedgerMismatchError when candidates are not kept plus skipped.
        """
        tally = self._tally
        candidates, kept = tally["candidates", ""], tally["kept", ""]
        skipped = group_counts(tally, "skipped", SelectReason)
        if candidates != kept + sum(skipped.values()):
            raise LedgerMismatchError(f"{candidates} candidates, but {kept} kept and {skipped} skipped")
        rates = group_counts(tally, "rates", RateClass)
        options = setting.options
        sides = [part.name for part in options.split]
        metrics = SelectionMetrics(
            dataset=setting.dataset,
            pivots=setting.pivots,
            profile=setting.profile,
            candidates=candidates,
            kept=kept,
            skipped=skipped,
            options=shown_options(options, setting.avoid),
            rates=rates,
            by_label={kind.value: group_counts(tally, kind.value, RateClass) for kind in ActionKind},
            mixed_share=_mixed_share(rates),
            funnel=tuple(_funnel(candidates, skipped)),
            parts=group_counts(tally, "parts", sides) if sides else {},
            split=group_counts(tally, "split", ActionKind),
            tools=group_counts(tally, "tools"),
            domains=group_counts(tally, "domains"),
            tasks=len(self._tasks),
            trajectories=len(self._trajectories),
            pass_rates=group_counts(tally, "pass_rates"),
            samples=group_counts(tally, "k"),
            level=LEVEL,
            expected_settled=round(self._settled, 1) if kept and self._is_settled_known else None,
            failed_samples=tally["samples", "failed"],
            profiled_elsewhere=profiled - len(self._profiled),
            avoided=() if avoided is None else avoided.files(),
            overlaps=() if avoided is None else tuple(avoided.overlaps),
            row_bytes=tally["bytes", "kept"],
            candidate_bytes=tally["bytes", "candidates"],
            notes=(),
        )
        answered = tally["samples", "answered"]
        notes = tuple(notes_on(metrics, answered=answered, unwritten=setting.unwritten))
        return msgspec.structs.replace(metrics, notes=notes)


def _of_candidate(entry: PivotEntry, rate: Rate) -> Iterator[tuple[str, str]]:
    yield "candidates", ""
    yield "rates", rate.kind.value
    yield entry.kind.value, rate.kind.value


def _of_kept(entry: PivotEntry, rate: Rate, part: str) -> Iterator[tuple[str, str]]:
    yield "kept", ""
    yield "parts", part
    yield "split", entry.kind.value
    yield "domains", entry.domain or "(unknown)"
    for tool in entry.tools:
        yield "tools", tool
    yield "k", "unknown" if rate.k is None else str(rate.k)
    tenth = min(int((rate.mean or 0.0) * TENTHS), TENTHS - 1)
    yield "pass_rates", f"{tenth / TENTHS:.1f} to {(tenth + 1) / TENTHS:.1f}"


def _mixed_share(rates: dict[str, int]) -> float | None:
    """Of the pivots whose class is known: a mixed pivot is known to be one from its second reward on."""
    decided = sum(rates[kind] for kind in DECIDED)
    return round(rates[RateClass.MIXED] / decided, 6) if decided else None


def _funnel(candidates: int, skipped: dict[str, int]) -> Iterator[FunnelStep]:
    left = candidates
    for name, reasons in STEPS:
        out = {reason.value: skipped[reason] for reason in reasons if skipped[reason]}
        left -= sum(out.values())
        yield FunnelStep(name=name, left_out=out, left=left)
