"""`gym eval compare` and triage on the same pairs of runs; the table stands in docs/compare.md.

GYMBAL_WRITE_DOCS=1 make test-gym ARGS="-k compare"      writes it again
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from bridge import Bridge
from gym_runs import RunMaker
from sums import Json

import gymbal
from gymbal.model.finding import TriageReport

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
START, END = "<!-- written by tests/gym_integration/test_gym_compare.py -->", "<!-- end -->"

PAIRS = (
    ("base", "rerun", "nothing: the same model, run again"),
    ("base", "better", "the model: right more often on every task"),
    ("base", "failed", "12 of 48 rollouts failed"),
    ("failed", "failed_as_zero", "the same rollouts, failures counted as zero"),
    ("base", "resumed", "nothing: failed rollouts were repeated"),
    ("base", "aborted", "the run ended at its first failure"),
    ("half_points", "masked", "10 rollouts masked, 2 failed; the answers are the same"),
    ("base", "reordered", "nothing: other order of tasks, repeats interleaved and seeded"),
    ("base", "repeated_task", "3 easy tasks stand in the input twice"),
    ("desk", "desk_other_tools", "the description of a tool, on every task"),
    ("base", "without_thinking", "an argument of the chat template"),
    ("base", "thoughts_left", "no reasoning parser: thoughts stand in the answers"),
    ("base", "other_agent", "the agent, under another name"),
    ("base", "merged", "nothing: two shards, put together by Gym"),
)


def compared(report: Json) -> str:
    """What `gym eval compare` says of mean/reward: the difference, its interval, the tasks that flipped."""
    if "error" in report:
        return f"refuses: {_reason(report['error'])}"
    (comparison,) = report["comparisons"]
    (metric,) = [row for row in comparison["metrics"] if row["metric"] == "mean/reward"]
    (found,) = metric["candidates"]
    (flips,) = comparison["flips"]
    text = f"{found['delta']:+.4f} [{found['delta_ci_low']:+.3f}, {found['delta_ci_high']:+.3f}]"
    if flips["mode"] == "binary":
        text += f"; {flips['fail_to_pass_count']} tasks up, {flips['pass_to_fail_count']} down"
    only = flips["baseline_only_task_count"] + flips["candidate_only_task_count"]
    return f"{text}; {only} on one side alone" if only else text


def _reason(error: str) -> str:
    if error.startswith("Aggregate metrics not found"):
        return "no aggregate metrics"
    assert error.startswith("No agent name is present in every run"), error
    return "no agent in common"


def explained(report: TriageReport) -> str:
    """What triage says: the verdict, and the difference on the tasks that both sides measured."""
    noise = report.noise.same_tasks
    text = f"**{report.verdict.rung}**, exit {report.exit_code}"
    if noise is None:
        return f"{text}; no task in common"
    return f"{text}; like for like {noise.difference:+.4f} [{noise.low:+.3f}, {noise.high:+.3f}]"


def table(made: RunMaker, bridge: Bridge) -> list[str]:
    lines = [
        "| what differs | `gym eval compare` | `gymbal triage` |",
        "| --- | --- | --- |",
    ]
    for left, right, what in PAIRS:
        folders = made.run(left), made.run(right)
        theirs = bridge.compare(*(folder / "rollouts.jsonl" for folder in folders))
        lines.append(f"| {what} | {compared(theirs)} | {explained(gymbal.triage_runs(*folders))} |")
    return lines


def test_gym_compare_says_what_the_page_shows(made: RunMaker, bridge: Bridge) -> None:
    found = "\n".join(table(made, bridge))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    shown, _, after = rest.partition(END)
    if os.environ.get("GYMBAL_WRITE_DOCS"):
        PAGE.write_text(f"{before}{START}\n\n{found}\n\n{END}{after}", encoding="utf-8")
        return
    assert shown.strip() == found


def test_gym_compare_command_writes_the_report_that_was_read(
    made: RunMaker, bridge: Bridge, tmp_path: Path
) -> None:
    left, right = (made.run(name) / "rollouts.jsonl" for name in ("base", "failed"))
    done = made.gym.run(
        *("eval", "compare", "--baseline", str(left), "--candidates", str(right)),
        *("--output-dir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "compare_report.json").read_text(encoding="utf-8"))
    assert written["comparisons"] == bridge.compare(left, right)["comparisons"]
