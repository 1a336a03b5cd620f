"""A whole run directory: counts, keys, problems, what is kept and what is not."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_builder import (
    AGENT,
    PACKERS,
    SERVER,
    Row,
    failure_row,
    input_row,
    lines,
    metrics_entry,
    rollout_row,
    write_file,
    write_run,
)

from gymbal.errors import InputError, UsageError
from gymbal.model.rollout import RolloutKey
from gymbal.model.run import Problem, ProblemKind, Run
from gymbal.readers.run import read_run


def kinds(run: Run) -> list[ProblemKind]:
    return [problem.kind for problem in run.problems]


def only_problem(run: Run, kind: ProblemKind) -> Problem:
    (problem,) = (problem for problem in run.problems if problem.kind is kind)
    return problem


def test_read_run_reads_a_whole_run(tmp_path: Path) -> None:
    write_run(tmp_path / "night", tasks=3, repeats=2, reward=lambda task, repeat: float(task == 1))
    run = read_run(tmp_path / "night")
    assert (run.label, run.stems, run.agents) == ("night", ("rollouts",), (AGENT,))
    assert [row.reward for row in run.rollouts] == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert [row.line for row in run.rollouts] == [1, 2, 3, 4, 5, 6]
    assert {row.file for row in run.rollouts} == {"rollouts.jsonl"}
    assert run.rollouts[3].key == RolloutKey(SERVER, None, 1, 1)
    assert run.problems == ()
    assert run.failures == ()
    assert run.metrics is not None
    # 2 of 6 rewards are 1.
    assert run.metrics[0].values == {"mean/reward": pytest.approx(1 / 3)}


def test_read_run_gives_planned_rows_the_key_of_their_rollout(tmp_path: Path) -> None:
    # Gym stamps the environment server on results and not on inputs.
    write_run(tmp_path, failed={(0, 1): "agent_run_error"}, lost=[(2, 0)])
    run = read_run(tmp_path)
    assert run.planned is not None
    planned = {row.key for row in run.planned}
    assert len(planned) == 6
    done = {row.key for row in run.rollouts} | {row.key for row in run.failures}
    assert planned - done == {RolloutKey(SERVER, None, 2, 0)}


def test_read_run_gives_planned_and_scored_rows_the_same_prompt(tmp_path: Path) -> None:
    write_run(tmp_path)
    run = read_run(tmp_path)
    assert run.planned is not None
    prompts = {row.key: row.content.prompt for row in run.planned}
    assert all(prompts[row.key] == row.content.prompt for row in run.rollouts)
    assert len(set(prompts.values())) == 3
    assert all(row.content.verifier is None for row in run.rollouts)
    assert all(row.content.verifier is not None for row in run.planned)
    assert [row.label for row in run.planned][::2] == ["quiz-0", "quiz-1", "quiz-2"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_read_run_reads_compressed_files(tmp_path: Path, suffix: str) -> None:
    write_run(tmp_path, suffix=suffix, failed={(0, 0): "judge_failed"})
    run = read_run(tmp_path)
    assert (len(run.rollouts), len(run.planned or ()), len(run.failures)) == (5, 6, 1)
    assert run.metrics is not None
    assert run.problems == ()


def test_read_run_names_a_torn_last_line(tmp_path: Path) -> None:
    whole = lines([rollout_row(0, 0)])
    write_run(tmp_path, tail=whole[:-50], with_metrics=False)
    run = read_run(tmp_path)
    size = (tmp_path / "rollouts.jsonl").stat().st_size
    torn = only_problem(run, ProblemKind.TORN_LINE)
    assert (torn.file, torn.line, torn.offset, torn.rows) == ("rollouts.jsonl", 7, size - len(whole) + 50, 1)
    assert len(run.rollouts) == 6


def test_read_run_sees_a_torn_line_that_a_line_break_follows(tmp_path: Path) -> None:
    write_run(tmp_path, tail=lines([rollout_row(0, 0)])[:-50] + b"\n")
    assert only_problem(read_run(tmp_path), ProblemKind.TORN_LINE).line == 7


def test_read_run_tells_a_bad_line_from_a_torn_one(tmp_path: Path) -> None:
    torn = lines([rollout_row(0, 0)])[:-50]
    # Cut, but not the last line: whatever wrote on after it was no killed writer.
    write_run(tmp_path, tail=torn + b"\n" + lines([rollout_row(9, 9)]) + b"no JSON\n")
    run = read_run(tmp_path)
    assert [(p.kind, p.line) for p in run.problems] == [(ProblemKind.BAD_LINE, 7), (ProblemKind.BAD_LINE, 9)]


def test_read_run_keeps_a_complete_last_line_without_a_line_break(tmp_path: Path) -> None:
    write_run(tmp_path, tail=lines([rollout_row(9, 0)])[:-1])
    run = read_run(tmp_path)
    assert len(run.rollouts) == 7
    assert run.problems == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1, 2]", "Expected `object`"),
        (b"{}", "without reward, response or _ng_task_index"),
        (b'{"reward": "high"}', "reward"),
        (b'{"reward": 1, "response": "text"}', "response"),
        (b'{"reward": 1, "response": {"output": [{"type": "\xff"}]}}', "UTF-8"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b"\x00\x00\x00", "malformed"),
    ],
)
def test_read_run_names_what_is_wrong_with_a_line(tmp_path: Path, line: bytes, reason: str) -> None:
    write_run(tmp_path, tail=line + b"\n" + lines([rollout_row(9, 9)]))
    run = read_run(tmp_path)
    problem = only_problem(run, ProblemKind.BAD_LINE)
    assert reason in problem.detail
    assert problem.line == 7
    assert len(run.rollouts) == 7


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("rollouts_failures.jsonl", failure_row(2**63, 0)),
        ("rollouts_failures.jsonl", failure_row(0, -(2**63) - 1)),
        ("rollouts_materialized_inputs.jsonl", input_row(10**20, 0)),
    ],
)
def test_read_run_refuses_a_number_that_no_column_holds(tmp_path: Path, name: str, row: Row) -> None:
    write_run(tmp_path)
    write_file(tmp_path / name, lines([row]))
    problem = only_problem(read_run(tmp_path), ProblemKind.BAD_LINE)
    assert (problem.file, problem.line) == (name, 1)
    assert "which no column holds" in problem.detail


def test_read_run_counts_bad_lines_beyond_those_it_names(tmp_path: Path) -> None:
    write_run(tmp_path, tail=b"bad\n" * 500)
    run = read_run(tmp_path)
    assert len(run.problems) == 21
    assert sum(problem.rows for problem in run.problems) == 500


def test_read_run_keeps_both_rows_of_a_duplicate_key(tmp_path: Path) -> None:
    write_run(tmp_path, tail=lines([rollout_row(1, 0, reward=0.0), rollout_row(1, 0)]))
    run = read_run(tmp_path)
    duplicate = only_problem(run, ProblemKind.DUPLICATE_KEY)
    assert len(run.rollouts) == 8
    assert duplicate.rows == 2
    assert "task 1 repeat 0 on rollouts.jsonl:3 and rollouts.jsonl:7 and rollouts.jsonl:8" in duplicate.detail
    assert (duplicate.file, duplicate.line) == ("rollouts.jsonl", 7)


def test_read_run_takes_the_last_failure_of_rows_that_were_never_scored(tmp_path: Path) -> None:
    write_run(tmp_path, lost=[(0, 0), (0, 1)])
    attempts = [
        failure_row(0, 0, "agent_request_failed"),
        failure_row(1, 0),  # a resume scored this one
        failure_row(0, 0, "timeout_exceeded", _ng_failure_terminal=True),
        failure_row(0, 1, _ng_omitted_rollout=True),
    ]
    write_file(tmp_path / "rollouts_failures.jsonl", lines(attempts))
    run = read_run(tmp_path)
    (failure,) = run.failures
    assert failure.key == RolloutKey(SERVER, None, 0, 0)
    assert (failure.failure_class, failure.attempts, failure.line) == ("timeout_exceeded", 2, 3)
    assert failure.is_terminal
    assert (run.failed_attempts, run.omitted) == (3, 1)


def test_read_run_counts_earlier_attempts_of_a_resumed_row(tmp_path: Path) -> None:
    write_run(tmp_path, lost=[(0, 0)], tail=lines([rollout_row(0, 0, _ng_attempt_index=2)]))
    attempts = Counter(row.attempt for row in read_run(tmp_path).rollouts)
    assert attempts == {0: 5, 2: 1}


def test_read_run_says_when_metrics_are_absent(tmp_path: Path) -> None:
    write_run(tmp_path, with_metrics=False)
    run = read_run(tmp_path)
    assert run.metrics is None
    assert kinds(run) == [ProblemKind.NO_METRICS]


def test_read_run_says_when_metrics_cannot_be_read(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_aggregate_metrics.json").write_text("[{")
    run = read_run(tmp_path)
    assert run.metrics is None
    assert kinds(run) == [ProblemKind.UNREADABLE_FILE]


def test_read_run_reads_a_single_metrics_entry_and_skips_what_is_no_number(tmp_path: Path) -> None:
    write_run(tmp_path)
    entry = metrics_entry({"mean/reward": 0.5})
    entry["agent_metrics"] |= {"pass@1/accuracy": 50, "flag": True, "name": "x", "none": None}
    del entry["_ng_environment_server"]
    (tmp_path / "rollouts_aggregate_metrics.json").write_text(json.dumps(entry))
    metrics = read_run(tmp_path).metrics
    assert metrics is not None
    assert metrics[0].values == {"mean/reward": 0.5, "pass@1/accuracy": 50.0}
    assert metrics[0].key_names == ("mean/reward",)
    assert metrics[0].server is None


def test_read_run_takes_a_run_in_which_nothing_was_scored(tmp_path: Path) -> None:
    write_run(tmp_path, lost=[(task, repeat) for task in range(3) for repeat in range(2)], with_metrics=False)
    run = read_run(tmp_path)
    assert len(run.rollouts) == 0
    assert len(run.planned or ()) == 6
    assert kinds(run) == [ProblemKind.NO_ROLLOUTS]
    (tmp_path / "rollouts.jsonl").unlink()
    (tmp_path / "rollouts_failures.jsonl").unlink()
    run = read_run(tmp_path)
    assert run.stems == ("rollouts",)
    assert kinds(run) == [ProblemKind.NO_ROLLOUTS]


def test_read_run_does_not_guess_a_plan(tmp_path: Path) -> None:
    write_run(tmp_path, with_inputs=False)
    assert read_run(tmp_path).planned is None


def test_read_run_does_not_take_unreadable_inputs_for_an_empty_plan(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_materialized_inputs.jsonl").write_text("nothing\nof use\n")
    run = read_run(tmp_path)
    assert run.planned is None
    assert kinds(run) == [ProblemKind.BAD_LINE, ProblemKind.BAD_LINE]


def test_read_run_refuses_a_file_without_any_rollout(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("not\nJSON\n")
    with pytest.raises(InputError, match="holds no rollout: 2 lines") as caught:
        read_run(path)
    assert caught.value.exit_code == 2
    assert caught.value.remedy is not None


def test_read_run_recognises_a_git_lfs_pointer(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    with pytest.raises(InputError, match="Git LFS pointer"):
        read_run(path)


def test_read_run_keeps_what_comes_before_damage(tmp_path: Path) -> None:
    path = write_run(tmp_path, tasks=400, suffix=".gz")
    path.write_bytes(path.read_bytes()[:-100])
    run = read_run(tmp_path)
    assert 0 < len(run.rollouts) < 800
    assert kinds(run) == [ProblemKind.UNREADABLE_FILE]
    assert run.problems[0].line == len(run.rollouts) + 1


def test_read_run_keeps_the_rows_of_one_agent(tmp_path: Path) -> None:
    other: dict[str, Any] = {"agent_ref": {"name": "other_agent"}, "_ng_environment_server": "other_server"}
    write_run(tmp_path, tail=lines([rollout_row(7, 0, **other)]))
    with (tmp_path / "rollouts_materialized_inputs.jsonl").open("ab") as stream:
        stream.write(lines([input_row(7, 0, agent_ref={"name": "other_agent"})]))
    assert read_run(tmp_path).agents == ("other_agent", AGENT)
    run = read_run(tmp_path, agent="other_agent")
    assert [row.key for row in run.rollouts] == [RolloutKey("other_server", None, 7, 0)]
    assert [row.key for row in run.planned or ()] == [RolloutKey("other_server", None, 7, 0)]
    assert run.metrics == ()


def test_read_run_names_the_agents_when_there_is_no_such_one(tmp_path: Path) -> None:
    write_run(tmp_path)
    with pytest.raises(UsageError, match="no agent 'quizz'") as caught:
        read_run(tmp_path, agent="quizz")
    assert AGENT in str(caught.value.remedy)


def test_read_run_tells_the_servers_of_one_agent_apart(tmp_path: Path) -> None:
    rows = [rollout_row(0, 0), rollout_row(1, 0, _ng_environment_server="second_server")]
    write_file(tmp_path / "rollouts.jsonl", lines(rows))
    write_file(
        tmp_path / "rollouts_materialized_inputs.jsonl",
        lines([input_row(0, 0), input_row(1, 0), input_row(2, 0)]),
    )
    run = read_run(tmp_path)
    # No result says which server the third one was for.
    assert [row.key.server for row in run.planned or ()] == [SERVER, "second_server", AGENT]


def test_read_run_joins_rows_of_a_gym_that_stamped_no_server(tmp_path: Path) -> None:
    old = rollout_row(0, 0)
    del old["_ng_environment_server"]
    write_file(tmp_path / "rollouts.jsonl", lines([old, rollout_row(1, 0)]))
    assert [row.key.server for row in read_run(tmp_path).rollouts] == [SERVER, SERVER]
    write_file(tmp_path / "rollouts.jsonl", lines([old]))
    assert [row.key.server for row in read_run(tmp_path).rollouts] == [AGENT]


def test_read_run_numbers_rows_without_numbers_by_what_they_ask(tmp_path: Path) -> None:
    rows = [rollout_row(task, 0) for task in (5, 3, 5, 3, 3)]
    for row in rows:
        del row["_ng_task_index"], row["_ng_rollout_index"]
    write_file(tmp_path / "rollouts.jsonl", lines(rows))
    keys = [(row.key.task, row.key.repeat) for row in read_run(tmp_path).rollouts]
    assert keys == [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)]


def test_read_run_takes_stages_apart(tmp_path: Path) -> None:
    rows = [rollout_row(0, 0, stage_index=stage) for stage in (0, 1)]
    write_file(tmp_path / "rollouts.jsonl", lines(rows))
    run = read_run(tmp_path)
    assert [row.key.stage for row in run.rollouts] == [0, 1]
    assert ProblemKind.DUPLICATE_KEY not in kinds(run)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["good", "bad", "torn", "blank", "empty object"]), min_size=1, max_size=40),
    st.booleans(),
)
def test_read_run_accounts_for_every_line(tmp_path: Path, shape: list[str], is_terminated: bool) -> None:
    texts = {
        "good": lines([rollout_row(0, 0)]).strip(),
        "bad": b"{]",
        "torn": lines([rollout_row(0, 0)])[:40],
        "blank": b"  ",
        "empty object": b"{}",
    }
    path = tmp_path / "rollouts.jsonl"
    # The first line is good, since a file without any rollout is refused as a whole.
    path.write_bytes(b"\n".join(texts[kind] for kind in ["good", *shape]) + (b"\n" if is_terminated else b""))
    run = read_run(path)
    lost = [p for p in run.problems if p.kind in (ProblemKind.BAD_LINE, ProblemKind.TORN_LINE)]
    assert len(run.rollouts) == shape.count("good") + 1
    assert sum(p.rows for p in lost) == len(shape) - shape.count("good") - shape.count("blank")
    assert all(
        path.read_bytes()[p.offset :].startswith((b"{]", texts["torn"], b"{}")) for p in lost if p.offset
    )


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_read_run_survives_a_damaged_byte(tmp_path: Path, data: st.DataObject) -> None:
    good = bytearray(lines(rollout_row(task, 0) for task in range(3)))
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(bytes(good))
    run = read_run(path)
    read = len(run.rollouts) + sum(p.rows for p in run.problems if p.kind is not ProblemKind.DUPLICATE_KEY)
    assert read == sum(1 for line in bytes(good).split(b"\n") if line.strip())
