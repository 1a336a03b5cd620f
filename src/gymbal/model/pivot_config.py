"""What `gymbal pivot config` wrote, and what Gym said to it."""

from __future__ import annotations

import msgspec

from gymbal.model.target import Target

SCHEMA_VERSION = 1


class GymCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `gym env validate`."""

    version: str
    """Of the NeMo Gym that was asked."""
    is_valid: bool
    said: str


class ConfigResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot config`."""

    schema_version: int = SCHEMA_VERSION
    path: str
    dataset: str
    """Begins the names of the config's blocks."""
    agent: str
    """The agent block: the one that the rows name, where they name one."""
    threshold: float
    threshold_key: str = "word_count_similarity_threshold"
    """What the server calls it."""
    target: Target = Target.SINGLE_STEP
    rows: dict[str, int]
    """Rows by Gym's type of their dataset."""
    without_agent: int
    """Rows that name no agent: the config's dataset entry routes them."""
    check: GymCheck | None
    """None: Gym was not asked."""
