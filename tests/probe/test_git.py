"""What git says about a checkout, and about what lies between two commits for one benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest
from gym_repository import commit, git

from gymbal.errors import InputError
from gymbal.model.history import component_of
from gymbal.probe.git import check_repository, code_history, read_checkout

OWN = ("resources_servers/quiz", "responses_api_agents/simple_agent", "responses_api_models/vllm_model")


def head(gym: Path) -> str:
    return git(gym, "rev-parse", "HEAD")


def test_history_lists_the_commits_that_touch_the_benchmark_alone(gym: Path) -> None:
    left = head(gym)
    fix = commit(gym, "Fix the grader", {"resources_servers/quiz/app.py": "grade = 2\n"})
    commit(gym, "Docs", {"README.md": "more\n"})
    right = commit(gym, "Core", {"nemo_gym/rollout_collection.py": "collect = 2\n"})
    history = code_history(gym, left, right[:10], OWN)
    assert [(found.id, found.subject, found.side) for found in history.commits] == [
        (fix, "Fix the grader", "right")
    ]
    assert history.changed == ("resources_servers/quiz/app.py",)
    assert (history.total, history.core_commits, history.core_changed) == (
        3,
        1,
        ("nemo_gym/rollout_collection.py",),
    )
    assert history.right == right
    assert history.is_complete
    assert history.problem is None


def test_history_of_other_files_touches_nothing(gym: Path) -> None:
    left = head(gym)
    right = commit(
        gym,
        "Other",
        {"resources_servers/other/app.py": "2\n", "responses_api_models/openai_model/app.py": "2\n"},
    )
    history = code_history(gym, left, right, OWN)
    assert (history.commits, history.changed, history.core_changed, history.total) == ((), (), (), 1)


def test_history_tells_a_change_that_was_taken_back(gym: Path) -> None:
    left = head(gym)
    commit(gym, "Change", {"resources_servers/quiz/app.py": "grade = 2\n"})
    right = commit(gym, "Revert", {"resources_servers/quiz/app.py": "grade = 1\n"})
    history = code_history(gym, left, right, OWN)
    assert (len(history.commits), history.changed) == (2, ())


def test_history_of_branches_says_whose_a_commit_is(gym: Path) -> None:
    git(gym, "checkout", "-q", "-b", "mine")
    left = commit(gym, "Mine", {"resources_servers/quiz/app.py": "grade = 2\n"})
    git(gym, "checkout", "-q", "main")
    right = commit(gym, "Theirs", {"resources_servers/quiz/app.py": "grade = 3\n"})
    sides = {found.subject: found.side for found in code_history(gym, left, right, OWN).commits}
    assert sides == {"Mine": "left", "Theirs": "right"}


def test_history_finds_the_files_by_the_names_of_server_and_agent(gym: Path) -> None:
    left = head(gym)
    right = commit(gym, "Agent", {"responses_api_agents/simple_agent/app.py": "run = 2\n"})
    history = code_history(gym, left, right, (), ["quiz_agent", "quiz_server", "a|b"])
    assert "resources_servers/quiz" in history.own_paths
    assert history.changed == ("responses_api_agents/simple_agent/app.py",)
    # No name says which model adapter and environment server were used: a change of any counts.
    assert {"responses_api_models", "environment_servers"} <= set(history.own_paths)


def test_history_without_any_file_of_the_benchmark_is_unknown(gym: Path) -> None:
    left = head(gym)
    right = commit(gym, "Docs", {"README.md": "more\n"})
    history = code_history(gym, left, right, ("resources_servers/nonesuch",), ["nobody"])
    assert history.problem == "no file of this benchmark is known: no config names its servers"


def test_history_says_that_a_commit_is_not_there(gym: Path) -> None:
    history = code_history(gym, head(gym), "f" * 40, OWN)
    assert str(history.problem).startswith("f" * 40 + " is not in ")
    assert "fetch origin" in str(history.remedy)


def test_history_says_that_the_clone_is_shallow(gym: Path, tmp_path: Path) -> None:
    left = head(gym)
    right = commit(gym, "Fix", {"resources_servers/quiz/app.py": "grade = 2\n"})
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{gym}", str(shallow))
    history = code_history(shallow, left, right, OWN)
    assert "a shallow clone" in str(history.problem)
    assert "--unshallow" in str(history.remedy)
    git(shallow, "fetch", "-q", "--depth", "1", "origin", left)
    both = code_history(shallow, left, right, OWN)
    # Without the commits between, the files still tell.
    assert (both.problem, both.changed, both.is_complete) == (None, ("resources_servers/quiz/app.py",), False)


def test_history_without_git_says_so(gym: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_repository(gym) == "git is not installed"
    assert read_checkout(gym) is None


def test_repository_must_be_one(tmp_path: Path, gym: Path) -> None:
    assert check_repository(gym) is None
    with pytest.raises(InputError, match="is no git repository"):
        check_repository(tmp_path)


def test_history_runs_nothing_that_the_repository_brings(gym: Path, tmp_path: Path) -> None:
    left = head(gym)
    right = commit(
        gym, "Fix", {"resources_servers/quiz/app.py": "grade = 2\n", ".gitattributes": "* diff=evil\n"}
    )
    mark = tmp_path / "ran"
    for key in ("diff.external", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor"):
        git(gym, "config", key, f"touch {mark} #")
    assert code_history(gym, left, right, OWN).changed == ("resources_servers/quiz/app.py",)
    (gym / "README.md").write_text("changed\n")
    assert read_checkout(gym) is not None
    assert not mark.exists()


def test_checkout_is_clean_or_says_what_it_changed(gym: Path) -> None:
    clean = read_checkout(gym)
    assert clean is not None
    assert (clean.commit, clean.changes, clean.root) == (head(gym), None, str(gym))
    (gym / "resources_servers/quiz/app.py").write_text("grade = 9\n")
    changed = read_checkout(gym)
    (gym / "new.py").write_text("1")
    more = read_checkout(gym)
    assert changed is not None
    assert more is not None
    assert changed.commit == more.commit == f"{head(gym)}-dirty"
    assert changed.changes
    assert changed.changes != more.changes
    (gym / "new.py").unlink()
    assert read_checkout(gym) == changed


def test_checkout_must_track_the_package(gym: Path, tmp_path: Path) -> None:
    (gym / "untracked").mkdir()
    (gym / "untracked" / "__init__.py").write_text("")
    assert read_checkout(gym / "untracked", tracks="__init__.py") is None
    assert read_checkout(gym / "nemo_gym", tracks="rollout_collection.py") is not None
    assert read_checkout(tmp_path) is None


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("benchmarks/gpqa/config.yaml", "benchmarks/gpqa"),
        ("resources_servers/mcqa/configs/mcqa.yaml", "resources_servers/mcqa"),
        ("lib/site-packages/benchmarks/a/b/config.yaml", "benchmarks/a"),
        ("benchmarks/judge.yaml", "benchmarks/judge.yaml"),
        ("resources_servers/mcqa/", "resources_servers/mcqa"),
        ("my/config.yaml", None),
        ("benchmarks", None),
        ("benchmarks/../x/y.yaml", None),
    ],
)
def test_component_of_a_config_file(path: str, component: str | None) -> None:
    assert component_of(path) == component
