"""Sets the verdicts of two settings on the same answers side by side, one answer at a time."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.io.fingerprint import fingerprint
from gymbal.io.secrets import mask_text
from gymbal.model.profile import ProfileSource
from gymbal.model.profile_report import ProfileOutcomes
from gymbal.model.rescore import (
    Direction,
    FlipGroup,
    FlipPair,
    LabelUse,
    OptionChange,
    PivotMove,
    PivotMoves,
    RecordedAgreement,
    RewardMoves,
)
from gymbal.pivot.profile import outcome_of, profile_of
from gymbal.pivot.row_scorer import ReadyRow
from gymbal.verify import Category, Check, Rule

LONGEST_VALUE = 200
"""Characters of a value in the report."""

_LIST_POSITION = re.compile(r"\[\d+\]")
_PLACE = re.compile(r"expected_action(?:\.calls\[(\d+)\])?\.?(.*)", re.DOTALL)

MIXED = "mixed"


class Rewards(NamedTuple):
    """The rewards of one answer."""

    before: float
    after: float


class _Key(NamedTuple):
    direction: Direction
    tool: str | None
    argument: str
    rule: str


class _Group:
    """Flips at one place."""

    def __init__(self) -> None:
        self.pivots: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.shown: dict[str, FlipPair] = {}

    def add(self, pivot: str, check: Check, rewards: Rewards) -> None:
        expected, actual = _json(check.expected), _json(check.actual)
        key = fingerprint([expected, actual])
        self.pivots.add(pivot)
        self.counts[key] += 1
        if key not in self.shown:
            self.shown[key] = FlipPair(
                expected=_cut(mask_text(expected)),
                actual=_cut(mask_text(actual)),
                reward_before=rewards.before,
                reward_after=rewards.after,
                detail=mask_text(check.detail),
                samples=0,
            )

    def pairs(self, most: int) -> Iterator[FlipPair]:
        ranked = sorted(
            self.counts.items(),
            key=lambda item: (-item[1], self.shown[item[0]].expected, self.shown[item[0]].actual),
        )
        for key, samples in ranked[:most]:
            pair = self.shown[key]
            yield FlipPair(
                expected=pair.expected,
                actual=pair.actual,
                reward_before=pair.reward_before,
                reward_after=pair.reward_after,
                detail=pair.detail,
                samples=samples,
            )


class RescoreTally:
    """Adds up answers under two settings. It keeps two rewards of each, and of a flip one pair of values."""

    def __init__(self) -> None:
        self.rescored = 0
        self._agreement: Counter[str] = Counter()
        self._moves: Counter[str] = Counter()
        self._sums = [0.0, 0.0]
        self._by_pivot: defaultdict[str, list[Rewards]] = defaultdict(list)
        self._groups: defaultdict[_Key, _Group] = defaultdict(_Group)
        self._labels: Counter[str] = Counter()

    def add_label(self, before: ReadyRow, after: ReadyRow) -> None:
        """Count one row's label under both settings."""
        self._labels["before"] += before.label_score.reward < 1.0
        self._labels["after"] += after.label_score.reward < 1.0

    def add(
        self,
        pivot: str,
        output: Sequence[Mapping[str, Any]],
        recorded: float | None,
        before: ReadyRow,
        after: ReadyRow,
    ) -> None:
        """Score one answer twice, and explain it where the rewards differ.

        Raises UnscorableError, and counts nothing then, where Gym would fail under either setting.
        """
        rewards = Rewards(before.score(output).reward, after.score(output).reward)
        self.rescored += 1
        self._by_pivot[pivot].append(rewards)
        self._sums[0] += rewards.before
        self._sums[1] += rewards.after
        agreement = "unknown" if recorded is None else "agree" if recorded == rewards.before else "differ"
        self._agreement[agreement] += 1
        if rewards.before == rewards.after:
            self._moves["same"] += 1
            return
        direction = Direction.UP if rewards.after > rewards.before else Direction.DOWN
        self._moves[direction.value] += 1
        worse, better = (before, after) if direction is Direction.UP else (after, before)
        check = _what_flipped(output, worse, better)
        self._groups[_key(direction, check, worse)].add(pivot, check, rewards)

    @property
    def agreement(self) -> RecordedAgreement:
        return RecordedAgreement(**{name: self._agreement[name] for name in ("agree", "differ", "unknown")})

    @property
    def rewards(self) -> RewardMoves:
        before, after = (total / self.rescored if self.rescored else None for total in self._sums)
        counts = {name: self._moves[name] for name in ("same", "up", "down")}
        return RewardMoves(mean_before=before, mean_after=after, **counts)

    @property
    def labels(self) -> LabelUse:
        return LabelUse(below_one_before=self._labels["before"], below_one_after=self._labels["after"])

    def pivot_moves(self, pivots: Sequence[str]) -> PivotMoves:
        """Outcomes of all pivots, those without a sample included."""
        moves = Counter(self._outcomes(pivot) for pivot in pivots)
        with_samples = sum(pivot in self._by_pivot for pivot in pivots)
        entering = sum(n for (was, now), n in moves.items() if was != MIXED and now == MIXED)
        leaving = sum(n for (was, now), n in moves.items() if was == MIXED and now != MIXED)
        return PivotMoves(
            with_samples=with_samples,
            before=_outcomes(moves, 0),
            after=_outcomes(moves, 1),
            moves=tuple(
                PivotMove(before=was, after=now, pivots=n)
                for (was, now), n in sorted(moves.items(), key=lambda item: (-item[1], item[0]))
            ),
            entering=entering,
            leaving=leaving,
            entering_share=entering / with_samples if with_samples else None,
            leaving_share=leaving / with_samples if with_samples else None,
        )

    def flips(self, most_pairs: int) -> Iterator[FlipGroup]:
        """The groups, most samples first, each with its most frequent pairs of values."""
        ranked = sorted(
            self._groups.items(),
            key=lambda item: (-item[1].counts.total(), item[0].argument, item[0].rule, item[0].tool or ""),
        )
        for key, group in ranked:
            yield FlipGroup(
                direction=key.direction,
                tool=key.tool,
                argument=key.argument,
                rule=key.rule,
                samples=group.counts.total(),
                pivots=len(group.pivots),
                different_pairs=len(group.counts),
                pairs=tuple(group.pairs(most_pairs)),
            )

    def _outcomes(self, pivot: str) -> tuple[str, str]:
        rewards = self._by_pivot.get(pivot, [])
        return _outcome([each.before for each in rewards]), _outcome([each.after for each in rewards])


