"""`gymbal evidence`, and the same evidence in `gymbal triage`, as a user meets them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_gymbal import assert_refused, gymbal

from gymbal.commands.evidence import evidence
from gymbal.commands.side import Evidence
from gymbal.commands.triage import triage_runs
from gymbal.errors import UsageError

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "examples" / "runs" / "baseline"
CANDIDATE = ROOT / "examples" / "runs" / "candidate"
FORMATS = ("text", "json", "markdown")

COMMIT = "1f8afc7aa0" + "0" * 30
OTHER = "2" * 40

LOG = f"""Cloning into '/opt/gym'...
HEAD is now at {COMMIT} Release
NeMo Gym v0.7.0
+ HF_TOKEN=hf_FAKEsecret1 gym eval run --model-api-key FAKEsecret2 --num-repeats 4 --output r.jsonl
INFO vLLM API server version 0.11.0
INFO non-default args: {{'model': '/models/q', 'api_key': ['FAKEsecret3'], 'max_model_len': 4096}}
"""


def sheet(side: str | Path, **outside: Sequence[str | Path]) -> dict[str, Any]:
    """The sheet as its JSON holds it."""
    found: dict[str, Any] = msgspec.to_builtins(evidence(side, **outside))  # type: ignore[arg-type]  # by name
    return found


def facts(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = {fact["name"]: fact for fact in found["facts"]}
    assert len(named) == len(found["facts"])
    return named


def triage(left: Sequence[Path] = (), right: Sequence[Path] = ()) -> dict[str, dict[str, Any]]:
    """The rungs of the examples, given logs for either side."""
    report = triage_runs(
        BASELINE, CANDIDATE, left_evidence=Evidence(logs=left), right_evidence=Evidence(logs=right)
    )
    return {rung["name"]: rung for rung in msgspec.to_builtins(report.rungs)}


def test_every_line_names_its_place_or_how_to_get_it() -> None:
    found = sheet(BASELINE)
    assert (found["schema_version"], found["label"]) == (1, "baseline")
    for fact in (*found["scores"], *found["facts"]):
        if fact["strength"] == "missing":
            assert (fact["value"], bool(fact["remedy"])) == (None, True), fact["name"]
        else:
            assert fact["file"], fact["name"]
            assert fact["key"], fact["name"]


def test_sheet_of_a_plain_run_knows_what_its_rows_show() -> None:
    found = sheet(BASELINE)
    named = facts(found)
    scores = {score["name"]: score for score in found["scores"]}
    # As examples/README.md says, the baseline reports 0.6111.
    assert round(scores["mean/reward"]["value"], 4) == 0.6111
    assert scores["mean/reward, recomputed"]["strength"] == "rebuilt"
    assert named["request.temperature"]["value"] == 0.6
    assert (named["repeats"]["value"], named["repeats"]["strength"]) == (4, "recorded")
    present = {file["name"]: file["is_present"] for file in found["files"]}
    assert present["rollouts.jsonl"]
    assert not present["rollouts_resolved_config.yaml"]


def test_sheet_of_a_plain_run_lists_what_is_missing() -> None:
    missing = {name for name, fact in facts(sheet(BASELINE)).items() if fact["strength"] == "missing"}
    assert missing >= {
        "gym_commit",
        "gym_version",
        "driver_container",
        "model_checkpoint",
        "serving.dtype",
        "serving_engine",
        "serving_engine_version",
        "serving.reasoning_parser",
        "serving.tool_call_parser",
        "serving.tensor_parallel_size",
        "gpu_type",
        "serving.max_model_len",
        "time_limits",
        "judge",
        "user_simulator",
    }


def test_log_supplies_what_the_run_does_not(tmp_path: Path) -> None:
    log = tmp_path / "launch.log"
    log.write_text(LOG)
    named = facts(sheet(BASELINE, logs=[log]))
    assert (named["gym_commit"]["value"], named["gym_commit"]["file"]) == (COMMIT, f"{log}:2")
    assert named["serving_engine_version"]["value"] == "0.11.0"
    assert named["serving.max_model_len"]["value"] == 4096
    assert named["serving.reasoning_parser"]["value"] == "none"


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_shows_a_secret(tmp_path: Path, format: str) -> None:
    log, env = tmp_path / "launch.log", tmp_path / "env"
    log.write_text(LOG)
    env.write_text("JUDGE_API_KEY=FAKEsecret4\nNOTE=see FAKEsecret4\n")
    shutil.copytree(BASELINE, tmp_path / "run")
    saved = tmp_path / "run" / "rollouts_resolved_config.yaml"
    saved.write_text("judge_key: ${oc.env:JUDGE_API_KEY}\nnote: ${oc.env:NOTE}\ndb_password: FAKEsecret5\n")
    done = gymbal("evidence", tmp_path / "run", "--log", log, "--env-file", env, "--format", format)
    assert done.returncode == 0
    assert "FAKEsecret" not in done.stdout + done.stderr
    given = ("--left-log", log, "--left-env-file", env, "--right-log", log)
    done = gymbal("triage", tmp_path / "run", CANDIDATE, *given, "--format", format)
    assert done.returncode == 1
    assert "FAKEsecret" not in done.stdout + done.stderr


def test_environment_resolves_what_the_saved_config_left_open(tmp_path: Path) -> None:
    shutil.copytree(BASELINE, tmp_path / "run")
    (tmp_path / "run" / "rollouts_resolved_config.yaml").write_text("judge_model: ${oc.env:JUDGE_MODEL}\n")
    env = tmp_path / "env"
    env.write_text("JUDGE_MODEL=judge-x\n")
    before = facts(sheet(tmp_path / "run"))["config.judge_model"]
    assert (before["value"], "JUDGE_MODEL" in before["remedy"]) == (None, True)
    after = facts(sheet(tmp_path / "run", env_files=[env]))["config.judge_model"]
    assert (after["value"], after["strength"]) == ("judge-x", "stated")


def test_contradiction_is_shown_with_both_places(tmp_path: Path) -> None:
    shutil.copytree(BASELINE, tmp_path / "run")
    saved = tmp_path / "run" / "rollouts_resolved_config.yaml"
    saved.write_text("responses_create_params: {temperature: 1.0}\n")
    found = sheet(tmp_path / "run")
    (rival,) = facts(found)["request.temperature"]["rivals"]
    assert (rival["value"], rival["file"]) == (1.0, "rollouts_resolved_config.yaml")
    text = gymbal("evidence", tmp_path / "run").stdout
    assert "Contradictions" in text
    assert "request.temperature: 0.6 in" in text


def test_unreadable_source_is_named(tmp_path: Path) -> None:
    shutil.copytree(BASELINE, tmp_path / "run")
    (tmp_path / "run" / "rollouts_resolved_config.yaml").write_text("a: [\n")
    found = sheet(tmp_path / "run")
    assert [problem["file"] for problem in found["problems"]] == ["rollouts_resolved_config.yaml"]


def test_profile_files_are_scores_too(tmp_path: Path) -> None:
    shutil.copytree(BASELINE, tmp_path / "run")
    entry = {"agent_ref": {"name": "a"}, "mean/reward": 0.5}
    (tmp_path / "run" / "rollouts_agent_metrics.json").write_text(json.dumps([entry]))
    (tmp_path / "run" / "rollouts_repeat_level_metrics.json").write_text("broken")
    found = sheet(tmp_path / "run")
    assert {score["name"]: score["value"] for score in found["scores"]}["mean/reward, profiled"] == 0.5
    assert [problem["file"] for problem in found["problems"]] == ["rollouts_repeat_level_metrics.json"]


def test_published_number_is_stated_evidence() -> None:
    found = sheet("73.2% n=198 k=8 temperature=0.6")
    assert {score["name"]: score["value"] for score in found["scores"]}["tasks"] == 198
    assert facts(found)["temperature"]["strength"] == "stated"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((BASELINE, "--log", "none.log"), "none.log"),
        ((BASELINE, "--env-file", "none"), "none"),
        ((BASELINE, "--override", "a=1"), "needs --gym-config"),
        (("nowhere",), "nowhere"),
    ],
)
def test_evidence_that_cannot_be_read_is_refused(args: tuple[str | Path, ...], said: str) -> None:
    assert_refused(gymbal("evidence", *args), said)


def test_evidence_is_the_same_bytes_each_time() -> None:
    once, again = (gymbal("evidence", BASELINE, "--format", "json").stdout for _ in range(2))
    assert once == again


def test_logs_settle_the_code_rung(tmp_path: Path) -> None:
    assert triage()["code"]["status"] == "unknown"
    log = tmp_path / "launch.log"
    log.write_text(LOG)
    code = triage([log], [log])["code"]
    assert code["status"] == "same"
    assert "gym_commit" in code["summary"]
    other = tmp_path / "other.log"
    other.write_text(LOG.replace(COMMIT, OTHER))
    code = triage([log], [other])["code"]
    assert (code["status"], code["facts"][0]["name"]) == ("different", "gym_commit")


def test_logs_alone_do_not_settle_the_method(tmp_path: Path) -> None:
    log = tmp_path / "launch.log"
    log.write_text(LOG)
    method = triage([log], [log])["method"]
    assert method["status"] == "unknown"
    assert "harness" in method["summary"]


def test_gym_repository_must_be_one(tmp_path: Path) -> None:
    assert_refused(gymbal("triage", BASELINE, CANDIDATE, "--gym-repo", tmp_path), "is no git repository")


def test_published_number_takes_no_log() -> None:
    with pytest.raises(UsageError, match="takes no logs"):
        evidence("73.2%", logs=["x"])
