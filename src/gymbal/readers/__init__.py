"""Source formats. `FORMATS` is all that gymbal reads; `detect` tells which one a file is in."""

from __future__ import annotations

from gymbal.readers.base.format import Format

FORMATS: tuple[Format, ...] = (
    Format(
        "gym_rollouts",
        "rollouts of NeMo Gym, as `gym eval run` writes them",
        "gymbal.readers.gym_rollouts",
        has_lines=True,
    ),
    Format("pivot_rows", "rows of an existing pivot dataset", "gymbal.readers.pivot_rows", has_lines=True),
    Format(
        "openai_chat",
        "Chat Completions conversations: `messages`, and `tools` where recorded",
        "gymbal.readers.openai_chat",
        has_lines=True,
    ),
    Format(
        "openai_responses",
        "Responses API requests, each with its response",
        "gymbal.readers.openai_responses",
    ),
    Format("tau_bench", "results of tau-bench", "gymbal.readers.tau_bench"),
    Format("tau2_bench", "results of tau2-bench", "gymbal.readers.tau2_bench", has_folder=True),
)
"""Every format, and the module that reads it, loaded when it is first used."""
