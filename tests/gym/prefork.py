"""Runs Python scripts of Gym, each in a process forked from here. Runs under the Python that holds nemo-gym.

    python prefork.py SOCKET

A command or server of Gym spends 7 seconds of a core on imports before it does anything. Here they are done
once, and every script starts from there: the same code in a process of its own. `stand_in.py` asks for one;
`gym_prefork.py` is the tests' end.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from typing import Any

import nemo_gym.base_environment_server
import nemo_gym.base_resources_server
import nemo_gym.base_responses_api_agent
import nemo_gym.base_responses_api_model
import nemo_gym.cli.env
import nemo_gym.cli.eval
import nemo_gym.cli.main
import nemo_gym.comparison.runner
import nemo_gym.rollout_collection  # noqa: F401 - imported, like those above, for the scripts to come

Json = dict[str, Any]
STREAMS = (0, 1, 2)
LENGTH = struct.Struct("!Q")


def serve(path: str) -> Json:
    """Forks a keeper for every request. Returns only in the process of a script, with its order."""
    # Nobody waits for the keepers.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        # Whoever sees the path can connect to it.
        listener.bind(f"{path}.new")
        listener.listen()
        os.rename(f"{path}.new", path)  # noqa: PTH104 - no other path is handled here
        while True:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    return keep(connection)


def keep(connection: socket.socket) -> Json:
    """Forks the script, tells its stand-in how it ended, and ends it when the stand-in is gone.

    Returns in the script's process alone.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    order, streams = received(connection)
    # Nothing is ever written: the reading end wakes up when the script ends.
    alive, held = os.pipe()
    script = os.fork()
    if script == 0:
        connection.close()
        os.close(alive)
        become(order, streams)
        return order
    for number in (held, *streams):
        os.close(number)
    connection.sendall(f"{script}\n".encode())
    woken, _, _ = select.select([alive, connection.fileno()], [], [])
    if alive not in woken:
        end(script)
    code = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    # Whatever the script started ends with it.
    end_group(script)
    with contextlib.suppress(OSError):
        connection.sendall(f"{code}\n".encode())
    # Without the clean-up of libraries that were never used here.
    os._exit(0)


def received(connection: socket.socket) -> tuple[Json, Sequence[int]]:
    """The order, and the streams that the script shall have."""
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, len(STREAMS))
    (length,) = LENGTH.unpack(head)
    with connection.makefile("rb") as body:
        return json.loads(body.read(length)), streams


def become(order: Json, streams: Sequence[int]) -> None:
    """Makes this process what a new Python would be: streams, folder, variables, paths, arguments."""
    os.setsid()
    # A background job is started without the interrupt that ends Gym's servers.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in zip(STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    script = order["arguments"][0]
    added = order["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [os.path.dirname(os.path.abspath(script)), *filter(None, added)]  # noqa: PTH100, PTH120 - as Python does it
    sys.argv = order["arguments"]


def end(script: int) -> None:
    # It may not lead its group yet.
    os.kill(script, signal.SIGKILL)
    end_group(script)


def end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


if __name__ == "__main__":
    runpy.run_path(serve(sys.argv[1])["arguments"][0], run_name="__main__")
