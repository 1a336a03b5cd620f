"""Decides which pivots are kept. Read this first: it is the whole flow.

each pivot -> its rate -> refused, or a candidate -> best first -> near duplicates, cap, budget -> kept or
refused
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.selection import SelectReason
from gymbal.pivot.selection.contamination import OPENING, Avoided
from gymbal.pivot.selection.near_duplicates import NearDuplicates, StateSketch
from gymbal.pivot.selection.options import SelectOptions
from gymbal.pivot.selection.order import (
    Candidate,
    candidate_of,
    in_order,
    is_thinned,
    over_cap,
    within_budget,
)
from gymbal.pivot.selection.rates import NOT_PROFILED, Rate, Rates, detail_of, reason_of
from gymbal.pivot.selection.state import RowText, text_of


class Refused(NamedTuple):
    """Why a pivot is not kept."""

    reason: SelectReason
    detail: str


class Decisions(NamedTuple):
    """What becomes of each pivot, by its position in the file."""

    kept: set[int]
    refused: dict[int, Refused]
    """Those that were refused for another reason than their rate, which says so by itself."""

    def of(self, number: int, rate: Rate) -> Refused | None:
        """Why the pivot is not kept; None when it is."""
        if number in self.kept:
            return None
        known = self.refused.get(number)
        if known is not None:
            return known
        reason = reason_of(rate)
        if reason is None:
            raise ValueError(f"nothing was decided on pivot {number}")
        return Refused(reason, detail_of(rate))


def select(
    entries: Iterable[PivotEntry],
    row: Callable[[PivotEntry], bytes],
    rates: Rates,
    options: SelectOptions,
    avoided: Avoided | None = None,
) -> Decisions:
    """Decide on all pivots of a dataset, reading the rows of only those that the texts of rows decide on.

    `row` gives the row of an entry. Held are the ids of all pivots, and for each one with mixed rewards a few
    numbers, 2 KB more where near duplicates are looked for. The decisions depend on the content of the
    pivots and on the order of those with one id, and on nothing else. Raises InputError for a row whose texts
    cannot be read.
    """
    decisions = Decisions(set(), {})
    candidates: list[Candidate] = []
    sketches: dict[int, StateSketch] = {}
    ids: set[str] = set()
    for number, entry in enumerate(entries):
        rate = rates.get(entry.id, NOT_PROFILED)
        refused = _early_refusal(entry, rate, ids, options)
        ids.add(entry.id)
        if refused is None and reason_of(rate) is None and rate.mean is not None:
            if avoided is not None or options.near_duplicates is not None:
                text = _text(entry, row)
                refused = None if avoided is None else _overlap(entry, text, avoided)
                if refused is None and options.near_duplicates is not None:
                    sketches[number] = StateSketch(text)
            if refused is None:
                candidates.append(candidate_of(number, entry, rate.mean, options))
        if refused is not None:
            decisions.refused[number] = refused
    _choose(candidates, sketches, options, decisions)
    return decisions


def _early_refusal(entry: PivotEntry, rate: Rate, ids: set[str], options: SelectOptions) -> Refused | None:
    """A reason that needs neither the row nor the other candidates; the rate's own is not looked at."""
    if entry.id in ids:
        return Refused(SelectReason.DUPLICATE, "an earlier pivot has the same id")
    if options.split and entry.task is None:
        return Refused(SelectReason.NO_TASK, "no task is named: it could be on either side of the split")
    if reason_of(rate) is not None:
        return None
    if options.max_rate is not None and rate.mean is not None and rate.mean > options.max_rate:
        return Refused(SelectReason.RATE_TOO_HIGH, f"pass rate {rate.mean:g} is above {options.max_rate:g}")
    if is_thinned(entry, options.drop_messages):
        share = f"{options.drop_messages:g}"
        return Refused(SelectReason.MESSAGE_THINNED, f"left out with a share of {share} of the messages")
    return None


def _text(entry: PivotEntry, row: Callable[[PivotEntry], bytes]) -> RowText:
    try:
        return text_of(row(entry))
    except (msgspec.DecodeError, RecursionError) as error:
        place = entry.read_from
        raise InputError(
            f"its texts cannot be read: {error}",
            path=place.path,
            line=place.line,
            offset=place.offset,
            remedy="`gymbal pivot validate` lists everything that is wrong with the rows.",
        ) from error


def _overlap(entry: PivotEntry, text: RowText, avoided: Avoided) -> Refused | None:
    match = avoided.match(entry.id, text)
    if match is None:
        return None
    said = "the same opening request" if match.by == OPENING else f"the words {match.by!r}"
    return Refused(SelectReason.CONTAMINATED, f"{avoided.place_of(match)} has {said}")


def _choose(
    candidates: list[Candidate],
    sketches: dict[int, StateSketch],
    options: SelectOptions,
    decisions: Decisions,
) -> None:
    """Decide on the candidates, best first."""
    left = in_order(candidates, options)
    if options.near_duplicates is not None:
        left = _without_near_duplicates(left, sketches, options.near_duplicates, decisions)
    if options.cap_per_trajectory is not None:
        detail = f"its trajectory has {options.cap_per_trajectory} selected pivots"
        for candidate in over_cap(left, options.cap_per_trajectory):
            decisions.refused[candidate.number] = Refused(SelectReason.TRAJECTORY_CAP, detail)
        left = [candidate for candidate in left if candidate.number not in decisions.refused]
    chosen = {candidate.number for candidate in left}
    if options.budget is not None:
        chosen = within_budget(left, options.budget)
        detail = f"the budget of {options.budget} was spent on others"
        for candidate in left:
            if candidate.number not in chosen:
                decisions.refused[candidate.number] = Refused(SelectReason.OVER_BUDGET, detail)
    decisions.kept.update(chosen)


def _without_near_duplicates(
    ordered: list[Candidate], sketches: dict[int, StateSketch], least: float, decisions: Decisions
) -> list[Candidate]:
    kept = NearDuplicates(least)
    left = []
    for candidate in ordered:
        sketch = sketches[candidate.number]
        found = kept.like(sketch)
        if found is None:
            kept.keep(candidate.id, sketch)
            left.append(candidate)
            continue
        identity, shared = found
        detail = f"expects the same as pivot {identity[:80]}, after a state that is {shared:.0%} the same"
        decisions.refused[candidate.number] = Refused(SelectReason.NEAR_DUPLICATE, detail)
    return left
