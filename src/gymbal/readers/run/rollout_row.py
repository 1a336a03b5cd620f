"""A line of `<stem>.jsonl`, as far as it is read. msgspec skips every member that is not named here.

A line can hold a megabyte of conversation: skipping instead of decoding is what makes reading fast.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gymbal.model.json_fields import Fields, decode_fields
from gymbal.readers.run.output import NULL, AnyOutput, KnownOutput, known_items

Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A count that floats and JSON hold exactly; a larger one is no count."""

Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""The number of a task or repeat, as far as a column holds it."""


class Named(msgspec.Struct, frozen=True, gc=False):
    """`agent_ref`."""

    name: str | None = None


class Reason(msgspec.Struct, frozen=True, gc=False):
    """`response.incomplete_details`."""

    reason: str | None = None


class Usage(msgspec.Struct, gc=False):
    """`response.usage`: the sums over all model calls of the rollout."""

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None


class Response(msgspec.Struct, gc=False):
    error: Any = None
    incomplete_details: Reason | None = None
    model: str | None = None
    output: KnownOutput | None = None
    status: str | None = None
    usage: Usage | None = None


class Trajectory(msgspec.Struct, gc=False):
    """`ng_trajectory` of a run with observability: only the number of recorded model calls is used."""

    model_calls: list[msgspec.Raw] | None = None


class RolloutRow(msgspec.Struct, gc=False):
    """UNSET is an absent member, where that says something else than null.

    Members are in the order in which Gym writes them: each is looked for from the one before on.
    """

    responses_create_params: msgspec.Raw = NULL
    response: Response | msgspec.UnsetType | None = msgspec.UNSET
    reward: float | bool | msgspec.UnsetType | None = msgspec.UNSET
    mask_sample: bool | None = None
    failure_kind: str | None = None
    extracted_answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    parsed_output: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    ng_trajectory: Trajectory | None = None
    task: Number | None = msgspec.field(default=None, name="_ng_task_index")
    repeat: Number | None = msgspec.field(default=None, name="_ng_rollout_index")
    agent_ref: Named | None = None
    server: str | None = msgspec.field(default=None, name="_ng_environment_server")
    attempt: int | None = msgspec.field(default=None, name="_ng_attempt_index")
    stage_index: int | None = None


class _AnyResponse(msgspec.Struct, gc=False):
    """Only what `Response` reads otherwise."""

    output: AnyOutput = None


class _AnyRow(msgspec.Struct, gc=False):
    response: _AnyResponse | None = None


_ROW = msgspec.json.Decoder(RolloutRow)
_ANY_ROW = msgspec.json.Decoder(_AnyRow)

OPENING, CLOSING = b"{}"

_NEEDED = {"reward", "response", "responses_create_params"}
"""Members that a row is worth nothing without: in another shape than Gym's they make it a bad line."""


def read_row(data: bytes) -> RolloutRow:
    """Decode a line; a small member of an odd type is left out, so that it does not cost the row its reward.

    Raises msgspec.DecodeError when the line is no JSON object or a needed member is of no known shape.
    """
    try:
        return _ROW.decode(data)
    except msgspec.ValidationError:
        row = _ROW.decode(_without_odd_members(data))
        found = _ANY_ROW.decode(data).response
        if isinstance(row.response, Response) and found is not None:
            row.response.output = None if found.output is None else known_items(found.output)
        return row


def read_block(data: bytes) -> list[RolloutRow] | None:
    """Decode a block of lines at once; None where a line has to be looked at by itself.

    A line that ends with } and is followed by one that begins with { holds whole records, since no JSON goes
    on like that; and as many records as such lines are one for each.
    """
    try:
        rows = _ROW.decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return rows if len(rows) == _plain_lines(data) else None


def _plain_lines(data: bytes) -> int:
    """The number of lines, where each begins with { and ends with } and a line break; else 0."""
    count = start = 0
    while (end := data.find(b"\n", start)) > start:
        # By their numbers, as a byte of bytes is one.
        if data[start] != OPENING or data[end - 1] != CLOSING:
            return 0
        count += 1
        start = end + 1
    return count if start == len(data) else 0


def _without_odd_members(data: bytes) -> bytes:
    fields = _fitting(decode_fields(data), RolloutRow)
    response = fields.get("response", NULL)
    if bytes(response).startswith(b"{"):
        inner = _fitting(decode_fields(response), Response)
        inner.pop("output", None)
        fields["response"] = msgspec.Raw(msgspec.json.encode(inner))
    return msgspec.json.encode(fields)


def _fitting(fields: Fields, struct: type[msgspec.Struct]) -> dict[str, msgspec.Raw]:
    """The members that `struct` reads, less those that are neither needed nor of the type that it expects."""
    types = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    return {
        name: raw
        for name, raw in fields.items()
        if name in types and (name in _NEEDED or _is_a(raw, types[name]))
    }


def _is_a(raw: msgspec.Raw, kind: Any) -> bool:
    try:
        msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        return False
    return True
