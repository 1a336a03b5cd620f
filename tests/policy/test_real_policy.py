"""Profiles of a language model: what holds of any policy that draws its answers.

What the model answers is not foreseen, so no test names an answer. It is small and weak, and hardly calls
a tool unless it must: it is asked with `tool_choice` "required", which the server holds by a grammar.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from json_rows import read_rows
from local_policy import Endpoint, served

from gymbal.commands.pivot_build import pivot_build

K = 4
PIVOTS = 8
ROLLOUTS = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"
REAL_ROWS = Path("trajectories") / "nemo_gym_pivot_rows" / "parallel_example.jsonl"
CALL = '{"tool_choice": "required"}'

Json = dict[str, Any]


class Profiled(NamedTuple):
    pivots: Path
    command: list[str]
    report: Json
    profile: list[Json]
    samples: list[Json]


def gymbal(*arguments: str) -> Json:
    """What a command prints as JSON. It must end with 0."""
    command = [sys.executable, "-m", "gymbal", *arguments, "--format", "json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    printed: Json = json.loads(ended.stdout)
    return printed


def profile(policy: Endpoint, pivots: Path, output: Path, *options: str) -> Profiled:
    asked = ["--base-url", policy.base_url, "--model", policy.model, "--max-output-tokens", "64"]
    command = [
        "pivot",
        "profile",
        str(pivots),
        "--output",
        str(output),
        *asked,
        *options,
        "--concurrency",
        "2",
    ]
    report = gymbal(*command)
    samples = read_rows(output.with_suffix(".samples.jsonl"))[1:]
    return Profiled(pivots, command, report, read_rows(output), samples)


@pytest.fixture(scope="module")
def real_policy() -> Iterator[Endpoint]:
    """A local endpoint, from the folder of `policy_files.py` that GYMBAL_POLICY names."""
    named = os.environ.get("GYMBAL_POLICY")
    if not named:
        pytest.skip("GYMBAL_POLICY is not set: no policy to ask; make test-policy sets it")
    with served(Path(named)) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def shortest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the pivots of `examples/rollouts` that expect a call, those with the least to read."""
    folder = tmp_path_factory.mktemp("pivots")
    pivot_build(ROLLOUTS, folder / "all")
    rows = (folder / "all" / "pivots.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    calls = [row for row in rows if json.loads(row)["expected_action"]["type"] == "function_call"]
    (folder / "config.yaml").write_bytes((folder / "all" / "config.yaml").read_bytes())
    path = folder / "pivots.jsonl"
    path.write_text("".join(sorted(calls, key=len)[:PIVOTS]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def profiled(real_policy: Endpoint, shortest: Path, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    output = tmp_path_factory.mktemp("profile") / "profile.jsonl"
    return profile(real_policy, shortest, output, "-k", str(K), "--extra-body", CALL)


def assert_accounted(found: Profiled, pivots: int) -> None:
    counts = found.report["sampled"]["samples"]
    assert (counts["answered"], counts["failed"], counts["earlier"]) == (pivots * K, 0, 0)
    assert sum(counts["categories"].values()) == pivots * K
    assert sorted((s["pivot"], s["sample"]) for s in found.samples) == sorted(
        (line["pivot"], n) for line in found.profile for n in range(K)
    )
    assert len(found.profile) == sum(found.report["outcomes"].values()) == pivots
    for line in found.profile:
        rewards = [s["reward"] for s in found.samples if s["pivot"] == line["pivot"]]
        assert sorted(rewards) == sorted(line["rewards"])
        assert all(0.0 <= reward <= 1.0 for reward in rewards)
        assert line["mean"] == pytest.approx(sum(rewards) / K)
    tokens = found.report["sampled"]["tokens"]
    assert tokens["output"] == sum(s["usage"]["output"] for s in found.samples) > pivots * K
    assert tokens["input"] > tokens["cached"] > 0


def test_real_policy_is_accounted_for_in_every_sample(profiled: Profiled) -> None:
    assert_accounted(profiled, PIVOTS)


def test_real_policy_draws_different_answers(profiled: Profiled) -> None:
    answers: dict[str, set[str]] = {}
    for sample in profiled.samples:
        answers.setdefault(sample["pivot"], set()).add(json.dumps(sample["action"]))
    assert sum(len(drawn) > 1 for drawn in answers.values()) > PIVOTS / 2


def test_real_policy_that_must_call_calls_or_is_cut(profiled: Profiled) -> None:
    rows = read_rows(profiled.pivots)
    offered = {tool["name"] for row in rows for tool in row["responses_create_params"]["tools"]}
    for sample in profiled.samples:
        if sample["action"]["type"] == "function_call":
            assert sample["action"]["name"] in offered
        else:
            assert sample["truncated"]
    assert any(sample["action"]["type"] == "function_call" for sample in profiled.samples)


def test_real_policy_is_not_asked_again(profiled: Profiled) -> None:
    again = gymbal(*profiled.command)["sampled"]["samples"]
    assert (again["answered"], again["earlier"], again["requests"]) == (PIVOTS * K, PIVOTS * K, 0)


def test_real_policy_at_temperature_0_repeats_itself(
    real_policy: Endpoint, shortest: Path, tmp_path: Path
) -> None:
    two = tmp_path / "two.jsonl"
    two.write_text(
        "".join(shortest.read_text(encoding="utf-8").splitlines(keepends=True)[:2]), encoding="utf-8"
    )
    options = ("-k", "2", "--temperature", "0", "--extra-body", CALL)
    found = profile(real_policy, two, tmp_path / "greedy.jsonl", *options)
    for line in found.profile:
        actions = [sample["action"] for sample in found.samples if sample["pivot"] == line["pivot"]]
        assert actions[0] == actions[1]


def test_real_policy_profile_is_selected_from(profiled: Profiled, tmp_path: Path) -> None:
    profile_file = profiled.command[profiled.command.index("--output") + 1]
    output = tmp_path / "selected"
    metrics = gymbal(
        "pivot", "select", str(profiled.pivots), "--profile", profile_file, "--output", str(output)
    )
    left = metrics["candidates"]
    assert left == PIVOTS
    for stage in metrics["funnel"]:
        assert stage["left"] == left - sum(stage["left_out"].values())
        left = stage["left"]
    assert metrics["kept"] == left == profiled.report["outcomes"]["mixed"]
    assert len(read_rows(output / "pivots.jsonl")) == left


def test_real_policy_profile_is_rescored(profiled: Profiled) -> None:
    report = gymbal(
        "pivot", "rescore", profiled.report["sampled"]["journal"], "--pivots", str(profiled.pivots),
        "--set", "word_count_similarity_threshold=0.9",
    )  # fmt: skip
    assert report["recorded"] == {"agree": PIVOTS * K, "differ": 0, "unknown": 0}
    assert report["rewards"]["up"] == 0  # a higher threshold accepts nothing more
    assert report["rewards"]["same"] + report["rewards"]["down"] == PIVOTS * K


def test_real_policy_answers_real_rows(real_policy: Endpoint, acceptance_data: Path, tmp_path: Path) -> None:
    rows = acceptance_data / REAL_ROWS
    found = profile(real_policy, rows, tmp_path / "profile.jsonl", "-k", str(K), "--extra-body", CALL)
    assert_accounted(found, len(read_rows(rows)))
