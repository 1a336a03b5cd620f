"""Facts that the rollouts themselves show: what was asked, who answered, how often, with which tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.model.run import Rollout, Run

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

RESPONSE = "response"
REQUEST = "responses_create_params"


def observed_facts(run: Run) -> tuple[Fact, ...]:
    """What the scored rows of `run` show; nothing without rows. Names do not collide with those of configs.

    A field that differs among the rows names its values, the most frequent first: such a run is mixed.
    """
    rows = run.rollouts
    if not rows:
        return ()
    file = ", ".join(dict.fromkeys(row.file for row in rows)) or None
    return tuple(msgspec.structs.replace(fact, file=file) for fact in _facts(run, rows))


def _facts(run: Run, rows: Sequence[Rollout]) -> Iterator[Fact]:
    yield _fact("response_model", Role.MODEL, _values(row.model for row in rows), f"{RESPONSE}.model")
    for name, role in REQUEST_FIELDS:
        values = _values(getattr(row.settings, name) for row in rows)
        yield _fact(f"request.{name}", role, values, f"{REQUEST}.{name}")
    yield _fact("agent", Role.HARNESS, ", ".join(run.agents), "agent_ref.name")
    servers = ", ".join(sorted({row.key.server for row in rows}))
    yield _fact("environment_server", Role.HARNESS, servers, "_ng_environment_server")
    yield _fact("tools_used", Role.TOOLS, _tools(rows), f"{RESPONSE}.output")
    repeats = Counter((row.agent, row.key.stage, row.key.task) for row in run.planned or rows)
    yield _fact("repeats", Role.REPEATS, _values(repeats.values()), "_ng_rollout_index")
    largest: tuple[tuple[str, Role, Callable[[Rollout], int | None]], ...] = (
        ("most_output_tokens", Role.LIMITS, lambda row: row.output_tokens),
        ("most_input_tokens", Role.LIMITS, lambda row: row.input_tokens),
        ("most_model_calls", Role.LIMITS, lambda row: row.model_calls),
        ("most_tool_calls", Role.LIMITS, lambda row: row.tool_calls),
    )
    for name, role, value in largest:
        key = f"{RESPONSE}.usage" if name.endswith("tokens") else f"{RESPONSE}.output"
        yield _fact(
            name, role, max((found for row in rows if (found := value(row)) is not None), default=None), key
        )


def _tools(rows: Iterable[Rollout]) -> str:
    return ", ".join(sorted(set().union(*(row.tools_used for row in rows)))) or "none"


def _values(values: Iterable[Value]) -> Value:
    """The one value of all rows; else each with its number of rows."""
    counts = Counter(UNSET if value is None else value for value in values)
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
