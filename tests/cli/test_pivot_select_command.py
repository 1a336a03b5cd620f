"""`gymbal pivot index` and `gymbal pivot select` as commands."""

import json
from pathlib import Path

import pytest
from run_gymbal import assert_refused, gymbal

EXAMPLES = Path(__file__).parents[2] / "examples"
ROLLOUTS = EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl"
RATED = EXAMPLES / "pivots" / "rated.jsonl"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The rates of the example's rows as a profile."""
    path = tmp_path / "profile.jsonl"
    with path.open("w") as stream:
        for line in RATED.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            fields = {"pivot": row["pivot_info"]["uuid"], "k": row["pass_rate_total"], "rewards": None}
            stream.write(json.dumps(fields | {"mean": row["pass_rate"], "source": "pass_rate"}) + "\n")
    return path


def test_index_and_select_exit_with_0_and_say_what_they_did(tmp_path: Path, profile: Path) -> None:
    index = tmp_path / "index.jsonl"
    indexed = gymbal("pivot", "index", ROLLOUTS, "-o", index, "--success-only", "--name", "good")
    assert (indexed.returncode, indexed.stderr) == (0, "")
    assert "model calls of 16 trajectories are indexed" in indexed.stdout
    assert json.loads(index.read_text().splitlines()[0])["options"] == {"success_only": True}
    done = gymbal(
        *("pivot", "select", RATED, "--profile", profile, "-o", tmp_path / "out", "--format", "json"),
        *("--budget", "6", "--target-rate", "0.5", "--balance", "label", "--balance", "task"),
        *("--cap-per-trajectory", "2", "--near-duplicates", "0.9", "--drop-messages", "0.1", "--seed", "3"),
        *("--avoid", EXAMPLES / "gate.toml"),
    )
    assert_refused(done, "gate.toml", "is not JSON")
    done = gymbal(
        *("pivot", "select", RATED, "--profile", profile, "-o", tmp_path / "out", "--format", "json"),
        *("--budget", "6", "--target-rate", "0.5", "--balance", "label", "--balance", "task"),
        *("--split", "train=0.6,validation=0.4", "--threshold", "0.2", "--max-rate", "0.9"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    metrics = json.loads(done.stdout)
    assert (metrics["candidates"], metrics["kept"]) == (49, 6)
    assert metrics["options"]["balance"] == ["label", "task"]
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == metrics
    assert "word_count_similarity_threshold: 0.2" in (tmp_path / "out" / "config.yaml").read_text()


def test_every_form_of_the_report_has_the_funnel(tmp_path: Path, profile: Path) -> None:
    for form in ("text", "markdown"):
        done = gymbal(
            "pivot", "select", RATED, "--profile", profile, "-o", tmp_path / "out", "--format", form
        )
        assert done.returncode == 0
        assert "never passed" in done.stdout
        assert "Before training" in done.stdout


def test_errors_exit_with_2_and_one_message(tmp_path: Path, profile: Path) -> None:
    out = tmp_path / "out"
    select = ("pivot", "select", RATED, "-o", out, "--profile")
    assert_refused(gymbal(*select, tmp_path / "none.jsonl"), "none.jsonl", "cannot be read")
    assert_refused(gymbal(*select, RATED), "rated.jsonl:1", "no profile of a pivot")
    assert_refused(gymbal(*select, profile, "--balance", "tool"), "needs a budget")
    assert_refused(gymbal("pivot", "index", ROLLOUTS, "-o", profile), "exists")
    assert_refused(gymbal("pivot", "index", RATED, ROLLOUTS, "-o", out, "--split", "train=1"), "--split")
    assert not out.exists()
