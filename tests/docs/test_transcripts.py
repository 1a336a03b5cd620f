"""Every console block of the documentation prints what it says when it is run again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def console_blocks(text: str) -> Iterator[str]:
    """The bodies of the fenced `console` blocks."""
    yield from re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a block with the output below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


BLOCKS = [
    pytest.param(block, id=f"{document.name}-{number}")
    for document in DOCUMENTS
    for number, block in enumerate(console_blocks(document.read_text()), start=1)
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with the examples in it and a `gymbal` command that is the one under test."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command = tmp_path / ".bin" / "gymbal"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gymbal "$@"\n')
    command.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("block", BLOCKS)
def test_console_block_prints_what_it_says(block: str, workspace: Path) -> None:
    path = f"{workspace / '.bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    for command, said in commands(block):
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=workspace,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.stderr == "", command
        assert result.stdout == said, command


def test_readme_holds_both_transcripts() -> None:
    text = (ROOT / "README.md").read_text()
    said = [command for block in console_blocks(text) for command, _ in commands(block)]
    assert [command.split()[1] for command in said] == ["triage", "pivot", "pivot"]
