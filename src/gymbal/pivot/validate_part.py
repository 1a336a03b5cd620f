"""Checks the rows of one part of a dataset file, and hands over what only the whole dataset can tell.

Parts are checked apart from each other, on any engine; `gymbal.pivot.validate` joins what they found. Lines
are numbered within the part, since no worker knows how many there are before it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from heapq import heappush, heappushpop
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.io.line_spans import LineSpans, Span
from gymbal.pivot.check_agent import AgentChecker, check_score
from gymbal.pivot.check_input import INPUT_RULES, InputChecker
from gymbal.pivot.check_row import (
    BATCH_RULES,
    CALL_RULES,
    REQUEST_RULES,
    RequestChecker,
    check_label,
    holds_scalars,
)
from gymbal.pivot.parse import REQUEST, AnyLabel, BatchLabel, CallLabel, Check, kind_of, read_label
from gymbal.pivot.row import KEY_BYTES
from gymbal.pivot.row_reader import ReadRow, RowReader
from gymbal.pivot.rules import RULES, Rule, Severity
from gymbal.pivot.validate_options import ValidateOptions, check_fields, task_of
from gymbal.pivot.wiring import GymConfig

UNREADABLE = "unreadable"

ROW_RULES = ("P001", "P003", "P021")


class PartJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker checks: the rows that begin in the bytes of `path` from `start` up to `stop`."""

    path: Path
    start: int = 0
    stop: int | None = None
    """None: the end of the file."""
    config: GymConfig | None
    options: ValidateOptions
    with_tasks: bool = False
    """Collect the tasks, since another file of the dataset must not have them."""


class Found(NamedTuple):
    """A rule that a row breaks, and where the row lies."""

    line: int
    offset: int
    check: Check


class TaskRows(NamedTuple):
    """The first row of a task, and how many there are."""

    line: int
    offset: int
    rows: int


class Drawn(NamedTuple):
    """A row of the sample. Those with the least keys of all parts are the sample of the dataset."""

    key: bytes
    line: int
    offset: int


class PartFindings(msgspec.Struct, kw_only=True):
    """What the rows of one part say."""

    lines: int
    begin: int
    end: int
    kinds: dict[str, int]
    """Rows by the kind of their label."""
    checked: dict[str, int]
    """Rows by the rule that was checked on them."""
    broken: dict[str, int]
    warned: dict[str, Found]
    """First row that breaks a rule which only warns."""
    violations: list[Found]
    """The first of them."""
    violation_count: int
    keys: bytes
    """Digest of request and label of each row that could be read, one after another."""
    places: array[int]
    """Line and offset of each of these rows, in turns."""
    tasks: dict[str, TaskRows]
    sample: list[Drawn]
    unchecked: list[str]
    """Which rules could not be checked on some rows, and why."""


def check_part(job: PartJob) -> PartFindings:
    """Check one part; raise InputError for a file that cannot be read."""
    checker = _RowChecker(job)
    spans = LineSpans(job.path, job.start, job.stop, is_strict=True)
    for span in spans:
        checker.check(span)
    return checker.findings(spans)


