"""What a task asks and how it was asked, from a row's request; equal requests are read once.

A rollout echoes the request with every field of the API filled in, the materialized input only with the
fields that were set. Both are brought to one form before they are hashed, so that the same task has the
same digests.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any

import msgspec

from gymbal.io.fingerprint import canonical_json, fingerprint
from gymbal.model.rollout import Settings, TaskContent
from gymbal.readers.run.keys import number_or_none, text_or_none
from gymbal.readers.run.output import NULL

DEFAULTED_ITEM_KEYS = ("status", "phase")
"""Keys of an input item that the API sets and that say nothing about the task."""

DEFAULTED_PART_VALUES: dict[str, Any] = {"annotations": [], "logprobs": [], "detail": "auto"}
"""Keys of a content part with the value that the echo fills in."""

ENGINE_ARGUMENTS = ("chat_template_kwargs", "extra_body")
"""Keys of `metadata` that Gym's vLLM server passes on to the engine: settings, not content."""


class Request(msgspec.Struct, frozen=True):
    """What a row's `responses_create_params` says."""

    content: TaskContent
    content_number: int
    """Place of `content` among the distinct ones of the reader."""
    settings: Settings
    settings_number: int
    """Place of `settings` among the distinct ones of the reader."""
    is_empty: bool
    """The input holds no message at all: another field of the dataset says what to do."""


class _Params(msgspec.Struct):
    """`responses_create_params`, as far as it is task content or a setting; whatever type the fields have."""

    input: Any = None
    tools: msgspec.Raw = NULL
    prompt: msgspec.Raw = NULL
    text: msgspec.Raw = NULL
    metadata: msgspec.Raw = NULL
    instructions: msgspec.Raw = NULL
    model: msgspec.Raw = NULL
    temperature: msgspec.Raw = NULL
    top_p: msgspec.Raw = NULL
    max_output_tokens: msgspec.Raw = NULL
    max_tool_calls: msgspec.Raw = NULL
    parallel_tool_calls: msgspec.Raw = NULL
    tool_choice: msgspec.Raw = NULL
    reasoning: msgspec.Raw = NULL

    @property
    def settings_bytes(self) -> bytes:
        """The members that make up the settings, as written."""
        return b"\n".join(
            (
                *(self.metadata, self.instructions, self.model, self.temperature, self.top_p, self.reasoning),
                *(self.max_output_tokens, self.max_tool_calls, self.parallel_tool_calls, self.tool_choice),
            )
        )


class RequestReader:
    """Reads requests, and remembers by digest what it has read: the repeats of a task share one result."""

    def __init__(self) -> None:
        self.contents: dict[TaskContent, int] = {}
        """Distinct contents in order of first appearance, with their numbers."""
        self.settings: list[Settings] = []
        self._known: dict[bytes, Request] = {}
        self._settings_numbers: dict[Settings, int] = {}
        self._settings_by_bytes: dict[bytes, int] = {}
        self._tools: dict[bytes, str] = {}
        self._decoder = msgspec.json.Decoder(_Params | None)

    def read(self, params: msgspec.Raw) -> Request:
        """Read a row's `responses_create_params`; null is an empty request.

        Raises msgspec.ValidationError when it is no object.
        """
        key = sha256(params).digest()
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._decode(params)
        return known

    def _decode(self, raw: msgspec.Raw) -> Request:
        params = self._decoder.decode(raw) or _Params()
        content = TaskContent(
            prompt=_prompt_digest(params), tools=self._tools_digest(params.tools), verifier=None
        )
        settings = self._settings_number(params)
        return Request(
            content=content,
            content_number=self.contents.setdefault(content, len(self.contents)),
            settings=self.settings[settings],
            settings_number=settings,
            is_empty=not params.input,
        )

    def _settings_number(self, params: _Params) -> int:
        """Place of the settings, which most tasks of a run share to the byte."""
        key = params.settings_bytes
        known = self._settings_by_bytes.get(key)
        if known is None:
            settings = _settings(params)
            known = self._settings_numbers.setdefault(settings, len(self.settings))
            if known == len(self.settings):
                self.settings.append(settings)
            self._settings_by_bytes[key] = known
        return known

    def _tools_digest(self, tools: msgspec.Raw) -> str:
        """Digest of the tool schemas, which most tasks of a run share."""
        key = sha256(tools).digest()
        known = self._tools.get(key)
        if known is None:
            known = self._tools[key] = fingerprint(_normal_tools(msgspec.json.decode(tools)))
        return known


