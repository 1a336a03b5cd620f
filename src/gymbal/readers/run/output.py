"""What a response's flat output shows: text, calls, how often the model was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, final

import msgspec

NULL = msgspec.Raw(b"null")
"""Stands for an absent member where absent and null say the same."""

REASONING_TAGS = (
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<seed:think>",
    "</seed:think>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
    "<|channel|>analysis",
)
"""What chat templates put around reasoning: one that is left in an answer was not parsed out of it.

Not `<reasoning>` and `<thought>`, which prompts ask for by name.
"""


_MARKS = ("think>", "thinking>", "<|channel|>analysis", "THINK]", "think▷")
"""Every tag holds one of these, so that a long text is not searched for each tag."""


@final
class _Part(msgspec.Struct, gc=False):
    text: Any = None
    refusal: Any = None


Content = list[_Part | str | None] | str | None


@final
class Message(msgspec.Struct, gc=False, tag_field="type", tag="message"):
    role: str | None = None
    content: Content = None
    prompt_token_ids: msgspec.Raw = NULL


@final
class Reasoning(msgspec.Struct, gc=False, tag_field="type", tag="reasoning"):
    """Told by its type; nothing else of it is decoded."""

    prompt_token_ids: msgspec.Raw = NULL


@final
class Call(msgspec.Struct, gc=False, tag_field="type", tag="function_call"):
    name: Any = None
    arguments: Any = None
    prompt_token_ids: msgspec.Raw = NULL


@final
class Result(msgspec.Struct, gc=False, tag_field="type", tag="function_call_output"):
    output: msgspec.Raw = NULL


KnownOutput = list[Message | Reasoning | Call | Result]
"""The items that nearly every output consists of; others are read as `OutputItem`."""


class OutputItem(msgspec.Struct, gc=False):
    """An item of any type. Content is decoded only where it is a message's."""

    type: str | None = None
    role: str | None = None
    content: msgspec.Raw = NULL
    name: Any = None
    arguments: Any = None
    output: msgspec.Raw = NULL
    prompt_token_ids: msgspec.Raw = NULL


AnyOutput = list[OutputItem | list[OutputItem] | str | None] | str | None
"""Some agents of Gym before 0.3 wrote one list of items per step."""


NO_TOKENS = 0


class OutputFacts(msgspec.Struct, frozen=True, gc=False):
    is_empty: bool
    has_reasoning_in_text: bool
    model_calls: int
    tool_calls: int
    has_tool_errors: bool
    """A tool's result is a text that begins with "Error", or a JSON object whose `error` is not null."""
    tools_used: frozenset[str]
    answer: int
    """Hash of the assistant's texts and calls, in order; ids, reasoning and results left out.

    Equal answers have equal hashes within one process, and others do not but by a chance of 2 to the -64.
    """
    prompt_tokens: int = NO_TOKENS
    """Hash of the token ids that the first model call read; `NO_TOKENS` where the row records none."""
    has_doubled_start: bool = False
    """The first two of these ids are equal, as where a template and a tokenizer both add the BOS token."""


_DOUBLED_START = re.compile(rb"\[(\d+),\1[,\]]")

_NO_TOOLS: frozenset[str] = frozenset()


def read_output(items: KnownOutput) -> OutputFacts:
    """Reduce the items of a response.

    The model was asked once for every maximal run of its own items (reasoning, assistant messages, calls)
    between tool results and messages of others: the flat output records no boundaries (nemo-gym 0.7.0).
    """
    said: list[str] = []
    tools: list[str] = []
    model_calls = 0
    is_in_run = has_tag = has_error = False
    read = NULL
    # By type: isinstance asks the metaclass of a struct, which takes four times as long.
    for item in items:
        if type(item) is Result:
            is_in_run = False
            has_error = has_error or _reports_error(item.output)
            continue
        if type(item) is Message and item.role != "assistant" and item.role is not None:
            is_in_run = False
            continue
        if not is_in_run:
            model_calls += 1
            is_in_run = True
        if item.prompt_token_ids is not NULL and model_calls == 1:
            read = item.prompt_token_ids
        if type(item) is Message:
            text = _text(item.content)
            if text and not text.isspace():
                said += ("text", text)
                has_tag = has_tag or _has_reasoning_tag(text)
        elif type(item) is Call:
            tool = item.name if isinstance(item.name, str) else "function_call"
            tools.append(tool)
            said += ("call", tool, str(item.arguments))
    prompt_tokens, has_doubled_start = (NO_TOKENS, False) if read is NULL else _prompt_tokens(read)
    return OutputFacts(
        not said,
        has_tag,
        model_calls,
        len(tools),
        has_error,
        frozenset(tools) if tools else _NO_TOOLS,
        hash(tuple(said)),
        prompt_tokens,
        has_doubled_start,
    )


