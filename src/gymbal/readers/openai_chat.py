"""Dumps of OpenAI Chat Completions: one conversation per record, as `messages` and `tools`.

Datasets in the form that trainers of Hugging Face read are the same, with arguments as objects. An assistant
message is one model call, where the source does not split responses over several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Trajectory
from gymbal.readers.base.chat import read_conversation
from gymbal.readers.base.content import EMPTY, fields_of, list_of, token
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import (
    call_count_of,
    content_name,
    flag_of,
    opening_of,
    reward_of,
    task_of,
)
from gymbal.readers.base.records import Record, read_each
from gymbal.readers.base.tools import flat_tools

NAME = "openai_chat"


def matches(head: Head) -> bool:
    """A record with a list `messages`, and no response beside it."""
    return head.kind("messages") == "list" and head.kind("response") is None


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the conversations of one file in order."""
    return read_each(path, lambda record: _trajectory(record, options), "a conversation", options.part)


def _trajectory(record: Record, options: ReadOptions) -> Trajectory:
    fields = fields_of(record.data)
    messages = token(fields, "messages")
    if not messages.startswith(b"["):
        raise msgspec.DecodeError("it has no list `messages`")
    conversation = read_conversation(list_of(messages))
    tools = flat_tools(_declared(fields))
    call_count, call_count_field = call_count_of(fields, options.call_count_field)
    return Trajectory(
        source=record.source,
        format=NAME,
        seed=conversation.seed,
        items=conversation.items,
        tools=tools.raw,
        allows_parallel_calls=flag_of(fields, "parallel_tool_calls"),
        reward=reward_of(fields),
        task=task_of(fields) or content_name(tools.raw, *opening_of(conversation.seed)),
        rollout=None,
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=conversation.cuts,
        non_model_turns=conversation.non_model_turns,
        conversions=Counter(conversation.conversions) + Counter(tools.conversions()),
    )


def _declared(fields: Fields) -> bytes:
    """The tools, or `functions` in the API's first form."""
    tools = token(fields, "tools")
    return token(fields, "functions") if tools in EMPTY else tools
