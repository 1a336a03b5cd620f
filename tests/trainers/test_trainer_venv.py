"""Environments of trainers are found, refused or left out; making them is left to `make test-trainers`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import trainer_venv
from folders import make_executable
from trainer_venv import TRAINERS, Trainer

TRL = TRAINERS[0]


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["trainer_venv.py", *map(str, arguments)])
    return trainer_venv.main()


@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)
def test_requirements_of_a_trainer_are_pinned(trainer: Trainer) -> None:
    lines = trainer.requirements.read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines if not line.startswith("#"))
    assert any(line.startswith("msgspec==") for line in lines)  # gymbal.verify imports it


def test_trainer_environment_is_ready_by_its_stamp(tmp_path: Path) -> None:
    make_executable(tmp_path / "bin" / "python", "exit 1")
    (tmp_path / trainer_venv.STAMP).write_text(TRL.stamp)
    assert trainer_venv.make_environment(TRL, tmp_path)


def test_trainer_environment_of_other_requirements_is_not_ready(tmp_path: Path) -> None:
    make_executable(tmp_path / "bin" / "python", "exit 1")
    (tmp_path / trainer_venv.STAMP).write_text(TRL.stamp.replace("trl==", "trl==0."))
    assert not trainer_venv.is_ready(TRL, tmp_path)


def test_python_of_a_trainer_is_the_first_version_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_executable(tmp_path / "python3.11", "exit 127")  # a stand-in of pyenv for a version not chosen
    python = make_executable(tmp_path / "python3.12", "echo True")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trainer_venv.find_python(((3, 11), (3, 12))) == python


def test_trainer_is_skipped_aloud_without_a_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert run_main(monkeypatch, tmp_path / "venvs", "verl") == trainer_venv.NO_PYTHON
    assert "SKIPPED: no tests with verl, for want of Python 3.11 or 3.12." in capsys.readouterr().err
    assert not (tmp_path / "venvs").exists()


def test_trainer_that_pip_cannot_install_is_skipped_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trl").mkdir()
    (tmp_path / "trl" / "pyvenv.cfg").touch()
    make_executable(tmp_path / "trl" / "bin" / "python", "exit 1")
    assert run_main(monkeypatch, tmp_path, "trl") == trainer_venv.NOT_INSTALLED
    assert "SKIPPED: no tests with trl: pip could not install" in capsys.readouterr().err
    assert not (tmp_path / "trl" / trainer_venv.STAMP).exists()


def test_unknown_trainer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run_main(monkeypatch, tmp_path, "axolotl")
    assert "no trainer is called axolotl" in capsys.readouterr().err
