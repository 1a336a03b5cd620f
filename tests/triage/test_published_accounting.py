"""Whether lost and truncated rollouts of a run could close its gap to a published number."""

from __future__ import annotations

import msgspec
from run_factory import make_run
from triage_reports import rung

from gymbal.model.finding import Finding, Rung, Status, TriageReport
from gymbal.model.rollout import Rollout, Stop
from gymbal.model.run import Run
from gymbal.readers.reference import read_reference
from gymbal.triage.published.explain import explain_published


def compare(run: Run, line: str) -> TriageReport:
    return explain_published(run, read_reference(line))


def accounting(run: Run, line: str) -> Finding:
    return rung(compare(run, line), Rung.ACCOUNTING)


def test_equal_scores_need_no_accounting() -> None:
    rewards: dict[str, list[float | None]] = {f"t{n}": [1.0 if n else 0.0, None] for n in range(10)}
    run = make_run(rewards)
    finding = accounting(run, "90%")
    assert finding.status is Status.SAME
    assert finding.summary == "10 lost and 0 truncated rollouts of run; the scores are equal all the same"
    assert compare(run, "90%").exit_code == 0


def test_counts_of_a_published_number_are_not_known() -> None:
    counts = compare(make_run({"a": [1.0], "b": [0.0]}), "90%").right.rollouts
    assert set(msgspec.structs.asdict(counts).values()) == {None}


def test_losses_of_rewards_beyond_one_reach_as_far_as_those_seen() -> None:
    # (10 + 5 + 1 + 0) / 4 = 4 and (10 + 5 + 1 + 10) / 4 = 6.5.
    run = make_run({"a": [10.0], "b": [5.0], "c": [1.0], "d": [None]})
    finding = accounting(run, "49.1%")
    assert finding.status is Status.SAME
    assert (
        "cannot close the gap: at worst or at best its score lies between 4.0000 and 6.5000"
        in finding.summary
    )


def test_losses_may_score_below_zero_where_rewards_do() -> None:
    # (1 + 1 - 1 - 1) / 4 = 0 and (1 + 1 - 1 + 1) / 4 = 0.5.
    finding = accounting(make_run({"a": [1.0], "b": [1.0], "c": [-1.0], "d": [None]}), "5%")
    assert finding.status is Status.DIFFERENT
    assert "between 0.0000 and 0.5000" in finding.summary


def test_losses_move_pass_at_k_by_its_own_values() -> None:
    # pass@2 is 1 for a and 0 for c; b, with one rollout lost, is 0 at worst and 1 at best.
    run = make_run({"a": [1.0, 0.0], "b": [0.0, None], "c": [0.0, 0.0]})
    (metrics,) = run.metrics or ()
    values = {**metrics.values, "pass@2/accuracy": 50.0}
    run = msgspec.structs.replace(run, metrics=(msgspec.structs.replace(metrics, values=values),))
    finding = accounting(run, "60% metric=pass@2/accuracy")
    assert finding.status is Status.DIFFERENT
    assert "between 0.3333 and 0.6667" in finding.summary
    assert "passes" not in finding.summary


def test_truncated_pass_is_no_pass_to_gain() -> None:
    # 1 of 4 passed and 74.5 % takes 3, so two more; of the two truncated rollouts one has passed already.
    def cut(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, stop=Stop.TRUNCATED) if row.key.task < 2 else row

    finding = accounting(make_run({"a": [1.0], "b": [0.0], "c": [0.0], "d": [0.0]}, change=cut), "75%")
    assert finding.status is Status.SAME
    assert "it needs 2 more passes, has 1 lost or truncated that did not pass" in finding.summary


def test_run_without_a_plan_may_have_lost_what_nobody_knows_of() -> None:
    finding = accounting(make_run({"a": [1.0], "b": [0.0]}, is_planned=False), "75%")
    assert finding.status is Status.UNKNOWN
    assert finding.summary == "the expected number of rollouts is not recorded in run"


def test_task_that_lost_every_rollout_is_still_a_task() -> None:
    report = compare(make_run({"a": [1.0], "b": [0.0], "c": [None]}), "50% n=3")
    benchmark = rung(report, Rung.BENCHMARK)
    assert (report.left.tasks, benchmark.status) == (3, Status.UNKNOWN)
