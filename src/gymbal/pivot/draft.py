"""Rows that are judged but not yet written out, in a form that takes as much room as their source.

The prefixes of one trajectory are beginnings of each other, so n rows of it repeat the same bytes n times. A
draft holds these bytes once, and how many of them stand in each row. What a file of drafts ends with says how
long its rows are: so they can be written to their place in the dataset before those of earlier files are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from gymbal.errors import InputError
from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.pivot import ActionKind
from gymbal.model.trajectory import Source

FORMAT = 3
"""Raised whenever what stands in a file of drafts changes."""

_MAGIC = b"gymbal drafts\n"
_LENGTH_BYTES = 8


class DraftLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One line of the dataset."""

    prefix: int | None
    """Bytes of the draft's `input` that stand in the row. None: a line of the skipped file."""
    rest: bytes
    """What follows the tools in the row, or the whole skipped line; line break included."""
    kind: ActionKind | None = None
    """`Label.kind` of the row."""
    names: tuple[str, ...] = ()
    """`Label.tools` of the row."""


class Draft(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The lines of one trajectory."""

    part: str
    """The side of the split that it is on."""
    source: Source
    head: memoryview
    """What stands before the input items of each row."""
    input: memoryview
    """The input items of the longest row."""
    tools: memoryview
    """What stands between the input items and `DraftLine.rest`."""
    lines: list[DraftLine]


class DraftsEnd(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a whole file of drafts adds up to; it stands at the end of the file."""

    tally: list[tuple[str, str, int]]
    keys: bytes
    """`Row.key` of every row, one after another."""
    rows: list[tuple[str, int]]
    """`Draft.part` of every row, and its bytes."""


_decode_draft = msgspec.msgpack.Decoder(Draft).decode
_decode_end = msgspec.msgpack.Decoder(DraftsEnd).decode


def write_draft(stream: BinaryIO, draft: Draft) -> None:
    """Append one draft to a file of drafts."""
    data = msgspec.msgpack.encode(draft)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(data)


def write_end(stream: BinaryIO, end: DraftsEnd) -> None:
    """Finish a file of drafts."""
    data = msgspec.msgpack.encode(end)
    stream.write(bytes(_LENGTH_BYTES))  # no draft is empty
    stream.write(data)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "little") + _MAGIC)


def read_end(path: Path) -> DraftsEnd:
    """Return what the drafts of `path` add up to; raise InputError for a file that was not finished."""
    tail = _LENGTH_BYTES + len(_MAGIC)
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(size - tail, 0))
            length, magic = stream.read(_LENGTH_BYTES), stream.read()
            if magic == _MAGIC and int.from_bytes(length, "little") <= size - tail:
                stream.seek(size - tail - int.from_bytes(length, "little"))
                return _decode_end(stream.read(int.from_bytes(length, "little")))
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"holds no drafts: {error}", path=path) from error
    raise InputError("holds no drafts, or was not finished", path=path)


def read_drafts(path: Path) -> Iterator[Draft]:
    """Yield the drafts of a finished file in order, one held at a time."""
    with path.open("rb", buffering=WRITE_BUFFER_BYTES) as stream:
        while length := int.from_bytes(stream.read(_LENGTH_BYTES), "little"):
            yield _decode_draft(stream.read(length))
