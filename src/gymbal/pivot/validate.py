"""Holds a pivot dataset to the rules of `gymbal.pivot.rules`, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import msgspec

from gymbal.io.jsonl import Line, read_lines
from gymbal.model.pivot import ActionKind, ValidationReport, Violation
from gymbal.pivot.check_input import SeenItem, check_input
from gymbal.pivot.check_row import check_fields, check_label, is_list
from gymbal.pivot.config import GymConfig
from gymbal.pivot.parse import (
    LABEL,
    REQUEST,
    AnyLabel,
    Check,
    PivotRow,
    kind_of,
    read_agent,
    read_label,
    read_row,
)
from gymbal.pivot.row import KEY_BYTES
from gymbal.pivot.rules import RULES, Severity
from gymbal.pivot.scorer import Scorer, scorer_for
from gymbal.verify import Comparator, UnscorableError

UNREADABLE = "unreadable"


class _Findings:
    """What the rows broke so far: counts of everything, texts of the first few."""

    def __init__(self, max_problems: int) -> None:
        self.checked: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.first_warning: dict[str, str] = {}
        self.violations: list[Violation] = []
        self.violation_count = 0
        self._max_problems = max_problems

    def add(self, checks: list[Check], line: Line) -> None:
        """Take note of all checks of one row."""
        self.checked.update({check.rule for check in checks})
        self.broken.update({check.rule for check in checks if check.found is not None})
        for check in checks:
            if check.found is None:
                continue
            if RULES[check.rule].severity is Severity.WARNING:
                where = f"line {line.number}, {check.key}: {check.found}"
                self.first_warning.setdefault(check.rule, where)
                continue
            self.violation_count += 1
            if len(self.violations) < self._max_problems:
                self.violations.append(
                    Violation(
                        rule=check.rule,
                        line=line.number,
                        offset=line.offset,
                        key=check.key,
                        found=check.found,
                        expected=RULES[check.rule].statement,
                    )
                )


class _Scorers:
    """The comparator of each agent that rows name, looked up once."""

    def __init__(self, config: GymConfig | None) -> None:
        self._config = config
        self.found: dict[str | None, Scorer] = {}

    def of(self, agent: str | None) -> Scorer | None:
        """None without a config."""
        if self._config is None:
            return None
        if agent not in self.found:
            self.found[agent] = scorer_for(self._config, agent)
        return self.found[agent]


@dataclass
class _Memory:
    """What earlier rows leave behind for later ones."""

    items: list[SeenItem] = field(default_factory=list)
    """Those of the row before."""
    first_lines: dict[bytes, int] = field(default_factory=dict)
    """First line of each request and label, by their digest."""


def validate(
    path: Path, config: GymConfig | None, *, config_path: str | None = None, max_problems: int = 20
) -> ValidationReport:
    """Check every row of the JSONL file `path` in one pass, holding two rows and a digest of each.

    Rules that need a config are skipped without one, and the report says so. A broken row is a violation,
    not an error; InputError is raised only for a file that cannot be read.
    """
    findings = _Findings(max_problems)
    scorers = _Scorers(config)
    memory = _Memory()
    split: Counter[str] = Counter()
    for line in read_lines(path):
        checks, kind = _check_line(line, scorers, memory)
        findings.add(checks, line)
        split[kind] += 1
    rows = split.total()
    return ValidationReport(
        path=str(path),
        config=config_path,
        rows=rows,
        split={name: split[name] for name in (*ActionKind, *([UNREADABLE] if split[UNREADABLE] else []))},
        violations=tuple(findings.violations),
        violation_count=findings.violation_count,
        warnings=tuple(_warnings(findings, scorers, rows, has_config=config is not None)),
        rules={rule: findings.checked[rule] for rule in RULES},
    )


def _check_line(line: Line, scorers: _Scorers, memory: _Memory) -> tuple[list[Check], str]:
    """The rules checked on one line, and the kind of its label."""
    row = read_row(line.data)
    if isinstance(row, Check):
        return [row], UNREADABLE
    label = read_label(row)
    checks = [Check("P001"), *_check_request(row, label, memory)]
    checks.append(_check_duplicate(row, line.number, memory))
    agent = read_agent(row)
    checks.append(agent if isinstance(agent, Check) else Check("P017"))
    if isinstance(label, Check):
        return [*checks, label], UNREADABLE
    checks.append(Check("P003"))
    scorer = None if isinstance(agent, Check) else scorers.of(agent)
    if scorer is not None:
        checks += _check_scoring(row, scorer)
    return checks, kind_of(label)


def _check_request(row: PivotRow, label: AnyLabel | Check, memory: _Memory) -> Iterator[Check]:
    fields = row.responses_create_params
    if fields is None:
        yield Check("P002", REQUEST, "missing")
        return
    yield from check_fields(fields)
    if not isinstance(label, Check):
        yield from check_label(label, fields)
    if is_list(fields.get("input")):
        checks, memory.items = check_input(fields["input"], memory.items)
        yield from checks


def _check_duplicate(row: PivotRow, number: int, memory: _Memory) -> Check:
    digest = sha256(row.expected_action)
    for name, value in (row.responses_create_params or {}).items():
        digest.update(b"\0%b\0" % name.encode())
        digest.update(value)
    first = memory.first_lines.setdefault(digest.digest()[:KEY_BYTES], number)
    return Check("P021", REQUEST, None if first == number else f"same as line {first}")


def _check_scoring(row: PivotRow, scorer: Scorer) -> Iterator[Check]:
    if scorer.broken is not None:
        # A row without a known agent says nothing about that agent's server.
        if scorer.broken.rule == "P019":
            yield Check("P018")
        yield Check(*scorer.broken)
        return
    yield Check("P018")
    yield Check("P019")
    if scorer.comparator is not None:
        yield _check_self_score(row, scorer.comparator)
        yield _check_threshold(scorer.comparator)


def _check_self_score(row: PivotRow, comparator: Comparator) -> Check:
    try:
        score = comparator.score_label(msgspec.json.decode(row.expected_action))
    except UnscorableError as error:
        return Check("P020", error.key, error.message)
    return Check("P020", LABEL, None if score.reward == 1.0 else f"scores {score.reward}: {score.category}")


def _check_threshold(comparator: Comparator) -> Check:
    threshold = comparator.config.word_count_similarity_threshold
    found = None if 0.0 < threshold <= 0.5 else f"word_count_similarity_threshold is {threshold}"
    return Check("P022", "tool_call_comparator_config", found)


def _warnings(findings: _Findings, scorers: _Scorers, rows: int, *, has_config: bool) -> Iterator[str]:
    if not rows:
        yield "the file holds no rows"
    if not has_config:
        skipped = ", ".join(code for code, rule in RULES.items() if rule.needs_config)
        yield f"{skipped} were not checked: no config was given"
    for scorer in scorers.found.values():
        if scorer.unchecked is not None:
            yield f"P020, P022 were not checked: {scorer.unchecked}"
    for rule in RULES:
        if rule in findings.first_warning:
            yield (
                f"{rule} ({RULES[rule].statement}): broken by {findings.broken[rule]} rows, first by "
                f"{findings.first_warning[rule]}"
            )
