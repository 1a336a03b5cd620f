"""Pivot rows with one thing wrong, or with nothing wrong that only looks so."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

Json = dict[str, Any]

OTHER_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -3, 1.5, "", "other", "auto", "completed", "function_call", "message", "user"),
    *("assistant", "{}", "[]", '{"part_id": "P-101"}', [], {}, [None], [{}], ["text"], {"type": "message"}),
    *([{"type": "input_text", "text": "hi"}], [{"type": "output_text", "text": "hi", "annotations": []}]),
    *([{"type": "output_text", "text": "hi"}], [{"type": "refusal", "refusal": "no"}], {"name": "f"}),
)
FIELD_NAMES = (
    *("id", "type", "status", "phase", "content", "summary", "encrypted_content", "namespace", "call_id"),
    *("output", "role", "name", "arguments", "metadata", "tool_choice", "temperature", "top_p", "stream"),
    *("strict", "description", "parameters", "defer_loading", "annotations", "logprobs", "model", "store"),
    *("prompt_token_ids", "generation_token_ids", "generation_log_probs", "reasoning", "truncation", "other"),
)


def random_row(random: Random, rows: Sequence[Json]) -> Json:
    """One of `rows` with one to three changes."""
    row = copy.deepcopy(random.choice(rows))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _change(random, row)
    return row


def _change(random: Random, row: Json) -> None:
    """Takes a member away, gives one another value, or adds one, at a random place."""
    place = random.choice(_containers(row))
    if isinstance(place, list):
        if not place or random.random() < 0.2:
            place.insert(random.randint(0, len(place)), copy.deepcopy(random.choice(OTHER_VALUES)))
        elif random.random() < 0.5:
            del place[random.randrange(len(place))]
        else:
            place[random.randrange(len(place))] = copy.deepcopy(random.choice(OTHER_VALUES))
    elif not place or random.random() < 0.3:
        place[random.choice(FIELD_NAMES)] = copy.deepcopy(random.choice(OTHER_VALUES))
    else:
        key = random.choice(list(place))
        if random.random() < 0.4:
            del place[key]
        else:
            place[key] = copy.deepcopy(random.choice(OTHER_VALUES))


def _containers(value: Any) -> list[Any]:
    """Every object and list in `value`; the deeper parts of tool schemas are left out."""
    found: list[Any] = []
    if isinstance(value, dict):
        found.append(value)
        for key, inner in value.items():
            found += [] if key in ("parameters", "pivot_info") else _containers(inner)
    elif isinstance(value, list):
        found.append(value)
        for inner in value:
            found += _containers(inner)
    return found
