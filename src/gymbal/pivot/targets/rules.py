"""What `gymbal pivot validate` holds the rows of each target to. A number stays with its rule for good."""

from __future__ import annotations

from collections.abc import Mapping

from gymbal.model.target import Target
from gymbal.pivot.rules import RULES, Rule, Severity

_SHARED = (
    *("P001", "P007", "P008", "P010", "P011", "P012", "P013", "P014", "P015", "P016", "P017"),
    *("P021", "P023", "P024", "P025", "P026", "P027", "P028", "P029", "P030", "P031"),
)
"""Rules of the single-step target that hold for every row."""

OWN_RULES: Mapping[str, Rule] = {
    "P101": Rule("the row expects one function_call"),
    "P102": Rule("the expected tool is in tools", Severity.WARNING),
    "P201": Rule("expected_answer is there"),
    "P202": Rule("metadata.harness is terminus_1 or terminus_2"),
    "P203": Rule("expected_answer is a batch of commands by the schema of its harness"),
    "P301": Rule("the server has a rulebook for harness", Severity.WARNING),
    "P401": Rule("responses_create_params holds the list input, and no field that Gym refuses"),
    "P402": Rule("the row's agent is a block of the config", needs_config=True),
    "P403": Rule("the agent's resources server is that of the target", needs_config=True),
    "P404": Rule("the label scores 1.0 against itself under the config", needs_config=True),
    "P405": Rule("the similarity threshold is above 0 and at most 1", Severity.WARNING, needs_config=True),
    "P406": Rule("the server's request model takes the row's fields beside responses_create_params"),
}
"""P102: the server reads no tools, but a policy without the tool cannot call it. P404: in the continuous
mode of swe_pivot, aside from what a long edit costs every response."""

REQUEST_RULE = "P401"
"""Stands for P002, which asks for a list of tools."""
ROW_FIELDS_RULE = "P406"
REQUEST_RULES = (REQUEST_RULE, "P007", "P008", "P010")

LINKED = ("P402", "P403", "P404", "P405")
"""Rules that need the config."""

_OF_TARGET: Mapping[Target, tuple[str, ...]] = {
    Target.SWE_PIVOT: ("P101", "P005", "P102"),
    Target.TERMINUS_JUDGE: ("P201", "P202", "P203"),
    Target.TERMINAL_MULTI_HARNESS: ("P301", "P003", "P004", "P005", "P006"),
}


def rules_of(target: Target) -> Mapping[str, Rule]:
    """The rules of a target beside the single-step one, by number."""
    codes = sorted((*_SHARED, REQUEST_RULE, ROW_FIELDS_RULE, *LINKED, *_OF_TARGET[target]))
    return {code: OWN_RULES.get(code) or RULES[code] for code in codes}
