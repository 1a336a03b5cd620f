"""What `gymbal pivot build` makes of every real rollouts file audits clean, with and without provenance."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.model.audit import AuditReport
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions

EXAMPLE = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"

FILES = [
    "anyswe_opencode",
    "conversational_tool_use_simulation",
    "example_mcp_weather",
    "example_multi_step",
    "finance_sec_search",
    "harbor_agent_orphan_outputs",
    "image_tools_pivot_images",
    "indirect_prompt_injection",
    "math_with_code",
    "mini_swe_agent_2_parallel",
    "multi_turn_user_in_output",
    "swebench",
    "terminus_judge",
    "workplace_assistant",
    "xlam_fc",
]


def problems(report: AuditReport) -> list[tuple[str, int, str]]:
    return [(problem.rule, problem.line, problem.found) for problem in report.problems]


def anonymous_rows(rows: Path) -> Iterator[str]:
    """The rows as a converter writes them that keeps no provenance and encodes in its own way."""
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        del row["pivot_info"]
        yield json.dumps(row, sort_keys=True) + "\n"


def audit_in_three_ways(source: Path, folder: Path, target: Target = Target.SINGLE_STEP) -> None:
    metrics = pivot_build(source, folder / "dataset", overwrite=True, options=BuildOptions(target=target))
    report = pivot_audit(folder / "dataset", source)
    assert problems(report) == []
    assert report.located == {"provenance": metrics.kept, "content": 0, "nowhere": 0}
    assert (report.rows, report.labelled, report.unlabelled) == (metrics.kept, metrics.kept, {})
    assert report.skipped == {reason: count for reason, count in metrics.skipped.items() if count}
    assert report.calls == metrics.candidates

    # Without the list of skipped candidates the audit finds the same reasons by itself.
    alone = Path(shutil.copy(folder / "dataset" / "pivots.jsonl", folder / "rows.jsonl"))
    report = pivot_audit(alone, source)
    assert (problems(report), report.skipped) == ([], {})
    assert report.unlabelled == {reason: count for reason, count in metrics.skipped.items() if count}

    alone.write_text("".join(anonymous_rows(alone)), encoding="utf-8")
    report = pivot_audit(alone, source)
    assert problems(report) == []
    assert report.located == {"provenance": 0, "content": metrics.kept, "nowhere": 0}


@pytest.mark.parametrize("name", FILES)
def test_built_rows_of_real_rollouts_audit_clean(acceptance_data: Path, tmp_path: Path, name: str) -> None:
    folder = acceptance_data / "trajectories" / "nemo_gym_rollouts"
    audit_in_three_ways(folder / f"{name}.rollouts.jsonl", tmp_path)


@pytest.mark.parametrize("target", [each for each in Target if each is not Target.SINGLE_STEP])
def test_rows_of_other_targets_audit_clean_too(acceptance_data: Path, tmp_path: Path, target: Target) -> None:
    name = "terminus_judge" if target is Target.TERMINUS_JUDGE else "swebench"
    audit_in_three_ways(
        acceptance_data / "trajectories" / "nemo_gym_rollouts" / f"{name}.rollouts.jsonl", tmp_path, target
    )


def test_the_teacher_of_a_row_is_no_model_call_of_the_student(acceptance_data: Path) -> None:
    """Gym's own rows expect what a teacher said; its rollouts of the same prompts hold what a student did."""
    rows = acceptance_data / "trajectories" / "nemo_gym_pivot_rows"
    report = pivot_audit(rows / "terminus_judge.example.jsonl", rows / "terminus_judge.rollouts.jsonl")
    broken = {rule.rule: rule.broken for rule in report.rules if rule.broken}
    assert (report.rows, broken) == (5, {"A02": 2, "A04": 3})


def test_every_real_rollouts_file_is_audited(acceptance_data: Path) -> None:
    folder = acceptance_data / "trajectories" / "nemo_gym_rollouts"
    assert sorted(path.name for path in folder.glob("*.jsonl")) == [
        f"{name}.rollouts.jsonl" for name in FILES
    ]


def test_built_rows_of_the_example_audit_clean(tmp_path: Path) -> None:
    audit_in_three_ways(EXAMPLE, tmp_path)
