"""`<benchmark>/job.sh`, which `gym eval submit` writes: the commands of the engines and of the evaluation.

It says again what the submit config says, and what was added on the way: the flags that the engine was
started with, the overrides of `gym eval run`. It holds secrets in clear text, none of which becomes a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gymbal.io.decode import read_bounded
from gymbal.io.secrets import mask_text
from gymbal.model.evidence import Fact, Role, Value
from gymbal.readers.run.command import command_facts, find_in_text
from gymbal.readers.run.flags import engine_facts, launched_engine
from gymbal.readers.run.recorded import recorded_fact

MAX_SCRIPT_BYTES = 16 * 1024 * 1024

DRIVER_LOG = "logs/driver"
"""Marks the line that starts the evaluation's container (nemo-gym 0.7.0)."""

_SERVICE = re.compile(r"^# service: (\S+)")
_IMAGE = re.compile(r"--container-image[= ]['\"]?([^\s'\"]+)")
_ARRAY_START = re.compile(r"^\w+=\($")
_CHECKOUT = re.compile(r"\bgit clone (\S+) .{0,400}?\bgit checkout (\S+)")
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def read_script_facts(path: Path, name: str) -> tuple[Fact, ...]:
    """Facts of a job script, which is called `name`; raises InputError when it cannot be read.

    The engine of the policy is the one that serves the model that the evaluation asks for; with one engine
    alone there is no question. Others, such as a judge's, have their service's name before their facts.
    """
    lines = list(_logical_lines(read_bounded(path, MAX_SCRIPT_BYTES).decode("utf-8", "replace")))
    asked = None
    facts: list[Fact] = []
    for number, text in lines:
        command = find_in_text(text)
        if command is not None:
            asked = command.settings.get("policy_model_name")
            facts += command_facts(command, f"{name}:{number}")
        elif DRIVER_LOG in text:
            facts += _image("driver_container", Role.CODE, text, f"{name}:{number}")
        facts += _checkout(text, f"{name}:{number}")
    return (*facts, *_engines(lines, name, asked))


def _engines(lines: list[tuple[int, str]], name: str, asked: Value) -> Iterator[Fact]:
    found: list[tuple[str, int, str, str, dict[str, str]]] = []
    service = ""
    for number, text in lines:
        marked = _SERVICE.match(text)
        service = marked.group(1) if marked else service
        launched = launched_engine(text)
        if launched is not None:
            found.append((service, number, text, *launched))
    for service, number, text, engine, flags in found:
        is_policy = len(found) == 1 or asked in (flags.get("served_model_name"), flags.get("model"))
        prefix = "" if is_policy else f"{service or 'other'}."
        place = f"{name}:{number}"
        yield recorded_fact(f"{prefix}serving_engine", Role.SERVING, engine, place, "command")
        yield from engine_facts(flags, file=place, key="command", prefix=prefix)
        yield from _image(f"{prefix}serving_container", Role.SERVING, text, place)


def _checkout(text: str, place: str) -> Iterator[Fact]:
    """The Gym that the script installs: a full commit hash is sure, a branch or tag can move."""
    match = _CHECKOUT.search(text)
    if match is None:
        return
    repository, ref = (word.strip("'\"") for word in match.groups())
    yield recorded_fact("gym_repo", Role.CODE, mask_text(repository), place, "git clone")
    name = "gym_commit" if _FULL_COMMIT.fullmatch(ref) else "gym_ref"
    yield recorded_fact(name, Role.CODE, ref, place, "git checkout")


def _image(name: str, role: Role, text: str, place: str) -> Iterator[Fact]:
    image = _IMAGE.search(text)
    if image:
        yield recorded_fact(name, role, mask_text(image.group(1)), place, "--container-image")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; continued ones and the words of an array are one line."""
    held: list[str] = []
    first = 0
    in_array = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not held:
            first = number
        if _ARRAY_START.match(stripped):
            in_array = True
            continue
        if in_array and stripped != ")":
            held.append(stripped)
            continue
        in_array = False
        if stripped.endswith("\\"):
            held.append(stripped[:-1])
            continue
        yield first, " ".join([*held, stripped if stripped != ")" or not held else ""]).strip()
        held.clear()
