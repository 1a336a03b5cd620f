"""What vLLM and SGLang say about themselves when they start: version, settings, default sampling.

The lines are those of vLLM 0.7 to 0.11 (`vLLM API server version ...`, `args: Namespace(...)`, `non-default
args: {...}`, `Initializing a V1 LLM engine (v...) with config: ...`) and of SGLang 0.4 to 0.5
(`server_args=ServerArgs(...)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gymbal.io.fingerprint import canonical_json
from gymbal.model.evidence import Fact, Role
from gymbal.readers.run.flags import (
    FACT_NAMES,
    OFF_UNLESS_GIVEN,
    engine_facts,
    flag_name,
    with_defaults,
)
from gymbal.readers.run.recorded import recorded_fact

SETTINGS = frozenset(
    {
        *FACT_NAMES,
        *OFF_UNLESS_GIVEN,
        "attention_backend",
        "data_parallel_size",
        "default_chat_template_kwargs",
        "dtype",
        "enable_auto_tool_choice",
        "enable_expert_parallel",
        "enable_prefix_caching",
        "expert_parallel_size",
        "generation_config",
        "hf_overrides",
        "kv_cache_dtype",
        "max_model_len",
        "pipeline_parallel_size",
        "quantization",
        "revision",
        "rope_scaling",
        "speculative_algorithm",
        "tensor_parallel_size",
        "trust_remote_code",
    }
)
"""What of an engine's hundreds of settings a score can depend on."""

LEFT_TO_THE_ENGINE = (None, "auto", "None", "")
"""Values of a command line that leave the choice to the engine; its config says what it chose."""

MAX_DEPTH = 8
"""Brackets in brackets that are read; what is deeper stays text."""

_VLLM_VERSION = re.compile(r"\bvLLM API server version v?(\S+)|\bLLM engine \(v([^)\s]+)\)")
_PRINTED_SETTINGS = re.compile(
    r"(?P<flags>\bnon-default args: \{)|(?P<vllm>\bargs: Namespace\()"
    r"|(?P<sglang>\bserver_args=ServerArgs\()|(?P<engine>\bLLM engine \(v[^)]*\) with config: )"
)
_MODEL_LENGTH = re.compile(r"\bUsing max model len (\d+)")
_DEFAULT_SAMPLING = re.compile(
    r"(?:default chat sampling params from [\w ]+"
    r"|Default (?:vLLM )?sampling parameters have been overridden by [^{]*): ?`?(\{[^{}]*\})",
    re.IGNORECASE,
)
_INSTALLED = re.compile(r"(?<![\w/.-])(vllm|sglang)(?:==|-)v?(\d+\.\d+[\w.+]*)")

_OPENING, _CLOSING = "([{", ")]}"


def engine_line_facts(line: str, place: str) -> Iterator[Fact]:
    """The facts in one line of a log; `place` is its file and number."""
    version = _VLLM_VERSION.search(line)
    if version:
        yield from _version_facts("vllm", version.group(1) or version.group(2), place, "version")
    for installed in _INSTALLED.finditer(line):
        yield from _version_facts(installed.group(1), installed.group(2), place, "installed package")
    printed = _PRINTED_SETTINGS.search(line)
    if printed:
        yield from _settings_facts(printed, line[printed.end() :], place)
    length = _MODEL_LENGTH.search(line)
    if length:
        yield from engine_facts({"max_model_len": int(length.group(1))}, file=place, key="max model len")
    sampling = _DEFAULT_SAMPLING.search(line)
    if sampling:
        values = dict(read_printed(sampling.group(1)[1:]))
        text = canonical_json(values).decode()
        yield from engine_facts({"default_sampling": text}, file=place, key="default sampling parameters")


def _settings_facts(printed: re.Match[str], rest: str, place: str) -> Iterator[Fact]:
    kind = str(printed.lastgroup)
    found = {flag_name(name): _plain(value) for name, value in read_printed(rest)}
    known = {name: value for name, value in found.items() if name in SETTINGS}
    flags = known
    if kind != "engine":
        # These lines are whole command lines; the config that the engine starts with names no parsers.
        flags = {name: value for name, value in known.items() if value not in LEFT_TO_THE_ENGINE}
        flags = with_defaults(flags)
    key = {"flags": "non-default args", "vllm": "args", "sglang": "server_args", "engine": "config"}[kind]
    engine = "sglang" if kind == "sglang" else "vllm"
    yield recorded_fact("serving_engine", Role.SERVING, engine, place, key)
    yield from engine_facts(flags, file=place, key=key)


def _plain(value: Any) -> Any:
    return value.removeprefix("torch.") if isinstance(value, str) else value


def _version_facts(engine: str, version: str, place: str, key: str) -> Iterator[Fact]:
    yield recorded_fact("serving_engine", Role.SERVING, engine, place, key)
    yield recorded_fact("serving_engine_version", Role.SERVING, version, place, key)


def read_printed(text: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Names and values of settings as Python prints them: `'a': 1, 'b': [2]}` or `a=1, b='x')`.

    Nothing is evaluated: a value that is no number, text, truth value or None is its own text. The text ends
    at the bracket that closes it.
    """
    for part in _split(text):
        match = re.match(r"""\s*['"]?([A-Za-z_][\w.-]*)['"]?\s*[:=]\s*""", part)
        if match:
            yield match.group(1), _value(part[match.end() :].strip(), depth)


def _split(text: str) -> Iterator[str]:
    """The parts of `text` between the commas that stand in no bracket and no quotes."""
    depth, quote, start = 0, "", 0
    for place, character in enumerate(text):
        if quote:
            if character == quote and text[place - 1] != "\\":
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            if depth == 0:
                yield text[start:place]
                return
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _value(text: str, depth: int) -> Any:
    plain = {"True": True, "False": False, "None": None}
    if text in plain:
        return plain[text]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?\d*\.?\d+([eE][+-]?\d+)?", text):
        return float(text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if depth < MAX_DEPTH and text.startswith("[") and text.endswith("]"):
        return [_value(part.strip(), depth + 1) for part in _split(text[1:-1]) if part.strip()]
    if depth < MAX_DEPTH and text.startswith("{") and text.endswith("}"):
        return dict(read_printed(text[1:], depth + 1))
    return text
