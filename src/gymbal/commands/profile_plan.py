"""Which samples of which pivots are wanted, and what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from gymbal.io.sample_journal import JournalWriter, KnownSample
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.profile import PivotProfile, ProfileSource, Sample, SampleFailure, SampleStatus, StopRule
from gymbal.model.profile_report import ProfileProgress, SampleCounts
from gymbal.pivot.adaptive import is_settled
from gymbal.pivot.profile import profile_of
from gymbal.pivot.row_scorer import ReadyRow, RowScorer
from gymbal.sampling.chat import UnaskableError
from gymbal.sampling.client import Outcome
from gymbal.sampling.meter import Meter
from gymbal.verify import LabelError, UnscorableError

PROGRESS_SECONDS = 5.0


class _State:
    """What is known of one pivot."""

    __slots__ = ("asked_now", "failed", "failed_now", "rewards")

    def __init__(self) -> None:
        self.rewards: dict[int, float] = {}
        """By sample number."""
        self.failed: dict[int, SampleFailure] = {}
        """Samples without an answer, those of earlier runs included."""
        self.failed_now: set[int] = set()
        self.asked_now = False


class ProfilePlan:
    """Wants `k` answers of every pivot, and with `rule` fewer of one that is settled: a `sampling.run.Ask`.

    What the journal holds is never asked again. A sample that failed in this run is not tried again in it,
    and a pivot whose request the server refused is asked no more.
    """

    def __init__(
        self,
        entries: Sequence[PivotEntry],
        k: int,
        journal: JournalWriter,
        meter: Meter,
        *,
        scorer: RowScorer,
        row: Callable[[PivotEntry], bytes],
        model: str,
        progress: Callable[[ProfileProgress], object] | None = None,
    ) -> None:
        self.k = k
        self.rule: StopRule | None = None
        """Set once it was chosen; until then no pivot is settled early."""
        self.lanes: Iterable[Sequence[str]] = ()
        """Set before each pass."""
        self.unaskable: dict[str, str] = {}
        """Why a pivot cannot be asked."""
        self.last_failure: str | None = None
        self.requests = 0
        self._journal = journal
        self._meter = meter
        self._scorer = scorer
        self._row = row
        self._model = model
        self._progress = progress
        self._told = time.monotonic()
        self._entries = {entry.id: entry for entry in entries}
        self._states = {pivot: _State() for pivot in self._entries}
        self._ready: dict[str, ReadyRow] = {}
        """Of the pivots that are being asked."""
        self._truncated = 0
        self._categories: Counter[str] = Counter()
        self._earlier = 0

    def recall(self, samples: Iterable[KnownSample]) -> None:
        """Take in what the journal holds. Samples of other pivots, or beyond `k`, stay in it unused."""
        for known in samples:
            state = self._states.get(known.pivot)
            if known.status is SampleStatus.OK or known.failure is SampleFailure.UNSCORABLE:
                self._meter.add(known.usage)
            if state is None or known.sample >= self.k:
                continue
            if known.status is SampleStatus.OK and known.reward is not None:
                self._earlier += known.sample not in state.rewards
                self._answer(state, known.sample, known.reward, known.category, known.truncated)
            elif known.sample not in state.rewards:
                state.failed[known.sample] = known.failure or SampleFailure.CONNECTION

    def wave(self, pivot: str) -> Sequence[int]:
        """The samples to ask next. The first of a run goes ahead of the others, to fill the prefix cache."""
        state = self._states[pivot]
        wanted = self._missing(pivot, state)
        if self.rule is not None or not state.asked_now:
            wanted = wanted[:1]
        state.asked_now = True
        if not wanted:
            self._ready.pop(pivot, None)
        return wanted

    def row(self, pivot: str) -> bytes:
        """The row of a pivot. Raises UnaskableError when no answer to it could be scored."""
        row = self._row(self._entries[pivot])
        try:
            self._ready[pivot] = self._scorer.ready(row)
        except LabelError as error:
            raise UnaskableError(error.message) from error
        return row

    def refuse(self, pivot: str, reason: str) -> None:
        """Note that a pivot cannot be asked."""
        self.unaskable[pivot] = reason

    def record(self, pivot: str, sample: int, outcome: Outcome) -> None:
        """Score an outcome and write it into the journal."""
        self.requests += outcome.attempts
        made = self._sample(pivot, sample, outcome)
        self._journal.append(made)
        state = self._states[pivot]
        if made.reward is not None:
            self._answer(state, sample, made.reward, made.category, made.truncated)
        else:
            self._fail(state, sample, made)
        self._tell()

    def _fail(self, state: _State, sample: int, made: Sample) -> None:
        state.failed[sample] = made.failure or SampleFailure.CONNECTION
        state.failed_now.add(sample)
        self.last_failure = made.detail
        if made.failure is SampleFailure.REFUSED:
            # The same request would be refused again; a later run asks it anew.
            state.failed_now.update(range(self.k))

    def _tell(self) -> None:
        """Say where the profile stands, now and then: counting looks at every pivot."""
        now = time.monotonic()
        if self._progress is None or now - self._told < PROGRESS_SECONDS:
            return
        self._told = now
        answered = sum(len(state.rewards) for state in self._states.values())
        failed = sum(len(state.failed) for state in self._states.values())
        most = self.k * len(self._states)
        self._progress(ProfileProgress(answered=answered, failed=failed, most=most))

    def profile(self, pivot: str) -> PivotProfile:
        """What is known of a pivot."""
        state = self._states[pivot]
        rewards = [state.rewards[number] for number in sorted(state.rewards)]
        asked = len(rewards) if self._is_settled(state) else self.k
        return profile_of(pivot, rewards, failed=len(state.failed), asked=asked, source=ProfileSource.SAMPLED)

    def rewards(self, pivot: str) -> tuple[float, ...]:
        """The rewards of a pivot so far."""
        return tuple(self._states[pivot].rewards.values())

    def unaskable_counts(self) -> dict[str, int]:
        """Pivots that cannot be asked, by reason, most frequent first."""
        return dict(Counter(self.unaskable.values()).most_common())

    def counts(self) -> SampleCounts:
        """All samples of the pivots of this plan."""
        failures = Counter(kind.value for state in self._states.values() for kind in state.failed.values())
        return SampleCounts(
            answered=sum(len(state.rewards) for state in self._states.values()),
            failed=failures.total(),
            failures=dict(failures.most_common()),
            earlier=self._earlier,
            requests=self.requests,
            truncated=self._truncated,
            categories=dict(self._categories.most_common()),
        )

    def _missing(self, pivot: str, state: _State) -> list[int]:
        if pivot in self.unaskable or self._is_settled(state):
            return []
        return [
            number
            for number in range(self.k)
            if number not in state.rewards
            and number not in state.failed_now
            and state.failed.get(number) is not SampleFailure.UNSCORABLE
        ]

    def _is_settled(self, state: _State) -> bool:
        return self.rule is not None and is_settled(state.rewards.values(), self.rule)

    def _answer(
        self, state: _State, sample: int, reward: float, category: str | None, truncated: bool
    ) -> None:
        if sample not in state.rewards:
            self._truncated += truncated
            self._categories[category or "unknown"] += 1
        state.rewards[sample] = reward
        state.failed.pop(sample, None)

    def _sample(self, pivot: str, number: int, outcome: Outcome) -> Sample:
        answer = outcome.answer
        if answer is None:
            return Sample(
                pivot=pivot,
                sample=number,
                status=SampleStatus.FAILED,
                failure=outcome.failure,
                detail=outcome.detail,
                attempts=outcome.attempts,
                model=self._model,
                seconds=outcome.seconds,
            )
        try:
            score, problem = self._ready[pivot].score(answer.output), None
        except UnscorableError as error:
            score, problem = None, error.message
        return Sample(
            pivot=pivot,
            sample=number,
            status=SampleStatus.FAILED if score is None else SampleStatus.OK,
            reward=None if score is None else score.reward,
            category=None if score is None else score.category.value,
            action=None if score is None else score.action,
            output=answer.output,
            truncated=answer.truncated,
            failure=SampleFailure.UNSCORABLE if score is None else None,
            detail=problem,
            attempts=outcome.attempts,
            usage=answer.usage,
            model=answer.model or self._model,
            seconds=outcome.seconds,
        )
