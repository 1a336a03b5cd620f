"""Replies as RFC 9112 frames them; the bytes are written by hand after its sections 2 to 7."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.sampling.reply import MAX_HEAD_BYTES, Reply, ReplyError, ReplyReader, TooLongError

SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}'
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
    b'3;name="x"\r\n{"a\r\n04 \r\n":1}\r\n0\r\nexpires: never\r\n\r\n'
)
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + SIZED
TO_THE_END = b'HTTP/1.0 200 OK\r\n\r\n{"a":1}'


def read(data: bytes, *, most: int = 1000) -> Reply:
    reader = ReplyReader(most)
    return reader.feed(data) or reader.end()


@settings(max_examples=60)
@given(st.sampled_from([SIZED, CHUNKED, INTERIM, TO_THE_END]), st.data())
def test_reply_is_the_same_wherever_it_is_cut(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.sets(st.integers(0, len(data)), max_size=12)) | {0, len(data)})
    reader = ReplyReader(1000)
    found = [reader.feed(data[start:end]) for start, end in pairwise(cuts)]
    reply = found[-1] or reader.end()
    assert (reply.status, reply.body) == (200, b'{"a":1}')
    assert found[:-1] == [None] * (len(found) - 1)
    assert reader.is_empty


@settings(max_examples=60)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_reply_in_chunks_gives_back_any_body(chunks: list[bytes]) -> None:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert read(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + body).body == b"".join(chunks)


@settings(max_examples=100)
@given(st.binary(max_size=80), st.sampled_from([b"", SIZED[:40], CHUNKED[:60], CHUNKED[:70]]))
def test_reply_of_any_bytes_is_read_or_refused(data: bytes, before: bytes) -> None:
    try:
        read(before + data)
    except (ReplyError, TooLongError):
        return


def test_reply_tells_its_headers() -> None:
    reply = read(b"HTTP/1.1 429 Too Many\r\nRetry-After:  2 \r\nVia: a\r\nvia: b\r\ncontent-length:0\r\n\r\n")
    assert reply.status == 429
    assert reply.headers == {"retry-after": "2", "via": "a, b", "content-length": "0"}


def test_replies_on_one_connection_follow_each_other() -> None:
    reader = ReplyReader(1000)
    assert [reader.feed(data) for data in (SIZED, CHUNKED, SIZED)] == [
        read(SIZED),
        read(CHUNKED),
        read(SIZED),
    ]
    assert reader.is_empty
    reader.feed(SIZED + b"H")
    assert not reader.is_empty


@pytest.mark.parametrize(
    ("head", "is_last"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\nConnection: keep-alive\r\n\r\n", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", False),
        (b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
    ],
)
def test_reply_says_whether_the_connection_goes_on(head: bytes, is_last: bool) -> None:
    assert read(head).is_last is is_last


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "without a reply"),
        (b"HTTP/1.1 200 OK\r\n", "in the middle"),
        (SIZED[:-1], "in the middle"),
        (CHUNKED[:-1], "in the middle"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "no HTTP/1.1 reply"),
        (b"HTTP/2 200 OK\r\n\r\n", "no HTTP/1.1 reply"),
        (b"HTTP/1.1 \xb2\xb3\xb2 OK\r\n\r\n", "no HTTP/1.1 reply"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "no header"),
        (b"HTTP/1.1 200 OK\r\nname : x\r\n\r\n", "no header"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "no number"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "no number"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "transfer coding"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", "size of a chunk"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n", "longer than it says"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"0" * MAX_HEAD_BYTES, "no size"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"x" * MAX_HEAD_BYTES, "head of the reply is longer"),
    ],
)
def test_what_is_no_reply_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ReplyError, match=said):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nabcdefghijk",
    ],
)
def test_a_body_that_is_too_long_is_refused_before_it_is_read(data: bytes) -> None:
    with pytest.raises(TooLongError, match="longer than 10 bytes"):
        read(data, most=10)
