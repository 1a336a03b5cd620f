"""Near duplicates are found by the end of the state and by what the verifier expects."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_select import pivot_select
from gymbal.model.selection import SelectionMetrics
from gymbal.pivot.selection.options import SelectOptions
from gymbal.pivot.selection.state import TAIL_CHARACTERS, text_of, words_of


def prose(seed: int, words: int) -> list[str]:
    rng = random.Random(seed)
    return [f"w{rng.randrange(10**6)}" for _ in range(words)]


def row(
    identity: str, text: str, *, arguments: str = "{}", name: str = "look", before: str = ""
) -> dict[str, Any]:
    state = [{"role": "system", "content": before}, {"role": "user", "content": text}]
    label = {"type": "function_call", "name": name, "arguments": arguments}
    if not name:
        label = {"type": "message", "content": f"The answer to {identity}."}
    return {
        "responses_create_params": {"input": state, "tools": []},
        "expected_action": label,
        "pivot_info": {"uuid": identity},
    }


def select(folder: Path, rows: list[dict[str, Any]], passed: list[int], least: float) -> SelectionMetrics:
    profile = [
        {
            "pivot": each["pivot_info"]["uuid"],
            "k": 8,
            "rewards": None,
            "mean": count / 8,
            "source": "pass_rate",
        }
        for each, count in zip(rows, passed, strict=True)
    ]
    return pivot_select(
        write_rows(folder / "pivots.jsonl", rows),
        write_rows(folder / "profile.jsonl", profile),
        folder / "out",
        options=SelectOptions(near_duplicates=least),
    )


def kept(folder: Path) -> set[str]:
    return {line["pivot"] for line in read_rows(folder / "out" / "selected.jsonl")}


def changed(words: list[str], count: int) -> str:
    """The text with `count` words changed that are far apart: each makes five shingles of five words new."""
    words = list(words)
    for number in range(count):
        words[10 + number * 20] = "other"
    return " ".join(words)


def test_hardest_of_nearly_equal_states_is_kept(tmp_path: Path) -> None:
    # 400 words make 396 shingles. With 2 words changed 386 are shared: Jaccard 386 / 406 = 0.95; with 12
    # words 336 / 456 = 0.74. The standard errors are 0.02 and 0.04.
    words = prose(1, 400)
    rows = [row("a", changed(words, 0)), row("b", changed(words, 2)), row("c", changed(words, 12))]
    metrics = select(tmp_path, rows, [5, 2, 6], 0.88)
    assert kept(tmp_path) == {"b", "c"}
    assert metrics.skipped["near_duplicate"] == 1
    (skipped,) = read_rows(tmp_path / "out" / "skipped.jsonl")
    assert skipped["detail"].startswith("expects the same as pivot b, after a state that is 9")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({}, {}, True),
        ({"arguments": '{"a": 1, "b": 2}'}, {"arguments": '{"b":2,"a":1}'}, True),
        ({"arguments": '{"a": 1}'}, {"arguments": '{"a": 2}'}, False),
        ({"name": "look"}, {"name": "walk"}, False),
        ({"name": ""}, {"name": ""}, True),
        ({"name": ""}, {"name": "look"}, False),
        ({"before": "A short rule. " * 5}, {"before": "Another rule. " * 500}, True),
    ],
)
def test_duplicates_expect_the_same_after_the_same_end(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any], is_same: bool
) -> None:
    # 900 words of 7 letters are more than the end that is compared.
    text = " ".join(prose(2, 900))
    metrics = select(tmp_path, [row("a", text, **one), row("b", text, **other)], [1, 2], 0.9)
    assert metrics.skipped["near_duplicate"] == is_same


def test_unlike_states_are_all_kept(tmp_path: Path) -> None:
    rows = [row(str(n), " ".join(prose(n, 60))) for n in range(200)]
    assert select(tmp_path, rows, [4] * 200, 0.5).kept == 200


def test_long_states_of_one_trajectory_are_told_apart(tmp_path: Path) -> None:
    # Each state is the one before with a result of 2,000 characters more: whole states would be 97 % alike.
    results = [" ".join(prose(n, 250)) for n in range(40)]
    rows = [row(str(n), "\n".join(results[: n + 1])) for n in range(40)]
    assert select(tmp_path, rows, [4] * 40, 0.8).kept == 40


def test_text_of_a_row_is_what_its_items_say() -> None:
    items = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": [{"type": "input_text", "text": "one"}, {"type": "input_image"}]},
        {"role": "user", "content": "two"},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hidden"}]},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"at": "x"}'},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
        {"role": "user", "content": "three"},
    ]
    line = {
        "responses_create_params": {"input": items},
        "expected_action": {"type": "message", "content": "m"},
    }
    text = text_of(json.dumps(line).encode())
    assert (text.opening, text.user) == ("one\n\ntwo".replace("\n\n", "\n"), ("one", "two", "three"))
    assert words_of(text.tail) == ["rules", "one", "two", "look", "at", "x", "seen", "three"]
    assert text.action == "message"


def test_text_of_a_bare_input_is_the_request_of_a_user() -> None:
    line = {
        "responses_create_params": {"input": "x" * 9000},
        "expected_action": {"type": "message", "content": "m"},
    }
    text = text_of(json.dumps(line).encode())
    assert (text.opening, len(text.tail)) == ("x" * 9000, TAIL_CHARACTERS)
