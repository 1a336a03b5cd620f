"""Finds rows that equal an earlier one by their digests, in 40 bytes a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from gymbal.pivot.row import KEY_BYTES

_BUCKETS = 256


class RowPlace(NamedTuple):
    file: int
    line: int
    offset: int


class EqualRows:
    """Rows of a dataset in their order. A dictionary of all digests would take five times the memory."""

    def __init__(self) -> None:
        self._keys = [bytearray() for _ in range(_BUCKETS)]
        self._numbers = [array("Q") for _ in range(_BUCKETS)]
        self._lines, self._offsets = array("Q"), array("Q")
        self._file_starts: list[int] = []

    def start_file(self) -> None:
        """The rows that follow are of the next file."""
        self._file_starts.append(len(self._lines))

    def add(self, keys: bytes, places: array[int], lines_before: int) -> None:
        """Add rows by their digests, and by line (in a part behind `lines_before`) and offset in turns."""
        number = len(self._lines)
        for at in range(0, len(keys), KEY_BYTES):
            bucket = keys[at]
            self._keys[bucket] += keys[at : at + KEY_BYTES]
            self._numbers[bucket].append(number)
            number += 1
        self._lines.extend(line + lines_before for line in places[::2])
        self._offsets.extend(places[1::2])

    def pairs(self) -> Iterator[tuple[RowPlace, RowPlace]]:
        """Yield each row that equals an earlier one, and the first of those, in the order of the rows."""
        found: list[tuple[int, int]] = []
        for keys, numbers in zip(self._keys, self._numbers, strict=True):
            first: dict[bytes, int] = {}
            for index, number in enumerate(numbers):
                key = bytes(keys[index * KEY_BYTES : (index + 1) * KEY_BYTES])
                earlier = first.setdefault(key, number)
                if earlier != number:
                    found.append((number, earlier))
        for number, earlier in sorted(found):
            yield self._place(number), self._place(earlier)

    def _place(self, number: int) -> RowPlace:
        file = sum(start <= number for start in self._file_starts) - 1
        return RowPlace(file, self._lines[number], self._offsets[number])
