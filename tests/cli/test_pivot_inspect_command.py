"""`gymbal pivot inspect` as a user runs it, and the options of build that say what a source is."""

from __future__ import annotations

import json
from pathlib import Path

from run_gymbal import pivot_in

FORMATS = Path(__file__).parents[1] / "readers" / "formats"


def test_inspect_prints_every_form(tmp_path: Path) -> None:
    source = str(FORMATS / "openai_chat" / "desk.jsonl")
    done = pivot_in(tmp_path, "inspect", source)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 model calls, 4 of which a build would keep." in " ".join(done.stdout.split())
    report = json.loads(pivot_in(tmp_path, "inspect", source, "--format", "json").stdout)
    assert report["left"]["formats"] == {"openai_chat": 1}
    assert pivot_in(tmp_path, "inspect", source, "--format", "markdown").stdout.startswith("# Inspection of")


def test_inspect_sets_two_sources_side_by_side(tmp_path: Path) -> None:
    sources = [str(FORMATS / name / "desk.jsonl") for name in ("openai_chat", "gym_rollouts")]
    done = pivot_in(tmp_path, "inspect", sources[0], "--compare", sources[1])
    assert done.returncode == 0, done.stderr
    assert "Inspection of desk.jsonl and desk.jsonl" in done.stdout
    assert "different formats" in done.stdout


def test_inspect_errors_exit_with_2_and_one_message(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"x": 1}\n')
    for arguments in (
        ("inspect", "x.jsonl"),
        ("inspect", "absent.jsonl"),
        ("inspect", "x.jsonl", "--source-format", "nonesuch"),
        ("inspect", "x.jsonl", "--source-format", "openai_chat"),
        ("inspect", "x.jsonl", "--seeded-greeting", "maybe"),
        ("inspect",),
    ):
        done = pivot_in(tmp_path, *arguments)
        assert done.returncode == 2, arguments
        assert done.stderr
        assert "Traceback" not in done.stderr


def test_build_takes_the_format_and_the_tools(tmp_path: Path) -> None:
    source, tools = (str(FORMATS / "tau_bench" / name) for name in ("desk.json", "tools.json"))
    arguments = ("build", source, "--output", "desk", "--format", "json")
    bare = pivot_in(tmp_path, *arguments)
    assert json.loads(bare.stdout)["kept"] == 0
    done = pivot_in(tmp_path, *arguments, "--tools", tools, "--source-format", "tau_bench")
    assert json.loads(done.stdout)["kept"] == 4
    wrong = pivot_in(tmp_path, *arguments, "--source-format", "openai_chat")
    assert wrong.returncode == 2
    assert "it has no list `messages`" in wrong.stderr
