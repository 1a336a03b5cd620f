"""An expected action, checked once and kept ready for comparison with many responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymbal.verify.call import ExpectedCall
from gymbal.verify.unscorable import LabelError


class Label:
    """An expected action. `calls` is empty for a message, whose text is no part of any verdict."""

    __slots__ = ("action", "calls")

    def __init__(self, action: Mapping[str, Any]) -> None:
        """Check the shape of an expected action, as Gym does when it reads a row.

        Raises:
            LabelError: `action` has none of the three shapes. Arguments are decoded later, by `ExpectedCall`.
        """
        if not isinstance(action, dict):
            raise LabelError("must be an object", key="expected_action")
        self.action = action
        self.calls: tuple[ExpectedCall, ...] = ()
        kind = action.get("type")
        if kind == "function_call":
            self.calls = (_read_call(action, "expected_action"),)
        elif kind == "function_call_batch":
            self.calls = _read_batch(action.get("calls"))
        elif kind != "message":
            shapes = "message, function_call or function_call_batch"
            raise LabelError(f"must be {shapes}, found {kind!r}", key="expected_action.type")
        elif not isinstance(action.get("content"), str):
            raise LabelError("must be a string", key="expected_action.content")


def _read_batch(calls: object) -> tuple[ExpectedCall, ...]:
    if not isinstance(calls, list) or not calls:
        raise LabelError("must be a list of at least one function call", key="expected_action.calls")
    return tuple(_read_call(call, f"expected_action.calls[{index}]") for index, call in enumerate(calls))


def _read_call(call: Any, key: str) -> ExpectedCall:
    if not isinstance(call, dict) or call.get("type") != "function_call":
        raise LabelError("must be an object of type function_call", key=key)
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(name, str):
        raise LabelError("must be a string", key=f"{key}.name")
    if not isinstance(arguments, str):
        raise LabelError("must be a string of JSON", key=f"{key}.arguments")
    return ExpectedCall(name, arguments, key)
