"""Rows for the verifiers beside the single-step one: what a build makes, and what labels score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from episodes import call, items_of, rollout
from json_rows import read_rows, write_rows
from msgspec import Raw
from target_builds import build, skips, text
from target_labels import (
    ANSWER_1,
    ANSWER_2,
    MULTI_HARNESS_LABELS,
    SWE_PIVOT_LABELS,
    TERMINUS_JUDGE_LABELS,
    Json,
    swe_row,
    tool,
)

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_config import pivot_config
from gymbal.commands.pivot_stats import pivot_stats
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.pivot_stats import PivotStats
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.request_tools import read_tools
from gymbal.pivot.targets.detect import target_named, target_of_row
from gymbal.pivot.targets.registry import row_target
from gymbal.pivot.wiring import read_gym_config, target_wired


def self_score(target: Target, row: Json, settings: Json) -> float | None:
    """The reward of the label against itself, as a validation finds it; 0 where it cannot be read."""
    encoded = json.dumps(row).encode()
    fields = msgspec.json.decode(encoded, type=dict[str, Raw])
    tools = json.dumps(row.get("responses_create_params", {}).get("tools", [])).encode()
    contract = row_target(target)
    assert contract is not None
    label = contract.read(fields, read_tools(tools))
    if label.kind is None or not label.can_score:
        return 0.0
    return contract.self_score(fields, tools, settings).reward


def test_swe_pivot_takes_single_tool_calls_only(tmp_path: Path) -> None:
    metrics, rows = build(tmp_path, "MCOCCOOCOM", Target.SWE_PIVOT)
    assert (metrics.candidates, metrics.kept, skips(metrics)) == (4, 2, {"unsupported_action": 2})
    assert [row["expected_action"]["type"] for row in rows] == ["function_call"] * 2
    assert {row["pivot_info"]["target"] for row in rows} == {"swe_pivot"}


@pytest.mark.parametrize(
    ("name", "arguments", "settings", "reward"),
    SWE_PIVOT_LABELS,
)
def test_swe_pivot_scores_a_label_as_the_server_does(
    name: str, arguments: Json, settings: Json, reward: float
) -> None:
    assert self_score(Target.SWE_PIVOT, swe_row(name, arguments), settings) == reward


def test_swe_pivot_reads_its_label_from_three_places() -> None:
    action = swe_row("edit", {"path": "a"})["expected_action"]
    for row in (
        {"expected_action": action},
        {"expected_answer": json.dumps(action)},
        {"metadata": {"expected_action": action}},
    ):
        assert self_score(Target.SWE_PIVOT, row, {}) == 1.0
    assert self_score(Target.SWE_PIVOT, {"expected_action": {"type": "message", "content": "x"}}, {}) == 0.0


def test_swe_pivot_leaves_out_a_view_that_does_not_cover_itself(tmp_path: Path) -> None:
    arguments = {"command": "view", "path": "/a.py", "view_range": [1, -1]}
    output = [call("c", json.dumps(arguments), "edit")]
    source = write_rows(tmp_path / "r.jsonl", [rollout(output, tools=[tool("edit", {})])])
    metrics = pivot_build(source, tmp_path / "d", options=BuildOptions(target=Target.SWE_PIVOT))
    assert skips(metrics) == {"label_rejected": 1}
    assert "does not cover itself" in (tmp_path / "d" / "skipped.jsonl").read_text()


def test_terminus_judge_takes_texts_that_are_answers_of_a_harness(tmp_path: Path) -> None:
    output = [
        *(text(json.dumps(ANSWER_1), 0), *items_of("U")),
        *(text("I think.</think>\n" + json.dumps(ANSWER_2), 1), *items_of("U")),
        *(text("```json\n" + json.dumps(ANSWER_2) + "```", 2), *items_of("U")),
        *(text("not JSON", 3), *items_of("U"), *items_of("CO")),
    ]
    metrics, rows = build(tmp_path, output, Target.TERMINUS_JUDGE)
    assert (metrics.kept, skips(metrics)) == (2, {"unsupported_action": 3})
    assert [json.loads(row["expected_answer"]) for row in rows] == [ANSWER_1, ANSWER_2]
    assert [row["metadata"] for row in rows] == [{"harness": "terminus_1"}, {"harness": "terminus_2"}]
    assert all("expected_action" not in row for row in rows)


def test_terminus_judge_takes_only_the_harness_that_is_asked_for(tmp_path: Path) -> None:
    output = [text(json.dumps(ANSWER_1)), *items_of("U"), text(json.dumps(ANSWER_2), 1)]
    metrics, rows = build(tmp_path, output, Target.TERMINUS_JUDGE, harness="terminus_2")
    assert [row["metadata"]["harness"] for row in rows] == ["terminus_2"]
    assert skips(metrics) == {"unsupported_action": 1}


@pytest.mark.parametrize(
    ("row", "settings", "reward"),
    TERMINUS_JUDGE_LABELS,
)
def test_terminus_judge_scores_a_label_as_the_server_does(row: Json, settings: Json, reward: float) -> None:
    row = row | {"metadata": {"harness": "terminus_1"}}
    assert self_score(Target.TERMINUS_JUDGE, row, settings) == reward


def test_terminus_judge_knows_no_score_where_a_model_judges_alone() -> None:
    row = {"expected_answer": json.dumps(ANSWER_1), "metadata": {"harness": "terminus_1"}}
    assert self_score(Target.TERMINUS_JUDGE, row, {}) is None


def test_multi_harness_rows_carry_harness_and_tools(tmp_path: Path) -> None:
    metrics, rows = build(tmp_path, "RCOCCOOM", Target.TERMINAL_MULTI_HARNESS, harness="codex")
    assert metrics.kept == metrics.candidates == 3
    assert [row["expected_action"]["type"] for row in rows] == [
        "function_call",
        "function_call_batch",
        "message",
    ]
    for row in rows:
        assert row["harness"] == "codex"
        assert row["declared_tools"] == row["responses_create_params"]["tools"]


@pytest.mark.parametrize(
    ("harness", "name", "arguments", "properties", "reward"),
    MULTI_HARNESS_LABELS,
)
def test_multi_harness_scores_a_label_as_the_server_does(
    harness: str, name: str, arguments: Json, properties: Json, reward: float
) -> None:
    action = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
    row = {"harness": harness, "expected_action": action, "declared_tools": [tool(name, properties)]}
    settings = {"tool_call_comparator_config": {"string_similarity_threshold": 0.9}}
    assert self_score(Target.TERMINAL_MULTI_HARNESS, row, settings) == reward


def test_multi_harness_knows_no_score_under_a_schema_that_it_cannot_evaluate() -> None:
    action = {"type": "function_call", "name": "f", "arguments": "{}"}
    declared = [tool("f", {}, unevaluatedProperties=False)]
    row = {"harness": "codex", "expected_action": action, "declared_tools": declared}
    assert self_score(Target.TERMINAL_MULTI_HARNESS, row, {}) is None


def test_single_step_rows_do_not_name_a_target(tmp_path: Path) -> None:
    _, rows = build(tmp_path, "CO", Target.SINGLE_STEP)
    assert ["target" in row["pivot_info"] for row in rows] == [False]


CALL: Json = {"type": "function_call", "name": "f", "arguments": "{}"}


def fields_of(row: Json) -> dict[str, Raw]:
    return msgspec.json.decode(json.dumps(row).encode(), type=dict[str, Raw])


@pytest.mark.parametrize(
    ("row", "target"),
    [
        ({"pivot_info": {"target": "swe_pivot"}, "expected_action": {}}, Target.SWE_PIVOT),
        ({"harness": "codex", "expected_action": {}}, Target.TERMINAL_MULTI_HARNESS),
        ({"expected_answer": "{}", "metadata": {"harness": "terminus_2"}}, Target.TERMINUS_JUDGE),
        ({"agent_ref": {"name": "swe_pivot_tool_simulation_agent"}}, Target.SWE_PIVOT),
        (
            {"agent_ref": {"name": "swe_pivot_single_step_tool_use_with_argument_comparison_agent"}},
            Target.SINGLE_STEP,
        ),
        ({"expected_answer": "42"}, Target.SINGLE_STEP),
        # An agent that is called after a dataset says nothing of its server.
        ({"agent_ref": {"name": "swe_pivot_agent"}, "expected_action": CALL}, Target.SINGLE_STEP),
        ({"agent_ref": {"name": "my_swe_pivot_v2_agent"}, "expected_action": CALL}, Target.SINGLE_STEP),
        # Rows that the stock agent's server could not read.
        (
            {
                "agent_ref": {"name": "swe_pivot_tool_simulation_agent"},
                "expected_action": {"type": "message"},
            },
            Target.SINGLE_STEP,
        ),
        ({"agent_ref": {"name": "terminus_judge_simple_agent"}, "expected_action": CALL}, Target.SINGLE_STEP),
        (
            {"agent_ref": {"name": "terminus_judge_simple_agent"}, "expected_answer": "ls"},
            Target.TERMINUS_JUDGE,
        ),
        (
            {"agent_ref": {"name": "terminal_multi_harness_codex_agent"}, "expected_action": CALL},
            Target.SINGLE_STEP,
        ),
        # A build names every target but the single-step one.
        (
            {
                "agent_ref": {"name": "swe_pivot_tool_simulation_agent"},
                "pivot_info": {"uuid": "u", "call": 0, "boundary": "recorded"},
                "expected_action": CALL,
            },
            Target.SINGLE_STEP,
        ),
        ({"pivot_info": {"target": "unheard_of"}}, Target.SINGLE_STEP),
        ({}, Target.SINGLE_STEP),
    ],
)
def test_target_of_a_row_is_told_by_what_it_says(row: Json, target: Target) -> None:
    assert target_of_row(fields_of(row)) is target


@pytest.mark.parametrize("target", list(Target))
def test_config_leads_to_the_server_of_the_target(tmp_path: Path, target: Target) -> None:
    answers = [text(json.dumps(ANSWER_1))] if target is Target.TERMINUS_JUDGE else "CO"
    build(tmp_path, answers, target)
    built = read_yaml(tmp_path / "dataset" / "config.yaml")
    config = read_gym_config(built)
    assert target_wired(config, None) is target
    result = pivot_config(tmp_path / "dataset", tmp_path / "again.yaml", name="dataset")
    assert result.target is target
    again = read_yaml(tmp_path / "again.yaml")
    assert again == built
    # What the config says of the agent counts more than what a row says.
    row = fields_of({"agent_ref": {"name": "dataset_agent"}, "harness": "codex", "expected_action": {}})
    assert target_of_row(row, config) is target


@pytest.mark.parametrize("name", [target.value for target in Target])
def test_rows_stay_single_step_whatever_their_dataset_is_called(tmp_path: Path, name: str) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("MCOCCOOCOM")])
    pivot_build(source, tmp_path / name)
    for rows in (tmp_path / name, tmp_path / name / "pivots.jsonl"):
        report = pivot_validate(rows)
        assert (report.target, report.violations) == (Target.SINGLE_STEP, ())
        assert pivot_audit(rows, source).problems == ()
        assert measured(rows).targets == {"single_step": report.rows}
        made = pivot_config(rows, tmp_path / "made.yaml", overwrite=True)
        assert made.target is Target.SINGLE_STEP


def test_target_is_told_by_the_config_of_the_folder_before_the_rows(tmp_path: Path) -> None:
    metrics, rows = build(tmp_path, [text(json.dumps(ANSWER_1))], Target.TERMINUS_JUDGE)
    # Rows as another program would write them: nothing in them but the config tells their target.
    for row in rows:
        del row["pivot_info"], row["metadata"]
    dataset = tmp_path / "dataset"
    write_rows(dataset / "pivots.jsonl", rows)
    (dataset / "skipped.jsonl").unlink()
    source = tmp_path / "rollouts.jsonl"
    assert pivot_audit(dataset, source).problems == ()
    assert measured(dataset).targets == {"terminus_judge": metrics.kept}
    assert pivot_config(dataset, tmp_path / "made.yaml").target is Target.TERMINUS_JUDGE
    alone = dataset / "pivots.jsonl"
    assert pivot_audit(alone, source).problems != ()
    assert pivot_audit(alone, source, target="terminus_judge").problems == ()
    with pytest.raises(UsageError, match="no target 'judge'"):
        pivot_audit(alone, source, target="judge")


def test_targets_and_harnesses_go_by_known_names(tmp_path: Path) -> None:
    assert target_named("terminus_judge") is Target.TERMINUS_JUDGE
    assert target_named("single_step_tool_use_with_argument_comparison") is Target.SINGLE_STEP
    with pytest.raises(UsageError, match="no target 'swe'"):
        target_named("swe")
    for target, harness in ((Target.SWE_PIVOT, "codex"), (Target.TERMINUS_JUDGE, "codex")):
        with pytest.raises(UsageError, match=f"no harness 'codex' of {target}"):
            build(tmp_path, "CO", target, harness=harness)


def test_stats_count_rows_by_target_and_harness(tmp_path: Path) -> None:
    build(tmp_path, "COCCOO", Target.TERMINAL_MULTI_HARNESS, harness="codex")
    stats = measured(tmp_path / "dataset")
    assert (stats.targets, stats.harnesses) == ({"terminal_multi_harness": 2}, {"codex": 2})
    assert (stats.rows, stats.unreadable, stats.batch_sizes) == (2, 0, {"2": 1})
    build(tmp_path, [text(json.dumps(ANSWER_2))], Target.TERMINUS_JUDGE)
    stats = measured(tmp_path / "dataset")
    assert (stats.targets, stats.harnesses) == ({"terminus_judge": 1}, {"terminus_2": 1})
    assert (stats.split["message"], stats.unreadable) == (1, 0)


def measured(dataset: Path) -> PivotStats:
    found = pivot_stats(dataset)
    assert isinstance(found, PivotStats)
    return found


def test_rows_of_terminus_judge_are_built_again_from_rows(tmp_path: Path) -> None:
    _, rows = build(tmp_path, [text(json.dumps(ANSWER_2))], Target.TERMINUS_JUDGE)
    options = BuildOptions(target=Target.TERMINUS_JUDGE)
    pivot_build(tmp_path / "dataset" / "pivots.jsonl", tmp_path / "again", options=options)
    again = read_rows(tmp_path / "again" / "pivots.jsonl")
    for name in ("expected_answer", "metadata", "responses_create_params"):
        assert again[0][name] == rows[0][name]


@pytest.mark.parametrize("target", list(Target))
def test_every_engine_writes_the_same_rows_of_a_target(tmp_path: Path, target: Target) -> None:
    answers = [text(json.dumps(ANSWER_1)), *items_of("U"), text(json.dumps(ANSWER_2), 1)]
    output = answers if target is Target.TERMINUS_JUDGE else "MCOCCOOCOM"
    # The same episode in both files: every row of the second is a duplicate.
    sources = [write_rows(tmp_path / f"{name}.jsonl", [rollout(output)] * 2) for name in "ab"]
    options = BuildOptions(target=target)
    here = pivot_build(sources, tmp_path / "here", name="x", options=options)
    there = pivot_build(sources, tmp_path / "there", name="x", options=options, engine="processes", workers=2)
    assert there == here
    assert here.skipped["duplicate"] == 3 * here.kept > 0
    for name in ("pivots.jsonl", "skipped.jsonl", "metrics.json"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


@pytest.mark.parametrize("target", [Target.SWE_PIVOT, Target.TERMINAL_MULTI_HARNESS])
def test_rows_of_a_target_audit_clean(tmp_path: Path, target: Target) -> None:
    metrics, _ = build(tmp_path, "RMCOCCOOCOM", target)
    report = pivot_audit(tmp_path / "dataset", tmp_path / "rollouts.jsonl")
    assert (report.rows, report.calls, report.problems) == (metrics.kept, metrics.candidates, ())


TERMINUS_OUTPUT = [
    *(text(json.dumps(ANSWER_1), 0), *items_of("U")),
    *(text("I think.</think>\n" + json.dumps(ANSWER_2), 1), *items_of("U")),
    *(text("not JSON", 2), *items_of("U")),
    *(text(json.dumps(ANSWER_2 | {"plan": "another"}), 3), *items_of("U"), *items_of("CO")),
]


def audited_answers(tmp_path: Path, change: Callable[[list[Json]], object]) -> list[tuple[str, int, str]]:
    """The problems of rows of terminus_judge that were changed, without their list of what was skipped."""
    _, rows = build(tmp_path, TERMINUS_OUTPUT, Target.TERMINUS_JUDGE)
    change(rows)
    alone = write_rows(tmp_path / "rows.jsonl", rows)
    report = pivot_audit(alone, tmp_path / "rollouts.jsonl")
    return [(problem.rule, problem.line, problem.key) for problem in report.problems]


def test_rows_of_terminus_judge_audit_clean(tmp_path: Path) -> None:
    metrics, rows = build(tmp_path, TERMINUS_OUTPUT, Target.TERMINUS_JUDGE)
    report = pivot_audit(tmp_path / "dataset", tmp_path / "rollouts.jsonl")
    assert (
        (report.rows, report.calls, report.problems) == (metrics.kept, metrics.candidates, ()) == (3, 5, ())
    )
    assert report.skipped == {"unsupported_action": 2}
    # Without the list of a build, the audit finds out why two model calls make no row of this target.
    alone = write_rows(tmp_path / "rows.jsonl", rows)
    report = pivot_audit(alone, tmp_path / "rollouts.jsonl")
    assert (report.problems, report.unlabelled) == ((), {"unsupported_action": 2})


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (lambda rows: rows[0].update(expected_answer=json.dumps(ANSWER_2)), [("A02", 1, "expected_answer")]),
        # Other bytes than the policy's, though the same commands.
        (
            lambda rows: rows[1].update(expected_answer=json.dumps(ANSWER_2, indent=1)),
            [("A02", 2, "expected_answer")],
        ),
        (
            lambda rows: rows[1].pop("expected_answer"),
            [("A02", 2, "expected_answer"), ("A06", 1, "model call 1")],
        ),
        (
            lambda rows: rows[2]["responses_create_params"]["input"].pop(2),
            [("A03", 3, "responses_create_params.input[2]")],
        ),
        (lambda rows: rows.pop(), [("A06", 1, "model call 3")]),
        # The server reads it there too.
        (lambda rows: rows[0]["metadata"].update(expected_answer=rows[0].pop("expected_answer")), []),
    ],
)
def test_audit_names_the_rule_of_a_fault_of_terminus_judge(
    tmp_path: Path, change: Callable[[list[Json]], object], problems: list[tuple[str, int, str]]
) -> None:
    assert audited_answers(tmp_path, change) == problems
