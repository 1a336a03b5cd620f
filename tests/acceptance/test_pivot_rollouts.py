"""Real Gym rollouts, from fifteen environments and agents, become datasets that validate clean.

The expected numbers of model calls are worked out by hand from the item patterns beside them (R reasoning,
M assistant text, C call, O result, U user message): a model call ends at a result or a message from outside.
"""

import json
from pathlib import Path

import pytest

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_config import pivot_config
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.model.pivot import BuildMetrics
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions
from gymbal.readers.base.format import ReadOptions
from gymbal.readers.gym_rollouts import read

MODEL_CALLS = {
    # MC O C O MC O M: 4
    "anyswe_opencode": 4,
    # CR O RM: 2
    "conversational_tool_use_simulation": 2,
    # five times C O M
    "example_mcp_weather": 5 * 2,
    # C O C O C O M, the same again, C O C O C O C O M
    "example_multi_step": 4 + 4 + 5,
    # RC O C O C O RC O; RC O RC O C O RC O C O
    "finance_sec_search": 4 + 5,
    # MC O, MC O, MCC O, six times MC O, then M O, M O, M O
    "harbor_agent_orphan_outputs": 3 + 6 + 3,
    # M
    "image_tools_pivot_images": 1,
    # RC O RM, the same again, RC O RC O RC O RM
    "indirect_prompt_injection": 2 + 2 + 4,
    # MC O M; M; MC O MC O MC O MC O M
    "math_with_code": 2 + 1 + 5,
    # 22 times MC...C O...O; 9 times that and a last MCCC without results
    "mini_swe_agent_2_parallel": 22 + 10,
    # three times M U M
    "multi_turn_user_in_output": 3 * 2,
    # no item at all
    "swebench": 0,
    # M; M
    "terminus_judge": 2,
    # C O M; C O M; C O C O M
    "workplace_assistant": 2 + 2 + 3,
    # RMCC O O RM, then four times RMC O RM
    "xlam_fc": 5 * 2,
}

SKIPPED = {
    # The request input is not recorded.
    "anyswe_opencode": {"empty_prefix": 4},
    # These list no tools, yet call some.
    "example_mcp_weather": {"missing_tool_schema": 10},
    "harbor_agent_orphan_outputs": {"missing_tool_schema": 12},
    "mini_swe_agent_2_parallel": {"missing_tool_schema": 32},
    # Three attempts at one task that all begin with the same call: two repeat the row of the first.
    "indirect_prompt_injection": {"duplicate": 2},
}

RUNS = {
    # Run directory -> rows, model calls, recorded boundaries (with observability on).
    "f1_multi_step": (8, 8 * 4, False),  # C O C O C O M
    "f2_multi_step_parallel": (8, 8 * 3, False),  # RCC O O RC O RM
    "h1_obs_mcqa": (12, 12, True),  # M
    "h2_obs_multi_step_parallel": (1, 3, True),  # RCC O O RC O RM
    "h6_obs_errors": (10, 10, True),  # M
}


def build(source: Path, tmp_path: Path) -> BuildMetrics:
    """Build, check the books, and require that the dataset validates clean."""
    metrics = pivot_build(source, tmp_path / "dataset")
    lines = {
        name: (tmp_path / "dataset" / name).read_bytes().count(b"\n")
        for name in ("pivots.jsonl", "skipped.jsonl")
    }
    assert lines == {"pivots.jsonl": metrics.kept, "skipped.jsonl": sum(metrics.skipped.values())}
    assert metrics.candidates == metrics.kept + sum(metrics.skipped.values())
    report = pivot_validate(tmp_path / "dataset")
    assert report.violations == ()
    assert report.rows == metrics.kept
    assert [text for text in report.warnings if text != "the file holds no rows"] == []
    return metrics


@pytest.mark.parametrize("name", MODEL_CALLS)
def test_rollouts_of_an_environment_become_a_clean_dataset(
    acceptance_data: Path, tmp_path: Path, name: str
) -> None:
    source = acceptance_data / "trajectories" / "nemo_gym_rollouts" / f"{name}.rollouts.jsonl"
    metrics = build(source, tmp_path)
    assert metrics.candidates == MODEL_CALLS[name]
    assert {reason: count for reason, count in metrics.skipped.items() if count} == SKIPPED.get(name, {})


def test_every_file_of_rollouts_has_an_expected_count(acceptance_data: Path) -> None:
    files = (acceptance_data / "trajectories" / "nemo_gym_rollouts").glob("*.jsonl")
    assert {path.name.removesuffix(".rollouts.jsonl") for path in files} == set(MODEL_CALLS)


