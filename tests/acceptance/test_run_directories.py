"""Real run directories of Gym 0.7.0, each with the counts that are known from how it was made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gymbal.errors import InputError
from gymbal.model.evidence import Strength
from gymbal.model.rollout import Stop
from gymbal.model.run import ProblemKind, Run
from gymbal.readers.run import read_run
from gymbal.readers.run.profile import read_agent_metrics, read_repeat_metrics

SCORED_FAILED_PLANNED = {
    "a1_base": (64, 0, 64),
    "a2_base_rerun": (64, 0, 64),
    "a3_better_model": (64, 0, 64),
    "b1_temp1_maxtok256": (64, 0, 64),
    "c1_errors_routed": (10, 6, 16),
    "c2_errors_abort": (2, 0, 16),
    "c3_errors_counted_zero": (10, 6, 16),
    "c4_resumed": (16, 0, 16),
    "c5_errors_require_complete": (10, 6, 16),
    "c6_dispatch_budget": (6, 0, 16),
    "c8_killed": (5, 0, 16),
    "c9_killed_torn_line": (5, 0, 16),
    "d1_truncated": (64, 0, 64),
    "e1_limit10": (40, 0, 40),
    "e2_edited_tasks": (64, 0, 64),
    "e3_shuffled_tasks": (64, 0, 64),
    "e4_duplicate_lines": (16, 0, 16),
    "f1_multi_step": (8, 0, 8),
    "f2_multi_step_parallel": (8, 0, 8),
    "f3_weather_parallel": (10, 0, 10),
    "g1_e2e_served": (12, 0, 12),
    "g3_profile_errors": (10, 6, 16),
    "g3_profile_errors_partial": (10, 6, 16),
    "g3_profile_f3_weather_parallel": (10, 0, 10),
    "g5_reverify": (10, 0, None),
    "h1_obs_mcqa": (12, 0, 12),
    "h2_obs_multi_step_parallel": (1, 0, 1),
    "h3_obs_weather_parallel": (10, 0, 10),
    "h4_obs_truncated": (12, 0, 12),
    "h6_obs_errors": (10, 2, 12),
    "k1_submit_clean_commit": (0, 0, None),
    "k3_submit_wheel_no_commit": (0, 0, None),
    "l2_env_server_died": (3, 0, 16),
}
WITHOUT_METRICS = {"c2_errors_abort", "c8_killed", "c9_killed_torn_line", "l2_env_server_died"}
NO_RUNS = {"g2_compare", "g4_atif_export"}
"""Folders that hold only what Gym derived from other runs."""

FAKE_SECRETS = ("hf_FAKEsecret1", "sk-FAKEsecret2")


def read(data: Path, name: str) -> Run:
    return read_run(data / "runs" / name)


def present(data: Path, name: str) -> Run:
    if not (data / "runs" / name).is_dir():
        pytest.skip(f"no {name} in this input")
    return read(data, name)


def test_every_folder_is_a_run_or_says_why_not(acceptance_data: Path) -> None:
    folders = sorted(path for path in (acceptance_data / "runs").iterdir() if path.is_dir())
    assert folders
    for folder in folders:
        if folder.name in NO_RUNS:
            with pytest.raises(InputError, match="no run in this folder"):
                read_run(folder)
        else:
            read_run(folder)


@pytest.mark.parametrize("name", SCORED_FAILED_PLANNED)
def test_run_has_its_known_counts(acceptance_data: Path, name: str) -> None:
    run = present(acceptance_data, name)
    planned = None if run.planned is None else len(run.planned)
    assert (len(run.rollouts), len(run.failures), planned) == SCORED_FAILED_PLANNED[name]
    is_submit = name.startswith("k")
    expected = {ProblemKind.NO_METRICS} if name in WITHOUT_METRICS else set()
    expected |= {ProblemKind.NO_ROLLOUTS} if is_submit else set()
    expected |= {ProblemKind.TORN_LINE} if name == "c9_killed_torn_line" else set()
    assert {problem.kind for problem in run.problems} == expected
    assert (run.metrics is None) is (name in WITHOUT_METRICS or is_submit)


@pytest.mark.parametrize("name", SCORED_FAILED_PLANNED)
def test_rows_belong_to_the_plan(acceptance_data: Path, name: str) -> None:
    run = present(acceptance_data, name)
    if run.planned is None:
        return
    plan = {row.key: row for row in run.planned}
    assert len(plan) == len(run.planned)
    assert {row.key for row in run.rollouts} | {row.key for row in run.failures} <= plan.keys()
    for row in run.rollouts:
        asked = plan[row.key].content
        assert (row.content.prompt, row.content.tools) == (asked.prompt, asked.tools)


@pytest.mark.parametrize("name", SCORED_FAILED_PLANNED)
def test_mean_reward_is_that_of_the_rows(acceptance_data: Path, name: str) -> None:
    run = present(acceptance_data, name)
    if run.metrics is None or name == "c3_errors_counted_zero":
        return
    rewards = [row.reward for row in run.rollouts if row.reward is not None]
    assert run.metrics[0].values["mean/reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-12)
    assert "mean/reward" in run.metrics[0].key_names


def test_known_scores_are_read(acceptance_data: Path) -> None:
    scores = {
        "a1_base": 0.765625,
        "a2_base_rerun": 0.78125,
        "c1_errors_routed": 0.9,
        "c3_errors_counted_zero": 0.5625,
    }
    for name, score in scores.items():
        metrics = read(acceptance_data, name).metrics
        assert metrics is not None
        assert metrics[0].values["mean/reward"] == score


def test_torn_line_is_named_by_line_and_byte(acceptance_data: Path) -> None:
    # c9 is c8 with a torn line appended, so the tear is where c8 ends.
    size = (acceptance_data / "runs" / "c8_killed" / "rollouts.jsonl").stat().st_size
    torn = next(
        p for p in read(acceptance_data, "c9_killed_torn_line").problems if p.kind is ProblemKind.TORN_LINE
    )
    assert (torn.file, torn.line, torn.offset, torn.rows) == ("rollouts.jsonl", 6, size, 1)
    assert size == 11062


def test_resumed_run_keeps_its_failed_attempts(acceptance_data: Path) -> None:
    run = read(acceptance_data, "c4_resumed")
    assert run.failed_attempts == 6
    assert Counter(row.attempt for row in run.rollouts) == {0: 10, 1: 6}


def test_failures_are_named_by_class(acceptance_data: Path) -> None:
    run = read(acceptance_data, "c1_errors_routed")
    assert {failure.failure_class for failure in run.failures} == {"agent_run_error"}
    # 3 of 8 tasks failed in both repeats.
    assert Counter(failure.key.task for failure in run.failures).most_common() == [(0, 2), (2, 2), (5, 2)]
    assert {failure.attempts for failure in run.failures} == {1}


def test_truncated_rows_are_seen(acceptance_data: Path) -> None:
    run = read(acceptance_data, "d1_truncated")
    assert Counter(row.stop for row in run.rollouts) == {Stop.FINISHED: 47, Stop.TRUNCATED: 17}
    assert all(row.is_unparsed and row.reward == 0.0 for row in run.rollouts if row.stop is Stop.TRUNCATED)
    observed = read(acceptance_data, "h4_obs_truncated")
    assert Counter(row.stop for row in observed.rollouts)[Stop.TRUNCATED] == 7


def test_duplicate_input_lines_become_repeats_of_one_task(acceptance_data: Path) -> None:
    run = read(acceptance_data, "e4_duplicate_lines")
    assert run.planned is not None
    # 8 lines, 2 of them twice the same: 6 tasks, of which 2 have 2 x 2 repeats.
    repeats = Counter(Counter(row.key.task for row in run.planned).values())
    assert repeats == {2: 4, 4: 2}
    assert len({row.content for row in run.planned}) == 6


def test_tasks_are_told_apart_by_content(acceptance_data: Path) -> None:
    def contents(name: str) -> dict[str, int]:
        planned = read(acceptance_data, name).planned
        assert planned is not None
        names = {row.key.task: row.content for row in planned}
        return {f"{of.prompt} {of.answer} {of.verifier}": task for task, of in names.items()}

    base, shuffled, edited, limited = (
        contents(name) for name in ("a1_base", "e3_shuffled_tasks", "e2_edited_tasks", "e1_limit10")
    )
    assert base.keys() == shuffled.keys()
    assert base != shuffled
    # Three tasks were replaced and the answer of one was changed.
    assert len(base.keys() - edited.keys()) == 4
    assert limited.items() < base.items()


def test_settings_differ_where_the_command_did(acceptance_data: Path) -> None:
    (base,) = {row.settings for row in read(acceptance_data, "a1_base").rollouts}
    (other,) = {row.settings for row in read(acceptance_data, "b1_temp1_maxtok256").rollouts}
    assert (base.temperature, base.top_p, base.max_output_tokens) == (0.6, None, 512)
    assert (other.temperature, other.top_p, other.max_output_tokens) == (1.0, 0.95, 256)


@pytest.mark.parametrize(
    ("name", "model_calls", "tool_calls"),
    [
        # Sequential: three tool calls, then the answer. Parallel: two at once, one more, the answer.
        ("f1_multi_step", {4}, {3}),
        ("f2_multi_step_parallel", {3}, {3}),
        ("h2_obs_multi_step_parallel", {3}, {3}),
    ],
)
def test_model_calls_are_counted(
    acceptance_data: Path, name: str, model_calls: set[int], tool_calls: set[int]
) -> None:
    run = read(acceptance_data, name)
    assert {row.model_calls for row in run.rollouts} == model_calls
    assert {row.tool_calls for row in run.rollouts} == tool_calls


def test_recorded_model_calls_agree_with_the_flat_output(acceptance_data: Path) -> None:
    # h3 is f3's input with observability: the recorder and the rule for flat output count the same calls.
    plain, observed = (
        Counter(row.model_calls for row in read(acceptance_data, name).rollouts)
        for name in ("f3_weather_parallel", "h3_obs_weather_parallel")
    )
    assert plain == observed == {1: 5, 2: 5}


def test_health_and_captures_are_read(acceptance_data: Path) -> None:
    unobserved = read(acceptance_data, "a1_base")
    assert unobserved.health is not None
    assert (unobserved.health.unobserved, unobserved.health.records) == (64, 64)
    assert unobserved.captures is None
    observed = read(acceptance_data, "h4_obs_truncated")
    assert observed.health is not None
    assert (observed.health.healthy, observed.health.unhealthy) == (12, 0)
    assert observed.captures is not None
    assert (observed.captures.files, observed.captures.calls, observed.captures.failed) == (4, 4, {})
    assert observed.unhealthy == frozenset()


@pytest.mark.parametrize("name", ["k1_submit_clean_commit", "k3_submit_wheel_no_commit"])
def test_submitted_job_has_facts_and_no_secret(acceptance_data: Path, name: str) -> None:
    for place in (name, f"{name}/gpqa"):
        run = read(acceptance_data, place)
        facts = {fact.name: fact for fact in run.facts}
        assert (facts["gym_ref"].value, facts["gym_commit"].strength) == ("v0.7.0", Strength.MISSING)
        assert facts["serving_container"].value == "/containers/vllm-0.11.sqsh"
        assert facts["serving.tensor_parallel_size"].value == 8
        assert facts["model_checkpoint"].value == "/models/my-model-8b"
        assert ("submitter_gym_commit" in facts) is name.startswith("k1")
        assert ("num_repeats" in facts) is place.endswith("gpqa")
        text = str((run.facts, run.problems, run.metrics))
        assert not [secret for secret in FAKE_SECRETS if secret in text]


def test_profile_files_are_read(acceptance_data: Path) -> None:
    folder = acceptance_data / "runs" / "g3_profile_errors_partial"
    (metrics,) = read_agent_metrics(folder / "rollouts_agent_metrics.json")
    assert metrics.values["mean/reward"] == 0.9
    repeats = read_repeat_metrics(folder / "rollouts_repeat_level_metrics.json")
    assert [(row.repeat, row.scored) for row in repeats] == [(0, 5), (1, 5)]
