"""The model and its program are found or left out; bringing them is left to `make test-policy`."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import policy_files
import pytest


def run_main(monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["policy_files.py", str(folder)])
    return policy_files.main()


def test_policy_folder_is_ready_by_its_stamp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / policy_files.MODEL).write_bytes(b"")
    (tmp_path / policy_files.STAMP).write_text(policy_files.wanted(), encoding="utf-8")
    assert run_main(monkeypatch, tmp_path) == 0


def test_policy_folder_is_left_out_without_node(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(policy_files, "PLATFORM", (platform.system(), platform.machine()))
    assert run_main(monkeypatch, tmp_path / "policy") == policy_files.MISSING
    assert (
        "SKIPPED: no tests with a real policy: it takes node 20 or newer, and npm" in capsys.readouterr().err
    )
    assert not (tmp_path / "policy").exists()


def test_policy_folder_is_left_out_on_another_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(policy_files, "PLATFORM", ("Plan 9", "mips"))
    assert run_main(monkeypatch, tmp_path / "policy") == policy_files.MISSING
    assert "the packages are those for Plan 9 mips" in capsys.readouterr().err


def test_policy_model_with_other_bytes_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / policy_files.MODEL).write_bytes(b"GGUF")
    assert not policy_files.has_model(tmp_path)
