"""Tells the target of a dataset by one of its rows, and by the config that goes with it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gymbal.errors import UsageError
from gymbal.io.jsonl import read_lines
from gymbal.model.json_fields import Fields, decode_fields
from gymbal.model.target import Target
from gymbal.pivot.targets.contract import object_of, text_of
from gymbal.pivot.targets.servers import SERVERS, TARGET_OF_SERVER
from gymbal.pivot.targets.terminus_judge import HARNESSES
from gymbal.pivot.wiring import GymConfig, target_wired

INFO_FIELD = "target"
"""Field of `pivot_info` by which a build names the target of a row."""


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
    agent = text_of(object_of(row, "agent_ref"), "name")
    routed = None if config is None else target_wired(config, agent)
    return routed or _stated(row) or _by_fields(row) or _by_agent(agent or "") or Target.SINGLE_STEP


def _stated(row: Fields) -> Target | None:
    stated = text_of(object_of(row, "pivot_info"), INFO_FIELD)
    return Target(stated) if stated in list(Target) else None


def _by_fields(row: Fields) -> Target | None:
    if text_of(row, "harness") is not None and "expected_action" in row:
        return Target.TERMINAL_MULTI_HARNESS
    metadata = object_of(row, "metadata")
    has_answer = text_of(row, "expected_answer") or text_of(metadata, "expected_answer")
    if has_answer and text_of(metadata, "harness") in HARNESSES:
        return Target.TERMINUS_JUDGE
    return None


def _by_agent(agent: str) -> Target | None:
    """A stock agent is called after its server, the single-step one after its source too."""
    found = [target for target, server in SERVERS.items() if server.name in agent]
    return found[0] if found else None
