"""`pivot_validate`: every rule is broken once by an edit of a good dataset, and holds before the edit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import call, item_of, rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, UsageError
from gymbal.model.pivot import ValidationReport
from gymbal.pivot.rules import RULES, Severity
from gymbal.pivot.validate_options import ValidateOptions

Row = dict[str, Any]
Edit = Callable[[Row], object]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A message, a call and a batch row, in this order: the seed differs, so that none is a duplicate."""
    rows = [rollout("M"), rollout("C", seed="SUSU"), rollout("RCCOO", seed="U")]
    pivot_build(write_rows(tmp_path / "rollouts.jsonl", rows), tmp_path / "dataset")
    return tmp_path / "dataset"


def edit(dataset: Path, line: int, change: Edit) -> None:
    path = dataset / "pivots.jsonl"
    rows = read_rows(path)
    change(rows[line - 1])
    write_rows(path, rows)


def broken(report: ValidationReport) -> list[tuple[str, int, str]]:
    return [(violation.rule, violation.line, violation.key) for violation in report.violations]


def params(change: Edit) -> Edit:
    return lambda row: change(row["responses_create_params"])


def inputs(change: Callable[[list[Any]], object]) -> Edit:
    return lambda row: change(row["responses_create_params"]["input"])


def test_validate_passes_what_build_wrote(dataset: Path) -> None:
    report = pivot_validate(dataset)
    assert report.violations == ()
    assert report.warnings == ()
    assert report.config == str(dataset / "config.yaml")
    assert report.split == {"message": 1, "function_call": 1, "function_call_batch": 1}
    unasked = ("P025", "P026", "P027", "P028", "P029", "P030", "P031")
    by_label = {"P004": 1, "P005": 2, "P006": 2, "P009": 1}
    assert report.rules == dict.fromkeys(RULES, 3) | by_label | dict.fromkeys(unasked, 0)


REQUEST, INPUT = "responses_create_params", "responses_create_params.input"


@pytest.mark.parametrize(
    ("line", "change", "found"),
    [
        (1, lambda row: row.pop(REQUEST), [("P002", REQUEST)]),
        (1, lambda row: row.update(responses_create_params=7), [("P002", REQUEST)]),
        (1, params(lambda p: p.pop("tools")), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(input="text")), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(top_k=1)), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(parallel_tool_calls="yes")), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(temperature="hot")), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(store="on disk")), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(stream=True)), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(metadata={"seed": 1})), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(prompt={"a": 1})), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(conversation={})), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(text={"format": {"type": "xml"}})), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(include=["everything"])), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(reasoning={"effort": "boundless"})), [("P002", REQUEST)]),
        (1, params(lambda p: p.update(temperature=0.6, metadata={"seed": "1"}, stream=False)), []),
        (1, lambda row: row.pop("expected_action"), [("P003", "expected_action")]),
        (3, lambda row: row["expected_action"]["calls"][1].pop("type"), [("P003", "expected_action")]),
        (1, lambda row: row["expected_action"].pop("content"), [("P003", "expected_action")]),
        (1, lambda row: row["expected_action"].update(type="diff"), [("P003", "expected_action")]),
        (3, lambda row: row["expected_action"]["calls"].pop(), [("P004", "expected_action.calls")]),
        (
            3,
            lambda row: row["expected_action"]["calls"][1].update(arguments="[]"),
            [("P005", "expected_action.calls[1].arguments")],
        ),
        (2, lambda row: row["expected_action"].update(name="Look"), [("P006", "expected_action.name")]),
        (1, params(lambda p: p["tools"][0].pop("strict")), [("P007", f"{REQUEST}.tools")]),
        (1, params(lambda p: p.update(tool_choice="required")), [("P008", f"{REQUEST}.tool_choice")]),
        (1, params(lambda p: p.update(tool_choice=None)), [("P008", f"{REQUEST}.tool_choice")]),
        (
            3,
            params(lambda p: p.update(parallel_tool_calls=False)),
            [("P009", f"{REQUEST}.parallel_tool_calls")],
        ),
        (1, inputs(lambda items: items.clear()), [("P011", INPUT)]),
        (1, inputs(lambda items: items.append({"role": "user"})), [("P012", f"{INPUT}[2]")]),
        (1, inputs(lambda items: items.append(7)), [("P012", f"{INPUT}[2]")]),
        (1, inputs(lambda items: items.append({"type": "diff"})), [("P012", f"{INPUT}[2]")]),
        (1, inputs(lambda items: items.append(item_of("R", 0) | {"id": None})), [("P013", f"{INPUT}[2]")]),
        (
            1,
            inputs(
                lambda items: items.append({"type": "function_call_output", "call_id": "c", "output": ""})
            ),
            [("P014", f"{INPUT}[2]")],
        ),
        (1, inputs(lambda items: items.insert(0, call("c", "{}"))), [("P015", INPUT)]),
        (1, inputs(lambda items: items.append(call("c", "{}"))), [("P016", f"{INPUT}[2]")]),
        (1, lambda row: row.update(agent_ref="a"), [("P017", "agent_ref")]),
        (1, lambda row: row["agent_ref"].update(type="models"), [("P017", "agent_ref.type")]),
        (1, lambda row: row["agent_ref"].update(name="nobody"), [("P018", "agent_ref.name")]),
    ],
)
def test_validate_names_the_rule_line_and_key(
    dataset: Path, line: int, change: Edit, found: list[tuple[str, str]]
) -> None:
    edit(dataset, line, change)
    assert broken(pivot_validate(dataset)) == [(rule, line, key) for rule, key in found]


