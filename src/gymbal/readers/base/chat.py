"""Messages of OpenAI Chat Completions as items of the Responses API.

One assistant message is one model call: reasoning, then text, then its tool calls. A source in which one
stands before the results of the one before it writes a response as several messages: there item types say
where a model call ends. Strings of the source are spliced; arguments that are an object there are written as
text once, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from gymbal.model.item import CALLS, Item, read_item
from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Conversion, NonModelTurn, RecordedCut
from gymbal.readers.base import items as write
from gymbal.readers.base.boundaries import turn_cut
from gymbal.readers.base.content import (
    EMPTY,
    NULL,
    fields_of,
    input_content,
    is_content,
    list_of,
    present_names,
    text_token,
    token,
)

_MESSAGE_FIELDS = frozenset(
    {
        *("role", "content", "tool_calls", "function_call", "tool_call_id", "refusal"),
        *("reasoning_content", "reasoning"),
    }
)
"""What becomes a part of an item."""
_NAMED_ROLES = (b'"tool"', b'"function"')
"""Roles whose `name` repeats that of the call."""


class Conversation(NamedTuple):
    """A list of messages as a trajectory holds it."""

    seed: tuple[Item, ...]
    """What stands before the first message of the policy."""
    items: tuple[Item, ...]
    cuts: tuple[RecordedCut, ...]
    non_model_turns: Mapping[NonModelTurn, int]
    conversions: Mapping[Conversion, int]


def read_conversation(
    messages: Sequence[bytes], non_model: Mapping[int, NonModelTurn] | None = None
) -> Conversation:
    """Convert all messages of one conversation, JSON objects each.

    `non_model` says which assistant messages, by position, something else than the policy made. By default
    that is an assistant text before the first user message: a scripted greeting, since the policy had not
    been asked yet. Raises msgspec.DecodeError for strings with broken escapes.
    """
    parsed = [fields_of(message) for message in messages]
    roles = [token(fields, "role") for fields in parsed]
    others = _greetings(roles, parsed) if non_model is None else non_model
    own = [at for at, role in enumerate(roles) if role == b'"assistant"' and at not in others]
    first = own[0] if own else len(roles)
    converter = ChatConverter()
    turns = [converter.items_of(raw, at) for at, raw in enumerate(messages)]
    turns = [
        tuple(scripted(item) for item in turn) if at < first or at in others else turn
        for at, turn in enumerate(turns)
    ]
    items = tuple(item for turn in turns[first:] for item in turn)
    return Conversation(
        seed=tuple(item for turn in turns[:first] for item in turn),
        items=items,
        cuts=turn_cut(
            [sum(item.by_policy for item in turns[at]) for at in own],
            items,
            splits_responses=_splits_responses(turns, own),
        ),
        non_model_turns=Counter(others.values()),
        conversions=converter.conversions,
    )


def _splits_responses(turns: Sequence[Sequence[Item]], own: Sequence[int]) -> bool:
    """Whether a message of the policy, of those at `own`, follows one whose calls have no result yet.

    The environment runs every call of a response before it returns any result, so both are one response.
    """
    return any(
        after == at + 1 and any(item.kind in CALLS for item in turns[at]) for at, after in pairwise(own)
    )


def scripted(item: Item) -> Item:
    """The item, marked as not made by the policy where it looks as if it was."""
    return msgspec.structs.replace(item, is_scripted=True) if item.by_policy else item


_MADE_BY_A_MODEL = frozenset({"tool_calls", "function_call", "reasoning_content", "reasoning"})
"""No scripted greeting has these."""


def _greetings(roles: Sequence[bytes], parsed: Sequence[Fields]) -> dict[int, NonModelTurn]:
    """The assistant texts that stand before the first user message."""
    asked = next((at for at, role in enumerate(roles) if role == b'"user"'), 0)
    return {
        at: NonModelTurn.SCRIPTED_GREETING
        for at in range(asked)
        if roles[at] == b'"assistant"' and not _MADE_BY_A_MODEL & present_names(parsed[at])
    }


class ChatConverter:
    """Converts messages one by one; knows which calls wait for a result when the source gives them no ids."""

    def __init__(self) -> None:
        self.conversions: Counter[Conversion] = Counter()
        self._open_without_id: list[tuple[bytes, bytes]] = []
        """Made id and name token of each call that has no id and no result yet."""
        self._ids_made = 0

    def items_of(self, raw: bytes, position: int) -> tuple[Item, ...]:
        """The items of the message `raw`, which stands at `position` of its conversation."""
        fields = fields_of(raw)
        role = token(fields, "role")
        self._count_fields_left_out(fields, role)
        if role == b'"assistant"':
            return self._assistant(fields, position)
        if role in _NAMED_ROLES:
            return (self._result(fields, role),)
        if role in (b'"system"', b'"developer"', b'"user"'):
            return (write.message(role, input_content(token(fields, "content"))),)
        return (read_item(raw),)  # of no role that a row can hold: it stays, and is refused there

    def _count_fields_left_out(self, fields: Fields, role: bytes) -> None:
        left_out = present_names(fields) - _MESSAGE_FIELDS
        if role in _NAMED_ROLES:
            left_out -= {"name"}
        if left_out:
            self.conversions[Conversion.FIELD_LEFT_OUT] += len(left_out)

    def _assistant(self, fields: Fields, position: int) -> tuple[Item, ...]:
        items = []
        thought = self._thought(fields)
        if thought is not None:
            items.append(write.reasoning(self._item_id("rs", position), thought))
        texts, others = self._said(token(fields, "content"))
        if texts:
            items.append(write.assistant_text(texts[0] if len(texts) == 1 else write.joined(texts)))
        declined = token(fields, "refusal")
        if declined.startswith(b'"') and declined != b'""':
            items.append(write.refusal(self._item_id("msg", position), declined))
        items += others
        items += [self._call(fields_of(call)) for call in list_of(token(fields, "tool_calls"))]
        legacy = token(fields, "function_call")
        if legacy not in EMPTY:
            items.append(self._function_call(NULL, fields_of(legacy)))
        if not any(item.by_policy for item in items):
            items.append(write.assistant_text(b'""'))  # the model call stays countable
        return tuple(items)

    def _thought(self, fields: Fields) -> bytes | None:
        """Servers name it `reasoning_content` or `reasoning`; some send both, the same."""
        found = [token(fields, name) for name in ("reasoning_content", "reasoning")]
        texts = [value for value in found if value.startswith(b'"') and value != b'""']
        left_out = sum(value not in (NULL, b'""', *texts[:1]) for value in found)
        if left_out:
            self.conversions[Conversion.FIELD_LEFT_OUT] += left_out
        return texts[0] if texts else None

    def _said(self, content: bytes) -> tuple[list[bytes], list[Item]]:
        """Texts of an assistant's content, and its parts that are none as items that no row can hold."""
        if content.startswith(b'"'):
            return ([content] if content != b'""' else []), []
        texts, others = [], []
        for part in list_of(content):
            text = text_token(part)
            if text is None:
                others.append(read_item(part))
            elif text != b'""':
                texts.append(text)
        return texts, others

    def _call(self, fields: Fields) -> Item:
        call_id = token(fields, "id")
        custom = token(fields, "custom")
        if custom not in EMPTY:
            inner = fields_of(custom)
            return write.custom_call(call_id, token(inner, "name"), token(inner, "input"))
        # Some dumps leave the wrapper `function` out.
        return self._function_call(call_id, fields_of(token(fields, "function")) or fields)

    def _function_call(self, call_id: bytes, function: Fields) -> Item:
        name = token(function, "name")
        if not _is_id(call_id):
            call_id = write.string(f"made_call_{self._ids_made}")
            self._ids_made += 1
            self.conversions[Conversion.CALL_ID_MADE] += 1
            self._open_without_id.append((call_id, name))
        return write.function_call(call_id, name, self.arguments(token(function, "arguments")))

    def arguments(self, value: bytes) -> bytes:
        """The string token of a call's arguments; `null` stays, and such a call can be no label."""
        if value.startswith(b'"') or value == NULL:
            return value
        self.conversions[Conversion.ARGUMENTS_ENCODED] += 1
        return write.on_one_line(value)

    def _result(self, fields: Fields, role: bytes) -> Item:
        recorded = token(fields, "tool_call_id")
        call_id = recorded if _is_id(recorded) else self._answered(token(fields, "name"))
        return write.result(call_id, self.output(token(fields, "content")))

    def _answered(self, name: bytes) -> bytes | None:
        """The id made for the earliest open call without one, of this `name` where the result has a name."""
        for index, (call_id, called) in enumerate(self._open_without_id):
            if name in EMPTY or name == called:
                del self._open_without_id[index]
                return call_id
        return None

    def output(self, content: bytes) -> bytes:
        """A tool result's content as `output`: a text, or a list of input parts."""
        if content == NULL:
            self.conversions[Conversion.RESULT_EMPTY] += 1
            return b'""'
        if is_content(content):
            return input_content(content)
        self.conversions[Conversion.RESULT_ENCODED] += 1
        return write.on_one_line(content)

    def _item_id(self, prefix: str, position: int) -> str:
        self.conversions[Conversion.ITEM_ID_MADE] += 1
        return f"{prefix}_{position}"


def _is_id(value: bytes) -> bool:
    """Whether the token is a call id; an empty text names no call."""
    return value.startswith(b'"') and value != b'""'
