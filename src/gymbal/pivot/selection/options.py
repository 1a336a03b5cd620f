"""What a user can ask of a selection. Without options it keeps all pivots with mixed rewards."""

from __future__ import annotations

from typing import Any

import msgspec

from gymbal.errors import UsageError
from gymbal.model.selection import BalanceField
from gymbal.pivot.options import SplitPart

AVOIDED_WORDS = 13
"""The length of the runs of words by which GPT-3's authors looked for evaluation data (Brown et al. 2020)."""

LEAST_AVOIDED_WORDS = 5
"""Shorter runs are ordinary speech."""


class SelectOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which profiled pivots are kept, how many, and in what order."""

    max_rate: float | None = None
    """Greatest pass rate of a selected pivot."""
    target_rate: float | None = None
    """Prefer pivots whose rate is nearest to this one. None: the hardest."""
    budget: int | None = None
    """Most pivots to select."""
    balance: tuple[BalanceField, ...] = ()
    """Spread the budget evenly over the classes that these fields make together."""
    cap_per_trajectory: int | None = None
    drop_messages: float = 0.0
    """Share of the message pivots to leave out."""
    near_duplicates: float | None = None
    """Least similarity, from 0 to 1, at which one of two pivots is left out. None: none is."""
    avoid_words: int = AVOIDED_WORDS
    """Words in a row that make a pivot overlap with an evaluation file."""
    split: tuple[SplitPart, ...] = ()
    seed: int = 0
    """Breaks ties between pivots of the same rate."""


def check_options(options: SelectOptions) -> None:
    """Raise UsageError for a value outside its range, and for a balance without a budget."""
    for name in ("max_rate", "target_rate", "drop_messages", "near_duplicates"):
        value = getattr(options, name)
        if value is not None and not 0.0 <= value <= 1.0:
            raise UsageError(f"{name} must be between 0 and 1, found {value}")
    for name in ("budget", "cap_per_trajectory"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(f"{name} must be at least 1, found {value}")
    if options.near_duplicates is not None and options.near_duplicates < LEAST_SIMILARITY:
        raise UsageError(
            f"near_duplicates must be at least {LEAST_SIMILARITY}, found {options.near_duplicates}",
            remedy="States that share less are not found: see docs/selection.md.",
        )
    if options.avoid_words < LEAST_AVOIDED_WORDS:
        raise UsageError(f"avoid_words must be at least {LEAST_AVOIDED_WORDS}, found {options.avoid_words}")
    if options.balance and options.budget is None:
        raise UsageError("a balance needs a budget to spread", remedy="Name one: --budget N.")
    if len(set(options.balance)) < len(options.balance):
        raise UsageError("a field of the balance is named twice")


LEAST_SIMILARITY = 0.5


def shown_options(options: SelectOptions, avoid: tuple[str, ...]) -> dict[str, Any]:
    """The options that are not at their default, as plain values for `metrics.json`."""
    defaults = msgspec.structs.asdict(SelectOptions())
    chosen = {
        name: value for name, value in msgspec.structs.asdict(options).items() if value != defaults[name]
    }
    if options.split:
        chosen["split"] = {part.name: part.share for part in options.split}
    if avoid:
        chosen["avoid"] = list(avoid)
    shown: dict[str, Any] = msgspec.to_builtins(chosen)
    return shown
