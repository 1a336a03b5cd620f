"""A command that runs as if nobody had wrapped it: its own streams, its signals, its end.

The command stays in this process's group, so that a terminal reaches it as always. What the terminal sends to
the whole group is not sent again; what somebody sends to this process alone is passed on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

import msgspec

PASSED_ON = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTSTP,
    signal.SIGCONT,
)

NOT_FOUND_EXIT = 127
NOT_EXECUTABLE_EXIT = 126
"""What a shell shows for a command that it cannot run."""

_SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux: SIGKILL cannot be passed on, so a killed wrapper takes its command along."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended: by itself with an exit code, or by a signal."""

    exit_code: int | None
    signal: int | None = None
    problem: str | None = None
    """Why it did not even start."""


class Wrapped:
    """A running command."""

    def __init__(self, process: subprocess.Popen[bytes], before: set[signal.Signals] | None) -> None:
        self._process = process
        self._before = before

    def wait(self) -> Ended:
        """Wait for the command's end, passing signals on; afterwards they are handled as before."""
        if self._before is None:
            self._process.wait()
        else:
            while self._process.poll() is None:
                self._take_signal()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        code = self._process.returncode
        return Ended(exit_code=None, signal=-code) if code < 0 else Ended(exit_code=code)

    def _take_signal(self) -> None:
        # SIGCHLD wakes this at the command's end; the time limit is for one that another child used up.
        info = signal.sigtimedwait({*PASSED_ON, signal.SIGCHLD}, 1.0)
        if info is None or info.si_signo == signal.SIGCHLD:
            return
        is_from_a_process = info.si_code <= 0
        if is_from_a_process and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(info.si_signo)
        if info.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)


def start_wrapped(command: Sequence[str]) -> Wrapped | Ended:
    """Start `command` with the streams, folder and environment of this process.

    Signals are passed on where this is the main thread of a system that says who sent one; elsewhere they are
    left as they are.
    """
    handles = threading.current_thread() is threading.main_thread() and hasattr(signal, "sigtimedwait")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*PASSED_ON, signal.SIGCHLD}) if handles else None
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        if library is not None:
            library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        process = subprocess.Popen(list(command), preexec_fn=prepare)
    except OSError as error:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = NOT_FOUND_EXIT if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE_EXIT
        return Ended(exit_code=code, problem=f"{command[0]}: {error.strerror or error}")
    return Wrapped(process, None if before is None else set(before))  # type: ignore[arg-type]  # typed as ints


def end_like(ended: Ended) -> int:
    """The exit code of a command; one that a signal ended ends this process in the same way.

    Without a core dump, which would be of the wrong process.
    """
    if ended.signal is None:
        return ended.exit_code or 0
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if ended.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(ended.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {ended.signal})
    os.kill(os.getpid(), ended.signal)
    return 128 + ended.signal


class Helper:
    """A Python module of gymbal that runs beside a command, in a session of its own and at low priority."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            # Without -P a module of the working folder could stand in for one of ours.
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def tell(self, line: bytes) -> bool:
        """Send one line; False when the helper is gone."""
        try:
            stream = self._process.stdin
            if stream is not None:
                stream.write(line + b"\n")
                stream.flush()
        except OSError:
            return False
        return True

    def finish(self, seconds: float) -> tuple[bytes, str | None]:
        """End the conversation; return what the helper says and what is wrong with it. Late, it is killed."""
        try:
            answer, complaint = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            return b"", f"it took more than {seconds:g} seconds"
        if self._process.returncode == 0:
            return answer, None
        lines = complaint.decode("utf-8", "replace").split("\n")
        return answer, next((line for line in reversed(lines) if line.strip()), "it ended early")
