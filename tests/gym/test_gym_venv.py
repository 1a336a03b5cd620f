"""The environment of the real Gym is found, refused or left out; making one is left to `make test-gym`."""

from __future__ import annotations

import sys
from pathlib import Path

import gym_venv
import pytest
import python_venv
from folders import make_executable


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder that alone is on PATH; nothing is chosen by a variable."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("GYM_PYTHON", raising=False)
    return folder


def test_gym_python_is_none_where_every_one_is_too_old_or_broken(bare_machine: Path) -> None:
    make_executable(bare_machine / "python3.13", "exit 127")  # a stand-in of pyenv for a version not chosen
    make_executable(bare_machine / "python3", "echo False")
    assert gym_venv.find_python() is None


def test_gym_python_is_found_through_pyenv(bare_machine: Path, tmp_path: Path) -> None:
    python = make_executable(tmp_path / "versions" / "3.13.0" / "bin" / "python", "echo True")
    home = python.parents[1]
    script = f'case "$1" in versions) echo 3.11.7; echo 3.13.0;; prefix) echo {home};; esac'
    make_executable(bare_machine / "pyenv", script)
    assert gym_venv.find_python() == python


def test_gym_python_that_was_named_must_do(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYM_PYTHON", str(make_executable(bare_machine / "old", "echo False")))
    with pytest.raises(python_venv.SetupError, match=r"GYM_PYTHON=.* is no Python 3\.13 or newer"):
        gym_venv.find_python()


def test_gym_environment_is_ready_by_its_stamp(tmp_path: Path) -> None:
    make_executable(tmp_path / "bin" / "python", "exit 1")
    (tmp_path / gym_venv.STAMP).write_text(gym_venv.GYM)
    assert gym_venv.make_environment(tmp_path)


def test_gym_environment_of_another_version_is_not_ready(tmp_path: Path) -> None:
    make_executable(tmp_path / "bin" / "python", "echo nemo-gym==0.6.0")
    (tmp_path / gym_venv.STAMP).write_text("nemo-gym==0.6.0")
    assert not gym_venv.is_ready(tmp_path)


def test_gym_environment_that_lost_its_python_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / gym_venv.STAMP).write_text(gym_venv.GYM)
    with pytest.raises(python_venv.SetupError, match="is gone: remove the folder"):
        gym_venv.make_environment(tmp_path)


def test_gym_that_pip_cannot_install_has_an_exit_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyvenv.cfg").touch()
    make_executable(tmp_path / "bin" / "python", "exit 1")
    monkeypatch.setattr(sys, "argv", ["gym_venv.py", str(tmp_path)])
    assert gym_venv.main() == gym_venv.NOT_INSTALLED
    assert "pip could not install nemo-gym" in capsys.readouterr().err
    assert not (tmp_path / gym_venv.STAMP).exists()


def test_gym_environment_is_not_made_over_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(python_venv.SetupError, match="no virtual environment"):
        gym_venv.make_environment(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "important"


def test_gym_tests_are_skipped_aloud_without_a_python(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gym_venv.py", str(tmp_path / "venv")])
    assert gym_venv.main() == gym_venv.NO_PYTHON
    assert "SKIPPED" in capsys.readouterr().err
    assert not (tmp_path / "venv").exists()
