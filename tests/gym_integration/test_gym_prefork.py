"""A script forked from an imported Gym meets what it would meet under a Python of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from gym_prefork import GymPrefork

SAY = """\
import json, os, signal, sys
print(json.dumps([
    __name__, sys.argv, os.getcwd(), sys.stdin.read(), os.environ["GYM_SAYS"], sys.path[:2], sys.executable,
    signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGCHLD),
]))
print("oh", file=sys.stderr)
"""

WAIT = """\
import os, sys, time
try:
    print(os.getpid(), flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    sys.exit(5)
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def heed_interrupts() -> None:
    """A background job ignores SIGINT, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_prefork_runs_a_script_as_gyms_own_python_does(
    gym_python: GymPrefork, gym_venv: Path, tmp_path: Path
) -> None:
    script = write(tmp_path / "say.py", SAY)
    environment = gym_python.environment | {"GYM_SAYS": "straße", "PYTHONPATH": str(tmp_path / "lib")}
    forked, own = (
        subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            input="in",
            capture_output=True,
            text=True,
            check=True,
            preexec_fn=heed_interrupts,
        )
        for command in (
            gym_python.script(Path("say.py"), "-x", "two words"),
            [str(gym_venv.resolve() / "bin" / "python"), script.name, "-x", "two words"],
        )
    )
    assert json.loads(forked.stdout) == json.loads(own.stdout)
    assert forked.stderr == own.stderr == "oh\n"


@pytest.mark.parametrize(("text", "code"), [("import sys; sys.exit(3)", 3), ("1 / 0", 1), ("", 0)])
def test_prefork_tells_the_exit_code(gym_python: GymPrefork, tmp_path: Path, text: str, code: int) -> None:
    command = gym_python.script(write(tmp_path / "end.py", text))
    assert subprocess.run(command, env=gym_python.environment, capture_output=True).returncode == code


def start_waiting(gym_python: GymPrefork, folder: Path) -> tuple[subprocess.Popen[str], int]:
    """A stand-in whose script waits, and the script's process id."""
    command = gym_python.script(write(folder / "wait.py", WAIT))
    process = subprocess.Popen(
        command, env=gym_python.environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    with process.stdout:
        return process, int(process.stdout.readline())


def test_prefork_passes_an_interrupt_on(gym_python: GymPrefork, tmp_path: Path) -> None:
    process, _ = start_waiting(gym_python, tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 5


def test_prefork_ends_the_script_of_a_stand_in_that_was_killed(
    gym_python: GymPrefork, tmp_path: Path
) -> None:
    process, script = start_waiting(gym_python, tmp_path)
    process.kill()
    process.wait()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(script, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the script lives on")
