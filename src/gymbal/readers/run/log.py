"""Logs of the programs that launched a run: which Gym, which command, which engine, in which container.

Nothing in a log is sure to be about the run, so only lines that say what they are count: a hash alone is no
Gym commit, and neither is the `gym_commit` of a job record that was printed, which is the submitter's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.io.secrets import mask_text
from gymbal.model.evidence import Fact, Role, Value
from gymbal.readers.run.command import GymCommand, command_facts, find_in_text
from gymbal.readers.run.engine_log import engine_line_facts, read_printed
from gymbal.readers.run.flags import engine_facts, launched_engine
from gymbal.readers.run.recorded import recorded_fact

MAX_LOG_LINES = 20_000_000

MAX_LINE_CHARACTERS = 64 * 1024
"""What an engine prints of its settings is about 10 KB; a longer line is text that a model wrote."""

MAX_CONTINUED_LINES = 200
"""Lines of one command that end in a backslash."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_TRIGGER = re.compile(
    rb"gym|vllm|LLM engine|sglang|server_args|-default args|Namespace|max model len|sampling param"
    rb"|collect_rollouts|HEAD is now at|rev-parse|Cloning into|NVIDIA|container|Repeating rows"
    rb"|Overriding responses|^[0-9a-f]{40,64}\s*$",
    re.IGNORECASE,
)
"""What every line that holds a fact holds; the others are not looked at any closer."""

_HASH = r"([0-9a-f]{7,64}(?:-dirty)?)(?![0-9a-f])"
_GYM_COMMITS = tuple(
    re.compile(before + _HASH, re.IGNORECASE)
    for before in (
        r"(?<!\")\b(?:nemo[ _-]?)?gym[ _-]?(?:commit|revision|sha|hash)\b[ _a-z]{0,20}[=:]\s{0,4}['\"]?",
        r"\bnemo[-_]gym\b.{0,80}?git\+[^\s@]{1,200}@",
        r"/gym(?:\.git)? (?:to commit |\()",
    )
)
"""Named in a setting, in a list of installed packages, and by an installer."""
_CLONE = re.compile(r"Cloning into (?:bare repository )?'([^']+)'")
_CHECKED_OUT = re.compile("HEAD is now at " + _HASH)
_ASKED_COMMIT = re.compile(r"\bgit\b.{0,200}\brev-parse\b.{0,40}\bHEAD\b")
_LONE_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_GYM_PATH = re.compile(r"(?<![A-Za-z])(?:nemo[-_ ]?)?gym(?![A-Za-z])", re.IGNORECASE)

_GYM_VERSION = re.compile(
    r"\b(?:NeMo Gym v|nemo[-_]gym(?:==|-| +)v?|gym[ _]version\s?[=:]\s?v?)(\d+\.\d+[\w.+]*)", re.IGNORECASE
)
_CONTAINER = re.compile(r"--container-image[= ]['\"]?([^\s'\"]+)")
_GPU = re.compile(r"\bGPU \d+: (NVIDIA [^(]+?) \(UUID|\|\s+\d+\s+(NVIDIA [A-Z][^|]+?)\s{2,}\w+\s*\|")
_OVERRIDDEN = re.compile(r"Overriding responses_create_params fields with \{(.*)")
_REPEATED = re.compile(r"Repeating rows (\d+) times")


def read_log_facts(path: Path, name: str, *, first_bytes: int | None = None) -> tuple[Fact, ...]:
    """Facts in a log, which is called `name`; each gives its line. Equal ones are given once.

    With `first_bytes` no more than the beginning is read, where programs say what they are. Raises InputError
    when the file cannot be read or is no text.
    """
    found: dict[tuple[str, Value], Fact] = {}
    for fact in _facts(path, name, first_bytes):
        found.setdefault((fact.name, fact.value), fact)
    return tuple(found.values())


def _facts(path: Path, name: str, first_bytes: int | None) -> Iterator[Fact]:
    checkout = _Checkout()
    for number, text in _texts(path, first_bytes):
        place = f"{name}:{number}"
        command = find_in_text(text)
        if command is not None and (command.output or command.verb == "env start"):
            yield from _command(command, text, place)
            continue
        yield from engine_line_facts(text, place)
        yield from _launched(text, place)
        yield from checkout.facts(text, place)
        yield from _gym(text, place)