@pytest.mark.parametrize("record", [b"{", b"7", b'{"a":"\xff"}', b"[" * 100_000])
def test_validate_names_lines_that_are_no_objects(dataset: Path, record: bytes) -> None:
    path = dataset / "pivots.jsonl"
    before = path.read_bytes()
    path.write_bytes(before + record + b"\n")
    report = pivot_validate(dataset)
    assert [(v.rule, v.line, v.offset) for v in report.violations] == [("P001", 4, len(before))]
    assert (report.rows, report.split["unreadable"]) == (4, 1)


def test_validate_finds_equal_rows(dataset: Path) -> None:
    path = dataset / "pivots.jsonl"
    rows = read_rows(path)
    again = rows[1] | {"pivot_info": {}}
    write_rows(path, [*rows, again])
    (violation,) = pivot_validate(dataset).violations
    assert (violation.rule, violation.line, violation.found) == ("P021", 4, "same as line 2")


def test_validate_does_not_take_equal_prefixes_for_equal_rows(dataset: Path) -> None:
    path = dataset / "pivots.jsonl"
    rows = read_rows(path)
    other = rows[1] | {"expected_action": rows[0]["expected_action"]}
    write_rows(path, [*rows, other])
    assert pivot_validate(dataset).violations == ()


@pytest.mark.parametrize(
    ("line", "change", "warning"),
    [
        (1, params(lambda p: p.update(metadata=None, user=None)), "P010"),
        (1, inputs(lambda items: items.append(item_of("H", 0))), "P024"),
        (
            1,
            inputs(
                lambda items: items[0].update(
                    prompt_token_ids=[1], generation_token_ids=[1], generation_log_probs=[0.5]
                )
            ),
            "P023",
        ),
    ],
)
def test_validate_warns_of_what_gym_takes_all_the_same(
    dataset: Path, line: int, change: Edit, warning: str
) -> None:
    edit(dataset, line, change)
    report = pivot_validate(dataset)
    # A hosted call at the end of the input is a call all the same.
    assert [rule for rule, _, _ in broken(report)] == (["P016"] if warning == "P024" else [])
    assert [text[:4] for text in report.warnings] == [warning]
    assert "broken by 1 rows, first by line 1" in report.warnings[0]


def set_config(dataset: Path, before: str, after: str) -> None:
    path = dataset / "config.yaml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_validate_finds_labels_that_no_policy_can_match(dataset: Path) -> None:
    # "place 0" has two words: identical texts score 2 / (2 + 2) = 0.5.
    set_config(dataset, "threshold: 0.1", "threshold: 0.51")
    report = pivot_validate(dataset)
    assert broken(report) == [("P020", 2, "expected_action"), ("P020", 3, "expected_action")]
    assert [text[:4] for text in report.warnings] == ["P022"]


def test_validate_warns_of_a_threshold_that_matches_anything(dataset: Path) -> None:
    set_config(dataset, "threshold: 0.1", "threshold: 0.0")
    report = pivot_validate(dataset)
    assert report.violations == ()
    assert "word_count_similarity_threshold is 0.0" in report.warnings[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: dataset_resources_server", "name: another_resources_server"),
        ("    single_step_tool_use_with_argument_comparison:", "    terminus_judge:"),
        ("tool_call_comparator_config:", "another_config:"),
        ("tool_call_comparator_config:", "tool_call_comparator_config: {}\n      another:"),
        ("word_count_similarity_threshold: 0.1", "word_count_similarity_threshold: null"),
        # Gym refuses a reference to a server of another type.
        ("type: resources_servers", "type: responses_api_models"),
        ("        type: resources_servers\n", ""),
    ],
)
def test_validate_follows_the_config_to_the_comparator(dataset: Path, before: str, after: str) -> None:
    set_config(dataset, before, after)
    report = pivot_validate(dataset, target="single_step")
    assert [violation.rule for violation in report.violations] == ["P019"] * 3
    assert report.rules["P020"] == 0


