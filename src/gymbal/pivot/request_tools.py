"""What the request model of Gym 0.7.0 takes as tools (see `gymbal.pivot.request`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.model.json_fields import Fields, decode_fields


class _Names(NamedTuple):
    """Fields of a tool beside its type. Gym forbids others."""

    needed: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


def _names(needed: str = "", optional: str = "") -> _Names:
    return _Names(frozenset(needed.split()), frozenset(optional.split()))


_WEB_SEARCH = _names(optional="filters search_context_size user_location")
_WEB_SEARCH_PREVIEW = _names(optional="search_content_types search_context_size user_location")

_OTHER_TOOLS: Mapping[str, _Names] = {
    "apply_patch": _names(),
    "code_interpreter": _names("container"),
    "computer": _names(),
    "computer_use_preview": _names("display_height display_width environment"),
    "custom": _names("name", "defer_loading description format"),
    "file_search": _names("vector_store_ids", "filters max_num_results ranking_options"),
    "image_generation": _names(
        optional="action background input_fidelity input_image_mask model moderation output_compression"
        " output_format partial_images quality size"
    ),
    "local_shell": _names(),
    "mcp": _names(
        "server_label",
        "allowed_tools authorization connector_id defer_loading headers require_approval server_description"
        " server_url tunnel_id",
    ),
    "namespace": _names("description name tools"),
    "shell": _names(optional="environment"),
    "tool_search": _names(optional="description execution parameters"),
    "web_search": _WEB_SEARCH,
    "web_search_2025_08_26": _WEB_SEARCH,
    "web_search_preview": _WEB_SEARCH_PREVIEW,
    "web_search_preview_2025_03_11": _WEB_SEARCH_PREVIEW,
}
"""Tools that Gym takes beside functions, by type. No expected action can call them."""


class _FunctionTool(Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["function"]
    name: str
    parameters: dict[str, Any] | None
    strict: bool | None
    description: str | None = None
    defer_loading: bool | None = None


class _AnyTool(Struct, gc=False):
    type: str | None = None


_tool_list = msgspec.json.Decoder(list[Raw]).decode
_any_tool = msgspec.json.Decoder(_AnyTool).decode
_function_tool = msgspec.json.Decoder(_FunctionTool).decode


class Tools(NamedTuple):
    """What a request's tool list offers."""

    names: frozenset[str]
    """Function tools only: the others have no `function_call`."""
    is_empty: bool
    problem: str | None
    """Why Gym would refuse the list. Of tools that are no functions, the values are not looked into."""


@lru_cache(maxsize=64)
def read_tools(raw: bytes) -> Tools:
    """Read a JSON list of tool schemas. Kept, because it stands the same in every row of a trajectory."""
    try:
        tools = _tool_list(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return Tools(frozenset(), False, f"tools: {error}")
    names = set()
    for position, tool in enumerate(tools):
        try:
            other = _OTHER_TOOLS.get(_any_tool(tool).type or "")
            problem = None if other is None else _problem_of_names(decode_fields(tool), other)
            if other is None:
                names.add(_function_tool(tool).name)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = str(error)
        if problem is not None:
            return Tools(frozenset(names), False, f"tools[{position}]: {problem}")
    return Tools(frozenset(names), not tools, None)


def _problem_of_names(tool: Fields, names: _Names) -> str | None:
    """Why a tool that is no function has the wrong fields."""
    found = tool.keys() - {"type"}
    if missing := sorted(names.needed - found):
        return f"{', '.join(missing)} is missing"
    if unknown := sorted(found - names.needed - names.optional):
        return f"{', '.join(unknown)} is no field of this type"
    return None
