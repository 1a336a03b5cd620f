"""The table of the contract: items in, model calls out; worked out by hand from the rules."""

import json

import msgspec
import pytest
from episodes import items_of

from gymbal.model.item import Item, ItemKind, read_item
from gymbal.model.pivot import Boundary
from gymbal.pivot.segment import split


def read(letters: str) -> list[Item]:
    return [read_item(json.dumps(item).encode()) for item in items_of(letters)]


@pytest.mark.parametrize(
    ("letters", "calls"),
    [
        ("", []),
        ("M", ["M:s"]),
        ("COM", ["C:s", "M:s"]),
        ("RCORM", ["RC:s", "RM:s"]),
        ("MCOM", ["MC:s", "M:s"]),  # narrate and call
        ("MCCOOM", ["MCC:s", "M:s"]),
        ("RMCCOORM", ["RMCC:s", "RM:s"]),
        ("COCO", ["C:s", "C:s"]),
        ("CCOO", ["CC:s"]),
        ("MUM", ["M:s", "M:s"]),
        ("RRCCCC", ["RRCCCC:s"]),  # hoisted reasoning does not end anything
        ("CROM", ["CR:s", "M:s"]),  # reasoning behind the last action belongs to it
        ("CRORM", ["CR:s", "RM:s"]),
        ("RCRCOO", ["RCRC:s"]),  # reasoning between the calls of one response
        ("MRCO", ["MRC:s"]),
        ("R", ["R:s"]),  # no action at all
        ("RORC", ["R:s", "RC:s"]),
        ("CM", ["CM:g"]),  # text closes a response of calls, or starts the next one
        ("CMO", ["CM:g"]),
        ("CRM", ["CRM:g"]),
        ("CMC", ["C:g", "MC:g"]),
        ("CRMC", ["C:g", "RMC:g"]),
        ("CMMC", ["C:g", "M:g", "MC:g"]),
        ("CMM", ["CM:g", "M:g"]),
        ("MM", ["M:g", "M:g"]),
        ("MRM", ["M:g", "RM:g"]),
        ("MCMC", ["MC:g", "MC:g"]),
        ("CMOCO", ["CM:g", "C:s"]),  # a guess stays inside its execution run
        ("CSC", ["C:s", "C:s"]),
        ("HM", ["HM:g"]),  # a hosted call is a call
        ("CXC", ["C:s", "C:s"]),  # what no response writes ends a run
    ],
)
def test_split_cuts_by_execution_runs(letters: str, calls: list[str]) -> None:
    found = split(read(letters))
    assert [f"{letters[call.start : call.stop]}:{call.boundary.value[0]}" for call in found] == calls
    assert [call.index for call in found] == list(range(len(calls)))


@pytest.mark.parametrize(
    ("letters", "ids", "guessed"),
    [
        ("COCOCOM", ["look:0", "look:1", "look:0"], [0, 1]),  # one response, executed one by one
        ("CCOOM", ["look:0", "look:0"], [0]),  # two responses without a result between
        ("CCOOCOM", ["look:0", "look:1", "look:0"], []),
        ("COCOM", ["look:0", "look:1"], []),  # these count through the trajectory
        ("COCOCOM", ["look:0", "look:1", "opaque"], []),
    ],
)
def test_split_calls_guessed_what_call_ids_cut_otherwise(
    letters: str, ids: list[str], guessed: list[int]
) -> None:
    left = iter(ids)
    items = [
        msgspec.structs.replace(item, call_id=next(left)) if item.kind is ItemKind.CALL else item
        for item in read(letters)
    ]
    found = split(items)
    assert [(call.start, call.stop) for call in found] == [(c.start, c.stop) for c in split(read(letters))]
    assert [call.index for call in found if call.boundary is Boundary.GUESSED] == guessed


def test_split_believes_recorded_sizes() -> None:
    found = split(read("RCCOORM"), [3, 2])
    assert [(call.start, call.stop, call.boundary.value) for call in found] == [
        (0, 3, "recorded"),
        (5, 7, "recorded"),
    ]


def test_split_recorded_call_spans_results_of_a_serial_executor() -> None:
    found = split(read("COCOM"), [2, 1])
    assert [(call.start, call.stop) for call in found] == [(0, 3), (4, 5)]
    assert [item.kind.value for item in found[0].items] == ["function_call", "function_call"]


@pytest.mark.parametrize("sizes", [[1], [1, 1, 1], [2, 0], [0, 2]])
def test_split_refuses_sizes_that_do_not_tile(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="do not tile 2 model-written items"):
        split(read("CM"), sizes)


def test_model_call_lists_its_parts() -> None:
    call = split(read("RMCC"))[0]
    assert (len(call.reasoning), len(call.calls), call.text) == (1, 2, "text 1")


def test_the_shape_names_the_items_of_a_call_and_leaves_out_results_between() -> None:
    (call,) = split(read("RCOMH"), [4])
    assert call.shape == "rata"  # reasoning, call, text, hosted call
    assert len(call.items) == 4
