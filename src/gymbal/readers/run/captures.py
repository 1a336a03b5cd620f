"""The folder in which model servers record every exchange, as far as it lies in the run directory.

Only here does Gym write that a prompt did not fit: the rollout shows an empty answer cut for length, while
no model saw the prompt (`response_source` local, `local_response_reason` context_length_exceeded; nemo-gym
0.7.0).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.model.run import Captures
from gymbal.readers.run.keys import text_or_none
from gymbal.readers.run.rows import RowStream

FOLDER_NAME = "model_call_capture"
ENDINGS = tuple(f".capture.jsonl{suffix}" for suffix in ("", *COMPRESSED_SUFFIXES))
INCOMPLETE_ENDING = ".capture.incomplete"


class Exchange(msgspec.Struct):
    """A line of a capture file: one request to a model server and its answer, without the payloads."""

    error_category: Any = None
    response_source: Any = None
    local_response_reason: Any = None


_DECODER = msgspec.json.Decoder(Exchange)


def read_captures(folder: Path) -> Captures:
    """Count the exchanges in `folder`; as no score depends on them, unreadable lines are only counted too."""
    files = sorted(file for file in folder.iterdir() if file.name.endswith(ENDINGS))
    calls = unreadable = 0
    failed: Counter[str] = Counter()
    local: Counter[str] = Counter()
    for file in files:
        stream = stream_exchanges(file, file.name)
        try:
            for exchange in stream:
                calls += 1
                category = text_or_none(exchange.error_category)
                failed.update([category] if category else [])
                if exchange.response_source == "local":
                    local[text_or_none(exchange.local_response_reason) or "unnamed"] += 1
        except InputError:
            unreadable += 1
        unreadable += len(stream.problems)
    return Captures(
        files=len(files),
        calls=calls,
        failed=dict(sorted(failed.items())),
        local=dict(sorted(local.items())),
        incomplete=sum(file.name.endswith(INCOMPLETE_ENDING) for file in folder.iterdir()),
        unreadable=unreadable,
    )


def stream_exchanges(path: Path, name: str) -> RowStream[Exchange]:
    """The exchanges of one capture file, which is called `name` in problems."""
    return RowStream(path, name, _read_exchange)


def _read_exchange(data: bytes, _line: int) -> Exchange:
    return _DECODER.decode(data)
