"""How a task is judged: the fields of its dataset row that are neither request nor bookkeeping, as digests.

A changed answer and a changed way of judging are different news, so the fields are split by their names. The
names are those of the datasets that nemo-gym 0.7.0 ships (their `data/*.jsonl`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from gymbal.io.fingerprint import fingerprint
from gymbal.model.json_fields import Fields, decode_value

TASK_NAMES = ("uuid", "task_id", "id")
"""Names of a dataset row, best first. They are what people call it, not what it asks."""

BOOKKEEPING_FIELDS = frozenset(
    {
        "agent_ref",
        "task_source",
        "skills_ref",
        "responses_create_params",
        "task_input",
        "task_data",
        *TASK_NAMES,
    }
)

ANSWER_FIELDS = frozenset(
    {
        "answer",
        "answer_equals",
        "answer_key",
        "answers",
        "canonical_solution",
        "correct_answer",
        "correct_index",
        "expected",
        "gold",
        "ground_truth",
        "ideal",
        "label",
        "labels",
        "patch",
        "reference",
        "reference_answer",
        "reference_output",
        "reference_response",
        "reference_solution",
        "solution",
        "solutions",
        "sql",
        "target",
        "targets",
    }
)
"""Fields that say what the right answer is. `patch` is the repair that a software task's dataset keeps."""

ANSWER_PREFIXES = ("expected_", "gold_", "golden_", "ground_truth_", "gt_")
"""A field whose name begins so is part of the answer, as in `expected_action` and `expected_synonyms`."""

ANSWER_HOLDERS = frozenset({"extra_info", "instance", "metadata", "reward_model", "verifier_metadata"})
"""Objects of a dataset row that can hold answer fields; looked into one level deep."""


_NONE = fingerprint({})


class Judging(msgspec.Struct, frozen=True):
    """Digests of a task's answer and of the other fields that its verifier sees."""

    answer: str
    verifier: str


def judging(fields: Fields, *, with_names: bool) -> Judging:
    """Digests of the fields of a dataset row; a row without answer fields has the digest of none.

    `with_names` counts the row's own names in: where the prompt is empty they are what selects the task.
    """
    answer: dict[str, Any] = {}
    verifier: dict[str, Any] = {}
    for name in _judged(tuple(fields), with_names):
        value = decode_value(fields[name])
        if is_answer_field(name):
            answer[name] = value
        elif name in ANSWER_HOLDERS and isinstance(value, dict):
            answer[name] = {inner: part for inner, part in value.items() if is_answer_field(inner)}
            verifier[name] = {inner: part for inner, part in value.items() if inner not in answer[name]}
        else:
            verifier[name] = value
    return Judging(fingerprint(answer) if answer else _NONE, fingerprint(verifier) if verifier else _NONE)


@lru_cache(maxsize=64)
def _judged(names: tuple[str, ...], with_names: bool) -> tuple[str, ...]:
    """Those of a row's names that judging reads; the rows of a dataset share theirs."""
    left_out = BOOKKEEPING_FIELDS.difference(TASK_NAMES) if with_names else BOOKKEEPING_FIELDS
    return tuple(name for name in names if name not in left_out and not name.startswith("_ng_"))


def is_answer_field(name: str) -> bool:
    """Whether a dataset field of this name holds the answer or a part of it."""
    return name in ANSWER_FIELDS or name.startswith(ANSWER_PREFIXES)
