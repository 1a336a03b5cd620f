"""The bytes of an HTTP/1.1 connection as replies (RFC 9112), wherever the network cuts them into pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MAX_HEAD_BYTES = 64 * 1024

_CUT = "the connection ended in the middle of a reply"
_WITHOUT_BODY = frozenset({204, 304})


class ReplyError(Exception):
    """What came is no whole HTTP/1.1 reply; the message says why."""


class TooLongError(Exception):
    """The body is longer than may be read."""


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By name in lower case; the values of a repeated name are joined by commas."""
    body: bytes
    is_last: bool
    """The server answers nothing more on this connection."""


class _Head(NamedTuple):
    status: int
    headers: Mapping[str, str]
    size: int | None
    """Bytes of the body; None: in chunks, or up to the end of the connection."""
    is_chunked: bool
    is_last: bool


class ReplyReader:
    """Takes the bytes of one connection in order. One request is sent at a time, so one reply comes."""

    def __init__(self, most_body: int) -> None:
        self._most = most_body
        self._data = bytearray()
        self._head: _Head | None = None
        self._chunks: list[bytes] = []
        self._chunked_size = 0

    @property
    def is_empty(self) -> bool:
        """Whether every byte that came belongs to a reply that was given out."""
        return not self._data and self._head is None

    def feed(self, data: bytes) -> Reply | None:
        """The reply that `data` completes; None while more is to come.

        Raises ReplyError for what is no reply, TooLongError for one with too long a body.
        """
        self._data += data
        head = self._head = self._head or self._read_head()
        if head is None:
            return None
        body = self._read_chunks() if head.is_chunked else self._read_sized(head.size)
        return None if body is None else self._reply(head, body)

    def end(self) -> Reply:
        """The reply that the end of the connection completes. Raises ReplyError where it cuts one off."""
        head = self._head
        if head is None:
            raise ReplyError(_CUT if self._data else "the connection ended without a reply")
        if head.is_chunked or head.size is not None:
            raise ReplyError(_CUT)
        return self._reply(head, self._take(len(self._data)))

    def _reply(self, head: _Head, body: bytes) -> Reply:
        self._head = None
        return Reply(head.status, head.headers, body, head.is_last)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._data[:size])
        del self._data[:size]
        return taken

    def _read_head(self) -> _Head | None:
        """The next head that is not of an interim reply such as 100."""
        while True:
            end = self._data.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
            if end < 0:
                if len(self._data) >= MAX_HEAD_BYTES:
                    raise ReplyError(f"the head of the reply is longer than {MAX_HEAD_BYTES} bytes")
                return None
            head = _head_of(self._take(end + 4)[:end].decode("latin-1"))
            if head.status >= 200:
                return head

    def _read_sized(self, size: int | None) -> bytes | None:
        self._check_size(len(self._data) if size is None else size)
        return None if size is None or len(self._data) < size else self._take(size)

    def _read_chunks(self) -> bytes | None:
        while True:
            start = self._data.find(b"\r\n", 0, MAX_HEAD_BYTES)
            if start < 0:
                self._check_line(len(self._data))
                return None
            size = _chunk_size(bytes(self._data[:start]))
            if size == 0:
                return self._read_trailers(start)
            self._check_size(self._chunked_size + size)
            end = start + 2 + size
            if len(self._data) < end + 2:
                return None
            if self._data[end : end + 2] != b"\r\n":
                raise ReplyError("a chunk of the body is longer than it says")
            self._chunks.append(self._take(end + 2)[start + 2 : end])
            self._chunked_size += size

    def _read_trailers(self, start: int) -> bytes | None:
        """Pass over the fields behind the last chunk: none of them is asked for."""
        end = self._data.find(b"\r\n\r\n", start)
        if end < 0:
            self._check_line(len(self._data))
            return None
        del self._data[: end + 4]
        body = b"".join(self._chunks)
        self._chunks, self._chunked_size = [], 0
        return body

    def _check_line(self, size: int) -> None:
        if size >= MAX_HEAD_BYTES:
            raise ReplyError("a chunk of the body has no size")

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise TooLongError(f"the body is longer than {self._most} bytes")


def _head_of(text: str) -> _Head:
    first, *lines = text.split("\r\n")
    version, _, rest = first.partition(" ")
    status = rest[:3]
    if version not in ("HTTP/1.1", "HTTP/1.0") or not _is_number(status) or status < "100":
        raise ReplyError(f"no HTTP/1.1 reply, but {first[:80]!r}")
    if status == "101":
        raise ReplyError("the server changes the protocol, unasked")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise ReplyError(f"no header, but {line[:80]!r}")
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return _framed(int(status), headers, is_new=version == "HTTP/1.1")


def _framed(status: int, headers: Mapping[str, str], *, is_new: bool) -> _Head:
    """Where the body ends, by section 6.3 of RFC 9112."""
    options = headers.get("connection", "").lower()
    is_last = "close" in options or not (is_new or "keep-alive" in options)
    if status < 200 or status in _WITHOUT_BODY:
        return _Head(status, headers, 0, False, is_last)
    coding = headers.get("transfer-encoding")
    if coding is not None:
        if coding.lower() != "chunked":
            raise ReplyError(f"the transfer coding {coding[:80]!r} was not asked for")
        # With a length beside it, two readers would see two ends: nothing more is read after this one.
        return _Head(status, headers, None, True, is_last or "content-length" in headers)
    length = headers.get("content-length")
    if length is None:
        return _Head(status, headers, None, False, True)
    if not _is_number(length) or len(length) > 18:
        raise ReplyError(f"the length of the body is no number, but {length[:80]!r}")
    return _Head(status, headers, int(length), False, is_last)


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";", 1)[0].strip(b" \t")
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        raise ReplyError(f"the size of a chunk is no number, but {line[:80]!r}")
    return int(digits, 16)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
