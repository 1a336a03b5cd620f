"""`<stem>_provenance.json` as the reader of runs takes it, and the other files that a job leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_builder import write_run

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.run import ProblemKind, Run
from gymbal.readers.run import read_run
from gymbal.readers.run.observed import observed_facts

COMMIT = "1f8afc7aa0" + "0" * 30

LAUNCH: dict[str, Any] = {
    "command": [
        "gym",
        "eval",
        "run",
        "--temperature",
        "0.6",
        "--max-output-tokens",
        "512",
        "--output",
        "r.jsonl",
    ],
    "started": "2026-11-29T14:00:00.000Z",
    "ended": "2026-11-29T15:00:00.000Z",
    "exit_code": 0,
    "gym": {"version": "0.7.0", "commit": COMMIT, "changes": None},
    "working_folder": {"commit": "a" * 40, "changes": None, "holds_gym_parts": False},
    "config": {
        "quiz": {"resources_servers": {"quiz": {"grading_mode": "strict", "port": 1}}},
        "policy_model": {"responses_api_models": {"vllm_model": {"api_key": "****", "model": "quiz-model"}}},
        "responses_create_params": {"temperature": 0.6, "max_output_tokens": "****"},
    },
    "config_environment": {"JUDGE_MODEL": "judge-x", "JUDGE_KEY": "****", "UNSET": None},
    "environment": {"VLLM_USE_V1": "1"},
    "endpoint": {
        "url": "http://127.0.0.1:8000/v1",
        "model": "quiz-model",
        "models": {
            "data": [
                {"id": "other", "owned_by": "vllm", "root": "/models/other"},
                {"id": "quiz-model", "owned_by": "vllm", "root": "/models/quiz", "max_model_len": 32768},
            ]
        },
        "version": {"version": "0.11.0"},
    },
    "gpus": [{"name": "NVIDIA H100"}, {"name": "NVIDIA H100"}],
    "packages": {"digest": "d1", "versions": {}},
    "tasks": {"digest": "t1", "tasks": 3, "rows": 6},
}


def changed(**parts: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(LAUNCH)), **parts}


def read(folder: Path, *launches: dict[str, Any], version: int = 1) -> Run:
    write_run(folder)
    document = {"schema_version": version, "launches": list(launches)}
    (folder / "rollouts_provenance.json").write_text(json.dumps(document))
    return read_run(folder)


def by_name(run: Run) -> dict[str, Fact]:
    return {fact.name: fact for fact in run.facts}


def test_provenance_is_recorded_evidence_with_file_and_key(tmp_path: Path) -> None:
    facts = by_name(read(tmp_path, LAUNCH))
    assert facts["gym_commit"] == Fact(
        name="gym_commit",
        role=Role.CODE,
        value=COMMIT,
        strength=Strength.RECORDED,
        file="rollouts_provenance.json",
        key="launches.0.gym.commit",
    )
    expected = {
        "gym_version": "0.7.0",
        "policy_model_type": "vllm_model",
        "config.quiz.resources_servers.quiz.grading_mode": "strict",
        "temperature": 0.6,
        "serving_engine": "vllm",
        "serving_engine_version": "0.11.0",
        "model_checkpoint": "/models/quiz",
        "serving.max_model_len": 32768,
        "gpu_type": "NVIDIA H100",
        "driver_env.VLLM_USE_V1": "1",
        "tasks_digest": "t1",
    }
    assert {name: facts[name].value for name in expected} == expected
    assert all(facts[name].strength is Strength.RECORDED for name in expected)


def test_provenance_command_knows_what_the_config_masks(tmp_path: Path) -> None:
    limit = by_name(read(tmp_path, LAUNCH))["max_output_tokens"]
    assert (limit.value, limit.key) == (512, "--max-output-tokens")


def test_provenance_command_can_be_a_shells(tmp_path: Path) -> None:
    shell = ["sh", "-c", "cd x; gym eval run --output r.jsonl --limit 3; true"]
    assert by_name(read(tmp_path, changed(command=shell)))["config.limit"].value == 3


def test_provenance_gives_the_values_of_variables_in_a_saved_config(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_resolved_config.yaml").write_text("judge: ${oc.env:JUDGE_MODEL,default}\n")
    judge = by_name(read(tmp_path, LAUNCH))["config.judge"]
    assert (judge.value, judge.strength) == ("judge-x", Strength.RECORDED)


def test_provenance_of_a_changed_checkout_needs_the_digest_of_its_changes(tmp_path: Path) -> None:
    dirty = f"{COMMIT}-dirty"
    unknown = by_name(read(tmp_path / "a", changed(gym={"commit": dirty, "changes": None})))
    assert (unknown["gym_commit"].value, unknown["gym_changes"].strength) == (dirty, Strength.MISSING)
    known = by_name(read(tmp_path / "b", changed(gym={"commit": dirty, "changes": "c1"})))
    assert known["gym_changes"].value == "c1"
    assert "gym_changes" not in by_name(read(tmp_path / "c", LAUNCH))


def test_provenance_takes_a_working_folder_for_code_where_it_holds_parts_of_gym(tmp_path: Path) -> None:
    folder = {**LAUNCH["working_folder"], "holds_gym_parts": True}
    assert by_name(read(tmp_path / "a", LAUNCH))["working_folder_commit"].role is Role.BOOKKEEPING
    facts = by_name(read(tmp_path / "b", changed(working_folder=folder)))
    assert facts["working_folder_commit"].role is Role.CODE


def test_provenance_of_another_machine_names_no_serving_gpu(tmp_path: Path) -> None:
    elsewhere = {**LAUNCH["endpoint"], "url": "http://node17:8000/v1"}
    facts = by_name(read(tmp_path, changed(endpoint=elsewhere)))
    assert "gpu_type" not in facts
    assert facts["driver_gpu_type"].role is Role.BOOKKEEPING


def test_launches_that_disagree_leave_the_whole_unknown(tmp_path: Path) -> None:
    other = changed(gym={"version": "0.7.0", "commit": "b" * 40})
    facts = by_name(read(tmp_path, LAUNCH, other))
    assert (facts["gym_commit"].value, len(facts["gym_commit"].rivals)) == (None, 2)
    assert facts["gym_version"].value == "0.7.0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema_version": 2, "launches": []}', "schema_version 2"),
        ('{"schema_version": 1, "launches": {}}', "no record of launches"),
        ("[]", "no record of launches"),
        ("{", "is not JSON"),
    ],
)
def test_provenance_that_cannot_be_read_is_a_problem(tmp_path: Path, text: str, said: str) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_provenance.json").write_text(text)
    (problem,) = read_run(tmp_path).problems
    assert (problem.kind, problem.file) == (ProblemKind.UNREADABLE_FILE, "rollouts_provenance.json")
    assert said in problem.detail


@pytest.mark.parametrize("launch", [{}, {"gym": 3, "config": [], "endpoint": {"models": 1}, "gpus": "x"}])
def test_provenance_of_another_shape_is_taken_as_far_as_it_goes(
    tmp_path: Path, launch: dict[str, Any]
) -> None:
    assert not by_name(read(tmp_path, launch))["gym_commit"].is_known


def test_rollouts_show_what_was_asked_and_who_answered(tmp_path: Path) -> None:
    write_run(tmp_path, tasks=3, repeats=2)
    facts = {fact.name: fact for fact in observed_facts(read_run(tmp_path))}
    assert (facts["response_model"].value, facts["response_model"].file) == ("quiz-model", "rollouts.jsonl")
    assert (facts["request.temperature"].value, facts["request.top_p"].value) == (0.6, "unset")
    assert (facts["repeats"].value, facts["most_output_tokens"].value) == (2, 5)
    assert (facts["agent"].value, facts["environment_server"].value) == ("quiz_agent", "quiz_server")


def test_rollouts_that_are_mixed_show_every_value_with_its_rows(tmp_path: Path) -> None:
    file = write_run(tmp_path, tasks=2, repeats=2)
    first, *rest = file.read_text().splitlines(keepends=True)
    file.write_text(first.replace("quiz-model", "other-model") + "".join(rest))
    facts = {fact.name: fact for fact in observed_facts(read_run(tmp_path))}
    assert facts["response_model"].value == "quiz-model (3), other-model (1)"


def test_captures_name_the_judge_that_answered(tmp_path: Path) -> None:
    write_run(tmp_path)
    folder = tmp_path / "model_call_capture"
    folder.mkdir()
    exchanges = [
        {"model_ref": {"name": "policy_model"}, "response": {"model": "quiz-model"}},
        {"model_ref": {"name": "judge_model"}, "response": {"model": "judge-2026-01"}},
        {"model_ref": {"name": "judge_model"}, "response": None},
    ]
    (folder / "0-0.capture.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exchanges) + "torn")
    fact = by_name(read_run(tmp_path))["captured.judge_model.model"]
    assert (fact.value, fact.role, fact.file) == ("judge-2026-01", Role.JUDGE, "model_call_capture")


JOB = f"""#!/bin/bash
# service: policy
env HF_TOKEN=hf_FAKEsecret1 srun --container-image=/images/vllm.sqsh vllm serve /models/quiz --port 8000 \\
    --served-model-name quiz-model --reasoning-parser qwen3 &
