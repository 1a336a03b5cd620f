"""Values of a config that are written as `${...}`, followed as far as the run's own files go.

Gym saves a config with its interpolations as written, so two runs with equal files can have run with
different values. What only the environment of that day knew is not known here, whatever default the file
gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gymbal.io.secrets import MASK, is_secret_path
from gymbal.model.evidence import Value

MAX_STEPS = 50
"""References followed for one value: a longer chain is a circle."""

MAX_LEAVES = 20_000
"""Values of one config once its references to sections are written out."""

_INNERMOST = re.compile(r"\$\{([^${}]*)\}")

READ_THE_REQUEST = "masked by Gym; the rollouts' own request shows the sampling values that were sent"


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a config, or why it is not known."""

    value: Value | list[Any]
    remedy: str | None = None
    """Says how to supply an unknown value. None: the value is known."""
    is_secret: bool = False
    """A key on the way is named like a secret."""
    is_stated: bool = False
    """It took a variable that somebody named, and that the run did not record."""


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a config, by its dotted key; a list of plain values is one value."""

    key: str
    resolved: Resolved


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """The variables that `${oc.env:...}` is looked up in; it holds secrets: to look up in, never to show."""

    recorded: Mapping[str, Any] = {}
    """As the run's own files have them."""
    stated: Mapping[str, Any] = {}
    """As a file that somebody named has them; used for what is not recorded."""

    def leaves(self, config: Mapping[str, Any]) -> Iterator[Leaf]:
        """Yield every value of `config`, as the function of this name does."""
        return leaves(config, self.recorded, self.stated)


def leaves(
    config: Mapping[str, Any], recorded: Mapping[str, Any] = {}, stated: Mapping[str, Any] = {}
) -> Iterator[Leaf]:
    """Yield every value of `config`, up to `MAX_LEAVES`, with `${oc.env:...}` looked up in the variables."""
    resolver = _Resolver(config, Environment(recorded=recorded, stated=stated))
    for count, leaf in enumerate(_walk(config, (), resolver, 0)):
        if count == MAX_LEAVES:
            return
        yield leaf


def _walk(node: Any, path: tuple[str, ...], resolver: _Resolver, depth: int) -> Iterator[Leaf]:
    if isinstance(node, str):
        node = resolver.section(node)
    if depth > MAX_STEPS:
        return
    if isinstance(node, Mapping) and node:
        for name, inner in node.items():
            yield from _walk(inner, (*path, str(name)), resolver, depth + 1)
    elif isinstance(node, list) and any(isinstance(inner, Mapping | list) for inner in node):
        for place, inner in enumerate(node):
            yield from _walk(inner, (*path, str(place)), resolver, depth + 1)
    elif path:
        resolved = resolver.resolve(node)
        if is_secret_path(path):
            resolved = msgspec.structs.replace(resolved, is_secret=True)
        yield Leaf(key=".".join(path), resolved=resolved)


class _Resolver:
    def __init__(self, config: Mapping[str, Any], environment: Environment) -> None:
        self._config = config
        self._environment = environment

    def section(self, text: str) -> Any:
        """What `text` refers to, if it is one reference to a mapping or list; else `text` itself."""
        match = _INNERMOST.fullmatch(text.strip())
        target = self._find(match.group(1)) if match else None
        return target if isinstance(target, Mapping | list) else text

    def resolve(self, value: Any) -> Resolved:
        if isinstance(value, list):
            parts = [self.resolve(inner) for inner in value]
            unknown = next((part.remedy for part in parts if part.remedy), None)
            return Resolved(
                value=None if unknown else [part.value for part in parts],
                remedy=unknown,
                is_secret=any(part.is_secret for part in parts),
                is_stated=any(part.is_stated for part in parts),
            )
        if isinstance(value, Mapping):
            return Resolved(value="{}")
        is_secret = is_stated = False
        for _ in range(MAX_STEPS):
            if not isinstance(value, str):
                return Resolved(value=value, is_secret=is_secret, is_stated=is_stated)
            match = _INNERMOST.search(value)
            if match is None:
                return msgspec.structs.replace(_plain(value), is_secret=is_secret, is_stated=is_stated)
            step = self._step(match.group(1))
            is_secret = is_secret or step.is_secret
            is_stated = is_stated or step.is_stated
            if step.remedy is not None:
                return msgspec.structs.replace(step, is_secret=is_secret)
            value = step.value if match.span() == (0, len(value)) else _spliced(value, match, step.value)
        return Resolved(value=None, remedy="its references run in a circle", is_secret=is_secret)

    def _step(self, reference: str) -> Resolved:
        """Follow one reference: `oc.env:NAME,default`, another resolver, or a dotted key of this file."""
        function, colon, argument = reference.partition(":")
        if colon and function.strip() == "oc.env":
            return self._variable(argument.split(",", 1)[0].strip())
        target = None if colon or reference.startswith(".") else self._find(reference)
        if target is None or isinstance(target, Mapping | list):
            return Resolved(
                value=None, remedy=f"${{{reference}}} is not in this file: see what Gym resolved it to"
            )
        return Resolved(value=target, is_secret=is_secret_path(reference.split(".")))

    def _variable(self, name: str) -> Resolved:
        is_secret = is_secret_path([name])
        for variables, is_stated in ((self._environment.recorded, False), (self._environment.stated, True)):
            value = variables.get(name)
            is_later = isinstance(value, str) and value.startswith(("runtime:", "host:"))
            if value is not None and not is_later:
                return Resolved(value=value, is_secret=is_secret, is_stated=is_stated)
        remedy = f"the value of {name} in the environment that launched the run (--env-file)"
        return Resolved(value=None, remedy=remedy, is_secret=is_secret)

    def _find(self, reference: str) -> Any:
        node: Any = self._config
        for name in reference.strip().split("."):
            node = node.get(name) if isinstance(node, Mapping) else None
        return node


def _plain(text: str) -> Resolved:
    if MASK in text:
        return Resolved(value=None, remedy=READ_THE_REQUEST)
    if text == "???":
        return Resolved(value=None, remedy="left open in the config: see the command that ran it")
    return Resolved(value=text)


def _spliced(text: str, match: re.Match[str], value: Any) -> str:
    return text[: match.start()] + str(value) + text[match.end() :]
