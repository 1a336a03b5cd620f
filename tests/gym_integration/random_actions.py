"""Random labels and responses for the comparator, and the search for the smallest one that shows a fault.

A case is `{"expected_action": {...}, "output": [...]}`. Most responses are damaged copies of their label,
since two actions drawn apart never match.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random
from typing import Any

Json = dict[str, Any]

NAMES = ("find", "book", "Find")
KEYS = ("part", "n", "té", "")
WORDS = ("hex", "bolt", "HEX", "M6", "straße", "STRASSE", "İ", "30mm", "\u00a0", "\x1c")
"""The last ones change their length in lower case, or are white space to Python alone."""
SPACES = (" ", " ", "  ", "\n", "\t")
NUMBERS = (0, 1, -1, 7, 10**20, 0.0, -0.0, 1.0, 1.0000005, 0.1, 2.5, 1e300)
ODD_ARGUMENTS = (
    *("", "{", "null", "[]", "3", '"text"', "{} {}", ' {"n": 1}\n', "\ufeff{}", "{'n': 1}"),
    *('{"n": NaN}', '{"n": Infinity}', '{"n": -Infinity}', '{"n": 1e400}', '{"n": 1, "n": 2}'),
    *('{"part": "\\ud800"}', '{"n": 01}', '{"n": 1,}', '{"n": ' + "9" * 5000 + "}"),
)
ODD_SHARE = 0.03


def all_configs() -> list[Json]:
    """Every combination of Gym 0.7.0's options, with a few thresholds."""
    switches = (False, True)
    modes = ("binary_strict", "fractional", "f1")
    thresholds = ((0.1, 1e-6), (0.0, 0.0), (0.25, 0.2), (0.5, 1e-6), (0.6, 1e-6), (-1.0, 10.0))
    return [
        {
            "word_count_similarity_threshold": words,
            "floating_point_comparison_threshold": floats,
            "parallel_tool_call_rewarding": counted,
            "allow_subset": fewer,
            "allow_superset": more,
            "parallel_tool_call_reward_mode": mode,
        }
        for (words, floats), counted, fewer, more, mode in product(
            thresholds, switches, switches, switches, modes
        )
    ]


def random_case(random: Random) -> Json:
    expected = _expected_action(random)
    output = _output(random, expected)
    if random.random() < ODD_SHARE:
        expected = _damaged(random, expected)
    return {"expected_action": expected, "output": output}


def _expected_action(random: Random) -> Json:
    kind = random.random()
    if kind < 0.1:
        return {"type": "message", "content": _text(random)}
    if kind < 0.5:
        return _call(random)
    return {"type": "function_call_batch", "calls": [_call(random) for _ in range(random.randint(1, 4))]}


def _call(random: Random) -> Json:
    return {"type": "function_call", "name": random.choice(NAMES), "arguments": _arguments(random)}


def _arguments(random: Random) -> str:
    if random.random() < ODD_SHARE:
        return random.choice(ODD_ARGUMENTS)
    return json.dumps(_object(random, depth=2), ensure_ascii=random.random() < 0.5)


def _object(random: Random, depth: int) -> Json:
    return {key: _value(random, depth) for key in KEYS if random.random() < 0.5}


