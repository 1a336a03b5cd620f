"""Tasks are matched by what they say, never by their row number."""

from __future__ import annotations

from run_factory import make_run

from gymbal.model.finding import Finding, Rung, Status, TriageReport
from gymbal.triage.align import reading_order
from gymbal.triage.explain import explain

FOUR = {"a": [1, 0], "b": [1, 1], "c": [0, 0], "d": [0, 1]}


def rung(report: TriageReport, name: Rung) -> Finding:
    return next(finding for finding in report.rungs if finding.name is name)


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
