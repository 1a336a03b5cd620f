"""Holds a pivot dataset against the source that it was made of, whoever made it.

source -> model calls, cut again here -> each row's own call -> rules A01 to A13 -> every call accounted for
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.io.line_spans import LineSpans, Span
from gymbal.io.secrets import mask_text
from gymbal.model.audit import AuditedRule, AuditProblem, AuditReport, RuleStatus
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.model.target import Target
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit_calls import check_episode
from gymbal.pivot.audit_locate import FoundBy, Location, Locator
from gymbal.pivot.audit_row import AuditRow, AuditRowReader, Place, Unreadable
from gymbal.pivot.audit_rules import (
    AUDIT_RULES,
    INPUT,
    Outcome,
    Unchecked,
    check_against_call,
    check_prefix_alone,
    shown,
)
from gymbal.pivot.audit_source import Episode, SourceCall, SourceIndex, index_source
from gymbal.pivot.candidate import judge
from gymbal.pivot.parse import Check
from gymbal.pivot.targets.contract import RowTarget
from gymbal.pivot.targets.registry import row_target
from gymbal.verify import Comparator, ComparatorConfig

NO_REASON = "no_reason"
"""An unlabelled model call that a build would have labelled."""

NOTHING = "there was nothing to check it on"

CallKey = tuple[int, int]
"""Trajectory and model call, by position."""


class _Where(NamedTuple):
    file: str
    line: int
    offset: int
    source: str | None = None


class _Findings:
    """How each rule went: counts of everything, texts of the first few problems."""

    def __init__(self, max_problems: int, waived: Mapping[str, str]) -> None:
        self._waived = waived
        self.checked: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.unchecked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.problems: list[AuditProblem] = []
        self.problem_count = 0
        self._max_problems = max_problems

    def add(self, outcomes: Iterable[Outcome], where: _Where) -> None:
        """Take note of all outcomes of one row, model call or trajectory."""
        checked, broken = set(), set()
        for outcome in outcomes:
            if outcome.rule in self._waived:
                outcome = Unchecked(outcome.rule, self._waived[outcome.rule])
            if isinstance(outcome, Unchecked):
                self.unchecked[outcome.rule][outcome.reason] += 1
                continue
            checked.add(outcome.rule)
            if outcome.found is not None:
                broken.add(outcome.rule)
                self._add_problem(outcome, outcome.found, where)
        self.checked.update(checked)
        self.broken.update(broken)

    def _add_problem(self, check: Check, found: str, where: _Where) -> None:
        self.problem_count += 1
        if len(self.problems) == self._max_problems:
            return
        self.problems.append(
            AuditProblem(
                rule=check.rule,
                file=where.file,
                line=where.line,
                offset=where.offset,
                key=check.key,
                found=mask_text(found),
                expected=AUDIT_RULES[check.rule],
                source=where.source,
            )
        )

    def rules(self) -> Iterator[AuditedRule]:
        for rule, statement in AUDIT_RULES.items():
            status = RuleStatus.VIOLATED if self.broken[rule] else RuleStatus.PASSED
            unchecked = dict(self.unchecked[rule])
            if not self.checked[rule]:
                status = RuleStatus.SKIPPED
                unchecked = unchecked or {NOTHING: 0}
            yield AuditedRule(
                rule=rule,
                statement=statement,
                status=status,
                checked=self.checked[rule],
                broken=self.broken[rule],
                unchecked=unchecked,
            )


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
    findings = _Findings(max_problems, waived or {})
    labels: defaultdict[CallKey, list[str]] = defaultdict(list)
    located = Counter(dict.fromkeys(FoundBy, 0))
    locator = Locator(source)
    for path in pivots:
        reader = AuditRowReader(source.print_item, target)
        for line in LineSpans(path):
            by = _audit_line(line, path, reader, source, locator, labels, findings)
            located[by] += 1
    for episode in source.episodes:
        findings.add(check_episode(episode), _where_in_source(episode))
    listed = {} if skipped is None else _read_skipped(skipped, source)
    account = _account(source, labels, listed, findings, row_target(target))
    return AuditReport(
        pivots=tuple(map(str, pivots)),
        sources=tuple(sorted({episode.trajectory.source.path for episode in source.episodes})),
        rows=located.total(),
        located={str(by): count for by, count in located.items()},
        trajectories=len(source.episodes),
        calls=sum(len(episode.calls) for episode in source.episodes),
        labelled=len(labels),
        skipped=dict(sorted(account.skipped.items())),
        unlabelled=dict(sorted(account.unlabelled.items())),
        rules=tuple(findings.rules()),
        problems=tuple(findings.problems),
        problem_count=findings.problem_count,
    )


def _audit_line(
    line: Span,
    path: Path,
    reader: AuditRowReader,
    source: SourceIndex,
    locator: Locator,
    labels: defaultdict[CallKey, list[str]],
    findings: _Findings,
) -> FoundBy:
    where = _Where(str(path), line.number, line.offset)
    row = reader.read(line)
    if isinstance(row, Unreadable):
        findings.add([Check(*row)], where)
        return FoundBy.NOWHERE
    location = locator.locate(row)
    outcomes: list[Outcome] = [*check_prefix_alone(row), _check_seed(row, location)]
    if location.call is None:
        reason = "the row's model call was not found"
        outcomes += [Unchecked(rule, reason) for rule in ("A01", "A02", "A03", "A08", "A09", "A10")]
        findings.add(outcomes, where)
        return location.by
    call = location.call
    episode = source.episodes[call.episode]
    outcomes += check_against_call(row, call, episode, has_seed=location.seed_problem is None)
    rows = labels[call.episode, call.call.index]
    if rows:
        outcomes.append(Check("A01", "", f"{rows[0]} pivots on {shown(call)} too"))
    rows.append(f"{path.name}:{line.number}")
    place = episode.trajectory.source
    findings.add(outcomes, where._replace(source=f"{place.path}:{place.line}, {shown(call)}"))
    return location.by


def _check_seed(row: AuditRow, location: Location) -> Check:
    return Check("A04", INPUT if row.prefix.prints else "", location.seed_problem)


def _where_in_source(episode: Episode) -> _Where:
    source = episode.trajectory.source
    return _Where(source.path, source.line, source.offset)


class _Account(NamedTuple):
    """What became of the model calls that no row labels."""

    skipped: Counter[str]
    unlabelled: Counter[str]


def _account(
    source: SourceIndex,
    labels: Mapping[CallKey, Sequence[str]],
    listed: Mapping[CallKey, str],
    findings: _Findings,
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


class _SkippedSource(msgspec.Struct):
    path: str
    line: int
    record: int | None = None


class _SkippedLine(msgspec.Struct):
    source: _SkippedSource
    call: int
    reason: str


def _read_skipped(path: Path, source: SourceIndex) -> dict[CallKey, str]:
    """Reason by model call, of the `skipped.jsonl` of a build."""
    decode = msgspec.json.Decoder(_SkippedLine).decode
    listed = {}
    for line in read_lines(path):
        try:
            entry = decode(line.data)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = f"is not a skipped candidate: {error}"
            raise InputError(problem, path=path, line=line.number, offset=line.offset) from error
        place = Place(entry.source.path, entry.source.line, entry.source.record)
        listed.update({(number, entry.call): entry.reason for number in source.named_by(place)})
    return listed
