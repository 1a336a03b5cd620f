"""Has an installed NeMo Gym judge a sample of rows in which no rule is broken: rules P030 and P031."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gymbal.io.jsonl import read_lines
from gymbal.io.secrets import mask_text
from gymbal.model.pivot import ValidationReport, Violation
from gymbal.model.target import Target
from gymbal.pivot.parse import AGENT, LABEL, MAX_SHOWN_LIST, REQUEST, Check, read_agent, read_row
from gymbal.pivot.rules import RULES, not_checked
from gymbal.pivot.scorer import scorer_for
from gymbal.pivot.targets.registry import row_target
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.targets.validate_part import NO_TOOLS
from gymbal.pivot.validate_part import Drawn
from gymbal.pivot.wiring import GymConfig, server_problem, wired
from gymbal.probe.gym_rows import GymQuestion, GymVerdict, ask_gym_about_rows
from gymbal.readers.base.content import fields_of
from gymbal.readers.base.responses import NULL

Settings = Mapping[str, Any]
_SettingsOf = Callable[[bytes], Settings | None]

Sample = Sequence[tuple[Path, Drawn]]


class _SampleRow(NamedTuple):
    file: Path
    line: int
    offset: int
    question: GymQuestion


def check_with_gym(
    report: ValidationReport,
    sample: Sample,
    config: GymConfig | None,
    python: str | Path,
    *,
    max_problems: int,
) -> ValidationReport:
    """Return `report` with what the Gym beside `python` says to the rows of `sample`.

    They broke no rule here, so whatever Gym says against one is a disagreement. Raises MissingExtraError
    where there is no Gym to ask.
    """
    settings_of = _settings_of(report.target, config)
    rows = list(_read(sample, settings_of))
    answer = ask_gym_about_rows(python, [row.question for row in rows], report.target)
    judged = list(zip(rows, answer.verdicts, strict=True))
    found = [violation for row, verdict in judged for violation in _violations(row, verdict)]
    scored = [each for each in answer.verdicts if each.reward is not None or each.failure is not None]
    order = {file.path: number for number, file in enumerate(report.files)}
    unchecked = dict.fromkeys(each.unchecked for each in answer.verdicts if each.unchecked is not None)
    listed = sorted([*report.violations, *found], key=lambda each: (order[each.file], each.line))
    return msgspec.structs.replace(
        report,
        gym=answer.version,
        violations=tuple(listed[:max_problems]),
        warnings=(*report.warnings, *(not_checked(("P031",), f"in Gym, {why}") for why in unchecked)),
        violation_count=report.violation_count + len(found),
        rules=report.rules | {"P030": len(rows), "P031": len(scored)},
    )


def _read(sample: Sample, settings_of: _SettingsOf) -> Iterator[_SampleRow]:
    for file, drawn in groupby(sample, key=lambda each: each[0]):
        wanted = {each.line for _, each in drawn}
        for line in read_lines(file):
            if line.number in wanted:
                question = GymQuestion(msgspec.Raw(line.data), settings_of(line.data))
                yield _SampleRow(file, line.number, line.offset, question)


def _settings_of(target: Target, config: GymConfig | None) -> _SettingsOf:
    if config is None:
        return lambda line: None
    if target is Target.SINGLE_STEP:
        return partial(_of_comparator, config=config)
    return partial(_of_server, target=target, config=config)


def _of_comparator(line: bytes, *, config: GymConfig) -> Settings | None:
    """The settings of the comparator that scores a row; None where they are not known."""
    row = read_row(line)
    agent = None if isinstance(row, Check) else read_agent(row.agent_ref)
    if isinstance(agent, Check) or scorer_for(config, agent).comparator is None:
        return None
    server = wired(config, agent).server
    return None if server is None else server.comparator


def _of_server(line: bytes, *, target: Target, config: GymConfig) -> Settings | None:
    """The settings of the server that scores a row; None where our own verifier cannot say what it gives."""
    row = fields_of(line)
    agent = read_agent(row.get(AGENT, NULL))
    verifier = row_target(target)
    if isinstance(agent, Check) or verifier is None:
        return None
    link = wired(config, agent)
    tools = bytes(fields_of(bytes(row[REQUEST])).get("tools", NO_TOOLS))
    if server_problem(link, target) or verifier.self_score(row, tools, link.settings).reward is None:
        return None
    return {**link.settings, **SERVERS[target].left_aside}


def _violations(row: _SampleRow, verdict: GymVerdict) -> Iterator[Violation]:
    if verdict.refusal is not None:
        yield _violation("P030", row, REQUEST, verdict.refusal)
    elif verdict.failure is not None:
        yield _violation("P031", row, LABEL, f"fails: {verdict.failure}")
    elif verdict.reward not in (None, 1.0):
        yield _violation("P031", row, LABEL, f"scores {verdict.reward}")


def _violation(rule: str, row: _SampleRow, key: str, found: str) -> Violation:
    return Violation(
        rule=rule,
        file=str(row.file),
        line=row.line,
        offset=row.offset,
        key=key,
        found=mask_text(found)[:MAX_SHOWN_LIST],
        expected=RULES[rule].statement,
    )
