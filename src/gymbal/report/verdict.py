"""The verdict of a comparison in one word or two."""

from __future__ import annotations

from gymbal.model.finding import Rung

CANNOT_TELL = "cannot tell"


def verdict_name(rung: Rung, *, distinguishable: bool | None) -> str:
    """The rung that decides; where no cause was found and noise is unknown, that nothing does."""
    return CANNOT_TELL if rung is Rung.NOISE and distinguishable is None else rung.value
