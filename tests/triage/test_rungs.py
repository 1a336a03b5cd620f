"""Each rung on a pair of runs that differs in its own cause alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from run_factory import SETTINGS, commit, make_run
from triage_reports import rung

from gymbal.errors import UsageError
from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.model.finding import Finding, Handoff, Rung, Status
from gymbal.model.rollout import Rollout, Stop
from gymbal.model.rollout_table import PlanTable, RolloutTable
from gymbal.model.run import Problem, ProblemKind, Run
from gymbal.triage.explain import explain

TASKS = {
    f"task {number}": [1.0, 1.0, 0.0, 1.0] if number % 3 else [0.0, 0.0, 1.0, 0.0] for number in range(12)
}


def test_findings_stand_in_ladder_order() -> None:
    report = explain(make_run(TASKS), make_run(TASKS))
    assert [finding.name for finding in report.rungs] == list(Rung)


def test_equal_runs_are_within_noise() -> None:
    report = explain(make_run(TASKS), make_run(TASKS))
    assert report.verdict.rung is Rung.NOISE
    assert report.exit_code == 0


def test_torn_line_is_integrity_with_its_place() -> None:
    torn = Problem(kind=ProblemKind.TORN_LINE, detail="line is cut off", file="r.jsonl", line=5, offset=9000)
    report = explain(make_run(TASKS), make_run(TASKS, problems=[torn]))
    assert report.verdict.rung is Rung.INTEGRITY
    assert "r.jsonl:5 (byte 9000)" in rung(report, Rung.INTEGRITY).summary
    assert (report.exit_code, report.verdict.handoff) == (3, Handoff.DEBUGGING)


def test_score_that_no_accounting_explains_is_integrity() -> None:
    report = explain(make_run(TASKS), make_run(TASKS, reported=0.123))
    assert "reports mean/reward 0.123" in rung(report, Rung.INTEGRITY).summary


def test_two_models_in_one_file_are_integrity() -> None:
    def resumed(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, model="demo-2", attempt=1) if row.key.task > 6 else row

    report = explain(make_run(TASKS), make_run(TASKS, change=resumed))
    assert "2 models: demo, demo-2" in rung(report, Rung.INTEGRITY).summary


def test_several_attempts_alone_are_a_warning() -> None:
    report = explain(
        make_run(TASKS), make_run(TASKS, change=lambda row: msgspec.structs.replace(row, attempt=1))
    )
    finding = rung(report, Rung.INTEGRITY)
    assert finding.status is Status.SAME
    assert [fact.name for fact in finding.facts] == ["retried"]


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        ("abc", "abc", Status.SAME),
        ("abc", "def", Status.DIFFERENT),
        ("abc", None, Status.UNKNOWN),
        (None, None, Status.UNKNOWN),
    ],
)
def test_code_is_same_only_when_both_commits_are_known(
    left: str | None, right: str | None, status: Status
) -> None:
    report = explain(make_run(TASKS, facts=[commit(left)]), make_run(TASKS, facts=[commit(right)]))
    assert rung(report, Rung.CODE).status is status


def test_sampling_difference_is_method_and_named() -> None:
    hotter = msgspec.structs.replace(SETTINGS, temperature=1.0)
    report = explain(
        make_run(TASKS), make_run(TASKS, change=lambda row: msgspec.structs.replace(row, settings=hotter))
    )
    assert report.verdict.rung is Rung.METHOD
    assert "temperature 0.6 against 1.0" in rung(report, Rung.METHOD).summary


def config(name: str, value: Value, role: Role = Role.SAMPLING) -> Fact:
    return Fact(name=name, role=role, value=value, strength=Strength.RECORDED, file="config.yaml", key=name)


WHOLE = config("config.quiz.resources_servers.quiz.mode", "strict", Role.HARNESS)
"""What makes a config a whole one."""


def method(left: Sequence[Fact], right: Sequence[Fact], **request: Any) -> Finding:
    """The method rung of two runs with the same requests, but for their configs."""

    def asked(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, settings=msgspec.structs.replace(SETTINGS, **request))

    sides = [make_run(TASKS, facts=[WHOLE, *facts], change=asked) for facts in (left, right)]
    return rung(explain(*sides), Rung.METHOD)


def test_config_that_the_requests_contradict_leaves_method_unknown() -> None:
    finding = method([config("temperature", 0.6)], [config("temperature", 1.0)])
    assert finding.status is Status.UNKNOWN
    assert "the configs say otherwise of temperature" in finding.summary
    assert any(
        "temperature: 1.0 in config.yaml temperature, 0.6 in rollouts" in step for step in finding.next
    )


def test_equal_configs_that_the_requests_contradict_leave_method_unknown() -> None:
    finding = method([config("temperature", 1.0)], [config("temperature", 1.0)])
    assert finding.status is Status.UNKNOWN


def test_contradicted_config_is_named_beside_another_difference() -> None:
    mode = config("config.quiz.resources_servers.quiz.grading", "lax", Role.HARNESS)
    other = config(mode.name, "exact", Role.HARNESS)
    finding = method([mode], [other, config("temperature", 1.0)])
    assert finding.status is Status.DIFFERENT
    assert any("temperature: 1.0 in" in step for step in finding.next)


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        ([config("temperature", 0.6)], [config("temperature", 1.0)], Status.DIFFERENT),
        ([config("temperature", 0.6)], [], Status.UNKNOWN),
        ([config("temperature", 0.6)], [config("temperature", 0.6)], Status.SAME),
    ],
)
def test_configs_decide_what_no_request_sets(
    left: Sequence[Fact], right: Sequence[Fact], status: Status
) -> None:
    assert method(left, right, temperature=None).status is status


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # A request needs no config to say it again, and 1 is 1.0.
        ([config("temperature", 1)], []),
        # A null leaves the value to the rows of the dataset.
        ([config("temperature", None)], [config("temperature", 1.0)]),
        # A request keeps a digest of its instructions.
        ([config("instructions", "Be brief.")], [config("instructions", "Be brief.")]),
    ],
)
def test_config_that_the_requests_bear_out_leaves_method_same(
    left: Sequence[Fact], right: Sequence[Fact]
) -> None:
    finding = method(left, right, temperature=1.0, instructions="0123456789abcdef")
    assert finding.status is Status.SAME


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        ("prompts/v1.txt", "prompts/v2.txt", Status.DIFFERENT),
        ("prompts/v1/judge.txt", "prompts/v2/judge.txt", Status.DIFFERENT),
        (
            "/srv/a/Gym/resources_servers/quiz/prompts/v1.txt",
            "/srv/b/Gym/resources_servers/quiz/prompts/v1.txt",
            Status.SAME,
        ),
        ("../../benchmarks/quiz/judge.txt", "benchmarks/quiz/judge.txt", Status.SAME),
        ("/srv/a/prompts/v1.txt", "/srv/b/prompts/v1.txt", Status.UNKNOWN),
        ("/srv/a/prompts/v1.txt", "/srv/a/prompts/v2.txt", Status.DIFFERENT),
    ],
)
def test_prompt_files_of_two_checkouts_are_told_apart(left: str, right: str, status: Status) -> None:
    name = "config.quiz.resources_servers.quiz.judge_prompt_template_fpath"
    finding = method([config(name, left, Role.JUDGE)], [config(name, right, Role.JUDGE)])
    assert finding.status is status
    if status is Status.UNKNOWN:
        assert any(step.startswith("compare these two files") and right in step for step in finding.next)


def test_reasoning_left_in_the_answers_is_method() -> None:
    report = explain(
        make_run(TASKS),
        make_run(TASKS, change=lambda row: msgspec.structs.replace(row, has_reasoning_in_text=True)),
    )
    assert "reasoning left in the answer text: 0 of 48 against 48 of 48" in rung(report, Rung.METHOD).summary


def test_same_rollouts_under_another_policy_are_accounting() -> None:
    lost = {prompt: ([None] * 4 if prompt == "task 1" else rewards) for prompt, rewards in TASKS.items()}
    left = make_run(lost, failed="agent_run_error")
    measured = [reward for rewards in lost.values() for reward in rewards if reward is not None]
    right = make_run(lost, failed="agent_run_error", reported=sum(measured) / 48)
    report = explain(left, right)
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "agent_run_error counted as zero" in rung(report, Rung.ACCOUNTING).summary
    assert rung(report, Rung.INTEGRITY).status is Status.SAME


def test_truncation_that_could_close_the_gap_is_accounting() -> None:
    def cut(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, reward=0.0, stop=Stop.TRUNCATED) if row.key.repeat == 1 else row

    report = explain(make_run(TASKS), make_run(TASKS, change=cut))
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "12 of 48" in rung(report, Rung.ACCOUNTING).summary


def test_failures_on_record_that_could_close_the_gap_need_no_plan_to_be_the_cause() -> None:
    # 4 of 16 are lost where the left side has 4 zeros: their rewards could be those.
    left = {f"task {number}": [1.0, 1.0, 1.0, 0.0] for number in range(4)}
    right = {f"task {number}": [1.0, 1.0, 1.0, None] for number in range(4)}
    report = explain(make_run(left), make_run(right, label="lossy", failed="x", is_planned=False))
    finding = rung(report, Rung.ACCOUNTING)
    assert report.verdict.rung is Rung.ACCOUNTING
    assert finding.summary.startswith("4 failed rollouts in lossy: ")
    assert finding.summary.endswith("anywhere in [+0.0000, +0.2500], if no more were lost")
    assert "which a resume needs" in finding.next[0]


def test_losses_of_a_run_without_a_score_leave_accounting_unknown() -> None:
    killed = make_run({**TASKS, "task 0": [0.0, None, None, None]}, label="killed", has_metrics=False)
    finding = rung(explain(make_run(TASKS), killed), Rung.ACCOUNTING)
    assert finding.status is Status.UNKNOWN
    assert finding.summary.startswith("3 missing of 48 rollouts in killed, and no gap is reported")


def test_few_failures_that_cannot_close_a_large_gap_are_not_the_cause() -> None:
    # 1 of 48 lost on the left can move it by at most 1/48; the gap is 7/12.
    good = {prompt: [1.0] * 4 for prompt in TASKS}
    bad = {
        prompt: [1.0, 0.0, 0.0, 0.0] if number % 3 else [0.0, 1.0, 1.0, 0.0]
        for number, prompt in enumerate(TASKS)
    }
    lost = {
        prompt: ([None, *rewards[1:]] if prompt == "task 4" else rewards) for prompt, rewards in bad.items()
    }
    report = explain(make_run(lost, failed="agent_run_error"), make_run(good))
    finding = rung(report, Rung.ACCOUNTING)
    assert finding.status is Status.SAME
    assert "cannot close the gap" in finding.summary
    assert report.verdict.rung is Rung.MODEL


def test_large_difference_with_nothing_else_different_is_the_model() -> None:
    report = explain(make_run(TASKS), make_run({prompt: [1.0] * 4 for prompt in TASKS}))
    assert report.verdict.rung is Rung.MODEL
    assert report.verdict.unchecked == (Rung.CODE, Rung.METHOD)
    assert (report.exit_code, report.verdict.handoff) == (1, Handoff.PER_TASK_ANALYSIS)


def test_strict_turns_unchecked_causes_into_exit_four() -> None:
    assert explain(make_run(TASKS), make_run(TASKS), strict=True).exit_code == 4


def test_agent_must_be_named_where_several_match() -> None:
    run = make_run(TASKS)
    other = msgspec.structs.replace(
        run,
        rollouts=RolloutTable.of(
            [*run.rollouts, *(msgspec.structs.replace(row, agent="second") for row in run.rollouts)]
        ),
    )
    with pytest.raises(UsageError, match="--agent"):
        explain(other, other)
    assert explain(other, other, agent="quiz_agent").left.rollouts.scored == 48


def test_odd_repeat_is_said() -> None:
    # Repeat 3 of 4 fails everywhere while the others pass three times in four.
    rewards = {f"t{n}": [1.0, float(n % 4 > 0), 0.0, float(n % 4 < 3)] for n in range(40)}
    report = explain(make_run(rewards), make_run(rewards, label="other"))
    assert [odd.side for odd in report.noise.odd_repeats] == ["run", "other"]
    assert report.noise.odd_repeats[0].means == (1.0, 0.75, 0.0, 0.75)


def test_sign_of_the_difference_can_depend_on_the_accounting() -> None:
    # Right: 17 of 20 measured pass (left: 16 of 20); its 4 lost ones at 0 give 17 of 24 against 20 of 24.
    left: dict[str, list[float | None]] = {f"t{n}": [1.0 if n < 16 else 0.0] for n in range(20)}
    right: dict[str, list[float | None]] = {f"t{n}": [1.0 if n < 17 else 0.0] for n in range(20)}
    for n in range(20, 24):
        left[f"t{n}"], right[f"t{n}"] = [1.0], [None]
    finding = rung(explain(make_run(left), make_run(right, failed="agent_run_error")), Rung.ACCOUNTING)
    assert "the sign of the difference depends" in finding.summary
    scores = {fact.name: (fact.left, fact.right) for fact in finding.facts}
    assert scores["score, lost rollouts left out"] == (0.8, 0.85)
    assert scores["score, lost rollouts count 0"] == pytest.approx((20 / 24, 17 / 24))


def test_lost_rollouts_are_judged_under_pass_at_k_itself() -> None:
    # pass@2: right 3/4 without the lost ones, 5/6 at best, since t0 never passes. The means are equal.
    left: dict[str, list[float | None]] = {f"t{n}": [0.0, 1.0] for n in range(6)}
    right: dict[str, list[float | None]] = {**left, "t0": [0.0] * 2, "t4": [None, 1.0], "t5": [None, 1.0]}
    report = explain(
        make_run(left, percent={"pass@1/accuracy": 50.0, "pass@2/accuracy": 100.0}),
        make_run(right, percent={"pass@1/accuracy": 100 * 3.5 / 6, "pass@2/accuracy": 75.0}),
        metric="pass@2/accuracy",
    )
    finding = rung(report, Rung.ACCOUNTING)
    assert finding.status is Status.SAME
    assert "cannot close the gap" in finding.summary
    scores = {fact.name: (fact.left, fact.right) for fact in finding.facts}
    assert scores["score, lost rollouts left out"] == (1.0, 0.75)
    assert scores["score, lost rollouts count 0"] == pytest.approx((1.0, 5 / 6))
    assert finding.facts[-1].source is not None
    assert finding.facts[-1].source.startswith("pass@2/accuracy: ")


def test_range_of_lost_rollouts_under_pass_at_k() -> None:
    # Left: t0 and t1 pass, t2 does not: 2/3. Right: t0 is 0 or 1 with its lost one, t1 is 1 whatever its lost
    # one was, t2 fails: 1/3 to 2/3. Reported is t2 alone, 0. pass@2 leaves t3 out, whose one repeat is lost.
    left: dict[str, list[float | None]] = {"t0": [0.0, 1.0], "t1": [0.0, 1.0], "t2": [0.0, 0.0], "t3": [1.0]}
    right: dict[str, list[float | None]] = {**left, "t0": [None, 0.0], "t1": [None, 1.0], "t3": [None]}
    report = explain(
        make_run(left, percent={"pass@2/accuracy": 100 * 2 / 3}),
        make_run(right, percent={"pass@2/accuracy": 0.0}),
        metric="pass@2/accuracy",
    )
    assert "anywhere in [-0.3333, +0.0000]" in rung(report, Rung.ACCOUNTING).summary


@pytest.mark.parametrize(("is_cut", "status"), [(False, Status.SAME), (True, Status.DIFFERENT)])
def test_truncation_is_judged_under_pass_at_k_itself(is_cut: bool, status: Status) -> None:
    # Right loses t0 alone: 11/12. A truncated repeat of every other task closes nothing; one of t0 would.
    def cut(row: Rollout) -> Rollout:
        is_other = row.key.task > 0 or is_cut
        return msgspec.structs.replace(row, stop=Stop.TRUNCATED) if is_other and row.key.repeat == 0 else row

    left = {f"t{n}": [0.0, 1.0] for n in range(12)}
    report = explain(
        make_run(left, percent={"pass@1/accuracy": 50.0, "pass@2/accuracy": 100.0}),
        make_run(
            {**left, "t0": [0.0, 0.0]},
            percent={"pass@1/accuracy": 100 * 5.5 / 12, "pass@2/accuracy": 100 * 11 / 12},
            change=cut,
        ),
        metric="pass@2/accuracy",
    )
    assert rung(report, Rung.ACCOUNTING).status is status


def test_same_prompt_with_another_length_is_method() -> None:
    report = explain(
        make_run(TASKS),
        make_run(TASKS, change=lambda row: msgspec.structs.replace(row, input_tokens=41)),
    )
    assert report.verdict.rung is Rung.METHOD
    assert "in 12 of 12 tasks (task 0: 40 against 41 input tokens)" in rung(report, Rung.METHOD).summary


def test_another_model_may_count_tokens_otherwise() -> None:
    report = explain(
        make_run(TASKS),
        make_run(TASKS, change=lambda row: msgspec.structs.replace(row, input_tokens=41, model="other")),
    )
    assert rung(report, Rung.METHOD).status is Status.UNKNOWN


def test_pass_at_k_that_falls_is_integrity() -> None:
    run = make_run(TASKS)
    assert run.metrics is not None
    values = {**run.metrics[0].values, "pass@1/accuracy": 60.0, "pass@2/accuracy": 55.0}
    impossible = msgspec.structs.replace(
        run, metrics=(msgspec.structs.replace(run.metrics[0], values=values),)
    )
    finding = rung(explain(run, impossible), Rung.INTEGRITY)
    assert finding.status is Status.DIFFERENT
    assert "pass@2 (0.55) is below pass@1 (0.6)" in finding.summary


def test_equivalence_within_a_margin_is_shown_only_where_the_interval_fits() -> None:
    # The same 48 rewards on both sides: difference 0, and an interval far inside 0.5 and far outside 0.001.
    wide = explain(make_run(TASKS), make_run(TASKS), margin=0.5).noise.equivalence
    narrow = explain(make_run(TASKS), make_run(TASKS), margin=0.001).noise.equivalence
    assert wide is not None
    assert wide.is_shown
    assert narrow is not None
    assert not narrow.is_shown
    assert explain(make_run(TASKS), make_run(TASKS)).noise.equivalence is None


def test_lost_rollouts_explain_nothing_where_the_scores_are_equal() -> None:
    # Two of four repeats of a task that always passes are lost: the mean over tasks and rows stays 1.
    full: dict[str, list[float | None]] = {f"t{n}": [1.0] * 4 for n in range(8)}
    report = explain(make_run(full), make_run({**full, "t3": [1.0, None, None, 1.0]}, failed="x"))
    finding = rung(report, Rung.ACCOUNTING)
    assert finding.status is Status.SAME
    assert "the reported scores are equal all the same" in finding.summary
    assert report.verdict.rung is Rung.NOISE


def test_one_flip_among_repeats_that_never_vary_is_not_certain() -> None:
    # 50 deterministic tasks, one of which flips: p over tasks is .32, whatever the repeats seem to say.
    left = {f"t{n}": [1.0] * 4 for n in range(50)}
    report = explain(make_run(left), make_run({**left, "t7": [0.0] * 4}))
    assert report.gap.distinguishable is False
    assert report.verdict.rung is Rung.NOISE
    assert "other tasks like these could show as much by chance" in report.verdict.headline
    summary = rung(report, Rung.NOISE).summary
    assert summary.startswith(
        "within the noise between tasks (same tasks, re-run: not estimable, the repeats"
    )


def test_repeats_that_never_vary_plan_nothing_and_show_no_equivalence() -> None:
    left = {f"t{n}": [1.0] * 4 for n in range(50)}
    noise = explain(make_run(left), make_run({**left, "t7": [0.0] * 4}), margin=0.5).noise
    assert (noise.minimum_detectable, noise.repeats_needed, noise.equivalence) == (None, None, None)


def test_level_that_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="level"):
        explain(make_run(TASKS), make_run(TASKS), level=float("nan"))


def test_lost_rollouts_of_one_stage_are_missing() -> None:
    def staged(run: Run, stages: tuple[int, ...]) -> Run:
        assert run.planned is not None
        return msgspec.structs.replace(
            run,
            rollouts=RolloutTable.of(
                msgspec.structs.replace(row, key=row.key._replace(stage=stage))
                for stage in stages
                for row in run.rollouts
            ),
            planned=PlanTable.of(
                msgspec.structs.replace(plan, key=plan.key._replace(stage=stage))
                for stage in (0, 1)
                for plan in run.planned
            ),
        )

    report = explain(staged(make_run(TASKS), (0, 1)), staged(make_run(TASKS), (0,)))
    assert (report.left.rollouts.missing, report.right.rollouts.missing) == (0, 48)
    assert report.left.rollouts.duplicated == 0


def test_noise_of_a_single_task_is_unknown() -> None:
    for rewards in ([1.0], [1.0, 1.0], [0.0, 1.0, 1.0]):
        report = explain(make_run({"a": rewards}), make_run({"a": rewards}))
        assert rung(report, Rung.NOISE).status is Status.UNKNOWN
        assert "a single task" in rung(report, Rung.NOISE).summary
        assert Rung.NOISE in report.verdict.unchecked


def test_tasks_too_few_to_show_anything_leave_noise_unknown() -> None:
    # McNemar's mid-p when all n tasks are lost is 2^-n: 0.0625 for four, 0.03125 for five.
    for tasks, status in ((4, Status.UNKNOWN), (5, Status.DIFFERENT)):
        left = {f"task {n}": [1.0] for n in range(tasks)}
        right = {f"task {n}": [0.0] for n in range(tasks)}
        finding = rung(explain(make_run(left), make_run(right)), Rung.NOISE)
        assert finding.status is status
    assert (
        "p would be"
        in rung(explain(make_run({"a": [1], "b": [1]}), make_run({"a": [0], "b": [0]})), Rung.NOISE).summary
    )


def test_clusters_of_tasks_widen_what_new_tasks_could_show() -> None:
    # 6 documents of 4 tasks that move together: 2 up by 1, 1 down by 1, 3 as they were.
    moves = [1.0, 1.0, -1.0, 0.0, 0.0, 0.0]
    base = {f"d{document} t{task}": [0.5, 0.5] for document in range(6) for task in range(4)}
    right = {name: [0.5 + moves[int(name[1])] / 2] * 2 for name in base}

    def clustered(run: Run) -> Run:
        assert run.planned is not None
        plan = [msgspec.structs.replace(row, cluster=row.content.prompt[:2]) for row in run.planned]
        return msgspec.structs.replace(run, planned=PlanTable.of(plan))

    pair = clustered(make_run(base)), clustered(make_run(right))
    noise = [explain(*pair, by_cluster=by_cluster).noise for by_cluster in (False, True)]
    alone, together = (found.new_tasks for found in noise)
    # Three clusters moved, two of them up: all their 2^3 sign patterns are as extreme.
    assert noise[1].sign_flip_p == 1.0
    assert alone is not None
    assert together is not None
    assert "cluster-robust over 6 clusters" in together.method
    # D = 4 * (1 + 1 - 1) / 2 / 24; cluster sums of deviations d - D, times G/(G-1), over n.
    difference = 1 / 12
    sums = [4 * (move / 2 - difference) for move in moves]
    error = (6 / 5 * sum(value**2 for value in sums)) ** 0.5 / 24
    student_t_5 = 2.570581835636314  # published table, 95 % two-sided, 5 df
    assert (together.high - together.low) / 2 == pytest.approx(student_t_5 * error, rel=1e-6)
    assert together.high - together.low > alone.high - alone.low


def test_clusters_that_nothing_names_are_refused() -> None:
    with pytest.raises(UsageError, match="names its cluster"):
        explain(make_run(TASKS), make_run(TASKS), by_cluster=True)
