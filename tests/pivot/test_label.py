"""Labels are spliced: their strings are the source's own, escape for escape."""

import json
from typing import Any

import pytest
from episodes import call, items_of

from gymbal.model.item import read_item
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.pivot.label import Label, label_of
from gymbal.pivot.segment import split

NAMES = frozenset({"look", "find"})


def label(*items: dict[str, Any] | bytes) -> Label | Refusal:
    """The label of the only model call that `items` are."""
    raws = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    (only,) = split([read_item(raw) for raw in raws])
    return label_of(only, NAMES)


def raw_of(found: Label | Refusal) -> bytes:
    assert isinstance(found, Label), found
    return found.raw


def reason_of(found: Label | Refusal) -> SkipReason:
    assert isinstance(found, Refusal), found
    return found.reason


def test_label_of_one_call_keeps_the_source_strings() -> None:
    source = (
        rb'{"type":"function_call","call_id":"c","name":"l\u006fok",'
        rb'"arguments":"{\"at\":  \"\u00e9\\u00e9\/\"}"}'
    )
    assert raw_of(label(source)) == (
        rb'{"type":"function_call","name":"l\u006fok","arguments":"{\"at\":  \"\u00e9\\u00e9\/\"}"}'
    )


def test_label_of_text_keeps_the_source_string() -> None:
    part = rb'{"text":"caf\u00e9 \/","annotations":[],"type":"output_text"}'
    source = rb'{"type":"message","id":"m","role":"assistant","content":[' + part + rb"]}"
    assert raw_of(label(source)) == rb'{"type":"message","content":"caf\u00e9 \/"}'


def test_label_of_bare_text_is_that_text() -> None:
    assert (
        raw_of(label(b'{"role":"assistant","content":"h\\u0069"}'))
        == b'{"type":"message","content":"h\\u0069"}'
    )


def test_label_skips_a_refusal_before_the_first_output_text() -> None:
    content = [
        {"type": "refusal", "refusal": "no"},
        {"type": "output_text", "text": "but yes", "annotations": []},
        {"type": "output_text", "text": "later", "annotations": []},
    ]
    found = label({"type": "message", "id": "m", "role": "assistant", "content": content})
    assert json.loads(raw_of(found)) == {"type": "message", "content": "but yes"}


def test_label_of_narrate_and_call_is_the_call() -> None:
    message, first = items_of("MC")
    assert json.loads(raw_of(label(message, first)))["type"] == "function_call"


def test_label_of_two_calls_is_one_batch_in_order() -> None:
    found = label(call("a", '{"at":1}'), call("b", "{}", name="find"))
    assert isinstance(found, Label)
    assert found.tools == ("look", "find")
    assert json.loads(found.raw) == {
        "type": "function_call_batch",
        "calls": [
            {"type": "function_call", "name": "look", "arguments": '{"at":1}'},
            {"type": "function_call", "name": "find", "arguments": "{}"},
        ],
    }


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (items_of("R"), "no_action"),
        ([{"type": "message", "id": "m", "role": "assistant", "content": []}], "no_action"),
        ([{"role": "assistant", "content": " \n"}], "no_action"),
        ([{"role": "assistant", "content": None}], "no_action"),
        ([call("a", "{")], "malformed_arguments"),
        ([call("a", "")], "malformed_arguments"),
        ([call("a", "[" * 100_000)], "malformed_arguments"),
        ([call("a", "{}") | {"arguments": {"at": 1}}], "malformed_arguments"),
        ([call("a", '"{}"')], "arguments_not_object"),
        ([call("a", "null")], "arguments_not_object"),
        ([call("a", "[]")], "arguments_not_object"),
        ([call("a", "{}", name="invented")], "tool_not_in_list"),
        ([call("a", "{}"), call("b", "{}", name="invented")], "tool_not_in_list"),
        ([call("a", "{}") | {"name": None}], "unsupported_item"),
        (items_of("H"), "unsupported_item"),
        (items_of("CH"), "unsupported_item"),
    ],
)
def test_label_is_refused_with_its_reason(items: list[dict[str, Any]], reason: str) -> None:
    assert reason_of(label(*items)) == reason
