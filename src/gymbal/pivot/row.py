"""The splicing writer: a pivot row is put together from bytes of the source, which are never decoded."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

import msgspec

from gymbal.model.item import ItemKind
from gymbal.model.pivot import ActionKind, ModelCall, PivotInfo
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.label import Label
from gymbal.pivot.prefix import Prefix

DATASET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A dataset names blocks of a Gym config, and Gym's command line overrides their keys by dotted paths."""


KEY_BYTES = 16
"""128 bits of SHA-256: two different rows never share a key by chance."""


class Row(NamedTuple):
    label: Label
    info: PivotInfo
    key: bytes
    """Digest of the request and the label: equal keys mean the same training row."""
    parts: tuple[bytes | memoryview, ...]
    """The line as pieces to write one after another, line break included."""
    input: memoryview
    """The piece that holds the input items."""


def agent_name(dataset: str) -> str:
    """Name of the config's agent block that runs the rows of `dataset`."""
    return f"{dataset}_agent"


class Place(NamedTuple):
    """Where a model call stands in its trajectory."""

    call: ModelCall
    depth: int
    """Model calls before it, those in the seed included."""
    length: int
    """Model calls of the trajectory, those in the seed left out."""


def row_of(
    trajectory: Trajectory,
    place: Place,
    prefix: Prefix,
    label: Label,
    dataset: str,
    *,
    with_reference: bool = False,
) -> Row:
    """Put one row together: the request up to the model call, its label, and where both came from.

    `parallel_tool_calls` is true where the label is a batch and where the source allowed parallel calls.
    `with_reference` adds `reference_output`: the items of the model call, byte for byte.
    """
    parallel = label.kind is ActionKind.FUNCTION_CALL_BATCH or bool(trajectory.allows_parallel_calls)
    instructions = trajectory.instructions
    head = b"" if instructions is None else b'"instructions":%b,' % instructions
    request_end = b'],"tools":%b,"tool_choice":"auto","parallel_tool_calls":%b}' % (
        trajectory.tools,
        b"true" if parallel else b"false",
    )
    key = sha256(b"\0".join((prefix.digest, head, request_end, label.raw))).digest()[:KEY_BYTES]
    info = _info(trajectory, place, str(UUID(bytes=key, version=4)))
    agent = msgspec.json.encode({"type": "responses_api_agents", "name": agent_name(dataset)})
    tail = b'%b,"expected_action":%b,%b"agent_ref":%b,"pivot_info":%b}\n' % (
        request_end,
        label.raw,
        _reference(place.call) if with_reference else b"",
        agent,
        msgspec.json.encode(info),
    )
    parts = (b'{"responses_create_params":{%b"input":[' % head, prefix.raw, tail)
    return Row(label, info, key, parts, prefix.raw)


def _reference(call: ModelCall) -> bytes:
    return b'"reference_output":[%b],' % b",".join(item.raw for item in call.items)


def _info(trajectory: Trajectory, place: Place, uuid: str) -> PivotInfo:
    return PivotInfo(
        source=trajectory.source.path.rpartition("/")[2],
        line=trajectory.source.line,
        record=trajectory.source.record,
        task=trajectory.task,
        rollout=trajectory.rollout,
        reward=trajectory.reward,
        uuid=uuid,
        call=place.call.index,
        depth=place.depth,
        trajectory_length=place.length,
        own_reasoning_items=sum(item.kind is ItemKind.REASONING for item in place.call.items),
        boundary=place.call.boundary,
    )
