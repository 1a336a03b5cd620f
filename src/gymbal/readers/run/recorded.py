"""A fact that a file says in so many words."""

from __future__ import annotations

from gymbal.model.evidence import Fact, Role, Strength, Value


def recorded_fact(name: str, role: Role, value: Value, file: str, key: str) -> Fact:
    """The fact as `file` records it, `key` being where; see `Fact` for what they may be."""
    return Fact(name=name, role=role, value=value, strength=Strength.RECORDED, file=file, key=key)
