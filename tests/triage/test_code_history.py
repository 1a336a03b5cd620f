"""The code rung with commits: short ones, changed checkouts, and what git says lies between two."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from run_factory import make_run

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.finding import Finding, Status
from gymbal.model.history import CodeHistory, Commit
from gymbal.triage.explain import pair_up
from gymbal.triage.own_files import own_files
from gymbal.triage.rungs import code

TASKS = {f"task {number}": [1.0, 0.0] for number in range(4)}
LEFT, RIGHT = "a" * 40, "b" * 40


def fact(name: str, value: Any, role: Role = Role.CODE, **changes: Any) -> Fact:
    return Fact(name=name, role=role, value=value, strength=Strength.RECORDED, **changes)


def missing(name: str) -> Fact:
    return Fact(name=name, role=Role.CODE, value=None, strength=Strength.MISSING, remedy=f"ask for {name}")


def check(left: list[Fact], right: list[Fact], history: CodeHistory | None = None) -> Finding:
    pair = pair_up(make_run(TASKS, facts=left), make_run(TASKS, facts=right))
    return code.check(msgspec.structs.replace(pair, history=history))


def history(**changes: Any) -> CodeHistory:
    parts: dict[str, Any] = {
        "left": LEFT,
        "right": RIGHT,
        "own_paths": ("resources_servers/quiz",),
        "total": 7,
        "core_commits": 0,
    }
    return CodeHistory(**(parts | changes))


def commits(left: str = LEFT, right: str = RIGHT, *more: Fact) -> tuple[list[Fact], list[Fact]]:
    return [fact("gym_commit", left), *more], [fact("gym_commit", right), *more]


def test_short_commit_is_the_full_one() -> None:
    assert check(*commits(LEFT[:8], LEFT)).status is Status.SAME


def test_same_commit_settles_the_version_and_the_name_it_went_by() -> None:
    left = [fact("gym_commit", LEFT), fact("gym_version", "0.7.0"), fact("gym_ref", "main")]
    right = [fact("gym_commit", LEFT), missing("gym_version"), fact("gym_ref", "v0.7.0")]
    assert check(left, right).status is Status.SAME


def test_same_release_needs_no_commit() -> None:
    release = [
        fact("gym_version", "0.7.0"),
        fact("gym_install", "release", Role.BOOKKEEPING),
        missing("gym_commit"),
    ]
    assert check(release, release).status is Status.SAME
    assert check(release, [fact("gym_version", "0.7.0"), missing("gym_commit")]).status is Status.UNKNOWN
    assert check(release, [fact("gym_version", "0.6.0"), *release[1:]]).status is Status.DIFFERENT


def test_other_commit_without_a_repository_is_other_code() -> None:
    finding = check(*commits())
    assert (finding.status, finding.summary) == (Status.DIFFERENT, "the sides ran different code: gym_commit")


def test_commits_that_touch_the_benchmark_are_named() -> None:
    fixed = Commit(id="c" * 40, date="2026-11-01", subject="Fix the grader", side="right")
    finding = check(*commits(), history(commits=(fixed,), changed=("resources_servers/quiz/app.py",)))
    assert finding.status is Status.DIFFERENT
    assert "of 7 commits between the two, 1 touch the files of this benchmark" in finding.summary
    assert "cccccccccc Fix the grader" in finding.summary
    assert finding.next[0] == f"git diff {LEFT} {RIGHT} -- resources_servers/quiz"
    assert [(f.name, f.left, f.right) for f in finding.facts][1] == (
        "commit cccccccccc",
        None,
        "Fix the grader",
    )


def test_commits_that_touch_nothing_of_the_benchmark_are_the_same_code() -> None:
    left, right = commits(LEFT, RIGHT, fact("serving_engine", "vllm", Role.SERVING))
    finding = check(left, [*right, missing("gym_version")], history())
    assert finding.status is Status.SAME
    assert "none touches the files of this benchmark (resources_servers/quiz)" in finding.summary


def test_commits_that_touch_only_gyms_own_package_leave_the_code_unknown() -> None:
    finding = check(*commits(), history(core_commits=3, core_changed=("nemo_gym/x.py",)))
    assert finding.status is Status.UNKNOWN
    assert "3 touch Gym's own package; 1 of its files differ" in finding.summary
    assert finding.next[0] == f"git diff --stat {LEFT} {RIGHT} -- nemo_gym"


def test_other_code_stays_other_code_when_the_commits_do_not_matter() -> None:
    left, right = commits()
    finding = check(
        [*left, fact("serving_engine", "vllm")], [*right, fact("serving_engine", "sglang")], history()
    )
    assert (finding.status, finding.summary.split(": ")[1].split(";")[0]) == (
        Status.DIFFERENT,
        "serving_engine",
    )


def test_history_that_git_cannot_give_changes_nothing_and_says_so() -> None:
    finding = check(*commits(), history(problem="the clone is shallow", remedy="git fetch --unshallow"))
    assert finding.status is Status.DIFFERENT
    assert "git cannot tell what lies between the two commits: the clone is shallow" in finding.summary
    assert finding.next[0] == "git fetch --unshallow"


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ((None, None), Status.UNKNOWN),
        (("d1", None), Status.UNKNOWN),
        (("d1", "d1"), Status.SAME),
        (("d1", "d2"), Status.DIFFERENT),
    ],
)
def test_changed_checkouts_of_one_commit_are_the_same_only_with_the_same_changes(
    changes: tuple[str | None, str | None], status: Status
) -> None:
    dirty = fact("gym_commit", f"{LEFT}-dirty")
    left, right = ([dirty, *([fact("gym_changes", change)] if change else [])] for change in changes)
    assert check(left, right).status is status


def test_history_says_nothing_of_a_changed_checkout() -> None:
    assert check(*commits(f"{LEFT}-dirty"), history()).status is Status.DIFFERENT


def test_contradiction_is_named_with_its_places() -> None:
    rival = fact("serving_engine", "sglang", Role.SERVING, file="b.log:2", key="args")
    stands = fact("serving_engine", "vllm", Role.SERVING, file="a.yaml", key="type", rivals=(rival,))
    finding = check([*commits()[0], stands], commits()[0])
    assert "some evidence contradicts itself" in finding.summary
    assert (
        "see which of these ran: serving_engine: vllm in a.yaml type, sglang in b.log:2 args" in finding.next
    )


def test_own_files_are_those_that_configs_commands_and_rows_name() -> None:
    left = make_run(
        TASKS,
        facts=[
            fact("config.quiz.resources_servers.quiz.grading_mode", "strict"),
            fact("config.config_paths", '["/opt/gym/benchmarks/gpqa/config.yaml", "mine.yaml"]'),
            fact("policy_model_type", "vllm_model"),
            fact("num_repeats", 4, key="driver.benchmarks.aime.run.num_repeats"),
        ],
    )
    right = make_run(TASKS, facts=[fact("command.benchmark", "hle/search, ifeval")])
    found = own_files(left, right)
    assert found.paths == (
        "benchmarks/aime",
        "benchmarks/gpqa",
        "benchmarks/hle",
        "benchmarks/ifeval",
        "resources_servers/quiz",
        "responses_api_models/vllm_model",
    )
    assert found.instances == ("quiz_agent", "quiz_server")
