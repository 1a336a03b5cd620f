"""What a row's state says, as text: to find rows that are nearly the same, and tasks of an evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec import Raw, Struct

from gymbal.io.fingerprint import fingerprint
from gymbal.pivot.parse import AnyLabel, CallLabel, MessageLabel

_WORD = re.compile(r"\w+")


class RowText(NamedTuple):
    """The texts of one row."""

    opening: str
    """What users said before the policy first spoke."""
    user: tuple[str, ...]
    """Each text of a user."""
    tail: str
    """The end of the state, `TAIL_CHARACTERS` long: the last items, reasoning left out."""
    action: str
    """Equal where the verifier expects the same of two rows: any two messages are the same."""


TAIL_CHARACTERS = 4000


class _Item(Struct, gc=False):
    type: str | None = None
    role: str | None = None
    content: Raw = Raw(b"null")
    name: str | None = None
    arguments: str | None = None
    output: Raw = Raw(b"null")


class _Request(Struct, gc=False):
    input: str | list[_Item]


class _Row(Struct, gc=False):
    responses_create_params: _Request
    expected_action: AnyLabel | None = None
    expected_answer: str | None = None


class _Part(Struct, gc=False):
    text: Raw = Raw(b"null")


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_content = msgspec.json.Decoder(str | list[_Part] | None).decode


def text_of(row: bytes) -> RowText:
    """Return the texts of a row. Raises msgspec.DecodeError where its input cannot be read."""
    decoded = _decode_row(row)
    said = decoded.responses_create_params.input
    items = [_Item(role="user", content=Raw(msgspec.json.encode(said)))] if isinstance(said, str) else said
    first = next((at for at, item in enumerate(items) if not _is_given(item)), len(items))
    users = [(at, text_in(item.content)) for at, item in enumerate(items) if item.role == "user"]
    return RowText(
        opening="\n".join(text for at, text in users if at < first),
        user=tuple(text for _, text in users),
        tail=_tail(items),
        action=_action(decoded.expected_action, decoded.expected_answer),
    )


def _is_given(item: _Item) -> bool:
    return item.role in ("user", "system", "developer")


def text_in(content: Raw) -> str:
    """The text of a message or a result, whether it is bare or in parts; images and files say nothing."""
    try:
        parts = _decode_content(content)
    except msgspec.ValidationError:
        return ""
    if parts is None or isinstance(parts, str):
        return parts or ""
    texts = (bytes(part.text) for part in parts)
    return "\n".join(msgspec.json.decode(text, type=str) for text in texts if text.startswith(b'"'))


def _tail(items: list[_Item]) -> str:
    """Later items first until there is enough, so that the work does not grow with the state."""
    pieces: list[str] = []
    size = 0
    for item in reversed(items):
        if size >= TAIL_CHARACTERS:
            break
        if item.type == "reasoning":
            continue
        piece = " ".join((item.name or "", item.arguments or "", text_in(item.content), text_in(item.output)))
        pieces.append(piece)
        size += len(piece)
    return "\n".join(reversed(pieces))[-TAIL_CHARACTERS:]


def _action(label: AnyLabel | None, answer: str | None) -> str:
    if label is None:
        return fingerprint([answer])
    if isinstance(label, MessageLabel):
        return "message"
    calls = [label] if isinstance(label, CallLabel) else label.calls
    return fingerprint([[call.name, _decoded(call.arguments)] for call in calls])


def _decoded(arguments: str) -> Any:
    """The arguments as values, in which the order of fields makes no difference."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, without case: what is left where layout and punctuation differ."""
    return _WORD.findall(text.casefold())


def shingles_of(text: str, size: int) -> set[int]:
    """32-bit hashes of each `size` words in a row; a shorter text is one shingle."""
    words = words_of(text)
    return {crc32(run) for run in _runs(words, size)} or {crc32(b" ".join(_encoded(words)))}


def run_hashes(words: list[str], size: int) -> Iterator[int]:
    """64-bit hashes of each `size` words in a row, in order; none where there are fewer."""
    for run in _runs(words, size):
        yield int.from_bytes(blake2b(run, digest_size=8).digest())


def _encoded(words: list[str]) -> list[bytes]:
    return [word.encode("utf-8", "surrogatepass") for word in words]


def _runs(words: list[str], size: int) -> Iterable[bytes]:
    encoded = _encoded(words)
    for start in range(len(encoded) - size + 1):
        yield b" ".join(encoded[start : start + size])
