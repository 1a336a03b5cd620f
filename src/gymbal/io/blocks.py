"""JSON Lines in blocks of whole lines, for a reader that takes many lines at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gymbal.errors import InputError
from gymbal.io.jsonl import MAX_LINE_BYTES, READ_BUFFER_BYTES, stream_errors


def split_blocks(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of blocks of whole lines with their line breaks, about a buffer each.

    Only the last block can end without a line break. Raises InputError as `gymbal.io.jsonl.split_lines` does.
    """
    damage = stream_errors(path)
    parts: list[bytes] = []
    offset = size = lines = 0
    while True:
        try:
            chunk = stream.read1(READ_BUFFER_BYTES)  # type: ignore[attr-defined]  # not a part of BinaryIO
        except damage as error:
            problem = f"is damaged or cut short: {error}"
            raise InputError(problem, path=path, line=lines + 1, offset=offset) from error
        if not chunk:
            break
        end = chunk.rfind(b"\n") + 1
        if end:
            block = b"".join((*parts, chunk[:end])) if parts else chunk[:end]
            yield offset, block
            lines += block.count(b"\n")
            offset += len(block)
            parts, size = [chunk[end:]] if end < len(chunk) else [], len(chunk) - end
        else:
            parts.append(chunk)
            size += len(chunk)
        if size > MAX_LINE_BYTES:
            problem = f"line is longer than {MAX_LINE_BYTES} bytes"
            raise InputError(problem, path=path, line=lines + 1, offset=offset)
    if size:
        yield offset, b"".join(parts)
