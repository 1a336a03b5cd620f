"""Holds a pivot dataset against the source that it was made of, whoever made it.

source -> model calls, cut again here -> each row's own call -> rules A01 to A16 -> every call accounted for
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gymbal.io.line_spans import LineSpans
from gymbal.model.audit import AuditReport
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.model.target import Target
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit.calls import check_episode
from gymbal.pivot.audit.findings import Findings
from gymbal.pivot.audit.locate import FoundBy, Location, Locator
from gymbal.pivot.audit.outcome import Outcome, Unchecked, Where
from gymbal.pivot.audit.provenance import NameLedger
from gymbal.pivot.audit.reasoning import INPUT
from gymbal.pivot.audit.row import AuditRow, AuditRowReader, Unreadable
from gymbal.pivot.audit.rules import OTHER_SEED, check_against_call, check_prefix_alone, shown
from gymbal.pivot.audit.skipped import read_skipped
from gymbal.pivot.audit.source import CallKey, Episode, SourceCall, SourceIndex, index_source, key_of
from gymbal.pivot.candidate import judge
from gymbal.pivot.parse import Check
from gymbal.pivot.targets.contract import RowTarget
from gymbal.pivot.targets.registry import row_target
from gymbal.verify import Comparator, ComparatorConfig

NO_REASON = "no_reason"
"""An unlabelled model call that a build would have labelled."""


def audit(
    pivots: Sequence[Path],
    trajectories: Iterable[Trajectory],
    *,
    target: Target = Target.SINGLE_STEP,
    skipped: Path | None = None,
    max_problems: int = 20,
    waived: Mapping[str, str] | None = None,
) -> AuditReport:
    """Hold every row of the JSONL files `pivots`, one dataset, against the trajectories it was made of.

    `target` is the verifier that the rows are for. `skipped` is the dataset's list of the candidates that
    made no row. `waived` says of rules why they do not hold for this dataset. The source is held in memory,
    the rows one at a time. What is wrong with the dataset is a problem, not an error; InputError is raised
    only for files that cannot be read.
    """
    source = index_source(trajectories, target)
    findings = Findings(max_problems, waived or {})
    rows = _RowAudit(source, findings)
    for path in pivots:
        reader = AuditRowReader(source.print_item, target)
        for line in LineSpans(path):
            rows.take(reader.read(line), Where(str(path), line.number, line.offset))
    rows.finish()
    for episode in source.episodes:
        findings.add(check_episode(episode), _where_in_source(episode))
    listed = {} if skipped is None else read_skipped(skipped, source, rows.labels.keys())
    account = _account(source, rows.labels, listed, findings, row_target(target))
    return AuditReport(
        pivots=tuple(map(str, pivots)),
        sources=tuple(sorted({episode.trajectory.source.path for episode in source.episodes})),
        rows=rows.located.total(),
        located={str(by): count for by, count in rows.located.items()},
        trajectories=len(source.episodes),
        calls=sum(len(episode.calls) for episode in source.episodes),
        labelled=len(rows.labels),
        skipped=dict(sorted(account.skipped.items())),
        unlabelled=dict(sorted(account.unlabelled.items())),
        rules=tuple(findings.rules()),
        problems=tuple(findings.problems),
        problem_count=findings.problem_count,
    )


class _RowAudit:
    """Holds rows to the source, one after another, and keeps what later ones are held to."""

    def __init__(self, source: SourceIndex, findings: Findings) -> None:
        self._source = source
        self._findings = findings
        self._locator = Locator(source)
        self._names = NameLedger(source)
        self.labels: defaultdict[CallKey, list[str]] = defaultdict(list)
        """The rows of each model call."""
        self.located = Counter(dict.fromkeys(FoundBy, 0))

    def take(self, row: AuditRow | Unreadable, where: Where) -> None:
        """Hold one row to all rules that are about a single row."""
        if isinstance(row, Unreadable):
            self._findings.add([Check(*row)], where)
            self.located[FoundBy.NOWHERE] += 1
            return
        location = self._locator.locate(row)
        self.located[location.by] += 1
        outcomes: list[Outcome] = [*check_prefix_alone(row), _check_seed(row, location)]
        if location.call is None:
            self._findings.add([*outcomes, *_without_call(location)], where)
            return
        call = location.call
        episode = self._source.episodes[call.episode]
        place = episode.trajectory.source
        where = where._replace(source=f"{place.path}:{place.line}, {shown(call)}")
        has_seed = location.seed_problem is None
        outcomes += check_against_call(row, call, episode, has_seed=has_seed)
        outcomes += self._names.take(row, episode, where) if has_seed else [Unchecked("A15", OTHER_SEED)]
        rows = self.labels[key_of(call)]
        if rows:
            outcomes.append(Check("A01", "", f"{rows[0]} pivots on {shown(call)} too"))
        rows.append(f"{where.file.rpartition('/')[2]}:{where.line}")
        self._findings.add(outcomes, where)

    def finish(self) -> None:
        """Check what only all rows together tell."""
        for outcome, where in self._names.outcomes():
            self._findings.add([outcome], where)


def _without_call(location: Location) -> Iterator[Outcome]:
    """The rules on a row whose model call was not found. Where A04 has said why, A01 need not say it."""
    reason = "the row's model call was not found"
    if location.lacks_calls is None:
        yield Unchecked("A01", reason)
    else:
        found = f"starts like {location.lacks_calls}, where the source has no model call"
        yield Check("A01", INPUT, found)
    for rule in ("A02", "A03", "A08", "A09", "A10", "A14", "A15", "A16"):
        yield Unchecked(rule, reason)


def _check_seed(row: AuditRow, location: Location) -> Check:
    return Check("A04", INPUT if row.prefix.prints else "", location.seed_problem)


def _where_in_source(episode: Episode) -> Where:
    source = episode.trajectory.source
    return Where(source.path, source.line, source.offset)


class _Account(NamedTuple):
    """What became of the model calls that no row labels."""

    skipped: Counter[str]
    unlabelled: Counter[str]


def _account(
    source: SourceIndex,
    labels: Mapping[CallKey, Sequence[str]],
    listed: Mapping[CallKey, str],
    findings: Findings,
    target: RowTarget | None,
) -> _Account:
    """Check A06 on every model call of the source."""
    account = _Account(Counter(), Counter())
    for number, episode in enumerate(source.episodes):
        reasons: Mapping[int, str] | None = None
        for call in episode.calls:
            key = f"model call {call.call.index}"
            rows = labels.get((number, call.call.index), ())
            found = None
            if len(rows) > 1:
                found = f"labelled {len(rows)} times: {', '.join(rows[:5])}"
            elif not rows and (number, call.call.index) in listed:
                account.skipped[listed[number, call.call.index]] += 1
            elif not rows:
                reasons = _reasons_to_skip(episode, target) if reasons is None else reasons
                reason = reasons.get(call.call.index) or _duplicate(call, source, labels) or NO_REASON
                account.unlabelled[reason] += 1
                found = "no row labels it, and a build would" if reason == NO_REASON else None
            findings.add([Check("A06", key, found)], _where_in_source(episode))
    return account


def _reasons_to_skip(episode: Episode, target: RowTarget | None) -> dict[int, str]:
    """Why a build would make no row of some model calls, by their index."""
    judged = judge(episode.trajectory, "audit", Comparator(ComparatorConfig()), target=target)
    outcomes = {candidate.call.index: candidate.outcome for candidate in judged.candidates}
    return {index: each.reason for index, each in outcomes.items() if isinstance(each, Refusal)}


def _duplicate(call: SourceCall, source: SourceIndex, labels: Mapping[CallKey, Sequence[str]]) -> str | None:
    """The reason, where a labelled call has the same state, reasoning included, and the same action."""
    reasoning = source.episodes[call.episode].reasoning[: call.reasoned]
    for other in source.by_row[call.state, call.action]:
        before = source.episodes[other.episode].reasoning[: other.reasoned]
        if before == reasoning and labels.get((other.episode, other.call.index)):
            return SkipReason.DUPLICATE
    return None
