"""What totals and error bars say about noise, and what they leave unknown."""

from __future__ import annotations

import msgspec
import pytest
from run_factory import make_run
from triage_reports import against, rung

from gymbal.errors import UsageError
from gymbal.model.finding import Rung, Status
from gymbal.model.run import Run
from gymbal.readers.reference import read_reference
from gymbal.triage.published.explain import explain_published

PASSED_49_OF_64 = make_run(
    {f"t{n}": [1.0] * 4 for n in range(12)}
    | {"t12": [1.0, 0.0, 0.0, 0.0]}
    | {f"z{n}": [0.0] * 4 for n in range(3)}
)
"""49 / 64 = 0.765625, which prints as 76.6 %."""

PARTIAL = make_run(
    {f"t{n}": [0.25, 0.5, 0.75, 0.4] for n in range(8)} | {f"u{n}": [0.3] * 4 for n in range(8)}
)


def with_pass_at_2(run: Run, percent: float) -> Run:
    """The run, reporting this pass@2."""
    (metrics,) = run.metrics or ()
    values = {**metrics.values, "pass@2/accuracy": percent}
    return msgspec.structs.replace(run, metrics=(msgspec.structs.replace(metrics, values=values),))


def test_spread_of_reruns_shows_no_change_in_the_model() -> None:
    # The widest error over 198 tasks is binomial: sqrt((.732 * .268 + .742 * .258) / 198) = .04424.
    report = against("73.2% n=198 k=8 ±0.3 error_kind=std", "74.2% n=198 k=8 ±0.3 error_kind=std label=other")
    assert report.gap.distinguishable is None
    assert (report.verdict.rung, report.exit_code) == (Rung.NOISE, 0)
    estimate = report.noise.new_tasks
    assert estimate is not None
    assert (estimate.low, estimate.high) == pytest.approx((0.01 - 0.08672, 0.01 + 0.08672), abs=1e-5)


def test_spread_of_reruns_without_n_bounds_noise_from_below_only() -> None:
    # 4 points over 4 repeats are 2 a side: 2.83 for the difference, against the 1 that rounding leaves.
    line = "±4.0 k=4 error_kind=std"
    near, far = against(f"50% {line}", f"52% {line}"), against(f"50% {line}", f"70% {line}")
    assert (near.gap.distinguishable, far.gap.distinguishable) == (False, None)
    assert near.noise.new_tasks is far.noise.new_tasks is None
    assert "of runs says nothing of other tasks, n is not stated" in rung(far, Rung.NOISE).summary


def test_spread_of_reruns_over_an_unstated_k_bounds_nothing() -> None:
    report = against("50% ±4.0 error_kind=std", "52% ±4.0 error_kind=std")
    assert report.gap.distinguishable is None


@pytest.mark.parametrize("line", ["10%", "50% n=16 k=4"])
def test_noise_that_is_not_known_is_not_called_noise(line: str) -> None:
    report = explain_published(PASSED_49_OF_64, read_reference(line))
    assert report.gap.distinguishable is None
    assert "whether that is more than noise cannot be told" in report.verdict.headline
    model = rung(report, Rung.MODEL)
    assert (model.status, model.summary) == (Status.UNKNOWN, "cannot be judged: noise is unknown")
    assert Rung.NOISE in report.verdict.unchecked
    assert report.exit_code == 0
    assert explain_published(PASSED_49_OF_64, read_reference(line), strict=True).exit_code == 4


def test_gap_within_the_error_of_the_run_alone_needs_no_other() -> None:
    # Task means: 12 of 1, one of 1/4, 3 of 0; variance (ddof 1) .179, so SE = sqrt(.179 / 16) = .106.
    report = explain_published(PASSED_49_OF_64, read_reference("70%"))
    assert report.gap.distinguishable is False
    assert report.noise.new_tasks is None


def test_tasks_that_all_scored_the_same_measure_no_noise() -> None:
    # 9.5 points are 4.5 of the reference's least errors, sqrt(.9 * .1 / 200).
    run = make_run({f"t{n}": [1.0, 1.0] for n in range(4)})
    report = explain_published(run, read_reference("90% n=40 k=5"))
    assert report.gap.distinguishable is None
    assert "every task scored the same" in rung(report, Rung.NOISE).summary


