"""Zstandard files as a stream that tells a whole file from one that was cut."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from gymbal.errors import need

INPUT_BYTES = 4096
"""Compressed bytes per step. A block of 4 bytes can stand for 128 KiB, so a step makes 128 MiB at most."""


class ZstdFrames(io.RawIOBase):
    """The decompressed bytes of all frames of a file, one after another.

    zstandard's own stream reader takes the end of a cut file for the end of its data. This one raises
    EOFError there, after everything before the cut was read; damage raises `zstandard.ZstdError`.
    """

    def __init__(self, path: Path) -> None:
        zstandard = need("zstandard", extra="zstd", feature=f"reading {path.name}")
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._file = path.open("rb")
        self._frame = self._new_frame()
        self._is_inside_frame = False
        self._unread = b""
        self._decompressed = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Any: the type of a writable buffer has no name before Python 3.12.
        target = memoryview(buffer).cast("B")
        while not self._decompressed:
            if not self._step():
                return 0
        count = min(len(target), len(self._decompressed))
        target[:count] = self._decompressed[:count]
        self._decompressed = self._decompressed[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()

    def _step(self) -> bool:
        """Decompress the next piece; return False at the end of the file."""
        piece = self._unread or self._file.read(INPUT_BYTES)
        self._unread = b""
        if not piece:
            if self._is_inside_frame:
                raise EOFError("the compressed data ends inside a frame")
            return False
        if not self._is_inside_frame:
            self._frame = self._new_frame()
            self._is_inside_frame = True
        self._decompressed = memoryview(self._frame.decompress(piece))
        if self._frame.eof:
            self._unread = self._frame.unused_data
            self._is_inside_frame = False
        return True