def _prompt_tokens(token_ids: msgspec.Raw) -> tuple[int, bool]:
    """Hash of a list of token ids, however it is spaced, and whether the first two are equal."""
    ids = bytes(token_ids).translate(None, b" \t\r\n")
    if ids == b"null":
        return NO_TOKENS, False
    return hash(ids) or 1, _DOUBLED_START.match(ids) is not None


def known_items(output: AnyOutput) -> KnownOutput:
    """The items, each as the known one that says the same; raises msgspec.ValidationError for odd content.

    A call of a hosted tool (`web_search_call`, `mcp_call`, ...) goes by its type. An item of an unknown type
    is the model's, as a message is.
    """
    if output is None:
        return []
    entries = [output] if isinstance(output, str) else output
    return [_known_item(item) for entry in entries for item in _items(entry)]


def _items(entry: OutputItem | list[OutputItem] | str | None) -> Iterator[OutputItem]:
    if isinstance(entry, OutputItem):
        yield entry
    elif isinstance(entry, str):
        yield OutputItem(type="message", role="assistant", content=msgspec.Raw(msgspec.json.encode(entry)))
    elif entry is not None:
        yield from entry


def _known_item(item: OutputItem) -> Message | Reasoning | Call | Result:
    kind = item.type or "message"
    if kind == "reasoning":
        return Reasoning(item.prompt_token_ids)
    if kind.endswith("_output"):
        return Result(item.output)
    if kind.endswith("_call"):
        tool = item.name if isinstance(item.name, str) else kind
        return Call(tool, item.arguments, item.prompt_token_ids)
    if kind == "message" and item.role is not None and item.role != "assistant":
        return Message(item.role)
    return Message("assistant", _CONTENT.decode(item.content), item.prompt_token_ids)


class _ErrorMember(msgspec.Struct, gc=False):
    error: msgspec.Raw = NULL


_CONTENT = msgspec.json.Decoder(Content)
_RESULT = msgspec.json.Decoder(_ErrorMember)
_TEXT = msgspec.json.Decoder(str)

_BEGIN_NO_ERROR = frozenset(range(33, 127)).difference(b'"\\{eE')
"""Characters that a text in JSON can begin with and that are neither space nor escape nor in an error."""


def _reports_error(result: msgspec.Raw) -> bool:
    data = bytes(result)
    is_text = data.startswith(b'"')
    # Most results are a text that begins with neither word nor object: its first letter says enough.
    if (is_text and data[1] in _BEGIN_NO_ERROR) or b"rror" not in data:
        return False
    try:
        if not is_text:
            return bytes(_RESULT.decode(data).error) != b"null"
        text = _TEXT.decode(data).lstrip()
        if text.startswith("{"):
            return bytes(_RESULT.decode(text).error) != b"null"
    except (msgspec.DecodeError, RecursionError):
        return False
    return text[:5].lower() == "error"


def _has_reasoning_tag(text: str) -> bool:
    # One character is found ten times faster than a word, and most answers end no tag at all.
    if ">" not in text and "]" not in text and "▷" not in text:
        return False
    for mark in _MARKS:
        if mark in text:
            return any(tag in text for tag in REASONING_TAGS)
    return False


def _text(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if len(content) == 1:
        return _part_text(content[0])
    return "".join(map(_part_text, content))


def _part_text(part: _Part | str | None) -> str:
    if type(part) is not _Part:
        return part or ""
    text = part.text if isinstance(part.text, str) else ""
    return text + part.refusal if isinstance(part.refusal, str) else text
