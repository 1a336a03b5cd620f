"""A generated tool-use world: the shifts of a greenhouse, written as rollouts of NeMo Gym.

A task is a shift. The user gives the first order, each tool result the next one, and after the last the
expert says a word. An order names a tool and two values, each in one of two wordings: the usual one or
a rare one. Words that mean nothing stand around it.

Three things are in it because real trajectories have them: orders that any policy gets right after a
little training, orders whose answer no policy of this example can write (`mist` for a number of minutes that
is not among `MINUTES`), and orders whose answer is not in the text at all (`VAGUE`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]

USUAL, RARE = 0, 1
"""The two wordings of each verb and each value."""

MINUTES = ("5", "10", "20")
ODD_MINUTES = ("7", "13", "25")


class Tool(NamedTuple):
    """A tool, the argument besides the bed, and how orders call for them in both wordings."""

    name: str
    verbs: tuple[str, str]
    argument: str
    values: dict[str, tuple[str, str]]


BEDS = {
    "north": ("north bed", "mossy corner"),
    "south": ("south bed", "sunlit rows"),
    "east": ("east bed", "river side"),
    "west": ("west bed", "old wall"),
}

TOOLS = (
    Tool(
        "set_valve",
        ("turn the valve", "see to the pipe"),
        "state",
        {"open": ("open", "running"), "closed": ("closed", "dry")},
    ),
    Tool(
        "set_vent",
        ("set the vent", "adjust the flap"),
        "level",
        {"low": ("low", "a crack"), "half": ("half", "midway"), "full": ("full", "all the way")},
    ),
    Tool(
        "read_sensor",
        ("read the sensor", "take a measurement"),
        "kind",
        {
            "soil": ("of the soil", "down by the roots"),
            "air": ("of the air", "up by the glass"),
            "light": ("of the light", "of the brightness"),
        },
    ),
    Tool(
        "log_growth",
        ("log the growth", "make a note"),
        "stage",
        {
            "sown": ("as sown", "that seeds went in"),
            "potted": ("as potted", "that seedlings moved"),
            "picked": ("as picked", "that we harvested"),
        },
    ),
    Tool(
        "mist",
        ("mist", "spray"),
        "minutes",
        {minutes: (f"for {minutes} minutes", f"for {minutes} minutes") for minutes in MINUTES},
    ),
)

VAGUE = "do once more what we talked about yesterday"
LAST = ("that was the last order, thank you", "we are through for today")
ASIDES = (
    "the door creaks",
    "it may rain",
    "ann is on leave",
    "mind the hose",
    "lunch is at noon",
    "keep the list",
)
NAMES = ("ann", "ben", "cleo", "dan", "eva", "finn", "gus", "hana", "ida", "jon", "kim", "lea", "max", "nora")


class Action(NamedTuple):
    """One call, or a message where `tool` is None."""

    tool: str | None
    bed: str = ""
    argument: str = ""
    value: str = ""

    def items(self) -> list[Json]:
        """The Responses items of a model call that does this."""
        if self.tool is None:
            part = {"type": "output_text", "text": "All is done.", "annotations": []}
            return [{"type": "message", "role": "assistant", "content": [part]}]
        value = int(self.value) if self.argument == "minutes" else self.value
        arguments = json.dumps({"bed": self.bed, self.argument: value})
        return [{"type": "function_call", "call_id": "c", "name": self.tool, "arguments": arguments}]


ACTIONS = (
    Action(None),
    *(
        Action(tool.name, bed, tool.argument, value)
        for tool in TOOLS
        for bed in BEDS
        for value in tool.values
    ),
)
"""All that a policy of this example can do."""


class Order(NamedTuple):
    """What the state ends with, and what the expert does then."""

    text: str
    action: Action


def draw_order(rng: random.Random, *, rare: float, odd: float = 0.0, vague: float = 0.0) -> Order:
    """An order for a tool.

    `rare` is the chance that its parts may be in the rare wording, which each of them then is with a chance
    of 0.6; `odd` that a `mist` order is for a number of minutes outside of `MINUTES`; `vague` that the text
    does not say what is asked for.
    """
    tool, bed = rng.choice(TOOLS), rng.choice(list(BEDS))
    value = rng.choice(list(tool.values))
    each = 0.6 if rng.random() < rare else 0.0
    verb, place, phrase = (
        wordings[rng.random() < each] for wordings in (tool.verbs, BEDS[bed], tool.values[value])
    )
    if tool.name == "mist" and rng.random() < odd:
        value = rng.choice(ODD_MINUTES)
        phrase = f"for {value} minutes"
    text = VAGUE if rng.random() < vague else f"{verb} {place} {phrase}"
    return Order(_amid_asides(text, rng), Action(tool.name, bed, tool.argument, value))


def draw_last(rng: random.Random, *, rare: float) -> Order:
    """The end of a shift, to which the expert says a word."""
    return Order(_amid_asides(LAST[rng.random() < rare], rng), Action(None))


def rollouts(tasks: int, seed: int) -> Iterator[Json]:
    """One rollout of the expert for each task, as rows of a Gym rollouts file."""
    rng = random.Random(seed)
    for index in range(tasks):
        orders = [draw_order(rng, rare=0.35, odd=0.7, vague=0.03) for _ in range(rng.randint(3, 6))]
        yield _rollout(index, [*orders, draw_last(rng, rare=0.5)])


def schemas() -> list[Json]:
    """The tools as a Responses request lists them."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": f"What to do when the list says: {tool.verbs[USUAL]}.",
            "parameters": {
                "type": "object",
                "properties": {
                    "bed": {"type": "string", "enum": list(BEDS)},
                    tool.argument: {"type": "integer"}
                    if tool.argument == "minutes"
                    else {"type": "string", "enum": list(tool.values)},
                },
                "required": ["bed", tool.argument],
                "additionalProperties": False,
            },
            "strict": True,
        }
        for tool in TOOLS
    ]


def _amid_asides(text: str, rng: random.Random) -> str:
    before, after = rng.choice(ASIDES), rng.choice(ASIDES)
    return f"{rng.choice(NAMES)} says {before} . {text} . {after}"


def _rollout(index: int, orders: list[Order]) -> Json:
    output: list[Json] = []
    for number, order in enumerate(orders):
        output += [
            {**item, "call_id": f"call_{number}"} if "call_id" in item else item
            for item in order.action.items()
        ]
        if number + 1 < len(orders):
            result = f"Done. Next: {orders[number + 1].text}"
            output.append({"type": "function_call_output", "call_id": f"call_{number}", "output": result})
    request = {
        "input": [
            {
                "role": "system",
                "content": "You run a greenhouse. Do what the list says, one order at a time.",
            },
            {"role": "user", "content": orders[0].text},
        ],
        "tools": schemas(),
        "parallel_tool_calls": False,
        "tool_choice": "auto",
    }
    return {
        "task_id": f"shift-{index:04d}",
        "_ng_task_index": index,
        "_ng_rollout_index": 0,
        "responses_create_params": request,
        "response": {"id": f"resp_{index}", "object": "response", "model": "expert", "output": output},
        "reward": 1.0,
    }
