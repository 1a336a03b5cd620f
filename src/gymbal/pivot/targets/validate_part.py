"""Checks the rows of one part of a dataset for a target beside the single-step one.

What such a row shares with any other is checked by the same code; the label is read and scored by its target.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import msgspec

from gymbal.io.line_spans import LineSpans, Span
from gymbal.model.json_fields import Fields, decode_fields
from gymbal.model.target import Target
from gymbal.pivot.check_input import INPUT_RULES, InputChecker
from gymbal.pivot.check_row import RequestChecker, RequestVerdict
from gymbal.pivot.parse import AGENT, LABEL, REQUEST, Check, read_agent
from gymbal.pivot.row import KEY_BYTES
from gymbal.pivot.row_reader import ReadRow, RowReader
from gymbal.pivot.rules import not_checked
from gymbal.pivot.targets.contract import ReadLabel
from gymbal.pivot.targets.json_schema import is_number
from gymbal.pivot.targets.registry import row_target
from gymbal.pivot.targets.row_fields import check_row_fields
from gymbal.pivot.targets.rules import LINKED, REQUEST_RULE, REQUEST_RULES, ROW_FIELDS_RULE, rules_of
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.targets.terminus_judge import ANSWER
from gymbal.pivot.validate_options import ValidateOptions, check_fields, task_of
from gymbal.pivot.validate_part import UNREADABLE, Notes, PartFindings, PartJob, RowSample
from gymbal.pivot.wiring import GymConfig, Wired, key_of, server_problem, wired

NO_TOOLS = b"[]"


class TargetJob(NamedTuple):
    """What a worker checks."""

    job: PartJob
    target: Target


def check_target_part(job: TargetJob) -> PartFindings:
    """Check one part; raise InputError for a file that cannot be read."""
    checker = _RowChecker(job)
    spans = LineSpans(job.job.path, job.job.start, job.job.stop, is_strict=True)
    for span in spans:
        checker.check(span)
    return checker.findings(spans)


class _RowChecker:
    """Checks the rows of a part one after another."""

    def __init__(self, job: TargetJob) -> None:
        target = row_target(job.target)
        if target is None:
            raise ValueError(f"{job.target} has a validation of its own")
        self._options = job.job.options
        self._with_tasks = job.job.with_tasks
        self._target = target
        self._reader = RowReader()
        self._request = RequestChecker()
        self._input = InputChecker()
        self._links = _Links(job.target, job.job.config, self._options)
        self._notes = Notes(self._options.max_problems, rules_of(job.target))
        self._sample = RowSample(self._options)
        self._unchecked: dict[str, None] = {}

    def check(self, span: Span) -> None:
        """Check one row and take note of what was found."""
        before = self._notes.violation_count
        read = self._reader.read(span)
        if isinstance(read, Check):
            self._notes.add_unreadable(span)
            found = read if read.rule == "P001" else read._replace(rule=REQUEST_RULE)
            self._note((found.rule,), [found], span)
            return
        row = decode_fields(read.line)
        request, request_key = self._check_request(read, span)
        tools = NO_TOOLS if read.tools is None else read.tools
        label = self._target.read(row, request.tools)
        kind = label.kind
        self._notes.kinds[UNREADABLE if kind is None else kind] += 1
        checked = ("P001", "P021", *{check.rule for check in label.checks})
        self._note(checked, [check for check in label.checks if check.found is not None], span)
        self._note((ROW_FIELDS_RULE,), check_row_fields(row, self._target.target), span)
        self._check_agent(read, row, label, tools, span)
        if self._options.asks_for_fields:
            self._note(self._options.field_rules, check_fields(read.line, self._options), span)
        says = b"\0".join(bytes(row.get(name, b"")) for name in (LABEL, ANSWER, "metadata", "harness"))
        key = sha256(b"%b\0%b" % (request_key, says)).digest()[:KEY_BYTES]
        self._notes.add_row(key, span)
        if self._notes.violation_count == before:
            self._sample.draw(key, span)
        if self._with_tasks:
            self._notes.add_task(task_of(read.line), span)

    def findings(self, spans: LineSpans) -> PartFindings:
        """What was found, when all rows were checked."""
        return self._notes.findings(spans, sample=self._sample.rows(), unchecked=list(self._unchecked))

    def _note(self, checked: tuple[str, ...], broken: list[Check], span: Span) -> None:
        self._notes.count(checked)
        self._notes.add(broken, span)

    def _check_request(self, read: ReadRow, span: Span) -> tuple[RequestVerdict, bytes]:
        """Note what the request breaks; return the verdict and a digest. A list of tools may be missing."""
        fields = read.fields
        if fields is None:
            self._note((REQUEST_RULE,), [Check(REQUEST_RULE, REQUEST, "missing")], span)
            fields = {}
        request = self._request.check(
            fields, read if read.tools else msgspec.structs.replace(read, tools=NO_TOOLS)
        )
        if read.fields is None:
            return request, b""
        broken = [
            check._replace(rule=REQUEST_RULE) if check.rule == "P002" else check for check in request.broken
        ]
        self._note(REQUEST_RULES, broken, span)
        if not read.has_items:
            return request, request.digest
        self._note(INPUT_RULES, self._input.check(read.known, read.items), span)
        return request, request.digest + self._input.digest()

    def _check_agent(self, read: ReadRow, row: Fields, label: ReadLabel, tools: bytes, span: Span) -> None:
        """Note what the agent breaks, and the label under the config that the agent leads to."""
        agent = read_agent(read.agent_ref)
        if isinstance(agent, Check):
            self._note(("P017",), [agent], span)
            return
        link = self._links.of(agent)
        self._note(link.checked, list(link.broken), span)
        if link.unknown is not None:
            self._unchecked[not_checked(LINKED, link.unknown)] = None
        if link.wired is None or label.kind is None or not label.can_score:
            return
        score = self._target.self_score(row, tools, link.wired.settings)
        if score.reward is None:
            self._unchecked[not_checked(("P404",), score.why)] = None
            return
        found = None if score.reward == 1.0 else f"scores {score.reward}: {score.why}"
        self._note(("P404",), [] if found is None else [Check("P404", LABEL, found)], span)


class _Link(NamedTuple):
    """What there is to say to an agent."""

    checked: tuple[str, ...]
    broken: tuple[Check, ...]
    wired: Wired | None
    """Where the agent leads to; None where that is not the target's server."""
    unknown: str | None = None
    """Why it is not known where the agent leads to."""