@pytest.mark.parametrize("value", ["${threshold}", "0.1\n        an_option_of_tomorrow: {}"])
def test_validate_says_when_settings_cannot_be_reproduced(dataset: Path, value: str) -> None:
    set_config(dataset, "threshold: 0.1", f"threshold: {value}")
    report = pivot_validate(dataset)
    assert report.violations == ()
    assert report.rules["P020"] == 0
    assert report.warnings[0].startswith("P020, P022 were not checked: settings of dataset_resources_server")


def test_validate_lets_the_only_agent_route_rows_without_agent_ref(dataset: Path) -> None:
    edit(dataset, 1, lambda row: row.pop("agent_ref"))
    assert pivot_validate(dataset).violations == ()
    config = dataset / "config.yaml"
    config.write_text(config.read_text() + "other_agent: {responses_api_agents: {x: {}}}\n")
    (violation,) = pivot_validate(dataset).violations
    assert (violation.rule, violation.found) == ("P018", "no agent_ref, and the config has 2 agents")


def test_validate_without_config_skips_and_says_so(dataset: Path) -> None:
    report = pivot_validate(dataset / "pivots.jsonl")
    assert report.config is None
    assert report.warnings == ("P018, P019, P020, P022 were not checked: no config was given",)
    assert [report.rules[rule] for rule in ("P018", "P019", "P020", "P022")] == [0, 0, 0, 0]


def test_validate_lists_some_violations_and_counts_all(dataset: Path) -> None:
    for line in (1, 2, 3):
        edit(dataset, line, params(lambda p: p.update(tool_choice="required")))
    report = pivot_validate(dataset, options=ValidateOptions(max_problems=2))
    assert ([violation.line for violation in report.violations], report.violation_count) == ([1, 2], 3)


def test_validate_quotes_little_of_a_row(dataset: Path) -> None:
    edit(dataset, 2, lambda row: row["expected_action"].update(name="x" * 100_000))
    edit(dataset, 1, params(lambda p: p.update({f"{'k' * 1000}{i}": 1 for i in range(50)})))
    assert max(len(violation.found) for violation in pivot_validate(dataset).violations) <= 400


def test_validate_quotes_no_secret_of_a_row(dataset: Path) -> None:
    choice = {"type": "mcp", "headers": {"Authorization": "Bearer FAKEsecret1"}}
    edit(dataset, 1, params(lambda p: p.update(tool_choice=choice)))
    edit(dataset, 2, lambda row: row["expected_action"].update(name="sk-FAKEsecret2"))
    quoted = {violation.rule: violation.found for violation in pivot_validate(dataset).violations}
    assert quoted["P008"] == '{"type": "mcp", "headers": ****}'
    assert quoted["P006"] == "****"


def test_validate_warns_of_a_file_without_rows(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    report = pivot_validate(tmp_path / "empty.jsonl")
    assert (report.rows, report.warnings[0]) == (0, "the file holds no rows")
    assert report.violations == ()


@pytest.mark.parametrize("target", ["single_step", "swe_pivot"])
def test_validate_refuses_blank_lines_and_a_byte_order_mark_as_gym_does(tmp_path: Path, target: str) -> None:
    """Gym decodes every line of a dataset, the last one too, and skips none."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\n \t\r\n{}\n\n")
    report = pivot_validate(path, target=target)
    assert [(each.line, each.offset, each.found) for each in report.violations if each.rule == "P001"] == [
        (1, 0, "begins with a byte order mark"),
        (2, 6, "a blank line"),
        (3, 7, "a blank line"),
        (5, 14, "a blank line"),
    ]
    # A blank line is no row.
    assert (report.rows, report.files[0].lines) == (2, 5)
    path.write_bytes(b"\r\n")
    report = pivot_validate(path, target=target)
    assert (report.rows, [each.rule for each in report.violations]) == (0, ["P001"])
    assert report.warnings[0] == "the file holds no rows"


def test_validate_refuses_what_it_cannot_read(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no pivots\.jsonl"):
        pivot_validate(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        pivot_validate(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        pivot_validate(dataset, config=tmp_path / "absent.yaml")
    with pytest.raises(UsageError, match="max_problems"):
        pivot_validate(dataset, options=ValidateOptions(max_problems=-1))


def test_rules_are_numbered_without_gaps_and_state_what_must_hold() -> None:
    assert list(RULES) == [f"P{number:03}" for number in range(1, len(RULES) + 1)]
    assert all(rule.statement and rule.severity in Severity for rule in RULES.values())


def test_validate_judges_an_item_again_when_it_changed(dataset: Path) -> None:
    # Rows 1 and 2 begin with equal items; the second item of row 2 is then made bad in its own right.
    edit(dataset, 2, inputs(lambda items: items[1].update(content=None)))
    assert broken(pivot_validate(dataset)) == [("P012", 2, f"{INPUT}[1]")]
    rows = read_rows(dataset / "pivots.jsonl")
    assert json.dumps(rows[0]["responses_create_params"]["input"][0]) == json.dumps(
        rows[1]["responses_create_params"]["input"][0]
    )
