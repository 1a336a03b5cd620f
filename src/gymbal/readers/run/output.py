"""What a response's flat output shows: text, calls, how often the model was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gymbal.io.fingerprint import fingerprint
from gymbal.readers.run.content import NULL

REASONING_TAGS = (
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<thought>",
    "</thought>",
    "<reasoning>",
    "</reasoning>",
    "<seed:think>",
    "</seed:think>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
    "<|channel|>analysis",
)
"""Marks that models put around reasoning; one that is left in an answer was not parsed out of it."""


class OutputItem(msgspec.Struct):
    """One item of `response.output`. Reasoning and tool results are told by `type` and never decoded."""

    type: Any = None
    role: Any = None
    content: msgspec.Raw = NULL
    name: Any = None
    arguments: Any = None


Output = list[OutputItem | list[OutputItem] | str | None]
"""Some agents of Gym before 0.3 wrote one list of items per step."""


class OutputFacts(msgspec.Struct, frozen=True):
    is_empty: bool
    has_reasoning_in_text: bool
    model_calls: int
    tool_calls: int
    tools_used: frozenset[str]
    answer: str
    """Digest of the assistant's texts and calls, in order; ids, reasoning and results left out."""


class _Part(msgspec.Struct):
    text: Any = None
    refusal: Any = None


_CONTENT = msgspec.json.Decoder(list[_Part | str | None] | str | None)


def read_output(output: Output) -> OutputFacts:
    """Reduce the items of a response; raises msgspec.ValidationError for message content of no known shape.

    The model was asked once for every maximal run of its own items (reasoning, assistant messages, calls)
    between tool results and messages of others: the flat output records no boundaries (nemo-gym 0.7.0).
    """
    said: list[tuple[str, ...]] = []
    tools: list[str] = []
    model_calls = 0
    is_own_run = False
    has_tag = False
    for item in _flat(output):
        is_own = is_models_own(item)
        model_calls += is_own and not is_own_run
        is_own_run = is_own
        if not is_own:
            continue
        if _is_call(item):
            tools.append(item.name if isinstance(item.name, str) else str(item.type))
            said.append(("call", tools[-1], str(item.arguments)))
        elif item.type != "reasoning":
            text = _text(item.content)
            has_tag = has_tag or any(tag in text for tag in REASONING_TAGS)
            if text.strip():
                said.append(("text", text))
    return OutputFacts(
        is_empty=not said,
        has_reasoning_in_text=has_tag,
        model_calls=model_calls,
        tool_calls=len(tools),
        tools_used=frozenset(tools),
        answer=fingerprint(said),
    )


def is_models_own(item: OutputItem) -> bool:
    """Whether the model wrote the item; tool results and messages of anyone else end its run."""
    if item.type == "message" or item.type is None:
        return item.role is None or item.role == "assistant"
    return not str(item.type).endswith("_output")


def _is_call(item: OutputItem) -> bool:
    """Function calls, and the hosted ones (`web_search_call`, `mcp_call`, ...)."""
    return isinstance(item.type, str) and item.type.endswith("_call")


def _flat(output: Output) -> Iterator[OutputItem]:
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
    return decoded if isinstance(decoded, str) else "".join(_part_texts(decoded or ()))


def _part_texts(parts: Iterable[_Part | str | None]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part is not None:
            yield from (text for text in (part.text, part.refusal) if isinstance(text, str))
