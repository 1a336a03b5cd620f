"""The splicing writer: a pivot row is put together from bytes of the source, which are never decoded."""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec

from gymbal.io.printable import printable
from gymbal.model.pivot import THOUGHT, ActionKind, ModelCall, PivotOrigin, PivotPlace
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.label import Label
from gymbal.pivot.prefix import Prefix

DATASET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A dataset names blocks of a Gym config, and Gym's command line overrides their keys by dotted paths."""

AGENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""An agent that rows name already is a block of that name, whatever a command line can override of it."""

KEY_BYTES = 16
"""128 bits of SHA-256: two different rows never share a key by chance."""

# A name of the module is found ten times as fast as a member of an enumeration, and rows are many.
_BATCH = ActionKind.FUNCTION_CALL_BATCH


class Row(msgspec.Struct, frozen=True, gc=False):
    label: Label
    origin: PivotOrigin
    place: PivotPlace
    key: bytes
    """Digest of the request and the label: equal keys mean the same training row."""
    parts: tuple[bytes | memoryview, ...]
    """The line as pieces to write one after another: what all rows of the trajectory begin with, the input
    items, what they all have next, and the rest of this row, line break included."""
    input: memoryview
    """The piece that holds the input items."""


_encode = msgspec.json.Encoder().encode
_new_hasher = sha256().copy
"""Copies one that has hashed nothing: to make one anew takes as long as to hash a label."""


def agent_name(dataset: str) -> str:
    """Name of the config's agent block that runs the rows of `dataset`."""
    return f"{dataset}_agent"


class Frame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What all rows of one trajectory have alike."""

    origin: PivotOrigin
    allows_parallel_calls: bool
    seed_calls: int
    """Model calls in the seed."""
    calls: int
    """Model calls of the trajectory, those in the seed left out."""
    head: bytes
    """Everything before the input items."""
    tools: bytes
    """What follows the input items, up to the value of `parallel_tool_calls`."""
    digest: bytes
    """Of the request without its input items."""
    agent: bytes
    """What follows the label, up to what `pivot_info` says of the row alone."""


def frame_of(trajectory: Trajectory, dataset: str, *, source: str, seed_calls: int, calls: int) -> Frame:
    """Prepare what the rows of `trajectory` share, so that nothing of it is hashed or encoded row by row.

    `source` is what they call the file that it comes from.
    """
    origin = _origin(trajectory, source)
    instructions = trajectory.instructions
    request = b"" if instructions is None else b'"instructions":%b,' % instructions
    tools = b'],"tools":%b,"tool_choice":"auto","parallel_tool_calls":' % trajectory.tools
    agent = msgspec.json.encode({"type": "responses_api_agents", "name": agent_name(dataset)})
    return Frame(
        origin=origin,
        allows_parallel_calls=bool(trajectory.allows_parallel_calls),
        seed_calls=seed_calls,
        calls=calls,
        head=b'{"responses_create_params":{%b"input":[' % request,
        tools=tools,
        digest=sha256(request + tools).digest(),
        agent=b'"agent_ref":%b,"pivot_info":%b,' % (agent, _encode(origin)[:-1]),
    )


def row_of(
    frame: Frame, call: ModelCall, prefix: Prefix, label: Label, *, with_reference: bool = False
) -> Row:
    """Put one row together: the request up to the model call, its label, and where both came from.

    `parallel_tool_calls` is true where the label is a batch and where the source allowed parallel calls.
    `with_reference` adds `reference_output`: the items of the model call, byte for byte.
    """
    is_parallel = label.kind is _BATCH or frame.allows_parallel_calls
    flag = b'true},"' if is_parallel else b'false},"'
    action = b"".join((flag, label.field.encode(), b'":', label.raw, label.beside, b","))
    # Both digests have a fixed length: no two rows give the same bytes to hash.
    hasher = _new_hasher()
    hasher.update(b"".join((prefix.digest, frame.digest, action)))
    key = hasher.digest()[:KEY_BYTES]
    place = PivotPlace(
        uuid=uuid_text(key),
        call=call.index,
        depth=frame.seed_calls + call.index,
        trajectory_length=frame.calls,
        own_reasoning_items=call.shape.count(THOUGHT),
        boundary=call.boundary,
        target=label.target,
    )
    reference = _reference(call) if with_reference else b""
    tail = b"".join((action, reference, frame.agent, _encode(place)[1:], b"}\n"))
    return Row(label, frame.origin, place, key, (frame.head, prefix.raw, frame.tools, tail), prefix.raw)


def uuid_text(key: bytes) -> str:
    """The UUID of version 4 with the bits of `key`, 16 bytes. Python's own class takes ten times as long."""
    digits = key.hex()
    variant = "89ab"[key[8] >> 4 & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _reference(call: ModelCall) -> bytes:
    return b'"reference_output":[%b],' % b",".join(item.raw for item in call.items)


def _origin(trajectory: Trajectory, source: str) -> PivotOrigin:
    return PivotOrigin(
        source=printable(source),
        line=trajectory.source.line,
        record=trajectory.source.record,
        task=trajectory.task,
        rollout=trajectory.rollout,
        reward=trajectory.reward,
    )
