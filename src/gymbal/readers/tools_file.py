"""Tool schemas that a user supplies for sources which record none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gymbal.errors import InputError
from gymbal.model.trajectory import Conversion, Trajectory
from gymbal.readers.base.content import list_of
from gymbal.readers.base.records import on_one_line, read_document
from gymbal.readers.base.tools import flat_tools

NO_TOOLS = b"[]"


def read_tools_file(path: Path) -> bytes:
    """Return the schemas of a JSON list, of Chat Completions or the Responses API, as Gym asks for them.

    Raises InputError when the file is no such list or an element is no object.
    """
    expected = 'Expected a JSON list of tools, such as [{"type": "function", "function": {"name": ...}}].'
    body = on_one_line(read_document(path)).strip()
    try:
        body.decode()
        msgspec.json.decode(body, type=list[dict[str, msgspec.Raw]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"is no list of tool schemas: {error}", path=path, remedy=expected) from error
    return flat_tools(body).raw


def with_tools(trajectories: Iterable[Trajectory], tools: bytes) -> Iterator[Trajectory]:
    """Yield the trajectories, those that list no tools with `tools` instead, and count that."""
    for trajectory in trajectories:
        if list_of(trajectory.tools):
            yield trajectory
            continue
        conversions = Counter(trajectory.conversions) + Counter({Conversion.TOOLS_SUPPLIED: 1})
        yield msgspec.structs.replace(trajectory, tools=tools, conversions=conversions)
