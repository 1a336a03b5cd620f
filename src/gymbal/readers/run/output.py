"""What a response's flat output shows: text, calls, how often the model was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Any, cast

import msgspec

from gymbal.io.fingerprint import fingerprint_texts
from gymbal.readers.run.content import NULL

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


_ANGLED_MARKS = ("think>", "thinking>", "<|channel|>analysis")
_OTHER_MARKS = ("THINK]", "think▷")
"""Every tag holds one of these, so that a long text is not searched for each tag."""


class Kind(Enum):
    """What an item of a response is to us."""

    REASONING = auto()
    CALL = auto()
    """A function call, or a hosted one (`web_search_call`, `mcp_call`, ...)."""
    TEXT = auto()
    """An assistant message, or an item of the model's that we do not know."""
    FROM_OUTSIDE = auto()
    """A tool result or a message of anyone else: it ends the model's run."""


class OutputItem(msgspec.Struct, gc=False):
    """One item of `response.output`. Reasoning and tool results are told by `type` and never decoded."""

    type: str | None = None
    role: str | None = None
    content: msgspec.Raw = NULL
    name: Any = None
    arguments: Any = None


Output = list[OutputItem | list[OutputItem] | str | None]
"""Some agents of Gym before 0.3 wrote one list of items per step."""


class OutputFacts(msgspec.Struct, frozen=True, gc=False):
    is_empty: bool
    has_reasoning_in_text: bool
    model_calls: int
    tool_calls: int
    tools_used: frozenset[str]
    answer: str
    """Digest of the assistant's texts and calls, in order; ids, reasoning and results left out."""


class _Part(msgspec.Struct, gc=False):
    text: Any = None
    refusal: Any = None


_CONTENT = msgspec.json.Decoder(list[_Part | str | None] | str | None)


def read_output(output: Output) -> OutputFacts:
    """Reduce the items of a response; raises msgspec.ValidationError for message content of no known shape.

    The model was asked once for every maximal run of its own items (reasoning, assistant messages, calls)
    between tool results and messages of others: the flat output records no boundaries (nemo-gym 0.7.0).
    """
    said: list[str] = []
    tools: list[str] = []
    model_calls = 0
    is_in_run = False
    has_tag = False
    for item in _flat(output):
        kind = _COMMON_KINDS.get(item.type) or kind_of(item.type, item.role)
        if kind is Kind.FROM_OUTSIDE:
            is_in_run = False
            continue
        if not is_in_run:
            model_calls += 1
            is_in_run = True
        if kind is Kind.CALL:
            tool = item.name if isinstance(item.name, str) else str(item.type)
            tools.append(tool)
            said += ("call", tool, str(item.arguments))
        elif kind is Kind.TEXT:
            text = _text(item.content)
            has_tag = has_tag or _has_reasoning_tag(text)
            if text.strip():
                said += ("text", text)
    return OutputFacts(
        is_empty=not said,
        has_reasoning_in_text=has_tag,
        model_calls=model_calls,
        tool_calls=len(tools),
        tools_used=frozenset(tools),
        answer=fingerprint_texts(said),
    )


_COMMON_KINDS: dict[str | None, Kind] = {
    "reasoning": Kind.REASONING,
    "function_call": Kind.CALL,
    "function_call_output": Kind.FROM_OUTSIDE,
}
"""Nine items of ten; looked up, since an agent's row has hundreds."""


def kind_of(type_name: str | None, role: str | None) -> Kind:
    """The kind of an item with this type and role; one without a type is a message."""
    if type_name is None or type_name == "message":
        return Kind.TEXT if role is None or role == "assistant" else Kind.FROM_OUTSIDE
    if type_name == "reasoning":
        return Kind.REASONING
    if type_name.endswith("_output"):
        return Kind.FROM_OUTSIDE
    return Kind.CALL if type_name.endswith("_call") else Kind.TEXT


def _has_reasoning_tag(text: str) -> bool:
    # One character is found ten times faster than a word, and most answers hold no ">" at all.
    marks = (*_ANGLED_MARKS, *_OTHER_MARKS) if ">" in text else _OTHER_MARKS
    for mark in marks:
        if mark in text:
            return any(tag in text for tag in REASONING_TAGS)
    return False


def _flat(output: Output) -> Iterable[OutputItem]:
    if set(map(type, output)) <= {OutputItem}:
        return cast(list[OutputItem], output)
    return _flattened(output)


def _flattened(output: Output) -> Iterator[OutputItem]:
    for entry in output:
        if isinstance(entry, OutputItem):
            yield entry
        elif isinstance(entry, str):
            yield OutputItem(
                type="message", role="assistant", content=msgspec.Raw(msgspec.json.encode(entry))
            )
        elif entry is not None:
            yield from entry


def _text(content: msgspec.Raw) -> str:
    decoded = _CONTENT.decode(content)
    if decoded is None or isinstance(decoded, str):
        return decoded or ""
    texts: list[str] = []
    for part in decoded:
        if isinstance(part, _Part):
            texts += [text for text in (part.text, part.refusal) if isinstance(text, str)]
        elif part is not None:
            texts.append(part)
    return texts[0] if len(texts) == 1 else "".join(texts)
