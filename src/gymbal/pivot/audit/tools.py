"""A16: the tools of a row are all those of the trajectory, as it lists them.

The order of fields, null fields, and those that say what a tool without them is taken for make no difference.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import msgspec

from gymbal.model.trajectory import Conversion, Trajectory
from gymbal.pivot.audit.outcome import Outcome, Unchecked
from gymbal.pivot.audit.row import AuditRow
from gymbal.pivot.parse import MAX_SHOWN, REQUEST, Check

RULE = "A16"
TOOLS = f"{REQUEST}.tools"

_Tool = dict[str, Any]

_CACHED_LISTS = 64
"""Rows of one trajectory have the same list, and trajectories of one source mostly do."""

_NOT_RECORDED = (Conversion.TOOLS_SUPPLIED, Conversion.TOOLS_REBUILT)
_NO_PARAMETERS: tuple[_Tool, ...] = ({}, {"type": "object"}, {"type": "object", "properties": {}})


def check_tools(row: AuditRow, trajectory: Trajectory) -> Outcome:
    """Hold the tools of a row to those of its trajectory."""
    is_filled = Conversion.TOOL_SCHEMA_FILLED in trajectory.conversions
    due = _tools_of(trajectory.tools, is_filled)
    if due is None:
        return Unchecked(RULE, "the tools of the source cannot be read")
    if not due or any(name in trajectory.conversions for name in _NOT_RECORDED):
        return Unchecked(RULE, "the source lists no tools")
    if row.tools == trajectory.tools:
        return Check(RULE)
    held = _tools_of(row.tools or b"[]", is_filled)
    if held is None:
        return Check(RULE, TOOLS, "no list of tools")
    return Check(RULE, *_difference(held, due)) if held != due else Check(RULE)


def offers_tools(row: AuditRow, trajectory: Trajectory) -> bool:
    """Whether a row is known to offer the tools of a trajectory."""
    outcome = check_tools(row, trajectory)
    return isinstance(outcome, Check) and outcome.found is None


@lru_cache(maxsize=_CACHED_LISTS)
def _tools_of(encoded: bytes, is_filled: bool) -> list[_Tool] | None:
    """The tools of a JSON list, in the terms in which they are compared; None for another value.

    `is_filled` says that the reader put in what a tool of the trajectory lacked: `strict`, which another
    program can fill in otherwise.
    """
    try:
        tools = msgspec.json.decode(encoded, type=list[_Tool])
    except (ValueError, RecursionError):  # a number of thousands of digits is a plain ValueError
        return None
    return [_offered(tool, is_filled) for tool in tools]


def _offered(tool: _Tool, is_filled: bool) -> _Tool:
    offered = {name: value for name, value in tool.items() if value is not None}
    if is_filled or offered.get("strict") is False:
        offered.pop("strict", None)
    if offered.get("parameters") in _NO_PARAMETERS:
        del offered["parameters"]
    return offered


def _difference(held: list[_Tool], due: list[_Tool]) -> tuple[str, str]:
    """Key path and description of what differs first."""
    names, due_names = [_name(tool) for tool in held], [_name(tool) for tool in due]
    missing, extra = Counter(due_names) - Counter(names), Counter(names) - Counter(due_names)
    if missing:
        return TOOLS, f"lacks {missing.total()} of {len(due)} tools: {', '.join(missing)}"[:MAX_SHOWN]
    if extra:
        return TOOLS, f"holds {extra.total()} tools more: {', '.join(extra)}"[:MAX_SHOWN]
    if names != due_names:
        return TOOLS, "the tools stand in another order"
    at = next(index for index, pair in enumerate(zip(held, due, strict=True)) if pair[0] != pair[1])
    fields = [name for name in {**due[at], **held[at]} if held[at].get(name) != due[at].get(name)]
    return f"{TOOLS}[{at}]", f"another {' and '.join(fields)} of {names[at]}"[:MAX_SHOWN]


def _name(tool: _Tool) -> str:
    return str(tool.get("name") or tool.get("type"))