# service: judge
srun --container-image=/images/judge.sqsh vllm serve /models/judge --served-model-name judge &
GYM_CMD=(
    gym eval run
    +num_repeats=4
    +policy_model_name=quiz-model
    +policy_api_key=sk-FAKEsecret2
)
srun --container-image=python:3.12 --output=logs/driver-1.log bash -c '
    git clone https://example.org/gym "$SRC/gym" && cd "$SRC/gym" && git checkout {COMMIT}
    exec "$@"
' -- "${{GYM_CMD[@]}}"
"""


def test_job_script_names_engines_command_and_commit(tmp_path: Path) -> None:
    write_run(tmp_path / "quiz" / "artifacts")
    (tmp_path / "gym-job.json").write_text("{}")
    (tmp_path / "quiz" / "job.sh").write_text(JOB)
    run = read_run(tmp_path)
    facts = by_name(run)
    expected = {
        "gym_commit": COMMIT,
        "gym_repo": "https://example.org/gym",
        "driver_container": "python:3.12",
        "serving_container": "/images/vllm.sqsh",
        "model_checkpoint": "/models/quiz",
        "serving.reasoning_parser": "qwen3",
        "serving.tool_call_parser": "none",
        "judge.model_checkpoint": "/models/judge",
        "num_repeats": 4,
    }
    assert {name: facts[name].value for name in expected} == expected
    assert facts["judge.model_checkpoint"].role is Role.JUDGE
    assert (facts["gym_commit"].file, facts["gym_commit"].key) == ("quiz/job.sh:14", "git checkout")
    assert "FAKEsecret" not in str(run.facts)


def test_job_logs_of_driver_and_policy_are_read_and_no_others(tmp_path: Path) -> None:
    write_run(tmp_path / "quiz" / "artifacts")
    (tmp_path / "resolved-config.yaml").write_text("driver: {policy_model: policy}\n")
    (tmp_path / "quiz" / "job.sh").write_text("#!/bin/sh\n")
    logs = tmp_path / "quiz" / "logs"
    logs.mkdir()
    (logs / "driver-1.log").write_text("NeMo Gym v0.7.0\n")
    (logs / "policy-1.log").write_text("INFO vLLM API server version 0.11.0\n")
    (logs / "judge-1.log").write_text("INFO vLLM API server version 0.9.9\n")
    facts = by_name(read_run(tmp_path))
    assert (facts["gym_version"].value, facts["serving_engine_version"].value) == ("0.7.0", "0.11.0")
    assert facts["gym_version"].file == "quiz/logs/driver-1.log:1"


def test_known_secret_is_masked_under_a_harmless_name(tmp_path: Path) -> None:
    write_run(tmp_path / "quiz" / "artifacts")
    config = {
        "driver": {
            "env": {"DB_PASSWORD": "swordfish7"},
            "benchmarks": {"quiz": {"run": {"note": "x swordfish7"}}},
        }
    }
    (tmp_path / "resolved-config.yaml").write_text(json.dumps(config))
    run = read_run(tmp_path, stated={"OTHER_KEY": "hunter2hunter2"}, more=[[stated_note("hunter2hunter2")]])
    assert by_name(run)["config.note"].value == "x ****"
    assert by_name(run)["note"].value == "see ****"


def stated_note(secret: str) -> Fact:
    return Fact(name="note", role=Role.HARNESS, value=f"see {secret}", strength=Strength.STATED)


def test_stated_environment_resolves_a_saved_config_and_says_so(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_resolved_config.yaml").write_text(
        "judge_model: ${oc.env:JUDGE_MODEL}\njudge: for ${judge_model}\nport: ${oc.env:OTHER}\n"
    )
    facts = by_name(read_run(tmp_path, stated={"JUDGE_MODEL": "judge-y"}))
    assert (facts["config.judge_model"].value, facts["config.judge_model"].strength) == (
        "judge-y",
        Strength.STATED,
    )
    assert (facts["config.judge"].value, facts["config.judge"].strength) == ("for judge-y", Strength.STATED)
    assert not facts["config.port"].is_known
