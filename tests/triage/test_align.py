"""Tasks are matched by what they say, never by their row number."""

from __future__ import annotations

from run_factory import make_run
from triage_reports import rung

from gymbal.model.finding import Rung, Status
from gymbal.triage.align import reading_order
from gymbal.triage.explain import explain

FOUR = {"a": [1, 0], "b": [1, 1], "c": [0, 0], "d": [0, 1]}


def test_reordered_tasks_are_the_same_benchmark() -> None:
    report = explain(make_run(FOUR), make_run(dict(reversed(FOUR.items()))))
    finding = rung(report, Rung.BENCHMARK)
    assert finding.status is Status.SAME
    assert "reordered: 4" in finding.summary
    assert report.gap.reported == 0.0


def test_changed_answer_key_is_found_under_an_unchanged_prompt() -> None:
    finding = rung(explain(make_run(FOUR), make_run(FOUR, answers={"c": "B"})), Rung.BENCHMARK)
    assert finding.status is Status.DIFFERENT
    assert "3 of 4 tasks shared" in finding.summary
    assert "1 changed (1 in answer): task 2" in finding.summary
    assert ("task 2: answer", "A", "B") in [(fact.name, fact.left, fact.right) for fact in finding.facts]


def test_replaced_task_is_a_changed_prompt() -> None:
    other = {("x" if prompt == "b" else prompt): rewards for prompt, rewards in FOUR.items()}
    finding = rung(explain(make_run(FOUR), make_run(other)), Rung.BENCHMARK)
    assert "1 changed (1 in prompt)" in finding.summary


def test_missing_tasks_are_said_with_their_number() -> None:
    fewer = {prompt: FOUR[prompt] for prompt in ("a", "b")}
    finding = rung(explain(make_run(FOUR, label="full"), make_run(fewer)), Rung.BENCHMARK)
    assert "2 of 4 tasks shared" in finding.summary
    assert "2 only in full" in finding.summary


def test_benchmark_is_unknown_where_the_answers_were_not_kept() -> None:
    finding = rung(explain(make_run(FOUR), make_run(FOUR, is_planned=False)), Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "materialized_inputs" in finding.next[0]


FAILED = "agent_run_error"


def test_tasks_absent_from_a_side_without_a_plan_may_be_lost() -> None:
    fewer = make_run({prompt: FOUR[prompt] for prompt in ("a", "b")}, label="fewer", is_planned=False)
    finding = rung(explain(make_run(FOUR, label="full"), fewer), Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "2 of 4 tasks shared; 2 only in full, which fewer may have lost: task 2, task 3" in finding.summary
    assert "materialized_inputs" in finding.next[0]
    assert ("only_here", 2, 0) in [(fact.name, fact.left, fact.right) for fact in finding.facts]


def test_tasks_that_a_plan_does_not_have_were_added() -> None:
    more = make_run(FOUR, label="more", is_planned=False)
    finding = rung(explain(make_run({"a": [1, 0]}, label="planned"), more), Rung.BENCHMARK)
    assert finding.status is Status.DIFFERENT
    assert "3 only in more: task 1, task 2, task 3" in finding.summary


def test_other_tasks_under_the_same_numbers_are_no_losses() -> None:
    # Each list has the numbers 0 to 3, so neither has room for the other's tasks under their numbers.
    other = {f"other {prompt}": rewards for prompt, rewards in FOUR.items()}
    mine, theirs = (make_run(tasks, label="run", is_planned=False) for tasks in (FOUR, other))
    finding = rung(explain(mine, theirs), Rung.BENCHMARK)
    assert finding.status is Status.DIFFERENT
    assert "0 of 4 tasks shared" in finding.summary


def test_failures_on_record_leave_the_repeats_even_without_a_plan() -> None:
    lossy = make_run({**FOUR, "c": [0, None]}, failed=FAILED, is_planned=False)
    finding = rung(explain(make_run(FOUR), lossy), Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "all 4 tasks have the same content as far as prompts and tools go" in finding.summary


def test_repeats_that_left_no_trace_may_be_lost_without_a_plan() -> None:
    finding = rung(
        explain(make_run(FOUR), make_run({**FOUR, "c": [0, None]}, is_planned=False)), Rung.BENCHMARK
    )
    assert finding.status is Status.UNKNOWN
    assert "1 with uneven repeats, some of which may have been lost: task 2" in finding.summary


def test_more_repeats_than_usual_are_no_loss() -> None:
    doubled = make_run({**FOUR, "c": [0, 0, 0, 0]}, is_planned=False)
    finding = rung(explain(make_run(FOUR), doubled), Rung.BENCHMARK)
    assert finding.status is Status.DIFFERENT
    assert "1 with another share of the repeats: task 2" in finding.summary


def test_failures_in_tasks_that_were_never_scored_are_said() -> None:
    lossy = make_run({**FOUR, "d": [None, None]}, label="lossy", failed=FAILED, is_planned=False)
    finding = rung(explain(make_run(FOUR, label="full"), lossy), Rung.BENCHMARK)
    assert "1 only in full, which lossy may have lost: task 3" in finding.summary
    assert "2 rollouts of lossy failed in tasks that it never scored" in finding.summary


def test_unrelated_tasks_are_not_paired_by_their_number() -> None:
    other = {f"other {prompt}": rewards for prompt, rewards in FOUR.items()}
    finding = rung(explain(make_run(FOUR, label="mine"), make_run(other, label="theirs")), Rung.BENCHMARK)
    assert "0 of 4 tasks shared; 4 only in mine" in finding.summary
    assert "changed" not in finding.summary


def test_doubled_task_is_named_and_no_other() -> None:
    finding = rung(explain(make_run(FOUR), make_run({**FOUR, "c": [0, 0, 0, 0]})), Rung.BENCHMARK)
    assert "1 with another share of the repeats: task 2" in finding.summary


def test_changed_tasks_are_listed_in_reading_order_with_what_changed_in_each() -> None:
    # Twelve tasks; the answers of 10 and 9 changed, and the prompt of 2 was replaced.
    rewards = {f"p{number}": [1, 0] for number in range(12)}
    other = {("other" if prompt == "p2" else prompt): values for prompt, values in rewards.items()}
    report = explain(make_run(rewards), make_run(other, answers={"p10": "B", "p9": "C"}))
    finding = rung(report, Rung.BENCHMARK)
    listed = "3 changed (2 in answer, 1 in prompt): task 2 (prompt), task 9 (answer), task 10 (answer)"
    assert listed in finding.summary


def test_reading_order_puts_numbers_by_value() -> None:
    names = ["task 10", "q2a", "task 9", "q10", "task 009", "q2"]
    assert sorted(names, key=reading_order) == ["q2", "q2a", "q10", "task 9", "task 009", "task 10"]