@pytest.mark.parametrize("name", RUNS)
def test_rollouts_of_a_run_directory_become_a_clean_dataset(
    acceptance_data: Path, tmp_path: Path, name: str
) -> None:
    rows, calls, is_recorded = RUNS[name]
    metrics = build(acceptance_data / "runs" / name / "rollouts.jsonl", tmp_path)
    assert (metrics.trajectories, metrics.candidates) == (rows, calls)
    assert metrics.boundaries["recorded" if is_recorded else "structural"] == calls
    assert metrics.call_count_check.agree == (rows if is_recorded else 0)


def test_responses_cut_at_the_token_limit_make_no_rows(acceptance_data: Path, tmp_path: Path) -> None:
    # The run's own notes: 7 of its 12 answers were truncated.
    metrics = build(acceptance_data / "runs" / "h4_obs_truncated" / "rollouts.jsonl", tmp_path)
    assert (metrics.candidates, metrics.skipped["truncated"]) == (12, 7)


def test_parallel_calls_become_batches(acceptance_data: Path, tmp_path: Path) -> None:
    source = acceptance_data / "trajectories" / "nemo_gym_rollouts" / "xlam_fc.rollouts.jsonl"
    metrics = build(source, tmp_path)
    assert metrics.split == {"message": 5, "function_call": 4, "function_call_batch": 1}
    assert metrics.batch_sizes == {"2": 1}
    assert metrics.narrate_and_call == 5


def test_bytes_of_real_items_survive(acceptance_data: Path, tmp_path: Path) -> None:
    source = acceptance_data / "trajectories" / "nemo_gym_rollouts" / "finance_sec_search.rollouts.jsonl"
    build(source, tmp_path)
    trajectories = {trajectory.source.line: trajectory for trajectory in read(source, ReadOptions())}
    for line in (tmp_path / "dataset" / "pivots.jsonl").read_bytes().splitlines():
        info = json.loads(line)["pivot_info"]
        trajectory = trajectories[info["line"]]
        seed = b",".join(item.raw for item in trajectory.seed)
        assert line.startswith(b'{"responses_create_params":{"input":[' + seed)
        assert b'],"tools":' + trajectory.tools + b',"tool_choice":"auto"' in line


def test_official_pivot_rows_of_this_server_break_no_rule(acceptance_data: Path) -> None:
    folder = acceptance_data / "trajectories" / "nemo_gym_pivot_rows"
    parallel = pivot_validate(folder / "parallel_example.jsonl")
    assert (parallel.rows, parallel.violations) == (5, ())
    assert parallel.split == {"message": 1, "function_call": 1, "function_call_batch": 3}
    single = pivot_validate(folder / "single_step_tool_use_with_argument_comparison.example.jsonl")
    assert (single.rows, single.violations) == (5, ())
    # They spell out the fields that they leave unset, which Gym takes, and name no agent.
    assert [text[:4] for text in single.warnings] == ["P018", "P010", "P025"]


@pytest.mark.parametrize("target", [target for target in Target if target is not Target.SINGLE_STEP])
def test_official_pivot_rows_of_other_servers_break_no_rule_of_theirs(
    acceptance_data: Path, tmp_path: Path, target: Target
) -> None:
    rows = acceptance_data / "trajectories" / "nemo_gym_pivot_rows" / f"{target}.example.jsonl"
    config = tmp_path / "config.yaml"
    pivot_config(rows, config)
    report = pivot_validate(rows, config=config)
    assert (report.target, report.rows, report.violations) == (target, 5, ())
    assert report.rules["P404"] == 5
    # Five rows of a coding agent list no tools, which its server does not ask for.
    assert [text[:4] for text in report.warnings] == (["P102"] if target is Target.SWE_PIVOT else [])


def test_rows_of_other_targets_are_built_from_real_rollouts(acceptance_data: Path, tmp_path: Path) -> None:
    folder = acceptance_data / "trajectories" / "nemo_gym_rollouts"
    expected = {
        # Each rollout is one text of commands.
        Target.TERMINUS_JUDGE: ("terminus_judge", 2, {}),
        # RMCC OO RM, then four times RMC O RM: four single calls.
        Target.SWE_PIVOT: ("xlam_fc", 4, {"unsupported_action": 6}),
        # One argument has another type than its schema says.
        Target.TERMINAL_MULTI_HARNESS: ("xlam_fc", 9, {"label_rejected": 1}),
    }
    for target, (name, kept, skipped) in expected.items():
        options = BuildOptions(target=target)
        metrics = pivot_build(folder / f"{name}.rollouts.jsonl", tmp_path / target, options=options)
        assert (metrics.kept, {name: n for name, n in metrics.skipped.items() if n}) == (kept, skipped)
        assert pivot_validate(tmp_path / target).violations == ()