class _Links:
    """Follows the agents of rows through the config, each of them once."""

    def __init__(self, target: Target, config: GymConfig | None, options: ValidateOptions) -> None:
        self._target = target
        self._config = config
        self._is_required = options.require_agent_ref
        self._known: dict[str | None, _Link] = {}

    def of(self, agent: str | None) -> _Link:
        if agent not in self._known:
            self._known[agent] = self._follow(agent)
        return self._known[agent]

    def _follow(self, agent: str | None) -> _Link:
        if self._config is None:
            missing = (Check("P025", AGENT, "missing"),) if agent is None and self._is_required else ()
            return _Link(("P017", "P025") if self._is_required else ("P017",), missing, None)
        link = wired(self._config, agent)
        if link.unknown is not None:
            return _Link(("P017",), (), None, link.unknown)
        if link.agent is None:
            return _Link(("P017", "P402"), (Check("P402", key_of(agent), link.problem),), None)
        problem = server_problem(link, self._target)
        if problem is not None:
            return _Link(("P017", "P402", "P403"), (Check("P403", key_of(agent), problem),), None)
        server = SERVERS[self._target]
        threshold = server.threshold_in(link.settings)
        fits = threshold is None or (is_number(threshold) and 0.0 < threshold <= 1.0)
        found = Check("P405", server.threshold_key, f"is {str(threshold)[:80]}")
        return _Link(("P017", "P402", "P403", "P405"), () if fits else (found,), link)
