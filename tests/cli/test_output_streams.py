"""What the command line does with streams and texts that a plain terminal never shows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = EXAMPLES / "runs"
PIVOTS = str(EXAMPLES / "pivots" / "rated.jsonl")
BASELINE = str(RUNS / "baseline")
CANDIDATE = str(RUNS / "candidate")


def run_in_shell(
    *arguments: str, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run gymbal behind a shell that redirects its streams."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "gymbal", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def run_without_reader(*arguments: str, error: bool = False, colour: bool = False) -> int:
    """Run gymbal with a pipe that nobody reads as its output, and its standard error too where `error`."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gymbal", *arguments],
            stdout=writer,
            stderr=writer if error else subprocess.PIPE,
            check=False,
            env={**os.environ, "FORCE_COLOR": "1"} if colour else None,
        )
    finally:
        os.close(writer)
    assert not done.stderr
    return done.returncode


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("gate", "--help"),
        ("triage", BASELINE, CANDIDATE),
        ("triage", BASELINE, CANDIDATE, "--format", "json"),
        ("pivot", "validate", PIVOTS),
    ],
)
def test_a_pipe_without_a_reader_is_no_verdict(arguments: tuple[str, ...], colour: bool) -> None:
    # 128 + 13, the number of SIGPIPE: what a shell reports for a program that the signal ended.
    assert run_without_reader(*arguments, colour=colour) == 141


def test_an_error_that_nobody_reads_is_no_verdict() -> None:
    assert run_without_reader("triage", "nowhere", CANDIDATE, error=True) == 141


def test_a_recorded_command_keeps_its_exit_code_where_nobody_reads_the_warnings() -> None:
    command = ("record", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert run_without_reader(*command, error=True) == 7


def test_a_closed_standard_output_keeps_the_exit_code() -> None:
    done = run_in_shell("triage", BASELINE, CANDIDATE, redirect=">&-")
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_message_on_a_full_disk_is_still_an_error() -> None:
    assert run_in_shell("triage", "nowhere", CANDIDATE, redirect="2>/dev/full").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_a_full_disk_is_one_message(format: str) -> None:
    done = run_in_shell("triage", BASELINE, CANDIDATE, "--format", format, redirect=">/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(b"gymbal: cannot write the result: ")
    assert done.stderr.count(b"\n") == 1


def test_a_label_that_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    shutil.copytree(CANDIDATE, tmp_path / "kür")
    done = run_in_shell("triage", BASELINE, str(tmp_path / "kür"), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.startswith(b"baseline -> k\\xfcr: ")


def test_a_file_name_that_is_no_utf8_still_gives_json(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run\xff")
    try:
        shutil.copytree(CANDIDATE, folder)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    done = run_in_shell("triage", BASELINE, str(folder), "--format", "json")
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["right"]["label"] == "run\\udcff"


def test_a_width_that_is_no_number_is_passed_over() -> None:
    # A superscript two is a digit to Python, and no number.
    done = run_in_shell("triage", BASELINE, CANDIDATE, COLUMNS="\u00b2")
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_error_message_cannot_move_the_cursor() -> None:
    done = run_in_shell("triage", BASELINE, "no\x1b]0;where\u202e")
    assert done.returncode == 2
    assert done.stderr.startswith(b"gymbal: no\\x1b]0;where\\u202e: does not exist\n")
