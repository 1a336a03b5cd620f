"""What `gymbal pivot validate` holds a row to. A number stays with its rule for good.

The rules are those of NeMo Gym 0.7.0's `single_step_tool_use_with_argument_comparison` server, its agent
and its request model, plus what a prefix must be to be a state that a policy can be put into.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    VIOLATION = "violation"
    """The row cannot be used, or means something else than it seems to."""
    WARNING = "warning"
    """The row works, but perhaps not as its author thinks."""


class Rule(NamedTuple):
    statement: str
    severity: Severity = Severity.VIOLATION
    needs_config: bool = False


RULES = {
    "P001": Rule("the line is a JSON object in UTF-8"),
    "P002": Rule("responses_create_params holds the lists input and tools, and no field that Gym refuses"),
    "P003": Rule("expected_action is a message, a function_call or a function_call_batch"),
    "P004": Rule("a batch holds at least two calls"),
    "P005": Rule("expected arguments decode to a JSON object"),
    "P006": Rule("every expected tool is in tools"),
    "P007": Rule("Gym's request model takes every tool schema"),
    "P008": Rule("tool_choice is auto"),
    "P009": Rule("parallel_tool_calls is true where a batch is expected"),
    "P010": Rule("no field of responses_create_params is null", Severity.WARNING),
    "P011": Rule("input is not empty"),
    "P012": Rule("Gym's request model takes every input item"),
    "P013": Rule("every reasoning item in input has an id"),
    "P014": Rule("every tool result in input answers a call before it"),
    "P015": Rule("every call in input has a result"),
    "P016": Rule("input does not end on a call"),
    "P017": Rule("agent_ref, where there is one, names an agent"),
    "P018": Rule("the row's agent is a block of the config", needs_config=True),
    "P019": Rule("the agent's resources server is a comparator block of the config", needs_config=True),
    "P020": Rule("the label scores 1.0 against itself under the config", needs_config=True),
    "P021": Rule("no earlier row has the same request and label, byte for byte"),
    "P022": Rule("the word threshold is above 0 and at most 0.5", Severity.WARNING, needs_config=True),
    "P023": Rule("no input item carries sampled tokens of another policy", Severity.WARNING),
    "P024": Rule("every input item is of a type that this validation can check", Severity.WARNING),
    "P025": Rule("the row names its agent, where no config says which agent runs it", Severity.WARNING),
    "P026": Rule("the row has each field that was asked for"),
    "P027": Rule("the row has one field of each group that was asked for"),
    "P028": Rule("there are as many rows as were asked for"),
    "P029": Rule("no task is on both sides of a split"),
    "P030": Rule("the request models of an installed Gym take the row"),
    "P031": Rule("the verifier of an installed Gym gives the label 1.0 against itself"),
}
"""P022: identical texts of two or more words have a similarity of 0.5, and at 0 any two texts match."""


def not_checked(rules: Iterable[str], reason: str) -> str:
    """The warning that `rules` were not checked where they could have been."""
    return f"{', '.join(rules)} were not checked: {reason}"
