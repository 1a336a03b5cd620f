"""Texts that UTF-8 cannot hold, as names of files can be: they are written with escapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec


def printable(text: str) -> str:
    r"""The text with what is no UTF-8 as escapes, as in `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()


def encode_printable(
    value: Any,
    *,
    order: Literal["deterministic", "sorted"] | None = None,
    enc_hook: Callable[[Any], Any] | None = None,
) -> bytes:
    """JSON of `value` as `msgspec.json.encode` writes it, but with what is no UTF-8 as escapes."""
    try:
        return msgspec.json.encode(value, order=order, enc_hook=enc_hook)
    except UnicodeEncodeError:
        return msgspec.json.encode(_escaped(msgspec.to_builtins(value, enc_hook=enc_hook)), order=order)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_escaped(name): _escaped(inner) for name, inner in value.items()}
    return [_escaped(inner) for inner in value] if isinstance(value, (list, tuple)) else value
