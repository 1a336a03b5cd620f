"""Where the reasoning of a model call stands relative to its actions."""

from __future__ import annotations

from gymbal.model.item import ItemKind
from gymbal.model.pivot import ModelCall


def is_hoisted(call: ModelCall) -> bool:
    """More than one reasoning item stands before the first action: some may belong to later model calls."""
    before = 0
    for item in call.items:
        if item.kind is not ItemKind.REASONING:
            break
        before += 1
    return before > 1 and before < len(call.items)


def is_interleaved(call: ModelCall) -> bool:
    """Reasoning stands after or between the actions: its position says nothing about when it was thought."""
    kinds = [item.kind for item in call.items]
    first_action = next((i for i, kind in enumerate(kinds) if kind is not ItemKind.REASONING), len(kinds))
    return ItemKind.REASONING in kinds[first_action:]
