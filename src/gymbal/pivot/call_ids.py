"""Call ids `<tool>:<index>`, with the index from 0 in each response, as some producers make them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gymbal.model.item import Item

_INDEXED_ID = re.compile(r"(?:functions\.)?(?P<tool>.+):(?P<index>\d{1,9})")


def call_index(item: Item) -> int | None:
    """The index in the id of a tool call; None for any other id."""
    match = _INDEXED_ID.fullmatch(item.call_id or "")
    return int(match["index"]) if match and match["tool"] == item.name else None


def call_indices(calls: Sequence[Item]) -> list[int] | None:
    """The index of each of these tool calls; None where there are none, or one has no index."""
    indices = [index for index in map(call_index, calls) if index is not None]
    return indices if calls and len(indices) == len(calls) else None


def count_on(indices: Sequence[int], responses: int) -> bool:
    """Whether call ids count on over several responses: if each began at 0, that would stand there again."""
    return responses > 1 and len(set(indices)) == len(indices)


def is_one_response(indices: Sequence[int]) -> bool:
    """Whether a response that emitted all of its calls could have numbered them like this."""
    return list(indices) == list(range(len(indices)))