class Notes:
    """What the rows of a part say and break so far: counts of everything, places of the first few."""

    def __init__(self, max_problems: int, rules: Mapping[str, Rule] = RULES) -> None:
        self._rules = rules
        self._checked: Counter[tuple[tuple[str, ...], ...]] = Counter()
        self.broken: Counter[str] = Counter()
        self.warned: dict[str, Found] = {}
        self.violations: list[Found] = []
        self.violation_count = 0
        self.kinds: Counter[str] = Counter()
        """Rows by the kind of their label."""
        self._max_problems = max_problems
        self._keys = bytearray()
        self._places = array("Q")
        self._tasks: dict[str, TaskRows] = {}

    def add_unreadable(self, span: Span) -> None:
        """Take note of a line that holds no row that can be read. A blank one holds none at all."""
        if span.start < span.stop:
            self.kinds[UNREADABLE] += 1

    def count(self, *checked: tuple[str, ...]) -> None:
        """Take note that groups of rules were checked on one row."""
        self._checked[checked] += 1

    def add(self, checks: Sequence[Check], span: Span) -> bool:
        """Take note of what one row breaks; return whether it is a violation."""
        self.broken.update({check.rule for check in checks})
        before = self.violation_count
        for check in checks:
            found = Found(span.number, span.offset, check)
            if self._rules[check.rule].severity is Severity.WARNING:
                self.warned.setdefault(check.rule, found)
                continue
            self.violation_count += 1
            if len(self.violations) < self._max_problems:
                self.violations.append(found)
        return self.violation_count > before

    def add_row(self, key: bytes, span: Span) -> None:
        """Take note of a row that could be read, by the digest of its request and label."""
        self._keys += key
        self._places.append(span.number)
        self._places.append(span.offset)

    def add_task(self, task: str | None, span: Span) -> None:
        """Take note of the task of a row; None where the row names none."""
        if task is None:
            return
        self.count(("P029",))
        known = self._tasks.get(task)
        self._tasks[task] = (
            TaskRows(span.number, span.offset, 1) if known is None else known._replace(rows=known.rows + 1)
        )

    def findings(self, spans: LineSpans, *, sample: list[Drawn], unchecked: list[str]) -> PartFindings:
        """What was found, when all rows were checked."""
        return PartFindings(
            lines=spans.lines,
            begin=spans.begin,
            end=spans.end,
            kinds=dict(self.kinds),
            checked=self._checked_rules(),
            broken=dict(self.broken),
            warned=self.warned,
            violations=self.violations,
            violation_count=self.violation_count,
            keys=bytes(self._keys),
            places=self._places,
            tasks=self._tasks,
            sample=sample,
            unchecked=unchecked,
        )

    def _checked_rules(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for groups, rows in self._checked.items():
            counts.update(dict.fromkeys(chain.from_iterable(groups), rows))
        return dict(counts)


_CHECKED_OF_LABEL: dict[type, tuple[tuple[str, ...], ...]] = {
    CallLabel: (REQUEST_RULES, CALL_RULES),
    BatchLabel: (REQUEST_RULES, CALL_RULES, BATCH_RULES),
}


class RowSample:
    """Draws rows: those with the least keys, so parts draw together what one pass would draw."""

    def __init__(self, options: ValidateOptions) -> None:
        self._size = options.sample
        self._seed = options.seed
        self._drawn: list[tuple[int, int, Drawn]] = []

    def draw(self, key: bytes, span: Span) -> None:
        """Keep the row with the digest `key` while it is among those with the least."""
        if not self._size:
            return
        seeded = sha256(b"%d %b" % (self._seed, key)).digest()[:KEY_BYTES]
        entry = (-int.from_bytes(seeded, "big"), -span.number, Drawn(seeded, span.number, span.offset))
        if len(self._drawn) < self._size:
            heappush(self._drawn, entry)
        else:
            heappushpop(self._drawn, entry)

    def rows(self) -> list[Drawn]:
        """The rows that were drawn, in no order."""
        return [drawn for *_, drawn in self._drawn]


class _Said(NamedTuple):
    """What one part of a row says."""

    checked: tuple[tuple[str, ...], ...]
    """Groups of rules."""
    broken: Sequence[Check]
    digest: bytes = b""
    """Of the request."""


class _RowChecker:
    """Checks the rows of a part one after another."""

    def __init__(self, job: PartJob) -> None:
        self._options = job.options
        self._with_tasks = job.with_tasks
        self._reader = RowReader()
        self._request = RequestChecker()
        self._input = InputChecker()
        self._agent = AgentChecker(job.config, is_required=job.options.require_agent_ref)
        self._notes = Notes(job.options.max_problems)
        self._sample = RowSample(job.options)

    def check(self, span: Span) -> None:
        """Check one row and take note of what was found."""
        read = self._reader.read(span)
        if isinstance(read, Check):
            self._notes.add_unreadable(span)
            self._notes.count((read.rule,))
            self._notes.add([read], span)
            return
        label = read_label(read.expected_action)
        self._notes.kinds[UNREADABLE if isinstance(label, Check) else kind_of(label)] += 1
        has_scalars = not isinstance(label, Check) and holds_scalars(label)
        request = self._check_request(read, label, has_scalars)
        agent = self._check_agent(read, label, has_scalars)
        broken = [*request.broken, *agent.broken]
        if self._options.asks_for_fields:
            self._notes.count(self._options.field_rules)
            broken += check_fields(read.line, self._options)
        self._notes.count(ROW_RULES, *request.checked, *agent.checked)
        is_violation = bool(broken) and self._notes.add(broken, span)
        key = sha256(b"".join((request.digest, b"\0", read.expected_action))).digest()[:KEY_BYTES]
        self._notes.add_row(key, span)
        if self._with_tasks:
            self._notes.add_task(task_of(read.line), span)
        if not is_violation:
            self._sample.draw(key, span)

    def findings(self, spans: LineSpans) -> PartFindings:
        """What was found, when all rows were checked."""
        return self._notes.findings(spans, sample=self._sample.rows(), unchecked=self._agent.unchecked)

    def _check_request(self, read: ReadRow, label: AnyLabel | Check, has_scalars: bool) -> _Said:
        """What request and label break, and a digest of the request."""
        broken = [label] if isinstance(label, Check) else []
        if read.fields is None:
            return _Said((("P002",),), [Check("P002", REQUEST, "missing"), *broken])
        request = self._request.check(read.fields, read)
        broken += request.broken
        checked = _CHECKED_OF_LABEL.get(type(label), (REQUEST_RULES,))
        if type(label) is CallLabel or type(label) is BatchLabel:
            broken += check_label(label, request, has_scalars=has_scalars)
        if not read.has_items:
            return _Said(checked, broken, request.digest)
        broken += self._input.check(read.known, read.items)
        return _Said((INPUT_RULES, *checked), broken, request.digest + self._input.digest())

    def _check_agent(self, read: ReadRow, label: AnyLabel | Check, has_scalars: bool) -> _Said:
        """What the agent breaks, and the label under the config that the agent leads to."""
        agent = self._agent.check(read.agent_ref)
        scoring = agent.scoring
        if scoring is None or isinstance(label, Check):
            return _Said((agent.rules,), agent.broken)
        broken: Sequence[Check] = [*agent.broken, *scoring.broken]
        if scoring.comparator is not None and not (has_scalars and scoring.takes_scalars):
            broken = [*broken, *check_score(read.expected_action, read.tools, scoring.comparator)]
        return _Said((agent.rules, scoring.rules), broken)