def changed_options(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[OptionChange]:
    """Options that differ, by name; both mappings are options, or options by server."""
    is_by_server = all(isinstance(value, Mapping) for value in (*before.values(), *after.values()))
    if not is_by_server:
        yield from _changes(None, before, after)
        return
    for server in sorted({*before, *after}):
        yield from _changes(server, before.get(server, {}), after.get(server, {}))


def _changes(
    server: str | None, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[OptionChange]:
    for option in sorted({*before, *after}):
        was, now = before.get(option), after.get(option)
        if was != now:
            yield OptionChange(server=server, option=option, before=was, after=now)


def _what_flipped(output: Sequence[Mapping[str, Any]], worse: ReadyRow, better: ReadyRow) -> Check:
    """The check that fails under the worse settings, on what matches under the better ones.

    Of several calls it is the first pair that matches no more: the call that comes closest under the worse
    settings may be another one. Where all pairs still match, what they are worth has changed.
    """
    low = worse.explain(output)
    actual = [] if low.action is None else low.action.get("calls", [low.action])
    if not low.comparisons or len(actual) == len(worse.expected_tools) == 1:
        return low.decided_by
    high = better.explain(output)
    for pair in high.comparisons:
        if pair.actual is not None and pair.category is Category.CALL_MATCHES:
            check = worse.last_check(pair.expected, actual[pair.actual])
            if not check.passed:
                return check
    return Check(
        path="expected_action",
        rule=Rule.MATCHED_CALLS,
        passed=False,
        expected=len(worse.expected_tools),
        actual=len(actual),
        detail=f"the same matches are worth {low.arithmetic} and {high.arithmetic}",
    )


def _key(direction: Direction, check: Check, row: ReadyRow) -> _Key:
    """Where the deciding check looked: at which argument of which expected call."""
    place = _PLACE.fullmatch(check.path)
    call, argument = place.groups() if place else (None, "")
    if not argument or not row.expected_tools:
        return _Key(direction, None, "expected_action", check.rule.value)
    tool = row.expected_tools[int(call or 0)]
    return _Key(direction, tool, _LIST_POSITION.sub("[]", argument), check.rule.value)


def _outcome(rewards: Sequence[float]) -> str:
    return outcome_of(profile_of("", rewards, failed=0, asked=None, source=ProfileSource.SAMPLED))


def _outcomes(moves: Counter[tuple[str, str]], side: int) -> ProfileOutcomes:
    counts: Counter[str] = Counter()
    for outcomes, number in moves.items():
        counts[outcomes[side]] += number
    return ProfileOutcomes(**{name: counts[name] for name in ProfileOutcomes.__struct_fields__})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."
