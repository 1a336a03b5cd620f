"""Facts that the rollouts themselves show: what was asked, who answered, how often, with which tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.model.rollout_table import NO_COUNT, PlanTable, RolloutTable, RowKind
from gymbal.model.run import Run

UNSET = "unset"

MAX_VALUES_SHOWN = 4

REQUEST_FIELDS = (
    ("temperature", Role.SAMPLING),
    ("top_p", Role.SAMPLING),
    ("reasoning", Role.SAMPLING),
    ("extra_body", Role.SAMPLING),
    ("max_output_tokens", Role.LIMITS),
    ("max_tool_calls", Role.LIMITS),
    ("parallel_tool_calls", Role.TOOLS),
    ("tool_choice", Role.TOOLS),
    ("instructions", Role.PROMPT),
    ("requested_model", Role.MODEL),
)
"""Fields of `Settings`, and what of an evaluation each is."""

KindCounts = Sequence[tuple[RowKind, int]]
"""Kinds of rows with the number of rows of each."""

RESPONSE = "response"
REQUEST = "responses_create_params"


def observed_facts(run: Run) -> tuple[Fact, ...]:
    """What the scored rows of `run` show; nothing without rows. Names do not collide with those of configs.

    A field that differs among the rows names its values, the most frequent first: such a run is mixed.
    """
    kinds = run.rollouts.kind_counts
    if not kinds:
        return ()
    file = ", ".join(dict.fromkeys(kind.file for kind, _ in kinds)) or None
    return tuple(msgspec.structs.replace(fact, file=file) for fact in _facts(run, kinds))


def _facts(run: Run, kinds: KindCounts) -> Iterator[Fact]:
    models = _values((kind.model, count) for kind, count in kinds)
    yield _fact("response_model", Role.MODEL, models, f"{RESPONSE}.model")
    for name, role in REQUEST_FIELDS:
        values = _values((getattr(kind.settings, name), count) for kind, count in kinds)
        yield _fact(f"request.{name}", role, values, f"{REQUEST}.{name}")
    yield _fact("agent", Role.HARNESS, ", ".join(run.agents), "agent_ref.name")
    servers = ", ".join(sorted({kind.server for kind, _ in kinds}))
    yield _fact("environment_server", Role.HARNESS, servers, "_ng_environment_server")
    yield _fact("tools_used", Role.TOOLS, _tools(kinds), f"{RESPONSE}.output")
    repeats = _repeats(run.planned or run.rollouts)
    yield _fact("repeats", Role.REPEATS, _values((count, 1) for count in repeats), "_ng_rollout_index")
    rows = run.rollouts
    largest = (
        ("most_output_tokens", "usage", rows.output_tokens_R),
        ("most_input_tokens", "usage", rows.input_tokens_R),
        ("most_model_calls", "output", rows.model_calls_R),
        ("most_tool_calls", "output", rows.tool_calls_R),
    )
    for name, member, counts_R in largest:
        most = max(counts_R)
        yield _fact(name, Role.LIMITS, None if most == NO_COUNT else most, f"{RESPONSE}.{member}")


def _repeats(rows: RolloutTable | PlanTable) -> Iterable[int]:
    """The number of rows of each task."""
    repeats: Counter[tuple[str, int | None, int]] = Counter()
    for (number, task), count in Counter(zip(rows.kind_R, rows.task_R, strict=True)).items():
        kind = rows.kinds[number]
        repeats[kind.agent, kind.stage, task] += count
    return repeats.values()


def _tools(kinds: KindCounts) -> str:
    return ", ".join(sorted(set().union(*(kind.tools_used for kind, _ in kinds)))) or "none"


def _values(counted: Iterable[tuple[Value, int]]) -> Value:
    """The one value of all rows; else each with its number of rows."""
    counts: Counter[Value] = Counter()
    for value, count in counted:
        counts[UNSET if value is None else value] += count
    if len(counts) == 1:
        return next(iter(counts))
    shown = [f"{value} ({count})" for value, count in counts.most_common(MAX_VALUES_SHOWN)]
    rest = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _fact(name: str, role: Role, value: Value, key: str) -> Fact:
    known = value is not None
    return Fact(
        name=name,
        role=role,
        value=value,
        strength=Strength.RECORDED if known else Strength.MISSING,
        key=key,
        remedy=None if known else "the rows do not say",
    )