def _value(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth and kind < 0.15:
        return _object(random, depth - 1)
    if depth and kind < 0.3:
        return [_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    if kind < 0.6:
        return _text(random)
    return random.choice((None, True, False, *NUMBERS))


def _text(random: Random) -> str:
    words = [random.choice(WORDS) for _ in range(random.choice((0, 1, 2, 2, 3, 5)))]
    return "".join(word + random.choice(SPACES) for word in words).removesuffix(" ")


def _output(random: Random, expected: Json) -> list[Json]:
    """Items of a response, with what stands beside its calls."""
    items = [call | {"call_id": f"call_{i}"} for i, call in enumerate(damaged_calls(random, expected))]
    for _ in range(random.choice((0, 0, 1, 2))):
        items.insert(random.randint(0, len(items)), _other_item(random))
    if items and random.random() < ODD_SHARE:
        place = random.randrange(len(items))
        items[place] = _damaged(random, items[place])
    return items


def damaged_calls(random: Random, expected: Json) -> list[Json]:
    """The expected calls, if any, often with some of them changed, dropped, doubled or swapped."""
    wanted = expected.get("calls", [expected] if expected["type"] == "function_call" else [])
    if random.random() < 0.1:
        wanted = [_call(random)]
    calls = [
        _changed_call(random, call) if random.random() < 0.5 else dict(call)
        for call in wanted
        for _ in range(random.choice((0, 1, 1, 1, 1, 1, 1, 2)))
    ]
    if random.random() < 0.4:
        random.shuffle(calls)
    return calls


def _changed_call(random: Random, call: Json) -> Json:
    kind = random.random()
    if kind < 0.1:
        return call | {"name": random.choice(NAMES)}
    if kind < 0.2:
        return call | {"arguments": random.choice(ODD_ARGUMENTS)}
    try:
        value = json.loads(call["arguments"])
    except ValueError:
        return call | {"arguments": _arguments(random)}
    return call | {"arguments": json.dumps(_changed(random, value))}


def _changed(random: Random, value: Any) -> Any:
    """The value with one thing changed somewhere in it."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        changed = {name: _changed(random, inner) if name == key else inner for name, inner in value.items()}
        return dict(reversed(changed.items())) if random.random() < 0.3 else changed
    if isinstance(value, list) and value and random.random() < 0.7:
        place = random.randrange(len(value))
        return [_changed(random, inner) if i == place else inner for i, inner in enumerate(value)]
    if isinstance(value, list):
        return random.choice(([*value, None], value[:-1], value[::-1]))
    if isinstance(value, dict):
        return random.choice((value | {"more": 1}, {}))
    if isinstance(value, str):
        return random.choice((value.upper(), value.lower(), f"{value} {random.choice(WORDS)}", f" {value}"))
    if isinstance(value, bool):
        return random.choice((not value, int(value)))
    if isinstance(value, int | float):
        return random.choice((float(value), value + 1e-7, value + 0.05, value + 1, bool(value), str(value)))
    return random.choice((None, "", 0, False))


def _other_item(random: Random) -> Json:
    text = {"type": "output_text", "text": _text(random), "annotations": []}
    refusal = {"type": "refusal", "refusal": "no"}
    parts = random.choice(([], [text], [refusal], [refusal, text], [text, text | {"text": "second"}]))
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    result = {"type": "function_call_output", "call_id": "call_0", "output": "done"}
    return random.choice((message, message, reasoning, result))


def _damaged(random: Random, value: Json) -> Json:
    """The object without one member, or with one of another type."""
    key = random.choice(list(value))
    rest = {name: inner for name, inner in value.items() if name != key}
    return rest if random.random() < 0.5 else rest | {key: random.choice((None, 3, [], {}, "other"))}


Differ = Callable[[Sequence[Json]], Sequence[bool]]
"""Says of each case whether it still shows the fault."""


def shrink(case: Json, still_differs: Differ, *, rounds: int = 200) -> Json:
    """The smallest case found that still shows the fault, by taking away one thing at a time."""
    for _ in range(rounds):
        candidates = list(_smaller(case))
        verdicts = still_differs(candidates) if candidates else ()
        smaller = next((each for each, differs in zip(candidates, verdicts, strict=True) if differs), None)
        if smaller is None:
            break
        case = smaller
    return case


def _smaller(value: Any) -> Iterator[Any]:
    """Values with one member, element, half of a text or digit less. JSON inside a text is opened."""
    if isinstance(value, dict):
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
        for key, inner in value.items():
            yield from (value | {key: less} for less in _smaller(inner))
    elif isinstance(value, list):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)))
        for i, inner in enumerate(value):
            yield from ([*value[:i], less, *value[i + 1 :]] for less in _smaller(inner))
    elif isinstance(value, str):
        yield from _smaller_texts(value)
    elif isinstance(value, int | float) and value not in (0, 1):
        yield from (0, 1)


def _smaller_texts(text: str) -> Iterator[str]:
    try:
        inner = json.loads(text)
    except ValueError:
        inner = None
    if isinstance(inner, dict | list):
        yield from (json.dumps(less) for less in _smaller(inner))
    half = len(text) // 2
    if half:
        yield from (text[:half], text[half:])
