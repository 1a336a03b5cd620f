"""The servers of the other targets give built labels the reward that a build and a validation promise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
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

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.validate_options import ValidateOptions
from gymbal.probe.gym_rows import GymQuestion, ask_gym_about_rows

EXAMPLE = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"
REQUEST: Json = {"responses_create_params": {"input": [{"role": "user", "content": "go"}]}}


def rewards(gym_venv: Path, target: Target, cases: Sequence[tuple[Json, Json]]) -> list[Any]:
    """The server's reward for the label of each row under a config, or "failed"."""
    questions = [GymQuestion(msgspec.Raw(json.dumps(row).encode()), settings) for row, settings in cases]
    answer = ask_gym_about_rows(gym_venv / "bin" / "python", questions, target)
    assert [each.refusal for each in answer.verdicts] == [None] * len(cases)
    return ["failed" if each.reward is None else each.reward for each in answer.verdicts]


def source_for(target: Target, folder: Path) -> Path:
    """Rollouts with actions that the target can expect."""
    if target is not Target.TERMINUS_JUDGE:
        return EXAMPLE
    lines = []
    for answer in (ANSWER_1, ANSWER_2):
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
        content = [{"type": "output_text", "text": json.dumps(answer), "annotations": []}]
        lines.append(
            json.dumps(REQUEST | {"response": {"output": [item | {"content": content}]}, "reward": 1.0})
        )
    source = folder / "terminal.jsonl"
    source.write_text("\n".join(lines), encoding="utf-8")
    return source


@pytest.mark.parametrize("target", [target for target in Target if target is not Target.SINGLE_STEP])
def test_gym_gives_built_labels_of_a_target_a_reward_of_one(
    gym_venv: Path, tmp_path: Path, target: Target
) -> None:
    options = BuildOptions(target=target, harness=None)
    metrics = pivot_build(source_for(target, tmp_path), tmp_path / "rows", options=options)
    sample = ValidateOptions(sample=1000)
    report = pivot_validate(tmp_path / "rows", options=sample, gym_python=gym_venv / "bin" / "python")
    assert (report.target, report.gym, report.violations) == (target, "0.7.0", ())
    assert report.rules["P030"] == report.rules["P031"] == metrics.kept > 1


def test_gym_scores_labels_of_swe_pivot_as_the_table_says(gym_venv: Path) -> None:
    table = SWE_PIVOT_LABELS
    cases = [
        (REQUEST | swe_row(name, arguments), {"reward_mode": "binary"} | settings)
        for name, arguments, settings, _ in table
    ]
    assert rewards(gym_venv, Target.SWE_PIVOT, cases) == [reward for *_, reward in table]


def test_gym_finds_the_call_of_swe_pivot_in_each_place_where_it_may_stand(gym_venv: Path) -> None:
    call = {"type": "function_call", "name": "edit", "arguments": json.dumps({"new_str": "a" * 5000})}
    rows: list[Json] = [
        {"expected_action": call},
        {"expected_answer": json.dumps(call)},
        {"expected_answer": "a text", "metadata": {"expected_action": call}},
    ]
    settings: Json = {"reward_mode": "continuous", **SERVERS[Target.SWE_PIVOT].left_aside}
    assert rewards(gym_venv, Target.SWE_PIVOT, [(REQUEST | row, settings) for row in rows]) == [1.0] * 3


def test_gym_scores_labels_of_terminus_judge_as_the_table_says(gym_venv: Path) -> None:
    table = TERMINUS_JUDGE_LABELS
    cases = [
        (REQUEST | row | {"metadata": {"harness": "terminus_1"}}, settings) for row, settings, _ in table
    ]
    assert rewards(gym_venv, Target.TERMINUS_JUDGE, cases) == [reward for *_, reward in table]


def test_gym_refuses_the_fields_that_a_validation_refuses(gym_venv: Path) -> None:
    message = {"expected_action": {"type": "message", "content": "done"}}
    cases: dict[Target, list[tuple[Json, bool]]] = {
        Target.SWE_PIVOT: [
            ({"metadata": None, "uuid": 7}, True),
            ({"metadata": "x"}, False),
            ({"metadata": False}, False),
            ({"expected_answer": {}}, False),
            ({"expected_action": "look"}, False),
        ],
        Target.TERMINUS_JUDGE: [
            ({"threshold": "0.9"}, True),
            ({"threshold": [0.9]}, False),
            ({"uuid": {}}, False),
        ],
        Target.TERMINAL_MULTI_HARNESS: [
            (message | {"declared_tools": None}, True),
            (message | {"harness": None}, False),
            (message | {"harness": 5}, False),
            (message | {"declared_tools": [{}, "grep"]}, False),
        ],
    }
    for target, rows in cases.items():
        questions = [GymQuestion(msgspec.Raw(json.dumps(REQUEST | row).encode()), None) for row, _ in rows]
        answer = ask_gym_about_rows(gym_venv / "bin" / "python", questions, target)
        assert [each.refusal is None for each in answer.verdicts] == [is_taken for _, is_taken in rows]


@pytest.mark.parametrize("prompt", ["prompt_templates/terminus_prompt.txt", "nowhere.txt"])
def test_gym_makes_terminus_judge_where_its_files_are(gym_venv: Path, tmp_path: Path, prompt: str) -> None:
    """Gym's own configs name a prompt by its path below the server's folder."""
    source = source_for(Target.TERMINUS_JUDGE, tmp_path)
    pivot_build(source, tmp_path / "rows", options=BuildOptions(target=Target.TERMINUS_JUDGE))
    config = tmp_path / "rows" / "config.yaml"
    judge = f"""enable_llm_judge: true
      judge_prompt_template_fpath: {prompt}
      judge_model_server: {{type: responses_api_models, name: policy_model}}
      judge_responses_create_params: {{input: []}}"""
    written = config.read_text(encoding="utf-8").replace("enable_llm_judge: false", judge)
    config.write_text(written, encoding="utf-8")
    report = pivot_validate(tmp_path / "rows", gym_python=gym_venv / "bin" / "python")
    found = prompt != "nowhere.txt"
    assert (report.violations, report.rules["P030"], report.rules["P031"]) == ((), 2, 2 if found else 0)
    assert any(prompt in warning for warning in report.warnings) is not found


def test_gym_scores_labels_of_multi_harness_as_the_table_says(gym_venv: Path) -> None:
    table = MULTI_HARNESS_LABELS
    settings = {"tool_call_comparator_config": {"string_similarity_threshold": 0.9}}
    cases = []
    for harness, name, arguments, properties, _ in table:
        action = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
        declared = [tool(name, properties)]
        row = {"harness": harness, "expected_action": action, "declared_tools": declared}
        cases.append((REQUEST | row, settings))
    assert rewards(gym_venv, Target.TERMINAL_MULTI_HARNESS, cases) == [reward for *_, reward in table]
