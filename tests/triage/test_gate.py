"""Decisions of a gate: tiers, directions, clean shares, waivers, multiplicity, and what has to be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_factory import SETTINGS, commit, make_run

from gymbal.model.finding import Rung
from gymbal.model.gate import (
    BenchmarkPolicy,
    Decision,
    Direction,
    GatePolicy,
    GateReport,
    Multiplicity,
    Tier,
    Waiver,
    WaiverState,
)
from gymbal.model.rollout import Rollout, Stop
from gymbal.model.run import Problem, ProblemKind, Run
from gymbal.triage.explain import pair_up
from gymbal.triage.gate.contest import Absence, Contest, weigh
from gymbal.triage.gate.decide import decide
from gymbal.triage.gate.judge import judge, overall
from gymbal.triage.gate.losses import reach_of_losses

TODAY = "2026-11-29"

Rewards = Mapping[str, Sequence[float | None]]


def flips(lost: int, won: int, *, tasks: int = 200) -> tuple[Rewards, Rewards]:
    """Rewards of one repeat a side; tasks that did not change pass and fail by turns."""
    kinds = ["lost"] * lost + ["won"] * won + ["same"] * (tasks - lost - won)
    base: dict[str, list[float | None]] = {}
    candidate: dict[str, list[float | None]] = {}
    for number, kind in enumerate(kinds):
        reward = float(number % 2)
        base[f"task {number}"] = [{"lost": 1.0, "won": 0.0}.get(kind, reward)]
        candidate[f"task {number}"] = [{"lost": 0.0, "won": 1.0}.get(kind, reward)]
    return base, candidate


def runs(lost: int, won: int, *, tasks: int = 200) -> tuple[Run, Run]:
    base, candidate = flips(lost, won, tasks=tasks)
    return make_run(base, label="base"), make_run(candidate, label="new")


def rule(name: str = "quiz", *, margin: float = 0.05, **asked: object) -> BenchmarkPolicy:
    return msgspec.convert({"name": name, "margin": margin, **asked}, BenchmarkPolicy)


def contest(asked: BenchmarkPolicy, sides: tuple[Run, Run], *, candidate: str = "new") -> Contest:
    return Contest(rule=asked, candidate=candidate, found=weigh(asked, *sides, level=0.95))


def gate(
    *contests: Contest,
    waivers: Sequence[Waiver] = (),
    multiplicity: Multiplicity = Multiplicity.HOLM,
    today: str = TODAY,
) -> GateReport:
    rules = tuple({item.rule.name: item.rule for item in contests}.values())
    policy = GatePolicy(benchmarks=rules, waivers=tuple(waivers), multiplicity=multiplicity)
    return judge(policy, contests, base="base", today=today)


CLEAR_LOSS, EQUAL = (60, 5), (5, 5)
"""Of 200 tasks: 27.5 points down, and nothing."""


@pytest.mark.parametrize(
    ("changed", "margin", "decision", "reason"),
    [
        ((5, 60), 0.05, Decision.PASS, "an improvement"),
        (EQUAL, 0.05, Decision.PASS, "no loss beyond the margin"),
        ((12, 1), 0.15, Decision.PASS, "a loss, but within the margin"),
        (CLEAR_LOSS, 0.05, Decision.FAIL, "a loss beyond the margin"),
        ((20, 15), 0.05, Decision.INCONCLUSIVE, "neither within the margin nor beyond it"),
        (EQUAL, 0.0, Decision.INCONCLUSIVE, "neither within the margin nor beyond it"),
    ],
)
def test_interval_against_margin_decides(
    changed: tuple[int, int], margin: float, decision: Decision, reason: str
) -> None:
    result = gate(contest(rule(margin=margin), runs(*changed))).results[0]
    assert (result.decision, result.reason.split(":")[0]) == (decision, reason)


def test_lower_is_better_turns_the_margin_around() -> None:
    assert gate(contest(rule(direction="lower"), runs(5, 60))).decision is Decision.FAIL
    improved = gate(contest(rule(direction="lower"), runs(*CLEAR_LOSS))).results[0]
    assert improved.decision is Decision.PASS
    assert improved.reason.startswith("an improvement: -0.2750")


def test_max_gain_makes_a_gate_of_parity() -> None:
    assert gate(contest(rule(max_gain=0.05), runs(*EQUAL))).decision is Decision.PASS
    too_good = gate(contest(rule(max_gain=0.05), runs(5, 60))).results[0]
    assert too_good.decision is Decision.FAIL
    assert too_good.reason.startswith("a gain beyond max_gain")
    assert gate(contest(rule(max_gain=0.05), runs(15, 22))).decision is Decision.INCONCLUSIVE


def test_new_tasks_is_its_own_question() -> None:
    # Every task loses a third of its repeats: a re-run of the same tasks varies, the tasks hardly do.
    base = {f"task {number}": [1.0, 1.0, 0.0] for number in range(40)}
    worse = {f"task {number}": [1.0, 0.0, 0.0] for number in range(39)} | {"task 39": [1.0, 1.0, 0.0]}
    sides = make_run(base, label="base"), make_run(worse, label="new")
    same, new = (
        gate(contest(rule(target=target), sides)).results[0].estimate
        for target in ("same_tasks", "new_tasks")
    )
    assert same is not None
    assert new is not None
    assert same.method.startswith("same tasks")
    assert new.method.startswith("new tasks")


def test_noise_that_cannot_be_estimated_is_inconclusive() -> None:
    constant = {f"task {number}": [1.0, 1.0] for number in range(20)}
    sides = make_run(constant, label="base"), make_run(constant, label="new")
    result = gate(contest(rule(target="new_tasks"), sides)).results[0]
    assert result.decision is Decision.INCONCLUSIVE
    assert 'gate it on target = "same_tasks"' in result.resolve
    assert gate(contest(rule(target="same_tasks"), sides)).decision is Decision.PASS


@pytest.mark.parametrize("margin", [0.01, 0.5])
def test_one_flip_among_repeats_that_never_vary_is_inconclusive(margin: float) -> None:
    # 20 tasks, one of which flips in both repeats: their spread of 0 would make a loss of 0.05 certain.
    constant = {f"task {number}": [1.0, 1.0] for number in range(20)}
    sides = make_run(constant, label="base"), make_run({**constant, "task 7": [0.0, 0.0]}, label="new")
    result = gate(contest(rule(margin=margin), sides)).results[0]
    assert result.decision is Decision.INCONCLUSIVE
    assert "the repeats never varied" in result.reason


def test_wide_interval_on_new_tasks_asks_for_tasks() -> None:
    # 20 and 15 of 200 flipped: error sqrt(0.175) / sqrt(200) = 0.0296 by Wald, so
    # 200 * (2.80159 * 0.0296 / 0.05)^2 = 550 tasks; Tango's interval is 3 % wider, which makes 585.
    result = gate(contest(rule(target="new_tasks"), runs(20, 15))).results[0]
    tasks = int(result.resolve[0].split()[1])
    assert 550 <= tasks <= 600


def with_commits(left: str | None, right: str | None) -> tuple[Run, Run]:
    base, candidate = flips(*EQUAL)
    return (
        make_run(base, label="base", facts=[commit(left)]),
        make_run(candidate, label="new", facts=[commit(right)]),
    )


@pytest.mark.parametrize(
    ("commits", "required", "decision"),
    [
        (("aaa", "bbb"), [], Decision.PASS),
        (("aaa", None), [], Decision.PASS),
        (("aaa", "aaa"), ["code"], Decision.PASS),
        (("aaa", None), ["code"], Decision.INCONCLUSIVE),
        (("aaa", "bbb"), ["code"], Decision.INCONCLUSIVE),
    ],
)
def test_required_rung_must_be_found_the_same(
    commits: tuple[str | None, str | None], required: list[str], decision: Decision
) -> None:
    result = gate(contest(rule(require=required), with_commits(*commits))).results[0]
    assert result.decision is decision
    if decision is Decision.INCONCLUSIVE:
        assert "code" in result.reason
    elif None in commits:
        assert Rung.CODE in result.unchecked


def hotter(row: Rollout) -> Rollout:
    return msgspec.structs.replace(row, settings=msgspec.structs.replace(SETTINGS, temperature=1.0))


def test_other_method_voids_the_comparison_unless_it_is_meant() -> None:
    base, candidate = flips(5, 60)
    sides = make_run(base, label="base"), make_run(candidate, label="new", change=hotter)
    result = gate(contest(rule(), sides)).results[0]
    assert result.decision is Decision.INCONCLUSIVE
    assert "temperature" in result.reason
    assert gate(contest(rule(may_differ=["method"]), sides)).decision is Decision.PASS


def test_broken_run_is_inconclusive_with_its_reason() -> None:
    base, candidate = flips(5, 60)
    torn = Problem(kind=ProblemKind.TORN_LINE, detail="ends in a record", file="rollouts.jsonl", line=200)
    sides = make_run(base, label="base"), make_run(candidate, label="new", problems=[torn])
    report = gate(contest(rule(), sides))
    assert report.decision is Decision.INCONCLUSIVE
    assert report.exit_code == 3
    assert "rollouts.jsonl:200" in report.results[0].reason


def test_absence_is_inconclusive_with_its_remedy() -> None:
    absent = Contest(
        rule=rule(), candidate="new", found=Absence(reason="quiz is missing", remedy="run the benchmark")
    )
    result = gate(absent).results[0]
    assert (result.decision, result.reason, result.resolve) == (
        Decision.INCONCLUSIVE,
        "quiz is missing",
        ("run the benchmark",),
    )


def cut(row: Rollout) -> Rollout:
    return msgspec.structs.replace(row, stop=Stop.TRUNCATED) if row.key.task % 10 == 0 else row


@pytest.mark.parametrize(
    ("tier", "share", "decision"),
    [
        (Tier.BLOCKING, 0.90, Decision.PASS),
        (Tier.BLOCKING, 0.91, Decision.INCONCLUSIVE),
        (Tier.TRACKED, 0.91, Decision.WARN),
    ],
)
def test_clean_share_counts_truncated_rollouts_out(tier: Tier, share: float, decision: Decision) -> None:
    # 20 of 200 are cut on both sides: a share of 0.9 is clean.
    base, candidate = flips(*EQUAL)
    sides = make_run(base, label="base", change=cut), make_run(candidate, label="new", change=cut)
    result = gate(contest(rule(tier=tier, min_clean_share=share), sides)).results[0]
    assert result.clean_share == result.base_clean_share == 0.9
    assert result.decision is decision
    assert ("180 of 200" in result.reason) is (decision is not Decision.PASS)


def test_clean_share_without_a_plan_is_not_known() -> None:
    base, candidate = flips(*EQUAL)
    sides = make_run(base, label="base", is_planned=False), make_run(candidate, label="new", is_planned=False)
    result = gate(contest(rule(min_clean_share=0.5), sides)).results[0]
    assert result.decision is Decision.INCONCLUSIVE
    assert result.clean_share is None
    assert "how many rollouts were expected" in result.reason


def cut_more(row: Rollout) -> Rollout:
    is_cut = row.key.task < 60
    return msgspec.structs.replace(row, stop=Stop.TRUNCATED, reward=0.0) if is_cut else row


def test_truncation_that_could_close_the_gap_leaves_a_loss_open() -> None:
    # 60 of 200 cut on the candidate alone, 30 of which passed on the base: 15 points down, and all of them
    # could be passes under a higher limit.
    base, candidate = flips(0, 0)
    sides = make_run(base, label="base"), make_run(candidate, label="new", change=cut_more)
    result = gate(contest(rule(), sides)).results[0]
    assert result.decision is Decision.INCONCLUSIVE
    assert "lost rollouts could turn a FAIL" in result.reason
    assert "60 lost or truncated rollouts" in result.reason


def test_tracked_failure_warns_and_stops_nothing() -> None:
    report = gate(
        contest(rule("quiz"), runs(*EQUAL)), contest(rule("side", tier="tracked"), runs(*CLEAR_LOSS))
    )
    assert [result.decision for result in report.results] == [Decision.PASS, Decision.WARN]
    assert report.results[1].reason.startswith("tracked only: a loss beyond the margin")
    assert (report.decision, report.exit_code) == (Decision.WARN, 0)


def test_overall_decision_is_the_worst_that_blocks() -> None:
    good, bad, open_ = (contest(rule(), runs(*changed)) for changed in (EQUAL, CLEAR_LOSS, (20, 15)))
    watched = contest(rule(tier="tracked"), runs(20, 15))
    results = {
        item: decide(item_contest, level=0.95)
        for item, item_contest in zip(
            ("good", "bad", "open", "watched"), (good, bad, open_, watched), strict=True
        )
    }
    expected = {
        ("good",): Decision.PASS,
        ("good", "watched"): Decision.WARN,
        ("good", "open", "watched"): Decision.INCONCLUSIVE,
        ("good", "open", "bad"): Decision.FAIL,
    }
    assert {names: overall(results[name] for name in names) for names in expected} == expected


def waiver(expires: str, *, candidate: str = "new", benchmark: str = "quiz") -> Waiver:
    return Waiver(benchmark=benchmark, candidate=candidate, reason="known", expires=expires)


@pytest.mark.parametrize(
    ("given_waiver", "decision", "state"),
    [
        (waiver("2026-12-31"), Decision.WARN, WaiverState.APPLIED),
        (waiver(TODAY), Decision.WARN, WaiverState.APPLIED),
        (waiver("2026-11-28"), Decision.FAIL, WaiverState.EXPIRED),
        (waiver("2026-12-31", candidate="n*"), Decision.WARN, WaiverState.APPLIED),
        (waiver("2026-12-31", candidate="old"), Decision.FAIL, WaiverState.UNUSED),
    ],
)
def test_waiver_turns_a_failure_into_a_warning_until_it_expires(
    given_waiver: Waiver, decision: Decision, state: WaiverState
) -> None:
    report = gate(contest(rule(), runs(*CLEAR_LOSS)), waivers=[given_waiver])
    assert report.decision is decision
    assert report.waivers[0].state is state
    assert ("expired on 2026-11-28" in report.results[0].reason) is (state is WaiverState.EXPIRED)


def test_waiver_lets_nothing_through_but_a_failure() -> None:
    report = gate(contest(rule(), runs(20, 15)), waivers=[waiver("2026-12-31")])
    assert report.decision is Decision.INCONCLUSIVE
    assert report.waivers[0].state is WaiverState.UNUSED


def test_valid_waiver_counts_beside_an_expired_one() -> None:
    report = gate(contest(rule(), runs(*CLEAR_LOSS)), waivers=[waiver("2026-01-01"), waiver("2026-12-31")])
    assert report.decision is Decision.WARN
    assert [use.state for use in report.waivers] == [WaiverState.EXPIRED, WaiverState.APPLIED]


CLOSE = (10, 10), 0.05
"""Ten flips each way of 200. The score test of -0.05 has z 2.09, between 1.96 (95 %) and 2.24 (97.5 %)."""


def close_call(name: str, **asked: object) -> Contest:
    changed, margin = CLOSE
    return contest(rule(name, margin=margin, **asked), runs(*changed))


def test_holm_gives_the_second_comparison_what_the_first_leaves() -> None:
    alone = gate(close_call("close"))
    assert alone.decision is Decision.PASS
    with_sure = gate(contest(rule("sure"), runs(5, 60)), close_call("close"))
    assert [result.decision for result in with_sure.results] == [Decision.PASS, Decision.PASS]
    levels = [result.estimate.level for result in with_sure.results if result.estimate]
    assert levels == pytest.approx([0.975, 0.95])
    two_close = gate(close_call("one"), close_call("two"))
    assert [result.decision for result in two_close.results] == [Decision.INCONCLUSIVE] * 2
    unadjusted = gate(close_call("one"), close_call("two"), multiplicity=Multiplicity.NONE)
    assert [result.decision for result in unadjusted.results] == [Decision.PASS] * 2


def test_tracked_comparisons_make_blocking_ones_no_harder() -> None:
    report = gate(close_call("close"), *(close_call(f"watched {n}", tier="tracked") for n in range(5)))
    assert report.results[0].decision is Decision.PASS


def test_comparison_that_says_nothing_still_counts() -> None:
    absent = Contest(rule=rule("gone"), candidate="new", found=Absence(reason="missing", remedy="run it"))
    assert gate(close_call("close"), absent).results[0].decision is Decision.INCONCLUSIVE


def test_each_candidate_has_its_own_decision() -> None:
    report = gate(
        contest(rule(), runs(*EQUAL), candidate="good"), contest(rule(), runs(*CLEAR_LOSS), candidate="bad")
    )
    assert {row.candidate: row.decision for row in report.candidates} == {
        "good": Decision.PASS,
        "bad": Decision.FAIL,
    }
    assert report.exit_code == 1


def test_report_states_the_test_and_its_error_rate() -> None:
    assert "one-sided error rate of 0.025" in gate(contest(rule(), runs(*EQUAL))).test


def test_reach_of_losses_by_hand() -> None:
    # Two tasks, two repeats. Base means 1 and 0.5. The candidate has 1 and lost one: 0.5 to 1; and lost both:
    # 0 to 1. Worst: (0.5 - 1 + 0 - 0.5) / 2 = -0.5. Best: (0 + 0.5) / 2 = 0.25. Only the first is common: 0.
    base = make_run({"a": [1.0, 1.0], "b": [1.0, 0.0]}, label="base")
    candidate = make_run({"a": [1.0, None], "b": [None, None]}, label="new")
    reach = reach_of_losses(pair_up(base, candidate))
    assert (reach.low, reach.high) == (-0.5, 0.25)


def test_reach_of_losses_under_pass_at_k() -> None:
    # pass@2: the base has 1 and 0. The candidate's "a" passed once, which is 1 whatever the lost one was; its
    # "b" lost one beside a 0, which is 0 or 1; "c" alone is common, and equal.
    base = make_run({"a": [1.0, 1.0], "b": [0.0, 0.0], "c": [0.0, 0.0]}, label="base")
    candidate = make_run({"a": [1.0, None], "b": [0.0, None], "c": [0.0, 0.0]}, label="new")
    reach = reach_of_losses(pair_up(base, candidate, metric="pass@2/accuracy"))
    assert [reach.low, reach.high] == pytest.approx([0.0, 1 / 3])


REWARD = st.sampled_from([0.0, 1.0, None])
ROWS = st.lists(
    st.tuples(st.lists(REWARD, min_size=2, max_size=2), st.lists(REWARD, min_size=2, max_size=2)),
    min_size=3,
    max_size=8,
)


def sides_of(
    rows: list[tuple[list[float | None], list[float | None]]],
    *,
    turned: bool = False,
    failed: str | None = None,
    is_planned: bool = True,
) -> tuple[Run, Run]:
    def turn(rewards: list[float | None]) -> list[float | None]:
        return [None if reward is None else 1.0 - reward if turned else reward for reward in rewards]

    base, candidate = ({f"task {n}": turn(row[side]) for n, row in enumerate(rows)} for side in (0, 1))
    return (
        make_run(base, label="base", failed=failed, is_planned=is_planned),
        make_run(candidate, label="new", failed=failed, is_planned=is_planned),
    )


@given(ROWS, st.sampled_from([0.05, 0.3, 0.6]))
@settings(max_examples=40, deadline=None)
def test_failures_on_record_weigh_the_same_without_a_plan(
    rows: list[tuple[list[float | None], list[float | None]]], margin: float
) -> None:
    with_plan, without = (
        decide(contest(rule(margin=margin), sides_of(rows, failed="x", is_planned=kept)), level=0.95)
        for kept in (True, False)
    )
    if all(rewards != [None, None] for row in rows for rewards in row):
        assert (with_plan.decision, with_plan.low, with_plan.high) == (
            without.decision,
            without.low,
            without.high,
        )
    else:
        assert without.decision is Decision.INCONCLUSIVE


@given(ROWS, st.sampled_from([0.05, 0.3, 0.6]))
@settings(max_examples=40, deadline=None)
def test_decision_follows_from_the_widened_interval(
    rows: list[tuple[list[float | None], list[float | None]]], margin: float
) -> None:
    result = decide(contest(rule(margin=margin), sides_of(rows)), level=0.95)
    if result.decision is Decision.PASS:
        assert result.low is not None
        assert result.low > -margin
    if result.decision is Decision.FAIL:
        assert result.high is not None
        assert result.high < -margin
    if result.estimate is not None:
        assert result.low is not None
        assert result.high is not None
        assert result.low <= result.estimate.low <= result.estimate.high <= result.high


@given(ROWS, st.sampled_from([0.05, 0.3, 0.6]))
@settings(max_examples=40, deadline=None)
def test_decision_is_the_same_for_costs(
    rows: list[tuple[list[float | None], list[float | None]]], margin: float
) -> None:
    gains = decide(contest(rule(margin=margin), sides_of(rows)), level=0.95)
    asked = rule(margin=margin, direction=Direction.LOWER)
    costs = decide(contest(asked, sides_of(rows, turned=True)), level=0.95)
    assert gains.decision is costs.decision
