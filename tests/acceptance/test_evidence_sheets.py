"""Evidence sheets of real runs of Gym 0.7.0. Two hold fake secrets in clear text, as submit writes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from run_gymbal import gymbal

from gymbal.commands.evidence import evidence
from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.sheet import EvidenceSheet

SUBMITTED = ("k1_submit_clean_commit", "k3_submit_wheel_no_commit")
FORMATS = ("text", "json", "markdown")
SECRET = re.compile(r"\b(?:hf|sk)[_-]FAKE\w+")


def by_name(sheet: EvidenceSheet) -> dict[str, Fact]:
    return {fact.name: fact for fact in sheet.facts}


def secrets_in(run: Path) -> set[str]:
    texts = [file.read_text() for file in run.rglob("*") if file.is_file()]
    return {secret for text in texts for secret in SECRET.findall(text)}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", SUBMITTED)
def test_no_secret_of_a_submitted_run_is_shown(acceptance_data: Path, name: str, format: str) -> None:
    run = acceptance_data / "runs" / name
    secrets = secrets_in(run)
    assert len(secrets) >= 2
    for side in (run, run / "gpqa", run / "aime25"):
        done = gymbal("evidence", side, "--log", run / "gpqa" / "job.sh", "--format", format)
        assert done.returncode == 0, done.stderr
        assert not [secret for secret in secrets if secret in done.stdout + done.stderr]


@pytest.mark.parametrize("format", FORMATS)
def test_no_secret_is_shown_when_submitted_runs_are_compared(acceptance_data: Path, format: str) -> None:
    left, right = (acceptance_data / "runs" / name / "gpqa" for name in SUBMITTED)
    script = left / "job.sh"
    done = gymbal("triage", left, right, "--left-log", script, "--right-log", script, "--format", format)
    assert done.returncode == 3, done.stderr
    assert not [secret for secret in secrets_in(left.parent) if secret in done.stdout + done.stderr]


def test_submitted_run_names_what_its_config_and_script_say(acceptance_data: Path) -> None:
    facts = by_name(evidence(acceptance_data / "runs" / SUBMITTED[0] / "gpqa"))
    expected = {
        "gym_ref": "v0.7.0",
        "gym_version": "0.7.0",
        "driver_container": "python:3.12",
        "serving_container": "/containers/vllm-0.11.sqsh",
        "serving_engine": "vllm",
        "model_checkpoint": "/models/my-model-8b",
        "serving.tensor_parallel_size": 8,
        "serving.max_model_len": "32768",
        "serving.reasoning_parser": "none",
        "policy_model_type": "openai_model",
        "temperature": 0.6,
        "max_output_tokens": 8192,
        "num_repeats": 4,
        "config.require_complete": True,
    }
    assert {name: facts[name].value for name in expected} == expected
    # The commit is the submitter's, and a tag can move.
    assert facts["gym_commit"].strength is Strength.MISSING
    assert facts["submitter_gym_commit"].role is Role.BOOKKEEPING
    # The config and the script say the same everywhere.
    assert [fact.name for fact in facts.values() if fact.rivals] == []


def test_plain_run_with_its_log_knows_its_settings_and_no_commit(acceptance_data: Path) -> None:
    run = acceptance_data / "runs" / "a1_base"
    sheet = evidence(run, logs=[run / "stdout.log"])
    facts = by_name(sheet)
    # COMMAND.txt: --num-repeats 4 --temperature 0.6 --max-output-tokens 512
    assert (facts["num_repeats"].value, facts["temperature"].value, facts["max_output_tokens"].value) == (
        4,
        0.6,
        512,
    )
    assert (facts["request.temperature"].value, facts["repeats"].value) == (0.6, 4)
    assert facts["response_model"].value == "mock-model"
    assert facts["gym_commit"].strength is Strength.MISSING
    assert {fact.name: fact.value for fact in sheet.scores}["mean/reward"] == 0.765625


def test_saved_config_of_the_simulated_kind_is_read_under_its_own_name(
    acceptance_data: Path, tmp_path: Path
) -> None:
    source = acceptance_data / "runs" / "g1_e2e_served"
    shutil.copytree(source, tmp_path / "run", ignore=shutil.ignore_patterns("*.SIMULATED.yaml"))
    shutil.copy(
        source / "rollouts_resolved_config.SIMULATED.yaml", tmp_path / "run" / "rollouts_resolved_config.yaml"
    )
    env = tmp_path / "env"
    env.write_text("POLICY_DROP_REASONING_ITEMS=true\n")
    sheet = evidence(tmp_path / "run", env_files=[env], logs=[source / "stdout.log"])
    facts = by_name(sheet)
    server = "config.policy_model.responses_api_models.openai_model"
    assert facts[f"{server}.openai_model"].value == "mock-model"
    dropped = facts[f"{server}.drop_input_reasoning_items"]
    assert (dropped.value, dropped.strength) == ("true", Strength.STATED)
    assert "sk-mock-secret" not in str(sheet)


def test_profile_outputs_are_scores(acceptance_data: Path) -> None:
    sheet = evidence(acceptance_data / "runs" / "g3_profile_f3_weather_parallel")
    scores = {fact.name: fact for fact in sheet.scores}
    assert scores["mean/reward, profiled"].value == scores["mean/reward"].value == 0.5
    assert scores["mean/reward of repeat 0"].file == "rollouts_repeat_level_metrics.json"
