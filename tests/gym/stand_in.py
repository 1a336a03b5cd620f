"""Stands in for Gym's Python: has `prefork.py` run a script, and ends as that script ends.

    python -I -S stand_in.py SOCKET SCRIPT ARGUMENT...

The script gets this process's streams, folder and variables. It is killed when this process is, and its group
gets an interrupt that this process gets, as if both stood in one terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import sys
from types import FrameType

PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def run(path: str, arguments: list[str]) -> int:
    order = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109 - starts quickly
    body = json.dumps(order).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [struct.pack("!Q", len(body))], [0, 1, 2])
        connection.sendall(body)
        with connection.makefile() as answers:
            script = int(answers.readline())

            def pass_on(number: int, frame: FrameType | None) -> None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(script, number)

            for number in PASSED_ON:
                signal.signal(number, pass_on)
            code = int(answers.readline())
    # As a shell says it where a signal ended the script.
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
