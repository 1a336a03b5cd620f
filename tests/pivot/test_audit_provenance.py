"""A14 and A15: what rows of a build say of themselves, held to the source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from converter import ROWS, Row, audited, broken, convert, reasons
from episodes import rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.model.audit import AuditReport, RuleStatus


def attempt(task: int, repeat: int) -> Row:
    seed = [{"type": "message", "role": "user", "content": f"Task {task}, attempt {repeat}."}]
    names: Row = {"task_id": f"task-{task}", "_ng_task_index": task, "_ng_rollout_index": repeat}
    return rollout("COCOM", seed=seed, reward=float(repeat), **names)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two tasks with two attempts each, three model calls in each attempt: rows 1 to 12."""
    attempts = [attempt(task, repeat) for task in range(2) for repeat in range(2)]
    return write_rows(tmp_path / "rollouts.jsonl", attempts)


def audit_edited(source: Path, edit: Callable[[list[Row]], object]) -> AuditReport:
    """The audit of what a build made, with the `pivot_info` of its rows edited."""
    pivot_build(source, source.parent / "set")
    rows = read_rows(source.parent / "set" / "pivots.jsonl")
    edit([row["pivot_info"] for row in rows])
    write_rows(source.parent / "set" / "pivots.jsonl", rows)
    return pivot_audit(source.parent / "set", source, max_problems=100)


def set_all(**fields: Any) -> Callable[[list[Row]], None]:
    def edit(infos: list[Row]) -> None:
        for info in infos:
            info.update(fields)

    return edit


def found(report: AuditReport) -> list[tuple[str, int, str, str]]:
    return [
        (each.rule, each.line, each.key.removeprefix("pivot_info."), each.found) for each in report.problems
    ]


def test_audit_passes_what_a_build_says_of_its_rows(source: Path) -> None:
    report = audit_edited(source, lambda _: None)
    assert (report.rows, found(report)) == (12, [])
    checked = {rule.rule: (rule.status, rule.checked) for rule in report.rules}
    # Two names of tasks and four of attempts.
    assert (checked["A14"], checked["A15"]) == ((RuleStatus.PASSED, 12), (RuleStatus.PASSED, 6))


@pytest.mark.parametrize(
    ("field", "value", "true"),
    [("reward", 0.5, 0.0), ("call", 2, 0), ("depth", 7, 0), ("trajectory_length", 9, 3)],
)
def test_audit_finds_a_wrong_number(source: Path, field: str, value: float, true: float) -> None:
    report = audit_edited(source, lambda infos: infos[0].update({field: value}))
    assert found(report) == [("A14", 1, field, f"{field} {value}, and the source has {true}")]


def test_audit_tells_all_wrong_numbers_of_a_row_at_once(source: Path) -> None:
    report = audit_edited(source, lambda infos: infos[4].update(call=7, reward=0.123))
    expected = "reward 0.123, and the source has 1.0; call 7, and the source has 1"
    assert found(report) == [("A14", 5, "reward", expected)]


