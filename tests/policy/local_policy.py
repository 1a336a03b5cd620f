"""The program that serves the model, for as long as it is needed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SERVER = Path(__file__).with_name("server.mjs")


class Endpoint(NamedTuple):
    base_url: str
    model: str


@contextmanager
def served(folder: Path) -> Iterator[Endpoint]:
    """Serves the model of the folder that `policy_files.py` made."""
    command = ["node", str(SERVER), str(folder.absolute())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line, "the server did not start; it said why above"
            ready = json.loads(line)
            yield Endpoint(f"http://127.0.0.1:{ready['port']}/v1", ready["model"])
        finally:
            server.kill()
