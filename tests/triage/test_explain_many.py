"""Several candidates against one base: the adjusted verdicts, and what they leave alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from run_factory import make_run

from gymbal.errors import UsageError
from gymbal.model.comparison import ComparisonReport, InferenceTarget
from gymbal.model.finding import Rung
from gymbal.model.reference import ErrorKind, Reference
from gymbal.model.run import Problem, ProblemKind, Run
from gymbal.stats.multiplicity import holm
from gymbal.triage.explain import explain
from gymbal.triage.explain_many import explain_many


def candidate(label: str, won: int, lost: int = 0) -> Run:
    """One repeat of 40 tasks, of which the base passes the even ones."""
    rewards = {}
    for number in range(40):
        reward = float(number % 2 == 0)
        if number < 2 * won and number % 2:
            reward = 1.0
        if number >= 40 - 2 * lost and number % 2 == 0:
            reward = 0.0
        rewards[f"task {number}"] = [reward]
    return make_run(rewards, label=label)


BASE = candidate("base", won=0)
SURE, MAYBE, SAME = candidate("sure", won=12), candidate("maybe", won=6), candidate("same", won=2, lost=2)
"""Mid-p of 12, 6 and 2:2 flips: 2 * 0.5^12 - 0.5^12 = 0.00024, 2 * 0.5^6 - 0.5^6 = 0.0156, and 1."""


def by_name(report: ComparisonReport, name: str, metric: str = "mean/reward") -> int:
    return next(
        i for i, row in enumerate(report.comparisons) if (row.candidate, row.metric) == (name, metric)
    )


def test_candidates_are_adjusted_together_by_holm() -> None:
    # Holm over four: 4 * 0.00024, 3 * 0.0156 = 0.047, and the two that are 1.
    report = explain_many(BASE, [SURE, MAYBE, SAME, candidate("also", won=1, lost=1)])
    adjusted = [row.adjusted_p for row in report.comparisons]
    assert adjusted == pytest.approx([4 * 0.5**12, 3 * 0.5**6, 1.0, 1.0])
    assert [row.distinguishable for row in report.comparisons] == [True, True, False, False]
    assert [row.rung for row in report.comparisons] == [Rung.MODEL, Rung.MODEL, Rung.NOISE, Rung.NOISE]


def test_difference_that_is_noise_as_one_of_several_is_no_model_change() -> None:
    report = explain_many(BASE, [MAYBE, *(candidate(f"same {n}", won=2, lost=2) for n in range(4))])
    row = report.comparisons[0]
    assert row.adjusted_p == pytest.approx(5 * 0.5**6)
    assert (row.distinguishable, row.rung, row.exit_code) == (False, Rung.NOISE, 0)
    assert "p 0.016 becomes 0.078 over 5 comparisons (Holm)" in row.headline
    assert "Not checked: code, method" in row.headline
    alone = report.candidates[0]
    assert (alone.verdict.rung, alone.gap.distinguishable) == (Rung.MODEL, True)
    assert report.exit_code == 0


def test_candidates_are_reports_of_each_alone() -> None:
    report = explain_many(BASE, [SURE, MAYBE], strict=True)
    assert report.candidates == (explain(BASE, SURE, strict=True), explain(BASE, MAYBE, strict=True))


def test_each_candidate_is_taken_once_and_in_order() -> None:
    taken: list[str] = []

    def reading() -> Iterator[Run]:
        for run in (SURE, MAYBE):
            taken.append(run.label)
            yield run

    report = explain_many(BASE, reading(), metrics=("mean/reward", "pass@1/accuracy"))
    assert taken == ["sure", "maybe"]
    assert [(row.candidate, row.metric) for row in report.comparisons] == [
        ("sure", "mean/reward"),
        ("sure", "pass@1/accuracy"),
        ("maybe", "mean/reward"),
        ("maybe", "pass@1/accuracy"),
    ]


def test_metrics_are_comparisons_too() -> None:
    once = explain_many(BASE, [MAYBE])
    twice = explain_many(BASE, [MAYBE], metrics=("mean/reward", "pass@1/accuracy", "mean/reward"))
    assert len(twice.comparisons) == 2
    assert once.comparisons[0].adjusted_p == pytest.approx(0.5**6)
    assert twice.comparisons[0].adjusted_p == pytest.approx(2 * 0.5**6)


def broken(label: str) -> Run:
    torn = Problem(kind=ProblemKind.TORN_LINE, detail="ends in a record", file="rollouts.jsonl", line=3)
    return make_run({"task 0": [1.0]}, label=label, problems=[torn])


@pytest.mark.parametrize(
    ("candidates", "strict", "code"),
    [
        ([SAME], False, 0),
        ([SAME, SURE], False, 1),
        ([SAME, SURE], True, 4),
        ([SAME, SURE, broken("torn")], False, 3),
        ([SAME, SURE, broken("torn")], True, 3),
    ],
)
def test_exit_code_is_the_worst(candidates: list[Run], strict: bool, code: int) -> None:
    assert explain_many(BASE, candidates, strict=strict).exit_code == code


def test_candidate_without_a_p_counts_as_if_it_were_one() -> None:
    empty = make_run({"another task": [1.0]}, label="empty")
    report = explain_many(BASE, [MAYBE, empty])
    row = report.comparisons[1]
    assert (row.estimate, row.target, row.adjusted_p, row.distinguishable) == (None, None, None, None)
    assert report.comparisons[0].adjusted_p == pytest.approx(holm([0.5**6, 1.0])[0])


def repeated(label: str, won: int, repeats: int = 2) -> Run:
    """`repeats` equal rollouts of 40 tasks that the base fails, of which `won` pass."""
    return make_run({f"task {number}": [float(number < won)] * repeats for number in range(40)}, label=label)


def test_repeats_that_never_vary_are_adjusted_by_the_p_that_decides() -> None:
    # Paired t over tasks, 5 of 40 won: D 0.125, sd 0.3349, t = 2.360 with 39 df, p .0234; twice that is
    # .0467, three times .0701.
    base = repeated("base", won=0)
    two = explain_many(base, [repeated("some", won=5), repeated("none", won=0)])
    three = explain_many(base, [repeated("some", won=5), *(repeated(f"none {n}", won=0) for n in range(2))])
    row = two.comparisons[0]
    assert (row.target, row.distinguishable) == (InferenceTarget.NEW_TASKS, True)
    assert row.adjusted_p == pytest.approx(0.0467, abs=1e-4)
    assert three.comparisons[0].adjusted_p == pytest.approx(0.0701, abs=1e-4)
    assert (three.comparisons[0].distinguishable, three.comparisons[0].rung) == (False, Rung.NOISE)


def test_candidate_with_too_few_tasks_makes_no_other_look_better() -> None:
    # On one task a t test may be sure of itself, and the report still says that nothing can be told.
    base = candidate("base", won=0)
    single = make_run({"task 0": [0.0, 0.0, 0.0, 1.0] * 8}, label="single")
    report = explain_many(base, [MAYBE, single])
    row = report.comparisons[1]
    assert (row.adjusted_p, row.distinguishable) == (None, None)
    assert report.comparisons[0].adjusted_p == pytest.approx(2 * 0.5**6)


def published(printed: str) -> Reference:
    return Reference(
        label=f"card {printed}",
        printed=printed,
        scale=100,
        metric=None,
        tasks=40,
        repeats=1,
        error=None,
        error_kind=ErrorKind.UNKNOWN,
        facts=(),
        source=None,
        read=None,
    )


def test_published_number_can_be_a_candidate() -> None:
    report = explain_many(BASE, [SURE, published("52.5")])
    row = report.comparisons[1]
    assert row.candidate == "card 52.5"
    assert row.target is InferenceTarget.NEW_TASKS
    assert row.gap == pytest.approx(0.025)
    assert row.distinguishable is False


def test_published_number_that_fails_the_adjustment_excludes_nothing() -> None:
    # 20 against 29 of 40: p 0.039 alone. Its totals give the largest p only, so that more is not known.
    report = explain_many(
        BASE, [published("72.5"), *(candidate(f"same {n}", won=1, lost=1) for n in range(3))]
    )
    row = report.comparisons[0]
    assert report.candidates[0].gap.distinguishable is True
    assert row.adjusted_p is not None
    assert row.adjusted_p > 0.05
    assert row.distinguishable is None
    assert "not known to be more than noise as one of several" in row.headline
    assert Rung.NOISE in row.unchecked


def test_unknown_metric_is_refused() -> None:
    with pytest.raises(UsageError, match="bleu"):
        explain_many(BASE, [SURE], metrics=("bleu",))
