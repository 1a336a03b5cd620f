"""Flags of a serving engine, given as free text, a command line or the settings that its log prints.

vLLM and SGLang call the same settings by different names; here each has one, vLLM's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gymbal.io.fingerprint import canonical_json
from gymbal.io.secrets import is_secret_name
from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.readers.run.config import shown_value
from gymbal.readers.run.roles import role_of

NONE = "none"
"""The value of a setting that an engine leaves off unless it is given."""

OFF_UNLESS_GIVEN = (
    "reasoning_parser",
    "tool_call_parser",
    "chat_template",
    "override_generation_config",
    "speculative_config",
)
"""A command line without these has them off: absence is a value here, and no missing evidence."""

FLAG_ROLES = {
    "dtype": Role.MODEL,
    "quantization": Role.MODEL,
    "kv_cache_dtype": Role.MODEL,
    "revision": Role.MODEL,
    "max_model_len": Role.LIMITS,
    "override_generation_config": Role.SAMPLING,
    "generation_config": Role.SAMPLING,
    "chat_template": Role.PROMPT,
    "default_chat_template_kwargs": Role.SAMPLING,
    "default_sampling": Role.SAMPLING,
    "host": Role.BOOKKEEPING,
    "port": Role.BOOKKEEPING,
}
"""Flags of the serving engine that are more, or less, than serving."""

FACT_NAMES = {
    "model": ("model_checkpoint", Role.MODEL),
    "served_model_name": ("served_model_name", Role.MODEL),
}
"""Flags that are facts under a name of their own."""

SAME_FLAGS = {
    "tp": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "pp_size": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dp_size": "data_parallel_size",
    "ep_size": "expert_parallel_size",
    "q": "quantization",
    "max_seq_len": "max_model_len",
    "context_length": "max_model_len",
    "model_path": "model",
    "model_tag": "model",
}

LAUNCHERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("vllm", re.compile(r"\bvllm\s+serve\b|\bvllm\.entrypoints\.openai\.api_server\b")),
    ("sglang", re.compile(r"\bsglang\.launch_server\b|\bsglang\s+serve\b")),
)
"""What a command line that starts an engine holds, by engine."""

_END_OF_COMMAND = re.compile(r"\s(?:&&?|\|\|?|;|\d?>>?)(?=\s|$|&)")


def read_flags(text: Any) -> dict[str, str]:
    """`--max-model-len 32768 --enable-x` by name, secrets left out; what is no command line is one flag.

    Words before the first flag are the flag `extra_args`.
    """
    if not isinstance(text, str) or not text.strip():
        return {}
    try:
        words = shlex.split(text)
    except ValueError:
        return {"extra_args": text}
    return flags_of_words(words)


def flags_of_words(words: Sequence[str]) -> dict[str, str]:
    """As `read_flags`, of a text that was already split into words."""
    flags: dict[str, str] = {}
    name = "extra_args"
    for word in words:
        if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            name, equals, value = word.lstrip("-").partition("=")
            name = flag_name(name)
            if name.startswith("no_") and not equals:
                name, value = name.removeprefix("no_"), "false"
            flags[name] = value
        else:
            flags[name] = f"{flags.get(name, '')} {word}".strip()
    return {flag: value or "true" for flag, value in flags.items() if not is_secret_name(flag)}


def flag_name(name: str) -> str:
    """The one name that a flag has here."""
    plain = name.replace("-", "_")
    return SAME_FLAGS.get(plain, plain)


def launched_engine(command: str) -> tuple[str, dict[str, str]] | None:
    """Engine and flags of a command line that starts one; None for any other.

    Everything from a shell operator on is left out. The model may stand as a plain word.
    """
    for engine, pattern in LAUNCHERS:
        match = pattern.search(command)
        if match is None:
            continue
        flags = read_flags(_END_OF_COMMAND.split(command[match.end() :], maxsplit=1)[0])
        model = flags.pop("extra_args", None)
        if model is not None and "model" not in flags:
            flags["model"] = model.split()[0]
        return engine, with_defaults(flags)
    return None


def with_defaults(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The flags of a whole command line, and those that are off because it does not give them.

    A config file of the engine's own could set them: then nothing is filled in.
    """
    off = {} if "config" in flags else dict.fromkeys(OFF_UNLESS_GIVEN, NONE)
    return {**off, **flags}


def engine_facts(flags: Mapping[str, Any], *, file: str, key: str, prefix: str = "") -> Iterator[Fact]:
    """The flags as facts, `key` being where they stand in `file`.

    `prefix`, such as `judge.`, marks an engine that does not serve the policy: its settings are no serving of
    the model that is judged.
    """
    for flag, value in flags.items():
        if is_secret_name(flag):
            continue
        name, role = FACT_NAMES.get(flag, (f"serving.{flag}", FLAG_ROLES.get(flag, Role.SERVING)))
        if prefix:
            role = role_of(f"services.{prefix}{flag}")
        yield Fact(
            name=f"{prefix}{name}",
            role=role,
            value=_shown(value),
            strength=Strength.RECORDED,
            file=file,
            key=key,
        )


def _shown(value: Any) -> Value:
    if value is None or value == "":
        return NONE
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return shown_value(canonical_json(value).decode() if isinstance(value, dict) else value)
