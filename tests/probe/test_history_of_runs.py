"""`gymbal triage --gym-repo`: two runs whose logs name their commits, and a clone of what lies between."""

from __future__ import annotations

from pathlib import Path

from gym_repository import commit
from triage_reports import rung

from gymbal.commands.side import Evidence
from gymbal.commands.triage import triage_runs
from gymbal.model.finding import Finding, Rung, Status

RUNS = Path(__file__).parents[2] / "examples" / "runs"

LOG = """Gym commit: {commit}
INFO vLLM API server version 0.11.0
+ gym eval run --config resources_servers/quiz/configs/quiz.yaml --model-type vllm_model --output r.jsonl
"""


def code(folder: Path, gym: Path, left: str, right: str) -> Finding:
    sides = []
    for name, known in (("left", left), ("right", right)):
        log = folder / f"{name}.log"
        log.write_text(LOG.format(commit=known))
        sides.append(Evidence(logs=[log]))
    report = triage_runs(
        RUNS / "baseline", RUNS / "candidate", left_evidence=sides[0], right_evidence=sides[1], gym_repo=gym
    )
    return rung(report, Rung.CODE)


def test_commits_that_leave_the_benchmark_alone_are_the_same_code(gym: Path, tmp_path: Path) -> None:
    left = commit(gym, "Base", {"README.md": "1\n"})
    right = commit(gym, "Elsewhere", {"resources_servers/other/app.py": "2\n"})
    finding = code(tmp_path, gym, left, right[:12])
    assert finding.status is Status.SAME
    assert "of 1 commits between the two, none touches the files of this benchmark" in finding.summary


def test_commit_that_touches_the_model_adapter_is_named(gym: Path, tmp_path: Path) -> None:
    left = commit(gym, "Base", {"README.md": "1\n"})
    right = commit(gym, "Ask otherwise", {"responses_api_models/vllm_model/app.py": "ask = 2\n"})
    finding = code(tmp_path, gym, left, right)
    assert finding.status is Status.DIFFERENT
    assert "Ask otherwise" in finding.summary
    # The other adapter is no part of these runs.
    other = commit(gym, "Other adapter", {"responses_api_models/openai_model/app.py": "ask = 2\n"})
    assert code(tmp_path, gym, right, other).status is Status.SAME


def test_unknown_commit_is_said(gym: Path, tmp_path: Path) -> None:
    left = commit(gym, "Base", {"README.md": "1\n"})
    finding = code(tmp_path, gym, left, "f" * 40)
    assert finding.status is Status.DIFFERENT
    assert "git cannot tell what lies between the two commits" in finding.summary


def test_missing_commit_is_said(gym: Path, tmp_path: Path) -> None:
    finding = code(tmp_path, gym, "unknown", "f" * 40)
    assert finding.status is Status.UNKNOWN
    assert "the Gym commit of baseline is not known" in finding.summary


def test_one_commit_asks_git_nothing(gym: Path, tmp_path: Path) -> None:
    left = commit(gym, "Base", {"README.md": "1\n"})
    finding = code(tmp_path, gym, left, left)
    assert (finding.status, "between" in finding.summary) == (Status.SAME, False)
