"""Tells the target of a dataset by one of its rows, and by the config that goes with it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gymbal.errors import UsageError
from gymbal.io.jsonl import read_lines
from gymbal.model.json_fields import Fields, decode_fields
from gymbal.model.pivot import ActionKind
from gymbal.model.target import Target
from gymbal.pivot.parse import AGENT, LABEL
from gymbal.pivot.targets.contract import object_of, text_of
from gymbal.pivot.targets.servers import SERVERS, TARGET_OF_SERVER
from gymbal.pivot.targets.terminus_judge import HARNESS, HARNESSES, METADATA, answer_of
from gymbal.pivot.wiring import GymConfig, target_wired

INFO_FIELD = "target"
"""Field of `pivot_info` by which a build names the target of a row."""

BUILT_FIELDS = frozenset({"uuid", "call", "boundary"})
"""Fields of `pivot_info` that every build writes."""

_NOT_OF_SWE_PIVOT = frozenset({ActionKind.MESSAGE, ActionKind.FUNCTION_CALL_BATCH})
"""Labels that its server cannot read."""


def target_named(name: str) -> Target:
    """The target `name`, or that of a server's name; raise UsageError when there is none."""
    try:
        return TARGET_OF_SERVER.get(name) or Target(name)
    except ValueError:
        known = ", ".join(Target)
        raise UsageError(f"there is no target {name!r}", remedy=f"Known targets: {known}.") from None


def target_of_file(rows: Path, config: GymConfig | None = None) -> Target:
    """The target of a pivot JSONL file, told by its first row.

    A file without a row that can be read counts as one of the single-step target. Raises InputError when it
    cannot be read.
    """
    line = next(read_lines(rows), None)
    try:
        row = {} if line is None else decode_fields(line.data)
    except (msgspec.DecodeError, RecursionError):
        row = {}
    return target_of_row(row, config)


def target_of_row(row: Fields, config: GymConfig | None = None) -> Target:
    """The target that a row is made for.

    First what `config` says of its agent, then what the row says, then its fields, then the name of its
    agent; a row that shows nothing of all this is one of the single-step target.
    """
    agent = text_of(object_of(row, AGENT), "name")
    routed = None if config is None else target_wired(config, agent)
    return routed or _stated(row) or _by_fields(row) or _by_agent(row, agent) or Target.SINGLE_STEP


def _stated(row: Fields) -> Target | None:
    """What `pivot_info` says. A build names every target there but the single-step one."""
    info = object_of(row, "pivot_info")
    stated = text_of(info, INFO_FIELD)
    if stated in list(Target):
        return Target(stated)
    return Target.SINGLE_STEP if stated is None and info.keys() >= BUILT_FIELDS else None


def _by_fields(row: Fields) -> Target | None:
    if text_of(row, HARNESS) is not None and LABEL in row:
        return Target.TERMINAL_MULTI_HARNESS
    if answer_of(row) and text_of(object_of(row, METADATA), HARNESS) in HARNESSES:
        return Target.TERMINUS_JUDGE
    return None


def _by_agent(row: Fields, agent: str | None) -> Target | None:
    """The target whose stock config names the agent, unless the row cannot be one of it.

    Any other name says nothing: a dataset names its own agent.
    """
    found = next((target for target, server in SERVERS.items() if agent in server.stock_agents), None)
    return None if found is None or _is_ruled_out(row, found) else found


def _is_ruled_out(row: Fields, target: Target) -> bool:
    match target:
        case Target.SINGLE_STEP:
            return False
        case Target.SWE_PIVOT:
            return text_of(object_of(row, LABEL), "type") in _NOT_OF_SWE_PIVOT
        case Target.TERMINUS_JUDGE:
            return answer_of(row) is None
        case Target.TERMINAL_MULTI_HARNESS:
            return text_of(row, HARNESS) is None
