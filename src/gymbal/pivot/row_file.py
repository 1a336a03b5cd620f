"""Reads the rows of a pivot file as entries: what a row says about itself, without its request."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from gymbal.errors import InputError
from gymbal.io.jsonl import Line
from gymbal.io.pivot_id import pivot_id_of_line
from gymbal.model.pivot import ActionKind
from gymbal.model.pivot_index import Origin, PivotEntry
from gymbal.model.trajectory import Source
from gymbal.pivot.parse import AnyLabel, CallLabel, MessageLabel, kind_of

_REMEDY = "`gymbal pivot validate` lists everything that is wrong with the rows."


class _Info(Struct, gc=False):
    source: str | None = None
    line: int | None = None
    record: int | None = None
    task: str | None = None
    rollout: str | None = None
    call: int | None = None
    depth: int | None = None


class _Agent(Struct, gc=False):
    name: str | None = None


class _Row(Struct, gc=False):
    responses_create_params: Raw
    expected_action: AnyLabel | None = None
    expected_answer: str | None = None
    """What `terminus_judge` expects, in place of an action."""
    pivot_info: Raw = Raw(b"null")
    agent_ref: _Agent | None = None
    domain: Raw = Raw(b"null")


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_info = msgspec.json.Decoder(_Info | None).decode


def entry_of(line: Line, path: str) -> PivotEntry:
    """Return what the row in `line` of the file `path` says; raise InputError when it is no pivot row."""
    try:
        if not line.data.isascii():
            line.data.decode()  # msgspec does not look into the strings that it passes over
        row = _decode_row(line.data)
        if row.expected_action is None and row.expected_answer is None:
            raise msgspec.DecodeError("it has neither `expected_action` nor `expected_answer`")
        identity = pivot_id_of_line(line.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"is not a pivot row: {error}", path=path, line=line.number, offset=line.offset, remedy=_REMEDY
        ) from error
    info = _info_of(row.pivot_info)
    agent = row.agent_ref.name if row.agent_ref else None
    origin = None
    if info.source is not None and info.line is not None:
        origin = Origin(info.source, info.line, info.record)
    return PivotEntry(
        id=identity,
        kind=ActionKind.MESSAGE if row.expected_action is None else kind_of(row.expected_action),
        tools=_tools_of(row.expected_action),
        size=len(line.data) + 1,
        read_from=Source(path=path, line=line.number, offset=line.offset),
        origin=origin,
        call=info.call or 0,
        depth=info.depth,
        task=info.task,
        rollout=info.rollout,
        domain=_text(row.domain) or info.source or agent,
        agent=agent,
    )


def _info_of(raw: Raw) -> _Info:
    """Other programs may write another `pivot_info`: what cannot be read of it is unknown, not an error."""
    try:
        return _decode_info(raw) or _Info()
    except msgspec.DecodeError:
        return _Info()


def _tools_of(label: AnyLabel | None) -> tuple[str, ...]:
    if label is None or isinstance(label, MessageLabel):
        return ()
    return (label.name,) if isinstance(label, CallLabel) else tuple(call.name for call in label.calls)


def _text(raw: Raw) -> str | None:
    return msgspec.json.decode(raw, type=str) if bytes(raw).startswith(b'"') else None
