"""Which of the pivots that can be kept come first, and how a budget is spread over classes of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from gymbal.model.pivot import ActionKind
from gymbal.model.pivot_index import Origin, PivotEntry
from gymbal.model.selection import BalanceField
from gymbal.pivot.selection.options import SelectOptions

MESSAGE_CLASS, UNKNOWN_CLASS = "(message)", "(unknown)"

TrajectoryKey = Origin | str


class Candidate(NamedTuple):
    """What must be known of a pivot to choose it, small enough to hold all of them."""

    number: int
    """Position in the file of the pivots."""
    id: str
    rate: float
    trajectory: TrajectoryKey | None
    """None where the row does not say."""
    classes: tuple[str, ...]
    """One for each field of the balance."""


def candidate_of(number: int, entry: PivotEntry, rate: float, options: SelectOptions) -> Candidate:
    """Return `entry` as a candidate."""
    classes = tuple(_class_of(entry, field) for field in options.balance)
    return Candidate(number, entry.id, rate, entry.origin or entry.rollout, classes)


def _class_of(entry: PivotEntry, field: BalanceField) -> str:
    if field is BalanceField.TOOL:
        return "+".join(sorted(set(entry.tools))) or MESSAGE_CLASS
    if field is BalanceField.LABEL:
        return entry.kind.value
    return (entry.domain if field is BalanceField.DOMAIN else entry.task) or UNKNOWN_CLASS


def in_order(candidates: Iterable[Candidate], options: SelectOptions) -> list[Candidate]:
    """Best first: the lowest pass rate, or the one nearest to the target; ties by a hash of seed and id.

    The order does not depend on that of the candidates, as long as their ids differ.
    """
    target = 0.0 if options.target_rate is None else options.target_rate

    def rank(candidate: Candidate) -> tuple[float, bytes]:
        # Rounded, so that 0.3 and 0.7 are equally far from 0.5.
        return round(abs(candidate.rate - target), 9), _draw(options.seed, candidate.id)

    return sorted(candidates, key=rank)


def _draw(seed: int, identity: str) -> bytes:
    return sha256(b"%d\0%b" % (seed, identity.encode("utf-8", "surrogatepass"))).digest()[:8]


def is_thinned(entry: PivotEntry, share: float) -> bool:
    """Whether a message is one of the `share` to leave out: the same ones whatever else is in the file."""
    if entry.kind is not ActionKind.MESSAGE or share <= 0.0:
        return False
    digest = sha256(b"thin\0" + entry.id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def over_cap(ordered: Sequence[Candidate], cap: int) -> list[Candidate]:
    """The candidates beyond the first `cap` of their trajectory; those of an unknown one are not capped."""
    counts: Counter[TrajectoryKey] = Counter()
    over = []
    for candidate in ordered:
        if candidate.trajectory is None:
            continue
        counts[candidate.trajectory] += 1
        if counts[candidate.trajectory] > cap:
            over.append(candidate)
    return over


def within_budget(ordered: Sequence[Candidate], budget: int) -> set[int]:
    """Numbers of the candidates that the budget is spent on: every class gets the same share of it.

    A class that has fewer leaves the rest to the others, so the budget is spent wherever there are enough.
    Without a balance all candidates are one class.
    """
    classes: defaultdict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for candidate in ordered:
        classes[candidate.classes].append(candidate)
    chosen: set[int] = set()
    by_size = sorted(classes.items(), key=lambda item: (len(item[1]), item[0]))
    for position, (_, members) in enumerate(by_size):
        share = -(-(budget - len(chosen)) // (len(by_size) - position))
        chosen.update(candidate.number for candidate in members[:share])
    return chosen
