"""What the rulebooks of `terminal_multi_harness` compare of a call's arguments, by harness and tool.

A rule gets the expected arguments and those of a response. It returns True where they match, None where they
do not, or two texts whose similarity decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

Arguments = Mapping[str, Any]
Likeness = Literal[True] | tuple[str, str] | None
Rule = Callable[[Arguments, Arguments], Likeness]


def _command(key: str) -> Rule:
    """A text that is compared without its outer white space and in one kind of line breaks."""

    def compare(expected: Arguments, found: Arguments) -> Likeness:
        texts = expected.get(key), found.get(key)
        if not all(isinstance(text, str) for text in texts):
            return None
        left, right = (str(text).replace("\r\n", "\n").replace("\r", "\n").strip() for text in texts)
        return left, right

    return compare


def _same(*keys: str) -> Rule:
    """Values that are equal, or missing on both sides."""
    return lambda expected, found: all(expected.get(key) == found.get(key) for key in keys) or None


def _code(expected: Arguments, found: Arguments) -> Likeness:
    left, right = expected.get("code"), found.get("code")
    if not isinstance(left, str) or not isinstance(right, str) or not left.strip() or not right.strip():
        return None
    return left, right


def _result(expected: Arguments, found: Arguments) -> Likeness:
    left, right = (json.dumps(side.get("result"), sort_keys=True, default=str) for side in (expected, found))
    return left, right


def _plan(_: Arguments, found: Arguments) -> Likeness:
    plan = found.get("plan")
    if plan is None:
        return None
    if isinstance(plan, str):
        return bool(plan.strip()) or None
    return bool(plan) or not isinstance(plan, list | dict) or None


def _edit(expected: Arguments, found: Arguments) -> Likeness:
    """A change of nothing is none."""
    if found.get("oldString") == found.get("newString"):
        return None
    return _same("filePath", "replaceAll")(expected, found)


def _todos(expected: Arguments, found: Arguments) -> Likeness:
    left, right = expected.get("todos"), found.get("todos")
    if left == []:
        return right == [] or None
    if not isinstance(left, list) or not isinstance(right, list) or len(left) != len(right):
        return None
    same = _same("status", "priority")
    pairs = zip(left, right, strict=True)
    return all(isinstance(a, dict) and isinstance(b, dict) and same(a, b) is True for a, b in pairs) or None


def _query(expected: Arguments, found: Arguments) -> Likeness:
    return _words("query", expected, found)


def _address(expected: Arguments, found: Arguments) -> Likeness:
    words = _words("url", expected, found)
    return None if words is None or words[0] != words[1] else True


def _finish(expected: Arguments, found: Arguments) -> Likeness:
    paths = expected.get("paths"), found.get("paths")
    if not all(isinstance(side, list) and side and all(isinstance(p, str) for p in side) for side in paths):
        return None
    left, right = (sorted(path.strip() for path in side or ()) for side in paths)
    return _words("reason", expected, found) if left == right else None


def _words(key: str, expected: Arguments, found: Arguments) -> tuple[str, str] | None:
    left, right = expected.get(key), found.get(key)
    if not isinstance(left, str) or not isinstance(right, str) or not left or not right:
        return None
    return left.lower().strip(), right.lower().strip()


RULEBOOKS: Mapping[str, Mapping[str, Rule]] = {
    "codex": {"exec_command": _command("cmd"), "update_plan": _plan},
    "agent006": {"execute_python": _code, "return_result": _result},
    "opencode": {
        "bash": _command("command"),
        "todowrite": _todos,
        "read": _same("filePath"),
        "write": _same("filePath"),
        "edit": _edit,
        "glob": _same("pattern", "path"),
        "grep": _same("pattern", "path", "include"),
        "webfetch": _same("url", "format"),
        "skill": _same("name"),
        "task": _same("subagent_type"),
    },
    "stirrup": {
        "code_exec": _command("cmd"),
        "web_search": _query,
        "fetch_web_page": _address,
        "finish": _finish,
    },
}
"""A tool that a rulebook does not name is held to its name, its keys and its schema alone."""
