"""How a report says that a value is not known."""

from __future__ import annotations

NOT_KNOWN = "not known"


def score_text(value: float | None) -> str:
    """A score to four decimals."""
    return NOT_KNOWN if value is None else f"{value:.4f}"