def _texts(path: Path, first_bytes: int | None) -> Iterator[tuple[int, str]]:
    """The lines worth a look with their numbers: no colours, continued lines joined, progress bars apart."""
    held: list[str] = []
    first = 0
    for line in read_lines(path):
        if first_bytes is not None and line.offset > first_bytes:
            return
        if line.number > MAX_LOG_LINES:
            raise InputError(
                f"has more than {MAX_LOG_LINES} lines", path=path, remedy="cut out its beginning"
            )
        if line.number == 1 and b"\0" in line.data:
            raise InputError("is no text", path=path)
        if not held and not _TRIGGER.search(line.data):
            continue
        text = _ESCAPES.sub("", line.data.decode("utf-8", "replace"))
        if text.endswith("\\") and len(held) < MAX_CONTINUED_LINES:
            first = first if held else line.number
            held.append(text[:-1])
            continue
        for part in text.split("\r"):
            joined = " ".join([*held, part])
            if len(joined) <= MAX_LINE_CHARACTERS:
                yield first if held else line.number, joined.strip()
        held.clear()


def _command(command: GymCommand, text: str, place: str) -> Iterator[Fact]:
    yield from command_facts(command, place)
    yield recorded_fact("command", Role.BOOKKEEPING, mask_text(text), place, f"gym {command.verb}")
    yield from _containers(text, place, "driver_container")


def _launched(text: str, place: str) -> Iterator[Fact]:
    """An engine's command line, as a shell prints it or as a script holds it."""
    launched = launched_engine(text)
    if launched is not None:
        engine, flags = launched
        yield recorded_fact("serving_engine", Role.SERVING, engine, place, "command")
        yield from engine_facts(flags, file=place, key="command")
    yield from _containers(text, place, "serving_container" if launched else None)


def _containers(text: str, place: str, fact_name: str | None) -> Iterator[Fact]:
    image = _CONTAINER.search(text)
    if image and fact_name:
        role = Role.CODE if fact_name == "driver_container" else Role.SERVING
        yield recorded_fact(fact_name, role, mask_text(image.group(1)), place, "--container-image")


def _gym(text: str, place: str) -> Iterator[Fact]:
    """What Gym and its installers print."""
    version = _GYM_VERSION.search(text)
    if version:
        yield recorded_fact("gym_version", Role.CODE, version.group(1), place, "nemo-gym")
    for pattern in _GYM_COMMITS:
        match = pattern.search(text)
        if match:
            yield _commit(match.group(1), place, "nemo-gym")
    gpu = _GPU.search(text)
    if gpu:
        yield recorded_fact("gpu_type", Role.SERVING, (gpu.group(1) or gpu.group(2)).strip(), place, "GPU")
    overridden = _OVERRIDDEN.search(text)
    for key, value in read_printed(overridden.group(1)) if overridden else ():
        yield from command_facts(_settings(f"responses_create_params.{key}", value), place)
    repeated = _REPEATED.search(text)
    if repeated:
        yield from command_facts(_settings("num_repeats", int(repeated.group(1))), place)


def _settings(key: str, value: Value) -> GymCommand:
    return GymCommand(
        verb="eval run", settings={key: value}, sources={key: key}, selectors=(), is_serving=False
    )


class _Checkout:
    """Which repository a log speaks of, so that a commit can be told to be Gym's."""

    def __init__(self) -> None:
        self._is_gym = False
        self._asked = False

    def facts(self, text: str, place: str) -> Iterator[Fact]:
        clone = _CLONE.search(text)
        if clone:
            self._is_gym = _GYM_PATH.search(clone.group(1)) is not None
        head = _CHECKED_OUT.search(text)
        if head and self._is_gym:
            yield _commit(head.group(1), place, "HEAD is now at")
        if self._asked and _LONE_HASH.fullmatch(text):
            yield _commit(text, place, "git rev-parse HEAD")
        is_question = _ASKED_COMMIT.search(text) is not None
        self._asked = is_question and (self._is_gym or _GYM_PATH.search(text) is not None)


def _commit(commit: str, place: str, key: str) -> Fact:
    return recorded_fact("gym_commit", Role.CODE, commit.lower(), place, key)
