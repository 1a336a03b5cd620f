"""Every command that a skill shows is run, in the order of its page, on a copy of the examples.

A command block is a fenced `console` block with one command after each `$ `. Its commands should exit with 0,
or with the code of the comment before the block, as in `<!-- exit: 1 -->`.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SKILLS = Path(str(resources.files("gymbal") / "skills"))

BLOCK = re.compile(r"(?:<!-- exit: (?P<exit>\d+) -->\s*)?```console\n(?P<lines>.*?)```", re.DOTALL)


class Command(NamedTuple):
    words: tuple[str, ...]
    exit_code: int


def commands_of(text: str) -> list[Command]:
    return [
        Command(tuple(shlex.split(line.strip().removeprefix("$ "))), int(block["exit"] or 0))
        for block in BLOCK.finditer(text)
        for line in block["lines"].splitlines()
        if line.strip()
    ]


def run(words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    assert words[0] == "gymbal"
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, encoding="utf-8", timeout=60
    )


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with nothing but a copy of the examples."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path


@pytest.mark.parametrize("name", ["score-triage", "pivot-datasets"])
def test_commands_of_a_skill_exit_as_its_page_says(workplace: Path, name: str) -> None:
    pages = [SKILLS / name / "SKILL.md", *sorted((SKILLS / name / "references").iterdir())]
    commands = [command for page in pages for command in commands_of(page.read_text(encoding="utf-8"))]
    assert commands
    for command in commands:
        done = run(command.words, workplace)
        assert done.returncode == command.exit_code, (
            f"{shlex.join(command.words)}\n{done.stdout}{done.stderr}"
        )
        assert "Traceback" not in done.stderr


def test_triage_example_is_explained_by_accounting(workplace: Path) -> None:
    # What the score-triage page says about it: the candidate's failed rollouts left its mean.
    report = triage_example(workplace)
    parts = {part["name"]: part["value"] for part in report["gap"]["parts"]}
    assert report["verdict"]["rung"] == "accounting"
    assert report["verdict"]["unchecked"] == ["code", "method"]
    assert parts["accounting"] >= report["gap"]["reported"] > 0
    assert report["gap"]["distinguishable"] is False
    assert report["right"]["rollouts"]["failed"] > 0


def triage_example(folder: Path) -> dict[str, Any]:
    words = ("gymbal", "triage", "examples/runs/baseline", "examples/runs/candidate", "--format", "json")
    return cast(dict[str, Any], json.loads(run(words, folder).stdout))


def test_block_reader_finds_commands_and_exit_codes() -> None:
    text = """
1. One.

   <!-- exit: 3 -->
   ```console
   $ gymbal triage a b
   ```

```console
$ gymbal skills list
$ gymbal skills list --format 'json'
```
"""
    assert commands_of(text) == [
        Command(("gymbal", "triage", "a", "b"), 3),
        Command(("gymbal", "skills", "list"), 0),
        Command(("gymbal", "skills", "list", "--format", "json"), 0),
    ]
