"""Runs a program in the environment of a trainer, and brings back its reply."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = Path(__file__).parents[2] / "src"


class Trainers(NamedTuple):
    venvs: Path
    """Holds an environment for each trainer, under its name."""
    work: Path
    """Where programs run and leave their files."""

    def ask(self, trainer: str, program: str, request: Mapping[str, Any]) -> Any:
        """What the program replies. Skips where the trainer is not installed."""
        question, reply = self.work / "request.json", self.work / "reply.json"
        question.write_text(json.dumps({**request, "scratch": str(self.work / "scratch")}), encoding="utf-8")
        done = subprocess.run(
            [self._python(trainer), PROGRAMS / f"{program}.py", question, reply],
            cwd=self.work,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        assert done.returncode == 0, done.stdout[-8000:]
        return json.loads(reply.read_text(encoding="utf-8"))

    def _python(self, trainer: str) -> Path:
        folder = self.venvs / trainer
        if not (folder / ".trainer-installed").is_file():
            pytest.skip(f"{trainer} is not installed in {folder}: make test-trainers says why")
        return folder / "bin" / "python"

    def _environment(self) -> dict[str, str]:
        """No hub is asked, no GPU is looked for, and caches stay in the folder of the test."""
        return {
            **os.environ,
            "HOME": str(self.work),
            "PYTHONPATH": str(SOURCE),
            "HF_HUB_OFFLINE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "TOKENIZERS_PARALLELISM": "false",
        }
