"""Results of tau-bench: a JSON list of attempts, each with its conversation in `traj`.

The file holds no tool schemas; they come from the environment and are to be supplied. tau-bench keeps only
the first call of a response, so that parallel calls were cut off before they could be recorded. Call ids
repeat within a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Trajectory
from gymbal.readers.base.chat import read_conversation
from gymbal.readers.base.content import fields_of, list_of, token
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import (
    call_count_of,
    content_name,
    name_among,
    name_in_domain,
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
    task = name_in_domain(name_among((token(fields, "task_id"),)), *_domain(fields, conversation.seed))
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


def _domain(fields: Fields, seed: Sequence[Item]) -> Iterator[bytes]:
    """What tells the task from one of the same number in another domain, or in another split of this one.

    That is the system prompt, and what the user simulator was told: what it writes differs in each trial.
    """
    yield from (item.raw for item in seed if item.kind is ItemKind.SYSTEM)
    yield token(fields_of(token(fields_of(token(fields, "info")), "task")), "instruction")
