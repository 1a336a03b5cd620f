"""JSON Lines in blocks of whole lines, for a reader that takes many lines at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gymbal.errors import InputError
from gymbal.io.jsonl import MAX_LINE_BYTES, stream_errors

BLOCK_BYTES = 128 * 1024
"""A block and what is decoded of it fit into a processor's own memory."""


def split_blocks(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of blocks of whole lines with their line breaks, about `BLOCK_BYTES` each.

    Only the last block can end without a line break. Raises InputError for a line above `MAX_LINE_BYTES` and
    for a stream that is damaged or cut, with the offset of the line, after the lines before it were yielded.
    """
    damage = stream_errors(path)
    buffer = bytearray(BLOCK_BYTES)
    view = memoryview(buffer)
    parts: list[bytes] = []
    offset = size = 0
    while True:
        try:
            # readinto would lose what comes before damage: it reads on until the buffer is full.
            count = stream.readinto1(buffer)  # type: ignore[attr-defined]  # not a part of BinaryIO
        except damage as error:
            raise InputError(f"is damaged or cut short: {error}", path=path, offset=offset) from error
        if not count:
            break
        end = buffer.rfind(b"\n", 0, count) + 1
        if end:
            block = b"".join((*parts, view[:end]))
            yield offset, block
            offset += len(block)
            parts.clear()
            size = 0
        if end < count:
            parts.append(bytes(view[end:count]))
            size += count - end
        if size > MAX_LINE_BYTES:
            raise InputError(f"line is longer than {MAX_LINE_BYTES} bytes", path=path, offset=offset)
    if size:
        yield offset, b"".join(parts)
