"""Makes `pivots/rated.samples.jsonl`: answers at the pivots of `rated.jsonl` that were drawn, not sampled.

    python examples/sample_pivots.py

It is a journal as `gymbal pivot profile` writes one. Each answer repeats the label, changes one argument of
it, leaves calls of a batch out, or only speaks. No policy was asked.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec

from gymbal.commands.open_pivots import digest_of, open_pivots
from gymbal.model.profile import JournalHeader, Sample, SampleStatus
from gymbal.verify import score

PIVOTS = Path(__file__).resolve().parent / "pivots"
SAMPLES = 4
SETTINGS = {"word_count_similarity_threshold": 0.1}
POLICY = "drawn"

Json = dict[str, Any]


def main() -> None:
    """Draw the answers and write the journal."""
    rng = random.Random(7)
    rows = [json.loads(line) for line in (PIVOTS / "rated.jsonl").read_text(encoding="utf-8").splitlines()]
    header = JournalHeader(
        model=POLICY,
        base_url_digest="no endpoint",
        settings={"drawn by": "examples/sample_pivots.py"},
        config=SETTINGS,
        pivots=digest_of(open_pivots(PIVOTS / "rated.jsonl")),
    )
    lines: list[msgspec.Struct] = [header]
    lines += [drawn(row, number, rng) for row in rows for number in range(SAMPLES)]
    (PIVOTS / "rated.samples.jsonl").write_bytes(
        b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    )


def drawn(row: Json, number: int, rng: random.Random) -> Sample:
    """One answer at the pivot, scored under the settings of the journal."""
    output = answer(row["expected_action"], rng)
    found = score(row["expected_action"], output, SETTINGS)
    return Sample(
        pivot=row["pivot_info"]["uuid"],
        sample=number,
        status=SampleStatus.OK,
        reward=found.reward,
        category=found.category.value,
        action=found.action,
        output=output,
        model=POLICY,
    )


def answer(label: Json, rng: random.Random) -> list[Json]:
    """Items of a response to a state in which `label` is expected."""
    calls = label.get("calls", [label] if label["type"] == "function_call" else [])
    kind = rng.random()
    if not calls or kind < 0.1:
        text = {"type": "output_text", "text": "Let me look into that.", "annotations": []}
        return [{"type": "message", "role": "assistant", "content": [text]}]
    if kind < 0.2:
        calls = calls[:1]
    if kind > 0.5:
        place = rng.randrange(len(calls))
        calls = [changed(call, rng) if i == place else call for i, call in enumerate(calls)]
    return [{**call, "call_id": f"call_{i}"} for i, call in enumerate(calls)]


def changed(call: Json, rng: random.Random) -> Json:
    """The call with another value of one of its arguments."""
    arguments = json.loads(call["arguments"])
    name = rng.choice(sorted(arguments))
    value = arguments[name]
    arguments[name] = another_text(value, rng) if isinstance(value, str) else value + rng.choice((-1, 1))
    return {**call, "arguments": json.dumps(arguments)}


def another_text(text: str, rng: random.Random) -> str:
    """The words in another order, one of them less, or one exchanged; of one word, another one."""
    words = text.split()
    if len(words) == 1:
        return f"{text[:-1]}9"
    return " ".join(rng.choice((words[::-1], words[:-1], [*words[:-1], "B7"], [*words, "please"])))


if __name__ == "__main__":
    main()
