"""What a task asks and how it was asked, from a row's request; equal requests are read once.

A rollout echoes the request with every field of the API filled in, the materialized input only with the
fields that were set. Both are brought to one form before they are hashed, so that the same task has the
same digests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import msgspec

from gymbal.io.fingerprint import canonical_json, fingerprint
from gymbal.io.secrets import mask_apart
from gymbal.model.json_fields import decode_value
from gymbal.model.rollout import Settings, TaskContent
from gymbal.readers.run.keys import number_or_none, text_or_none
from gymbal.readers.run.output import NULL

DEFAULTED_ITEM_KEYS = ("status", "phase")
"""Keys of an input item that the API sets and that say nothing about the task."""

DEFAULTED_PART_VALUES: dict[str, Any] = {"annotations": [], "logprobs": [], "detail": "auto"}
"""Keys of a content part with the value that the echo fills in."""

ENGINE_ARGUMENTS = ("chat_template_kwargs", "extra_body")
"""Keys of `metadata` that Gym's vLLM server passes on to the engine: settings, not content."""


class Request(msgspec.Struct, frozen=True, gc=False):
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
    """`responses_create_params` but for its input: task content and settings, of whatever type they are."""

    tools: Any = None
    prompt: Any = None
    text: Any = None
    metadata: Any = None
    instructions: Any = None
    model: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None
    max_tool_calls: Any = None
    parallel_tool_calls: Any = None
    tool_choice: Any = None
    reasoning: Any = None


class _Asked(msgspec.Struct):
    input: msgspec.Raw = NULL


class _Frame(msgspec.Struct, frozen=True):
    """What a request says around its input, which most tasks of a run share."""

    before: bytes
    """As written, as `after` is."""
    after: bytes
    is_exact: bool
    """Whether any JSON value between these two is the input: equal bytes can stand in front of it."""
    tools: str
    """Digest of the tool schemas."""
    more: dict[str, Any]
    """What is asked beside the input."""
    settings: Settings
    settings_number: int
    requests: dict[bytes, Request]
    """Recent ones of an exact frame, by their input as written: it is shorter than all of the request."""


