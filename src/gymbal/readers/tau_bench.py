"""Results of tau-bench: a JSON list of attempts, each with its conversation in `traj`.

The file holds no tool schemas; they come from the environment and are to be supplied. tau-bench keeps only
the first call of a response, so that parallel calls were cut off before they could be recorded. Call ids
repeat within a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gymbal.model.trajectory import Trajectory
from gymbal.readers.base.chat import read_conversation
from gymbal.readers.base.content import fields_of, list_of, token
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import (
    call_count_of,
    content_name,
    name_among,
    opening_of,
    reward_of,
)
from gymbal.readers.base.records import Record, read_each

NAME = "tau_bench"


def matches(head: Head) -> bool:
    """An attempt with a list `traj` and a `task_id`."""
    return head.kind("traj") == "list" and head.kind("task_id") is not None


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the attempts of one file in order; one that failed before its first message has no items."""
    return read_each(path, lambda record: _trajectory(record, options), "an attempt of tau-bench")


def _trajectory(record: Record, options: ReadOptions) -> Trajectory:
    fields = fields_of(record.data)
    messages = token(fields, "traj")
    if not messages.startswith(b"["):
        raise msgspec.DecodeError("it has no list `traj`")
    conversation = read_conversation(list_of(messages))
    task = name_among((token(fields, "task_id"),))
    trial = name_among((token(fields, "trial"),))
    call_count, call_count_field = call_count_of(fields, options.call_count_field)
    return Trajectory(
        source=record.source,
        format=NAME,
        seed=conversation.seed,
        items=conversation.items,
        tools=b"[]",
        allows_parallel_calls=None,
        reward=reward_of(fields),
        task=task or content_name(*opening_of(conversation.seed)),
        rollout=None if task is None or trial is None else f"{task}-{trial}",
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=conversation.cuts,
        non_model_turns=conversation.non_model_turns,
        conversions=conversation.conversions,
    )
