"""Published numbers: what totals can and cannot say. Figures are those of the named public threads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from run_factory import make_run
from triage_reports import against, rung

from gymbal.errors import InputError, UsageError
from gymbal.model.finding import Rung, Status
from gymbal.model.reference import ErrorKind, Grade
from gymbal.readers.gate_policy import read_gate_policy
from gymbal.readers.reference import is_reference, read_reference
from gymbal.readers.run.locate import locate
from gymbal.triage.published.explain import explain_published


def test_line_is_read_with_its_printed_precision() -> None:
    reference = read_reference(
        "77.40% n=198 k=8 ±1.4 error_kind=se source='a model card' read=2026-11-02 top_p=0.95"
    )
    assert (reference.printed, reference.scale, reference.score) == ("77.40", 100, 0.774)
    assert (reference.tasks, reference.repeats, reference.error) == (198, 8, "1.4")
    assert reference.error_kind is ErrorKind.STANDARD_ERROR
    assert (reference.source, reference.read) == ("a model card", "2026-11-02")
    assert [(fact.name, fact.value) for fact in reference.facts] == [("top_p", 0.95)]


def test_file_says_the_same_as_the_line(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text('score = "73.2%"\nn = 198\nk = 8\nread = 2026-11-02\n[config]\ntemperature = 0.6\n')
    reference = read_reference(str(path))
    assert (reference.label, reference.printed, reference.tasks) == ("card", "73.2", 198)
    assert reference.read == "2026-11-02"
    assert reference.facts[0].value == 0.6


@pytest.mark.parametrize(
    ("extra", "grade"),
    [
        ("", Grade.ROUGH_TARGET),
        ("read=2026-11-02", Grade.ROUGH_TARGET),
        ("temperature=0.6", Grade.ROUGH_TARGET),
        ("read=2026-11-02 temperature=0.6", Grade.TARGET),
        ("read=2026-11-02 temperature=0.6 n=198 k=8 source=card metric=mean/reward", Grade.CONTRACT),
    ],
)
def test_reference_without_config_or_date_is_a_rough_target(extra: str, grade: Grade) -> None:
    assert read_reference(f"73.2% {extra}").grade is grade


@pytest.mark.parametrize(
    "line", ["73.2% n=0", "73.2% k=x", "173% n=3", "73.2% read=yesterday", "73.2% nonsense"]
)
def test_impossible_line_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        read_reference(line)


def test_file_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text('score = "73.2%"\ntemprature = 0.6\n')
    with pytest.raises(InputError, match="temprature"):
        read_reference(str(path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("73.2% n=198 n=200", "tasks is stated twice: 198 and 200"),
        ("73.2% n=198 tasks=198", "tasks is stated twice"),
        ("73.2% ±1.4 error=1.4", "error is stated twice"),
        ("73.2% temperature=0.6 config.temperature=1", "temperature is stated twice"),
        ("73.2% temprature=0.6", "did you mean temperature"),
        ("73.2% soruce=card", "did you mean source"),
        ("73.2% config.temprature=0.6", "did you mean temperature"),
        ("73.2% shots=5", "unknown name 'shots'"),
        ("73.2% n=١٩٨", "not a whole number"),
        ("73.2% error=١", "not a number"),
        (f"73.2% ±0.{'0' * 30}1", "error 0.0000000000000000000000000000... has more than 30 digits"),
        (f"0.7{'3' * 30}", "score 0.7333333333333333333333333333... has more than 30 digits"),
        ("73.2% read=20261102", "not a date"),
        ("73.2% label=", "not one line of text"),
        ("73.2% source='two\nlines'", "not one line of text"),
    ],
)
def test_line_that_could_be_misread_is_refused(line: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_reference(line)
    assert problem in str(refused.value)


def test_fact_of_another_name_is_stated_under_config() -> None:
    facts = read_reference("73.2% config.shots=5 top_k=20 config.note=nan").facts
    assert [(fact.name, fact.value) for fact in facts] == [("shots", 5), ("top_k", 20), ("note", "nan")]


def test_version_or_commit_is_no_number() -> None:
    # As numbers 0.10 would equal 0.1, and 0012345 would lose its zeros.
    facts = read_reference("73.2% gym_version=0.10 gym_commit=0012345 model=1e5 temperature=0.60").facts
    assert [fact.value for fact in facts] == ["0.10", "0012345", "1e5", 0.6]


def test_fact_that_is_a_secret_is_stated_by_its_digest() -> None:
    first, second = (
        [fact.value for fact in read_reference(f"73.2% config.api_key={key} config.note=token={key}").facts]
        for key in ("FAKEsecret1", "FAKEsecret2")
    )
    assert not any("FAKEsecret" in str(value) for value in first)
    assert [str(value).split(" (digest ")[0] for value in first] == ["****", "token=****"]
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    "text",
    [
        'score = "73.2%"\nlabel = 5\n',
        'score = "73.2%"\nlabel = ["a"]\n',
        'score = "73.2%"\nsource = {a = 1}\n',
        'score = "73.2%"\nmetric = 1\n',
        'score = "73.2%"\nn = 198\ntasks = 198\n',
        'score = "٧٣"\n',
        f'score = "0.{"7" * 40}"\n',
        f'score = "73.2%"\nerror = "0.{"0" * 40}1"\n',
        f"score = 0x{'f' * 5000}\n",
        f'score = "73.2%"\n[config]\nseeds = [0x{"f" * 5000}]\n',
        'score = "73.2%"\n[config]\nmax_output_token = 5\n',
        'score = "73.2%"\n[config]\ngym_version = 0.10\n',
    ],
)
def test_file_that_could_be_misread_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_reference(str(path))


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_bytes(b'\xef\xbb\xbfscore = "73.2%"\n')
    assert read_reference(str(path)).printed == "73.2"


def test_number_in_other_digits_is_no_reference() -> None:
    assert not is_reference("٧٣.٢%")


def test_pipe_in_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "card.toml"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no regular file"):
        read_reference(str(pipe))
    with pytest.raises(InputError, match="no regular file"):
        locate(pipe)
    with pytest.raises(InputError, match="no regular file"):
        read_gate_policy(pipe)
    with pytest.raises(InputError, match="no regular file"):
        locate("/dev/zero")


def test_paths_are_no_references() -> None:
    assert not is_reference("runs/baseline")
    assert is_reference("73.2% n=198")
    assert is_reference("card.toml")


def test_failures_of_minimax_cannot_explain_its_gap_but_noise_neither() -> None:
    # mini-swe-agent#756: 330/500 against 379/500: 9.8 points, Newcombe [4.2, 15.3]; z = 3.411, p .00065.
    report = against("66.0% n=500 k=1", "75.8% n=500 k=1")
    assert report.gap.distinguishable is True
    estimate = report.noise.new_tasks
    assert estimate is not None
    assert (round(estimate.low, 3), round(estimate.high, 3)) == (0.042, 0.153)
    assert estimate.p == pytest.approx(0.00065, abs=5e-6)


def test_gap_of_gpt_5_mini_is_within_noise() -> None:
    # mini-swe-agent#756: 285/500 against 299/500: 2.8 points, [-3.3, 8.9], p .37.
    report = against("57.0% n=500 k=1", "59.8% n=500 k=1")
    assert report.verdict.rung is Rung.NOISE
    estimate = report.noise.new_tasks
    assert estimate is not None
    assert (round(estimate.low, 3), round(estimate.high, 3), round(estimate.p, 2)) == (-0.033, 0.089, 0.37)


def test_totals_over_repeats_cannot_always_tell() -> None:
    # sgl-eval#22: 439/480 against 473/480 is p 5e-7 over rollouts, but the 480 are 16 repeats of 30 tasks.
    report = against("91.46% n=30 k=16", "98.54% n=30 k=16")
    assert report.gap.distinguishable is None
    assert rung(report, Rung.NOISE).status is Status.UNKNOWN


def test_close_totals_ask_for_per_task_rewards() -> None:
    # Gym#1112: 371/480 against 382/480.
    report = against("77.29% n=30 k=16", "79.58% n=30 k=16")
    finding = rung(report, Rung.NOISE)
    assert "not distinguishable from totals alone" in finding.summary
    assert "per-task rewards" in finding.next[0]


def test_number_that_no_count_gives_is_integrity() -> None:
    # 55.5 % of 30 is 16.65, and k = 11 is the first number of repeats that can print it.
    report = against("55.5% n=30 k=8", "50.0% n=30 k=8")
    assert report.verdict.rung is Rung.INTEGRITY
    assert "first possible with k 11" in rung(report, Rung.INTEGRITY).summary


def test_error_bar_that_implies_other_tasks_is_another_benchmark() -> None:
    # .2778 +- .0319 implies 197.5 to 198.8 tasks: the diamond subset of 198, not the main set of 448.
    left = "0.2778 n=448 k=1 ±0.0319 error_kind=se"
    report = explain_published(read_reference(left), read_reference("0.2790 n=448 k=1"))
    assert "implies 197 to 199 tasks, not 448" in rung(report, Rung.BENCHMARK).summary or (
        "implies 198 to 199 tasks, not 448" in rung(report, Rung.BENCHMARK).summary
    )


def test_run_that_lost_a_whole_task_planned_as_many_as_the_reference_states() -> None:
    run = make_run({**{f"t{n}": [1.0] for n in range(9)}, "lost": [None]}, failed="x")
    finding = rung(explain_published(run, read_reference("90% n=10 k=1")), Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "both have 10 tasks" in finding.summary


@pytest.mark.parametrize(
    ("stated", "status"), [("n=10", Status.UNKNOWN), ("n=8", Status.DIFFERENT), ("n=9", Status.UNKNOWN)]
)
def test_run_without_a_plan_may_have_lost_tasks_and_added_none(stated: str, status: Status) -> None:
    run = make_run({f"t{n}": [1.0] for n in range(9)}, is_planned=False)
    finding = rung(explain_published(run, read_reference(f"90% {stated}")), Rung.BENCHMARK)
    assert finding.status is status
    assert ("may have lost some" in finding.summary) is (stated == "n=10")


@pytest.mark.parametrize(("stated", "status"), [("6", Status.UNKNOWN), ("7", Status.DIFFERENT)])
def test_equal_lines_of_a_dataset_are_one_task_and_several_of_a_published_n(
    stated: str, status: Status
) -> None:
    # Six lines with two repeats each, of which two are equal.
    rewards = {f"t{number}": [1.0, 0.0] for number in range(4)} | {"doubled": [1.0, 0.0, 1.0, 0.0]}
    finding = rung(explain_published(make_run(rewards), read_reference(f"50% n={stated}")), Rung.BENCHMARK)
    assert finding.status is status
    assert f"5 tasks against {stated}" in finding.summary


def test_error_bar_that_implies_more_tasks_than_a_run_without_a_plan_shows_is_open() -> None:
    # sqrt(.5 * .5 / 100) = .05, so that a rounded error of .05 implies about 100 tasks; the run shows 9.
    for is_planned, status in ((True, Status.DIFFERENT), (False, Status.UNKNOWN)):
        run = make_run({f"t{n}": [1.0] for n in range(9)}, is_planned=is_planned)
        finding = rung(
            explain_published(run, read_reference("0.500 k=1 ±0.050 error_kind=se")), Rung.BENCHMARK
        )
        assert finding.status is status


def test_run_whose_failures_alone_reach_the_reference_is_accounting() -> None:
    # 285 passes and 35 failures of 500: at best 320/500 = 64.0 %, which contains 59.8 %.
    rewards: dict[str, list[float | None]] = {f"t{n}": [1.0 if n < 285 else 0.0] for n in range(465)}
    rewards |= {f"lost{n}": [None] for n in range(35)}
    run = make_run(rewards, failed="agent_run_error", reported=285 / 465)
    report = explain_published(run, read_reference("59.8% n=500 k=1"))
    finding = rung(report, Rung.ACCOUNTING)
    assert finding.status is Status.DIFFERENT
    assert "needs 14 more passes, has 35" in finding.summary


def test_run_whose_failures_cannot_reach_the_reference_is_not() -> None:
    # 330 passes, 13 failures of 500: at best 343/500 = 68.6 %, below 75.8 %.
    rewards: dict[str, list[float | None]] = {f"t{n}": [1.0 if n < 330 else 0.0] for n in range(487)}
    rewards |= {f"lost{n}": [None] for n in range(13)}
    run = make_run(rewards, failed="agent_run_error", reported=330 / 487)
    finding = rung(explain_published(run, read_reference("75.8% n=500 k=1")), Rung.ACCOUNTING)
    assert finding.status is Status.SAME
    assert "needs 49 more passes, has 13" in finding.summary


def test_stated_setting_is_held_against_the_requests() -> None:
    run = make_run({f"t{n}": [1.0, 0.0] for n in range(10)})
    finding = rung(explain_published(run, read_reference("50% n=10 k=2 temperature=1.0")), Rung.METHOD)
    assert finding.status is Status.DIFFERENT
    assert "temperature 0.6 against 1" in finding.summary


def test_parts_add_up_for_a_reference() -> None:
    run = make_run({f"t{n}": [1.0, 0.0] for n in range(10)}, reported=0.45)
    report = explain_published(run, read_reference("73.2% n=10"))
    assert sum(part.value for part in report.gap.parts) == pytest.approx(0.732 - 0.45, abs=1e-12)


def test_model_of_a_card_is_the_endpoint_of_the_same_name() -> None:
    run = make_run({f"t{n}": [1.0, 0.0] for n in range(10)})
    finding = rung(explain_published(run, read_reference("50% n=10 k=2 model=Lab/Demo")), Rung.METHOD)
    assert finding.status is Status.UNKNOWN
    assert "model demo" in finding.summary
