"""A16: a row offers all tools of its trajectory, as they were offered there."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from converter import ROWS, Row, audited, broken, convert, reasons
from episodes import TOOLS, items_of, rollout
from json_rows import write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.model.audit import AuditReport, RuleStatus

KEY = "responses_create_params.tools"
OTHER: Row = {"type": "function", "name": "reach", "description": None, "parameters": {}, "strict": True}
CALLS = [(0, 1), (2, 3)]


def audit_edited(folder: Path, edit: Callable[[list[Row]], object]) -> AuditReport:
    """The audit of rows whose second one has its tools edited."""
    source = [rollout("COM", tools=[*TOOLS, OTHER])]
    rows = convert(source, [CALLS])
    edit(rows[1]["responses_create_params"]["tools"])
    return audited(folder, rows, source)


FAULTS: dict[str, tuple[Callable[[list[Row]], object], str, str]] = {
    "cut to the one that is used": (lambda tools: tools.pop(), KEY, "lacks 1 of 2 tools: reach"),
    "none": (lambda tools: tools.clear(), KEY, "lacks 2 of 2 tools: look, reach"),
    "one twice": (lambda tools: tools.append(tools[0]), KEY, "holds 1 tools more: look"),
    "another order": (lambda tools: tools.reverse(), KEY, "the tools stand in another order"),
    "another description": (
        lambda tools: tools[0].update(description="Stares."),
        f"{KEY}[0]",
        "another description of look",
    ),
    "other parameters": (
        lambda tools: tools[0]["parameters"]["properties"].clear(),
        f"{KEY}[0]",
        "another parameters of look",
    ),
    "no longer strict": (lambda tools: tools[1].update(strict=False), f"{KEY}[1]", "another strict of reach"),
}


@pytest.mark.parametrize(("edit", "key", "found"), FAULTS.values(), ids=FAULTS)
def test_audit_finds_other_tools(
    tmp_path: Path, edit: Callable[[list[Row]], object], key: str, found: str
) -> None:
    report = audit_edited(tmp_path, edit)
    assert broken(report) == [("A16", ROWS, 2, key)]
    assert report.problems[0].found == found


def test_audit_finds_a_row_without_a_list_of_tools(tmp_path: Path) -> None:
    source = [rollout("COM")]
    rows = convert(source, [CALLS])
    del rows[0]["responses_create_params"]["tools"]
    rows[1]["responses_create_params"]["tools"] = {"look": {}}
    report = audited(tmp_path, rows, source)
    assert [(problem.line, problem.found) for problem in report.problems] == [
        (1, "lacks 1 of 1 tools: look"),
        (2, "no list of tools"),
    ]


def encode_again(tools: list[Row]) -> None:
    tools[0] = dict(reversed(tools[0].items())) | {"defer_loading": None}
    del tools[0]["strict"], tools[1]["description"]
    tools[1]["parameters"] = {"type": "object", "properties": {}}


def test_audit_takes_tools_that_say_the_same_in_another_way(tmp_path: Path) -> None:
    report = audit_edited(tmp_path, encode_again)
    assert broken(report) == []
    assert reasons(report, "A16") == (RuleStatus.PASSED, {})


@pytest.mark.parametrize("strict", [True, False, None])
def test_audit_takes_any_strict_where_the_source_says_none(tmp_path: Path, strict: bool | None) -> None:
    message = {"role": "assistant", "content": "Yes."}
    chat = {
        "messages": [{"role": "user", "content": "Say yes."}, message],
        "tools": [{"type": "function", "function": {"name": "look", "description": "Looks."}}],
    }
    source = write_rows(tmp_path / "chat.jsonl", [chat])
    pivot_build(source, tmp_path / "set")
    rows = [json.loads(line) for line in (tmp_path / "set" / "pivots.jsonl").read_text().splitlines()]
    (tool,) = rows[0]["responses_create_params"]["tools"]
    tool["strict"], tool["parameters"] = strict, None
    report = pivot_audit(write_rows(tmp_path / ROWS, rows), source)
    assert (broken(report), reasons(report, "A16")) == ([], (RuleStatus.PASSED, {}))


@pytest.mark.parametrize("is_supplied", [True, False])
def test_audit_skips_tools_that_the_source_does_not_list(tmp_path: Path, is_supplied: bool) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M", tools=[])])
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    given = tools if is_supplied else None
    pivot_build(source, tmp_path / "set", tools=given)
    report = pivot_audit(tmp_path / "set", source, tools=given)
    assert broken(report) == []
    assert reasons(report, "A16") == (RuleStatus.SKIPPED, {"the source lists no tools": 1})


def test_audit_gives_a_row_the_attempt_with_its_tools(tmp_path: Path) -> None:
    # Two attempts that differ in nothing else: a row without provenance is of the one that has its tools.
    source = [rollout(items_of("COM"), tools=each) for each in ([*TOOLS, OTHER], TOOLS)]
    rows: list[Any] = copy.deepcopy(convert(source, [CALLS, CALLS]))
    for row in rows:
        del row["pivot_info"]
        tools = row["responses_create_params"]["tools"]
        tools[0] = dict(reversed(tools[0].items()))
    assert broken(audited(tmp_path, rows[::-1], source)) == []
