"""The verifiers that pivot rows can be made for."""

from __future__ import annotations

from enum import StrEnum


class Target(StrEnum):
    """A resources server of NeMo Gym that scores one model call, by a contract of its own for the row."""

    SINGLE_STEP = "single_step"
    """`single_step_tool_use_with_argument_comparison`: tool calls and texts of any kind."""
    SWE_PIVOT = "swe_pivot"
    """One tool call of a coding agent, by category of tool, target and similarity."""
    TERMINUS_JUDGE = "terminus_judge"
    """A text that is a batch of terminal commands in JSON."""
    TERMINAL_MULTI_HARNESS = "terminal_multi_harness"
    """Tool calls and texts, by the rulebook of a harness and the declared schemas."""
