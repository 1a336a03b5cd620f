"""What a validation holds rows of the other verifiers to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows
from target_builds import build, text
from target_labels import ANSWER_1, ANSWER_2, Json, swe_row

from gymbal.commands.pivot_validate import pivot_validate
from gymbal.model.pivot import ValidationReport
from gymbal.model.target import Target

REQUEST = {"input": [{"role": "user", "content": "go"}]}
AGENT = {"type": "responses_api_agents", "name": "x_agent"}


def validate(tmp_path: Path, *rows: Json, target: str | None = None, **options: Any) -> ValidationReport:
    path = tmp_path / "rows.jsonl"
    filled = [{"responses_create_params": REQUEST, "agent_ref": AGENT} | row for row in rows]
    write_rows(path, filled)
    return pivot_validate(path, target=target, **options)


def broken(report: ValidationReport) -> set[str]:
    return {violation.rule for violation in report.violations}


def config(tmp_path: Path, server: str, **settings: Any) -> Path:
    reference = {"type": "resources_servers", "name": "x_server"}
    blocks = {
        "x_server": {"resources_servers": {server: {"entrypoint": "app.py", **settings}}},
        "x_agent": {"responses_api_agents": {"any": {"resources_server": reference}}},
    }
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(blocks))  # JSON is YAML
    return path


@pytest.mark.parametrize(
    ("target", "output", "options"),
    [
        (Target.SWE_PIVOT, "COCOM", {}),
        (Target.TERMINUS_JUDGE, [text(json.dumps(ANSWER_1))], {}),
        (Target.TERMINAL_MULTI_HARNESS, "RCOCCOOM", {"harness": "opencode"}),
    ],
)
def test_built_rows_validate_clean_under_their_own_config(
    tmp_path: Path, target: Target, output: Any, options: Json
) -> None:
    metrics, _ = build(tmp_path, output, target, **options)
    report = pivot_validate(tmp_path / "dataset")
    assert (report.target, report.rows, report.violations) == (target, metrics.kept, ())
    assert report.warnings == ()
    assert report.rules["P404"] == metrics.kept
    sides = pivot_validate(tmp_path / "dataset", engine="processes", workers=2)
    assert sides == report


def test_swe_pivot_rows_need_no_tools_but_a_call(tmp_path: Path) -> None:
    report = validate(tmp_path, swe_row("edit", {"path": "a"}), target="swe_pivot")
    assert report.violations == ()
    assert any(warning.startswith("P102") for warning in report.warnings)
    message = {"expected_action": {"type": "message", "content": "x"}}
    assert broken(validate(tmp_path, message, target="swe_pivot")) == {"P101"}
    torn = {"expected_action": {"type": "function_call", "name": "edit", "arguments": "{"}}
    assert broken(validate(tmp_path, torn, target="swe_pivot")) == {"P005"}


def test_terminus_judge_rows_need_an_answer_of_a_known_harness(tmp_path: Path) -> None:
    good = {"expected_answer": json.dumps(ANSWER_2), "metadata": {"harness": "terminus_2"}}
    assert validate(tmp_path, good).violations == ()
    for row, rule in (
        ({"metadata": {"harness": "terminus_2"}}, "P201"),
        (good | {"metadata": {"harness": "terminus_3"}}, "P202"),
        (good | {"expected_answer": json.dumps(ANSWER_1)}, "P203"),
        (good | {"expected_answer": "ls"}, "P203"),
    ):
        assert broken(validate(tmp_path, row, target="terminus_judge")) == {rule}


def test_config_must_lead_to_the_server_of_the_target(tmp_path: Path) -> None:
    row = swe_row("edit", {"path": "a"})
    right = config(tmp_path, "swe_pivot", similarity_full_credit=0.8)
    assert validate(tmp_path, row, config=right).target is Target.SWE_PIVOT
    assert validate(tmp_path, row, config=right).violations == ()
    wrong = config(tmp_path, "terminus_judge")
    assert broken(validate(tmp_path, row, config=wrong, target="swe_pivot")) == {"P403"}
    stranger = row | {"agent_ref": AGENT | {"name": "nobody"}}
    right = config(tmp_path, "swe_pivot")
    assert broken(validate(tmp_path, stranger, config=right, target="swe_pivot")) == {"P402"}


def test_config_of_multi_harness_must_set_the_threshold(tmp_path: Path) -> None:
    row = {"harness": "codex", "expected_action": {"type": "message", "content": "done"}}
    lacking: list[Json] = [{}, {"tool_call_comparator_config": {}}]
    for settings in lacking:
        bare = config(tmp_path, "terminal_multi_harness", **settings)
        assert broken(validate(tmp_path, row, config=bare)) == {"P403"}
    right = config(
        tmp_path, "terminal_multi_harness", tool_call_comparator_config={"string_similarity_threshold": 0.9}
    )
    assert validate(tmp_path, row, config=right).violations == ()


def test_config_whose_includes_are_missing_leaves_the_links_unchecked(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("config_paths: [nowhere/base.yaml]\n")
    report = validate(tmp_path, swe_row("edit", {"path": "a"}), config=path, target="swe_pivot")
    assert report.violations == ()
    assert [report.rules[rule] for rule in ("P402", "P403", "P404", "P405")] == [0, 0, 0, 0]
    assert report.warnings[0] == (
        "P402, P403, P404, P405 were not checked: the config takes nowhere/base.yaml from elsewhere"
    )


def test_labels_are_scored_under_the_config(tmp_path: Path) -> None:
    row = swe_row("edit", {"command": "view", "view_range": [7, 7]})
    strict = config(tmp_path, "swe_pivot")
    assert broken(validate(tmp_path, row, config=strict)) == {"P404"}
    loose = config(tmp_path, "swe_pivot", enable_target_match=False)
    assert validate(tmp_path, row, config=loose).violations == ()
    never = config(tmp_path, "swe_pivot", similarity_full_credit=1.5)
    report = validate(tmp_path, swe_row("edit", {"new_str": "a"}), config=never)
    assert broken(report) == {"P404"}
    assert any(warning.startswith("P405") for warning in report.warnings)


def test_a_judge_model_leaves_the_score_unchecked(tmp_path: Path) -> None:
    row = {"expected_answer": json.dumps(ANSWER_1), "metadata": {"harness": "terminus_1"}}
    report = validate(tmp_path, row, config=config(tmp_path, "terminus_judge"))
    assert (report.violations, report.rules["P404"]) == ((), 0)
    assert "P404 were not checked: a judge model alone decides" in report.warnings


MESSAGE: Json = {"expected_action": {"type": "message", "content": "done"}}
TERMINAL: Json = {"expected_answer": json.dumps(ANSWER_1), "metadata": {"harness": "terminus_1"}}


@pytest.mark.parametrize(
    ("target", "row", "key"),
    [
        ("swe_pivot", {"metadata": None, "uuid": 7}, None),
        ("swe_pivot", {"metadata": "x"}, "metadata"),
        ("swe_pivot", {"metadata": False}, "metadata"),
        ("swe_pivot", {"expected_answer": {}}, "expected_answer"),
        ("terminus_judge", TERMINAL | {"threshold": "0.9"}, None),
        ("terminus_judge", TERMINAL | {"threshold": [0.9]}, "threshold"),
        ("terminus_judge", TERMINAL | {"uuid": {}}, "uuid"),
        ("terminal_multi_harness", MESSAGE, None),
        ("terminal_multi_harness", MESSAGE | {"declared_tools": None}, None),
        ("terminal_multi_harness", MESSAGE | {"harness": None}, "harness"),
        ("terminal_multi_harness", MESSAGE | {"harness": 5}, "harness"),
        ("terminal_multi_harness", MESSAGE | {"declared_tools": [{}, "grep"]}, "declared_tools[1]"),
        ("terminal_multi_harness", MESSAGE | {"declared_tools": {}}, "declared_tools"),
    ],
)
def test_rows_have_fields_that_the_server_takes(
    tmp_path: Path, target: str, row: Json, key: str | None
) -> None:
    """What Gym 0.7.0's request model of each server takes; `test_gym_targets.py` asks it."""
    label = swe_row("edit", {"path": "a"}) if target == "swe_pivot" else {}
    report = validate(tmp_path, label | row, target=target)
    assert [(each.rule, each.key) for each in report.violations] == ([] if key is None else [("P406", key)])


def test_rows_of_targets_are_held_to_the_shared_rules(tmp_path: Path) -> None:
    row = swe_row("edit", {"path": "a"})
    report = validate(tmp_path, row, row, target="swe_pivot")
    assert [(violation.rule, violation.line) for violation in report.violations] == [("P021", 2)]
    other = row | {"responses_create_params": {"input": [], "metadata": 3}}
    assert broken(validate(tmp_path, other, target="swe_pivot")) == {"P011", "P401"}
    assert broken(validate(tmp_path, row | {"responses_create_params": None}, target="swe_pivot")) == {"P401"}