@pytest.mark.parametrize("line", ["100% n=16", "0% n=16 k=4", "100% n=16 ±0.1 error_kind=std"])
def test_reference_whose_tasks_all_scored_the_same_measures_none_either(line: str) -> None:
    report = explain_published(PASSED_49_OF_64, read_reference(line))
    assert report.gap.distinguishable is None
    assert "every task scored the same" in rung(report, Rung.NOISE).summary


def test_single_runs_that_passed_every_task_are_compared_by_their_counts() -> None:
    # 16 of 16 against 8 of 16: pooled .75, z = .5 / sqrt(.75 * .25 / 8) = 3.27.
    report = against("100% n=16", "50% n=16")
    assert report.gap.distinguishable is True


def test_numbers_of_different_metrics_are_refused() -> None:
    with pytest.raises(UsageError, match=r"different metrics: mean/reward and pass@4/accuracy"):
        against("73% metric=mean/reward", "90% metric=pass@4/accuracy")
    # A number that names no metric is taken for one of the other's.
    assert against("73% metric=pass@4/accuracy", "90%").right.metric == "pass@4/accuracy"


def test_counts_are_held_against_each_other_at_the_nearest_that_print_so() -> None:
    # 70 % of 1000 is up to 705, 74 % is 735 or more: z = .03 / sqrt(.72 * .28 * 2 / 1000) = 1.494, p .135;
    # 700 against 740 would give p .046.
    report = against("70% n=1000 k=1", "74% n=1000 k=1 label=other")
    estimate = report.noise.new_tasks
    assert estimate is not None
    assert estimate.p == pytest.approx(0.135, abs=5e-4)
    assert report.gap.distinguishable is False


def test_error_of_pass_at_k_is_that_of_its_own_values() -> None:
    # pass@2 of the tasks is 1, 1, 0, 0: SE = sqrt(1/3) / 2. The reference adds sqrt(.5 * .5 / 4).
    rewards: dict[str, list[float | None]] = {
        "a": [1.0, 0.0],
        "b": [1.0, 1.0],
        "c": [0.0, 0.0],
        "d": [0.0, 0.0],
    }
    run = with_pass_at_2(make_run(rewards), 50.0)
    estimate = explain_published(run, read_reference("50% metric=pass@2/accuracy n=4")).noise.new_tasks
    assert estimate is not None
    assert estimate.high == pytest.approx(1.959964 * (1 / 12 + 1 / 16) ** 0.5, abs=1e-6)


def test_number_that_takes_repeats_is_possible_without_a_stated_k() -> None:
    # 76.6 % of 16 is 12.26, of 32 it is 24.5, of 48 36.8: 49 of 64 is the first count that prints so.
    report = explain_published(PASSED_49_OF_64, read_reference("76.6% n=16"))
    finding = rung(report, Rung.INTEGRITY)
    assert finding.status is Status.SAME
    assert "as a count of passes 76.6% takes a k of at least 4 over n 16" in finding.summary
    assert report.exit_code == 0


def test_number_that_no_k_gives_is_integrity() -> None:
    # A single task passes 0 or at least 1 of 64 times, which is 1.6 %.
    report = against("0.7% n=1", "50% n=2")
    assert report.exit_code == 3
    assert "for n 1 with any k up to 64" in rung(report, Rung.INTEGRITY).summary


def test_partial_rewards_can_average_to_anything() -> None:
    assert (
        rung(explain_published(PARTIAL, read_reference("49.1% n=16 k=4")), Rung.INTEGRITY).status
        is Status.SAME
    )


@pytest.mark.parametrize(
    ("run", "k", "status", "text"),
    [
        # 1 + .766 * .234 / .053^2 is 65 tasks.
        (PASSED_49_OF_64, "", Status.UNKNOWN, "implies 64 to 66 tasks, or repeats of 16"),
        (PASSED_49_OF_64, "k=1", Status.DIFFERENT, "implies 64 to 66 tasks, not 16"),
        (PARTIAL, "k=1", Status.UNKNOWN, "both have 16 tasks; whether"),
    ],
)
def test_error_bar_implies_tasks_only_where_each_is_one_pass_or_failure(
    run: Run, k: str, status: Status, text: str
) -> None:
    report = explain_published(run, read_reference(f"76.6% n=16 ±5.3 error_kind=se {k}"))
    finding = rung(report, Rung.BENCHMARK)
    assert finding.status is status
    assert text in finding.summary
