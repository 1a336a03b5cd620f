"""Two models through one harness: a sign that only one of them shows is not the harness's doing."""

from __future__ import annotations

from collections.abc import Iterator

from gymbal.model.inspection import Inspection, Sign, SignPair, SignVerdict

ENOUGH = 3.0
"""Occurrences to expect before none at all means anything: the chance of none is then exp(-3), 5 %."""


def compare_signs(left: Inspection, right: Inspection) -> tuple[SignPair, ...]:
    """Every sign of both sources side by side. Signs that neither could show are left out."""
    others = {(sign.name, sign.unit): sign for sign in right.signs}
    pairs = []
    for sign in left.signs:
        other = others.get((sign.name, sign.unit))
        if other is None:
            other = Sign(name=sign.name, count=0, chances=0, unit=sign.unit)
        if sign.chances or other.chances:
            verdict = _verdict(sign, other)
            pairs.append(SignPair(name=sign.name, unit=sign.unit, left=sign, right=other, verdict=verdict))
    return tuple(pairs)


def _verdict(left: Sign, right: Sign) -> SignVerdict:
    if left.count and right.count:
        return SignVerdict.BOTH
    if not left.count and not right.count:
        return SignVerdict.NEITHER
    shown, other = (left, right) if left.count else (right, left)
    if shown.count / shown.chances * other.chances < ENOUGH:
        return SignVerdict.TOO_FEW
    return SignVerdict.LEFT_ONLY if left.count else SignVerdict.RIGHT_ONLY


def comparison_notes(left: Inspection, right: Inspection, pairs: tuple[SignPair, ...]) -> Iterator[str]:
    """Yield what the comparison means, and what speaks against it."""
    if left.tools and right.tools and left.tools.keys().isdisjoint(right.tools.keys()):
        yield "The two have no tool in common. What only one shows says nothing: the harness differs too."
        return
    for verdict, side in ((SignVerdict.LEFT_ONLY, "left"), (SignVerdict.RIGHT_ONLY, "right")):
        names = [pair.name for pair in pairs if pair.verdict is verdict]
        if names:
            yield (
                f"Only the {side} source shows: {', '.join(names)}. "
                "That comes from its recorder or its model, not from the harness."
            )
    shared = [pair.name for pair in pairs if pair.verdict is SignVerdict.BOTH]
    if shared:
        yield f"Both show: {', '.join(shared)}. The harness or the task makes that."
    if set(left.formats) != set(right.formats):
        yield "The two are in different formats: what differs may be the format's doing."
