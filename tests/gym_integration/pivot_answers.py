"""Scripts of a model that is asked at pivots: it answers with the label, or with a damaged one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random

from model_dialects import conversation_of, responses_entries, tool_names
from random_actions import Json, damaged_calls

TurnOf = Callable[[Json], Json]
"""A turn of the script, for one pivot row."""


def answers_script(rows: Sequence[Json], turn_of: TurnOf, *, times: int = 1) -> Json:
    """The script that answers the rows, each asked `times` times in a row or in turn.

    Rows of the same conversation (their labels differ) are answered in the order in which they stand.
    """
    draws: dict[tuple[str, int], list[list[Json]]] = defaultdict(list)
    for _ in range(times):
        for row in rows:
            request = row["responses_create_params"]
            asked = conversation_of(responses_entries(request), tool_names(request))
            # The turn that answers is the one after as many rounds of results.
            earlier = [{"text": "never asked for"}] * asked.tool_rounds
            draws[asked.digest, asked.tool_rounds].append([*earlier, turn_of(row)])
    rules = [
        {"name": f"pivot-{i}", "match": {"conversation": digest}, "draws": episodes}
        for i, ((digest, _), episodes) in enumerate(draws.items())
    ]
    return {"model": "demo-8b", "created": 1_790_000_000, "rules": rules}


def label_turn(row: Json) -> Json:
    """The turn that does exactly what the row expects."""
    return _turn(_calls(row["expected_action"]), row["expected_action"].get("content"))


def damaged_turns(seed: int) -> TurnOf:
    """Turns that are right, nearly right or wrong, by a seed."""
    random = Random(seed)

    def turn(row: Json) -> Json:
        calls = damaged_calls(random, row["expected_action"])
        text = random.choice((None, "I look it up.", "Done."))
        answer = _turn(calls, text)
        if random.random() < 0.3:
            answer["reasoning"] = "What was asked for?"
        if random.random() < 0.1:
            answer["truncated"] = True
        # A turn of nothing at all is no answer; one that was only thought is.
        return answer or {"reasoning": "Nothing to do."}

    return turn


def _calls(action: Json) -> list[Json]:
    calls: list[Json] = action.get("calls", [action] if action["type"] == "function_call" else [])
    return calls


def _turn(calls: Sequence[Json], text: str | None) -> Json:
    turn: Json = {} if text is None else {"text": text}
    if calls:
        turn["calls"] = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return turn
