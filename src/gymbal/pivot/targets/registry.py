"""The targets beside the single-step one, by their names."""

from __future__ import annotations

from gymbal.errors import UsageError
from gymbal.model.target import Target
from gymbal.pivot.targets.contract import RowTarget
from gymbal.pivot.targets.rulebooks import RULEBOOKS
from gymbal.pivot.targets.swe_pivot import SwePivot
from gymbal.pivot.targets.terminal_multi_harness import NO_RULEBOOK, TerminalMultiHarness
from gymbal.pivot.targets.terminus_judge import HARNESSES, TerminusJudge

HARNESSES_OF = {
    Target.TERMINUS_JUDGE: tuple(HARNESSES),
    Target.TERMINAL_MULTI_HARNESS: (*RULEBOOKS, NO_RULEBOOK),
}
"""Names of the harnesses that a target knows."""


def row_target(target: Target, harness: str | None = None) -> RowTarget | None:
    """What `target` asks of its rows; None for the single-step one, which is built in.

    `harness` is the one that a build writes rows for. Raises UsageError for one that it does not know.
    """
    known = HARNESSES_OF.get(target, ())
    if harness is not None and harness not in known:
        remedy = f"Known harnesses: {', '.join(known)}." if known else f"{target} has none."
        raise UsageError(f"there is no harness {harness!r} of {target}", remedy=remedy)
    match target:
        case Target.SINGLE_STEP:
            return None
        case Target.SWE_PIVOT:
            return SwePivot()
        case Target.TERMINUS_JUDGE:
            return TerminusJudge(harness)
        case Target.TERMINAL_MULTI_HARNESS:
            return TerminalMultiHarness(NO_RULEBOOK if harness is None else harness)
