"""Runs a real Gym on loopback: starts its servers, collects rollouts, ends them. Standard library only.

    with GymStack(python, work, servers=[...], config_flags=[...], model_url=...) as gym:
        gym.collect(["--agent", "mcqa_simple_agent", "--input", ..., "--output", ...])

Gym makes an environment per server with uv; here every server gets one that stands for `python`, the one that
holds nemo-gym, so that nothing is installed or downloaded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from gym_prefork import GymPrefork

START_TIMEOUT_S = 600.0


class GymFailed(RuntimeError):
    """A command of Gym did not do what it should; the message holds the end of its log."""


class GymStack:
    """Gym's servers, up while the context is open. Their log is `work/servers.log`."""

    def __init__(
        self,
        python: GymPrefork,
        work: Path,
        *,
        servers: Sequence[str],
        config_flags: Sequence[str],
        model_url: str,
        model: str,
        model_type: str = "openai_model",
    ) -> None:
        """`servers` names the servers of the configs, as `<type>/<name>`, without the model server."""
        self._python = python
        self._work = work.resolve()
        self._head_port = _free_port()
        self._log = self._work / "servers.log"
        self._process: subprocess.Popen[bytes] | None = None
        environments = self._work / "environments"
        for server in [*servers, f"responses_api_models/{model_type}"]:
            python.make_environment(environments / server / ".venv")
        self._serve_flags = [
            *config_flags,
            *("--model-type", model_type, "--model", model, "--model-url", model_url),
            *("--model-api-key", "unused"),
            f"++uv_venv_dir={environments}",
            "++skip_venv_if_present=true",
        ]

    def __enter__(self) -> GymStack:
        with self._log.open("wb") as log:
            # Its own session, so that ending the group ends every server that Gym starts.
            self._process = subprocess.Popen(
                self._command("env", "start", *self._serve_flags),
                cwd=self._work,
                env=self._python.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def collect(self, flags: Sequence[str], *, timeout_s: float = 600.0) -> str:
        """Runs `gym eval run --no-serve` with `flags`; returns what it printed. Raises GymFailed."""
        return _output_of(self.run("eval", "run", "--no-serve", *flags, timeout_s=timeout_s))

    def collect_alone(self, flags: Sequence[str], *, timeout_s: float = 600.0) -> str:
        """Runs `gym eval run` with servers of its own; for a stack whose context was never opened."""
        return _output_of(self.run("eval", "run", *self._serve_flags, *flags, timeout_s=timeout_s))

    def run(self, *arguments: str, timeout_s: float = 600.0) -> subprocess.CompletedProcess[str]:
        """Runs `gym` with `arguments` against these servers, whatever it ends with."""
        process = subprocess.Popen(
            self._command(*arguments),
            cwd=self._work,
            env=self._python.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            printed, complaints = process.communicate(timeout=timeout_s)
        finally:
            _kill_group(process)
        return subprocess.CompletedProcess(process.args, process.returncode, printed, complaints)

    def _command(self, *arguments: str) -> list[str]:
        head = ["++head_server.host=127.0.0.1", f"++head_server.port={self._head_port}"]
        return self._python.gym(*arguments, *head)

    def _wait_until_ready(self) -> None:
        """Gym's head server answers /readyz with 200 once all servers and the model endpoint are up."""
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise GymFailed(f"gym env start ended with {self._process.returncode}:\n{self._log_end()}")
            with contextlib.suppress(urllib.error.URLError, OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self._head_port}/readyz", timeout=5).close()
                return
            time.sleep(0.5)
        raise GymFailed(f"Gym's servers were not ready after {START_TIMEOUT_S:.0f} s:\n{self._log_end()}")

    def _stop(self) -> None:
        assert self._process is not None
        # Gym would wait a second for each server. Ray's processes end with the one that started them.
        _kill_group(self._process)

    def _log_end(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:]


def _output_of(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        raise GymFailed(f"gym eval run ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def _kill_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