def test_audit_finds_a_reward_that_the_source_does_not_record(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M", reward=None)])
    report = audit_edited(source, set_all(reward=1.0))
    assert found(report) == [("A14", 1, "reward", "reward 1.0, and the source has none")]


def test_audit_finds_one_name_for_all_tasks(source: Path) -> None:
    report = audit_edited(source, set_all(task="zz"))
    assert found(report) == [
        ("A15", 1, "task", "'zz', and the source has 'task-0'"),
        ("A15", 7, "task", "'zz', and the source has 'task-1'"),
    ]


@pytest.mark.parametrize("name", ["task-1", "zz"])
@pytest.mark.parametrize("at", [0, 4])
def test_audit_finds_one_row_of_another_task(source: Path, name: str, at: int) -> None:
    report = audit_edited(source, lambda infos: infos[at].update(task=name))
    assert found(report) == [("A15", at + 1, "task", f"{name!r}, and the source has 'task-0'")]


def test_audit_finds_names_of_tasks_that_were_exchanged(source: Path) -> None:
    def exchange(infos: list[Row]) -> None:
        for info in infos:
            info["task"] = {"task-0": "task-1", "task-1": "task-0"}[info["task"]]

    assert [each[:3] for each in found(audit_edited(source, exchange))] == [
        ("A15", 1, "task"),
        ("A15", 7, "task"),
    ]


def test_audit_finds_the_name_of_another_attempt(source: Path) -> None:
    report = audit_edited(source, lambda infos: infos[0].update(rollout="0-1"))
    assert found(report) == [("A15", 1, "rollout", "'0-1', and the source has '0-0'")]


def test_audit_takes_names_of_an_earlier_version(source: Path) -> None:
    def rename(infos: list[Row]) -> None:
        for info in infos:
            info["task"] = f"{info['task']}-of-old"
            info["rollout"] = f"old-{info['rollout']}"

    report = audit_edited(source, rename)
    assert (found(report), reasons(report, "A15")) == ([], (RuleStatus.PASSED, {}))


def test_audit_says_what_rows_and_source_do_not_name(source: Path) -> None:
    def forget(infos: list[Row]) -> None:
        for info in infos:
            for name in ("task", "rollout", "reward", "depth", "trajectory_length", "call"):
                info[name] = None

    report = audit_edited(source, forget)
    assert found(report) == []
    assert reasons(report, "A14") == (RuleStatus.SKIPPED, {"the row states none of them": 12})
    assert reasons(report, "A15") == (
        RuleStatus.SKIPPED,
        {"the row names no task": 12, "the row names no rollout": 12},
    )


def test_audit_leaves_the_fields_of_other_programs_alone(tmp_path: Path) -> None:
    source = [rollout("COM", task_id="7", reward=1.0)]
    rows = convert(source, [[(0, 1), (2, 3)]])
    for number, row in enumerate(rows):
        row["pivot_info"] |= {"task": "shopping", "reward": 0.25, "depth": 2 * number, "call": number + 1}
    report = audited(tmp_path, rows, source)
    assert broken(report) == []
    assert reasons(report, "A14") == (RuleStatus.SKIPPED, {"the row has no pivot_info of a build": 2})


def test_audit_names_one_rule_for_a_row_of_another_trajectory(source: Path) -> None:
    report = audit_edited(source, lambda infos: infos[0].update(line=4))
    assert [each[:2] for each in found(report)] == [("A04", 1)]
    assert reasons(report, "A14")[1] == {"the row does not start with the seed of its trajectory": 1}


def test_audit_leaves_the_number_of_a_call_alone_that_it_cannot_tell(source: Path) -> None:
    pivot_build(source, source.parent / "set")
    rows = read_rows(source.parent / "set" / "pivots.jsonl")
    rows[1]["responses_create_params"]["input"][2]["output"] = "another result"
    report = pivot_audit(write_rows(source.parent / ROWS, rows), source)
    assert "A14" not in {problem.rule for problem in report.problems}


def test_audit_finds_rows_of_a_renamed_source_by_what_they_say(source: Path) -> None:
    """Attempts that begin alike: what a row says of its attempt tells which one it is of."""
    attempts = [attempt(0, repeat) for repeat in range(2)]
    for each in attempts:
        each["responses_create_params"]["input"] = [{"type": "message", "role": "user", "content": "Go."}]
    write_rows(source, attempts)
    pivot_build(source, source.parent / "set")
    renamed = source.rename(source.with_name("renamed.jsonl"))
    rows = read_rows(source.parent / "set" / "pivots.jsonl")
    for row in rows:  # the rows that were left out as duplicates are those of the second attempt
        row["pivot_info"] |= {"line": 2, "rollout": "0-1", "reward": 1.0}
    assert broken(pivot_audit(write_rows(source.parent / ROWS, rows), renamed)) == []