class _PlainMessage(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message of one text, which most inputs consist of; its other keys say nothing about the task."""

    content: str
    role: str
    type: Literal["message"] | None = None
    status: Any = None
    phase: Any = None


MAX_RECENT_BYTES = 16_000_000
"""Of requests that are remembered: a few hundred of the longest that runs hold."""

MAX_FRAMES = 256
"""Remembered at a time. A run whose requests have more differs in each one."""

_ASKED = msgspec.json.Decoder(_Asked | None)
_PARAMS = msgspec.json.Decoder(_Params | None)
_PLAIN_MESSAGES = msgspec.json.Decoder(list[_PlainMessage])


class RequestReader:
    """Reads requests, and remembers the last ones: the repeats of a task share one result."""

    def __init__(self) -> None:
        self.contents: dict[TaskContent, int] = {}
        """Distinct contents in order of first appearance, with their numbers."""
        self._settings: dict[Settings, tuple[Settings, int]] = {}
        self._recent: dict[bytes, Request] = {}
        """As written. The repeats of a task are near each other."""
        self._recent_bytes = 0
        self._frames: dict[tuple[bytes, bytes], _Frame] = {}
        self._last_frame: _Frame | None = None
        """An exact one: the next request most likely has it too."""

    def read(self, params: msgspec.Raw) -> Request:
        """Read a row's `responses_create_params`; null is an empty request.

        Raises msgspec.ValidationError when it is no object.
        """
        return self.read_all((params,))[0]

    def read_all(self, params: Iterable[msgspec.Raw]) -> list[Request]:
        """Read those of many rows, in their order; raises as `read` does."""
        found: list[Request] = []
        for written in map(bytes, params):
            frame = self._last_frame
            if frame and written.startswith(frame.before) and written.endswith(frame.after):
                asked = written[len(frame.before) : len(written) - len(frame.after)]
                known = frame.requests.get(asked)
            else:
                asked, known = b"", self._recent.get(written)
            found.append(known or self._read_new(written, asked))
        return found

    def _read_new(self, params: bytes, asked: bytes) -> Request:
        """Read a request that is not known; `asked` is what stands in the last frame, if anything does."""
        if self._recent_bytes > MAX_RECENT_BYTES:
            self._forget()
            asked = b""
        frame, asked, (items, is_empty) = self._framed(params, asked)
        content = TaskContent(
            prompt=fingerprint({"input": items, **frame.more}), tools=frame.tools, verifier=None
        )
        request = Request(
            content=content,
            content_number=self.contents.setdefault(content, len(self.contents)),
            settings=frame.settings,
            settings_number=frame.settings_number,
            is_empty=is_empty,
        )
        self._recent[params] = request
        if frame.is_exact:
            frame.requests[asked] = request
        self._recent_bytes += len(params) + len(asked)
        return request

    def _framed(self, params: bytes, asked: bytes) -> tuple[_Frame, bytes, tuple[list[Any], bool]]:
        """The frame of `params`, their input as written, and the normal form of that."""
        if asked and self._last_frame:
            try:
                return self._last_frame, asked, _normal_input(asked)
            except msgspec.DecodeError:
                pass  # What differs from the request before is more than the input.
        asked = bytes((_ASKED.decode(params) or _Asked()).input)
        frame = self._frame(params, asked)
        if frame.is_exact:
            self._last_frame = frame
        return frame, asked, _normal_input(asked)

    def _forget(self) -> None:
        self._recent.clear()
        self._recent_bytes = 0
        self._frames.clear()
        self._last_frame = None

    def _frame(self, params: bytes, asked: bytes) -> _Frame:
        """What `params` say beside `asked`, their input."""
        before, _, after = params.partition(asked)
        known = self._frames.get((before, after))
        if known is None:
            if len(self._frames) == MAX_FRAMES:
                self._frames.clear()
            known = self._read_frame(before, after, _PARAMS.decode(params) or _Params())
            self._frames[before, after] = known
        return known

    def _read_frame(self, before: bytes, after: bytes, params: _Params) -> _Frame:
        settings = _settings(params)
        settings, number = self._settings.setdefault(settings, (settings, len(self._settings)))
        return _Frame(
            before=before,
            after=after,
            is_exact=_is_exact(before, after),
            tools=fingerprint(_normal_tools(params.tools)),
            more=_asked_beside(params),
            settings=settings,
            settings_number=number,
            requests={},
        )


def _is_exact(before: bytes, after: bytes) -> bool:
    values = (b"1", b"2")
    try:
        found = [_ASKED.decode(before + value + after) for value in values]
    except msgspec.DecodeError:
        return False
    return all(asked and bytes(asked.input) == value for asked, value in zip(found, values, strict=True))


def _asked_beside(params: _Params) -> dict[str, Any]:
    """What a request asks beside its input."""
    asked: dict[str, Any] = {}
    if isinstance(params.metadata, dict):
        kept = {name: value for name, value in params.metadata.items() if name not in ENGINE_ARGUMENTS}
        if kept:
            asked["metadata"] = kept
    for name, given in (("prompt", params.prompt), ("text", params.text)):
        if value := _without_nulls(given):
            asked[name] = value
    return asked


def _normal_input(raw: bytes) -> tuple[list[Any], bool]:
    """The items of an input, and whether it says nothing at all."""
    try:
        said = _PLAIN_MESSAGES.decode(raw)
    except msgspec.ValidationError:
        value = decode_value(raw)
        if isinstance(value, str):
            return [{"role": "user", "content": value}], not value
        return [_normal_item(item) for item in value] if isinstance(value, list) else [], not value
    return [{"role": message.role, "content": message.content} for message in said], not said


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
    is_parallel, instructions = params.parallel_tool_calls, params.instructions
    return Settings(
        temperature=_float_or_none(params.temperature),
        top_p=_float_or_none(params.top_p),
        max_output_tokens=number_or_none(params.max_output_tokens),
        max_tool_calls=number_or_none(params.max_tool_calls),
        parallel_tool_calls=is_parallel if isinstance(is_parallel, bool) else None,
        tool_choice=_as_text(params.tool_choice),
        reasoning=_as_text(_without_nulls(params.reasoning)),
        instructions=fingerprint(instructions) if instructions else None,
        requested_model=_as_text(text_or_none(params.model)),
        extra_body=_engine_arguments(params.metadata),
    )


def _float_or_none(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= sys.float_info.max else None


def _as_text(value: Any) -> str | None:
    """Text without its secrets, anything else as such canonical JSON; None for what is null or empty."""
    if not value:
        return None
    return _without_secrets(value if isinstance(value, str) else canonical_json(value).decode())


@lru_cache(maxsize=256)
def _without_secrets(text: str) -> str:
    """Settings that only the seed of each row tells apart are masked once."""
    return mask_apart(text)


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
