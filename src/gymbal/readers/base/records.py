"""The records of a file: one per line, or those of one JSON document that is a list or a single object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import json_problem, lone_surrogate, read_bounded
from gymbal.io.jsonl import BYTE_ORDER_MARK, Line, read_lines
from gymbal.io.shards import ByteRange, read_part
from gymbal.model.trajectory import Source, Trajectory

_decode_raw = msgspec.json.Decoder(msgspec.Raw).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode

_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


class Record(NamedTuple):
    """One JSON value of a file."""

    data: bytes
    """Valid JSON on one line, in UTF-8."""
    source: Source
    is_terminated: bool
    """False for a last line without a line break, which is how a killed writer leaves it."""


def read_each(
    path: Path, convert: Callable[[Record], Trajectory], what: str, part: ByteRange | None = None
) -> Iterator[Trajectory]:
    """Yield the trajectory of each record of `path`, or of a `part` of it where it holds one per line.

    Raises InputError with the place of a record that `convert` cannot take: it raised msgspec.DecodeError, or
    nested too deep. `what` names a record of the format.
    """
    for record in read_records(path, part):
        try:
            trajectory = convert(record)
        except (msgspec.DecodeError, RecursionError) as error:
            source = record.source
            problem = f"is not {what}: {json_problem(error, record.data)}"
            raise InputError(problem, path=path, line=source.line, offset=source.offset) from error
        yield trajectory


def read_records(path: Path, part: ByteRange | None = None) -> Iterator[Record]:
    """Yield the records of `path` in order.

    A file whose first line is a JSON object holds one record per line, and one line is held at a time; of
    such a file only the lines that begin in `part` are read. Any other file is one JSON document, read whole:
    the elements of a list, or the document itself. Raises InputError with line and byte for what is neither.
    """
    lines = record_lines(path, part)
    if lines is None:
        yield from document_records(path)
        return
    for line in lines:
        yield record_of_line(path, line)._replace(data=_checked(path, line))


def record_lines(path: Path, part: ByteRange | None = None) -> Iterator[Line] | None:
    """The lines of a file that holds one record per line, or those that begin in `part`; None for another.

    The first line of such a file is a JSON object; the others are not looked at. Raises InputError for a file
    that cannot be read.
    """
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        return lines
    if not _is_object(first.data):
        return None
    return chain((first,), lines) if part is None else read_part(path, part)


def record_of_line(path: Path, line: Line) -> Record:
    """The record that a line is, as it stands."""
    source = Source(path=str(path), line=line.number, offset=line.offset)
    return Record(line.data, source, line.is_terminated)


def document_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file that is one JSON document: the elements of a list, or the document itself.

    Raises InputError when it is none.
    """
    body = read_document(path)
    start = len(body) - len(body.lstrip())
    source = Source(path=str(path), line=1 + body.count(b"\n", 0, start), offset=start)
    try:
        body.decode()
        elements = _decode_list(body) if body.lstrip()[:1] == b"[" else None
        if elements is None:
            _decode_raw(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"is neither JSON nor JSON Lines: {json_problem(error, body)}"
        raise InputError(problem, path=path, line=source.line, offset=source.offset) from error
    if elements is not None:
        yield from locate(path, body, elements)
        return
    yield Record(on_one_line(body.strip()), source, True)


def read_document(path: Path) -> bytes:
    """The bytes of a file that is one JSON document; a byte order mark becomes white space."""
    data = read_bounded(path)
    return b"   " + data[3:] if data.startswith(BYTE_ORDER_MARK) else data


def locate(path: Path, body: bytes, elements: Iterable[msgspec.Raw]) -> Iterator[Record]:
    """Yield the elements of a list in the document `body` as records, each with its own place."""
    line, position = 1, 0
    for index, element in enumerate(elements):
        value = bytes(element)
        found = body.index(value, position)  # between elements stand white space and a comma only
        line += body.count(b"\n", position, found)
        source = Source(path=str(path), line=line, offset=found, record=index)
        yield Record(on_one_line(value), source, True)
        line += value.count(b"\n")
        position = found + len(value)


def on_one_line(data: bytes) -> bytes:
    """JSON with its line breaks as spaces: they can stand only between tokens, and would break a row."""
    return data.translate(_LINE_BREAKS) if b"\n" in data or b"\r" in data else data


def _is_object(data: bytes) -> bool:
    """Whether the first line of a file is a JSON object, or would be one but for a lone surrogate."""
    if not data.startswith(b"{"):
        return False
    try:
        _decode_raw(data)
    except (msgspec.DecodeError, RecursionError):
        return lone_surrogate(data) is not None
    return True


def _checked(path: Path, line: Line) -> bytes:
    """The line, once it is known to be JSON in UTF-8: msgspec does not look into strings that it skips."""
    try:
        line.data.decode()
        _decode_raw(line.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = None
        if not line.is_terminated:
            remedy = (
                "The last line has no line break: if its writer was killed, delete it to go on without it."
            )
        problem = f"is not JSON: {json_problem(error, line.data)}"
        raise InputError(problem, path=path, line=line.number, offset=line.offset, remedy=remedy) from error
    return on_one_line(line.data)