def _prompt_digest(params: _Params) -> str:
    asked: dict[str, Any] = {"input": _normal_input(params.input)}
    metadata = _decode(params.metadata)
    if isinstance(metadata, dict):
        kept = {name: value for name, value in metadata.items() if name not in ENGINE_ARGUMENTS}
        if kept:
            asked["metadata"] = kept
    for name, raw in (("prompt", params.prompt), ("text", params.text)):
        if value := _without_nulls(_decode(raw)):
            asked[name] = value
    return fingerprint(asked)


def _decode(raw: msgspec.Raw) -> Any:
    return None if raw is NULL else msgspec.json.decode(raw)


def _normal_input(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [_normal_item(item) for item in value] if isinstance(value, list) else []


def _normal_item(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    kept = {
        key: value
        for key, value in item.items()
        if value is not None and key not in DEFAULTED_ITEM_KEYS and (key, value) != ("type", "message")
    }
    if isinstance(kept.get("content"), list):
        kept["content"] = _normal_parts(kept["content"])
    return kept


def _normal_parts(parts: list[Any]) -> Any:
    """Content parts without defaults; one text alone is the same message as that text."""
    normal = [_normal_part(part) for part in parts]
    if len(normal) == 1 and isinstance(normal[0], dict) and normal[0].keys() == {"type", "text"}:
        return normal[0]["text"]
    return normal


def _normal_part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {
        key: value
        for key, value in part.items()
        if value is not None and not (key in DEFAULTED_PART_VALUES and value == DEFAULTED_PART_VALUES[key])
    }


def _normal_tools(tools: Any) -> list[Any]:
    """Tool schemas in their order, which a chat template shows to the model."""
    return [_without_nulls(tool) for tool in tools] if isinstance(tools, list) else []


def _without_nulls(value: Any) -> Any:
    """A JSON object without its null members, one level deep: a schema's own nulls mean something."""
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def _settings(params: _Params) -> Settings:
    parallel, instructions = _decode(params.parallel_tool_calls), _decode(params.instructions)
    return Settings(
        temperature=_float_or_none(_decode(params.temperature)),
        top_p=_float_or_none(_decode(params.top_p)),
        max_output_tokens=number_or_none(_decode(params.max_output_tokens)),
        max_tool_calls=number_or_none(_decode(params.max_tool_calls)),
        parallel_tool_calls=parallel if isinstance(parallel, bool) else None,
        tool_choice=_as_text(_decode(params.tool_choice)),
        reasoning=_as_text(_without_nulls(_decode(params.reasoning))),
        instructions=fingerprint(instructions) if instructions else None,
        requested_model=text_or_none(_decode(params.model)),
        extra_body=_engine_arguments(_decode(params.metadata)),
    )


def _float_or_none(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= sys.float_info.max else None


def _as_text(value: Any) -> str | None:
    """Text as it is, anything else as canonical JSON; None for what is null or empty."""
    if not value:
        return None
    return value if isinstance(value, str) else canonical_json(value).decode()


def _engine_arguments(metadata: Any) -> str | None:
    if not isinstance(metadata, dict):
        return None
    found = {}
    for name in ENGINE_ARGUMENTS:
        value = _decoded(metadata.get(name))
        if isinstance(value, dict):
            value = {key: inner for key, inner in value.items() if key != "seed"}
        if value:
            found[name] = value
    return _as_text(found)


def _decoded(value: Any) -> Any:
    """A JSON text as what it says; a text that is no JSON stays a text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return value
