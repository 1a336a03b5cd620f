"""The tests' end of `prefork.py`: Gym's commands and servers without the seconds that their imports take.

with GymPrefork(venv, work) as python:
    subprocess.run(python.gym("eval", "run", ...), env=python.environment)
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

PROGRAM = Path(__file__).with_name("prefork.py")
STAND_IN = Path(__file__).with_name("stand_in.py")
START_TIMEOUT_S = 300.0


class GymPrefork:
    """The Python of `venv`, which holds nemo-gym, with Gym imported. Its log is `work/prefork.log`."""

    def __init__(self, venv: Path, work: Path) -> None:
        self._bin = venv.resolve() / "bin"
        self._work = work.resolve()
        self._log = self._work / "prefork.log"
        # The path of a socket may have some 100 characters, so it cannot stand below `work`.
        self._folder = tempfile.TemporaryDirectory(prefix="gym-")
        self._socket = Path(self._folder.name) / "socket"
        self._process: subprocess.Popen[bytes] | None = None
        # Gym starts a Ray whose ports are open on the machine's own address, not on loopback alone: the token
        # keeps others out.
        ray = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        path = os.pathsep.join([str(self._bin), os.environ.get("PATH", "")])
        self.environment = os.environ | ray | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        """What every script of Gym gets."""

    def __enter__(self) -> GymPrefork:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._bin / "python", "-P", PROGRAM, self._socket],
                cwd=self._work,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._socket.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                end = self._log.read_text(encoding="utf-8", errors="replace")[-4000:]
                raise RuntimeError(f"{PROGRAM.name} did not start:\n{end}")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process that the scripts are forked from, not the scripts."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def script(self, path: Path, *arguments: str) -> list[str]:
        """The command that runs a Python script. Needs `environment`."""
        # -I and -S: nothing but the standard library, so that it starts at once.
        return [sys.executable, "-I", "-S", str(STAND_IN), str(self._socket), str(path), *arguments]

    def gym(self, *arguments: str) -> list[str]:
        """The command that runs `gym` with `arguments`."""
        return self.script(self._bin / "gym", *arguments)

    def make_environment(self, folder: Path) -> None:
        """Makes `folder` an environment as Gym makes one for each server; its Python and `gym` are these."""
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "activate").touch()
        stand_in = [sys.executable, "-I", "-S", str(STAND_IN), str(self._socket)]
        for name, command in (("python", stand_in), ("gym", self.gym())):
            program = folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
