"""What a target must say about its rows, so that build, validate, config and stats need not know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from gymbal.model.json_fields import Fields, decode_fields
from gymbal.model.pivot import ActionKind, ModelCall, Refusal, SkipReason
from gymbal.model.target import Target
from gymbal.pivot.label import Label
from gymbal.pivot.parse import Check
from gymbal.pivot.request_tools import Tools
from gymbal.pivot.targets.json_schema import is_number

Settings = Mapping[str, Any]
"""The block of a resources server in a Gym config, as written."""


class ReadLabel(NamedTuple):
    """What a row expects, as far as it can be read."""

    kind: ActionKind | None
    """None: it is none of the target, and cannot be scored."""
    tools: tuple[str, ...]
    """Name of each expected call."""
    checks: tuple[Check, ...]
    """The rules of the target that were checked on the label, those on its score left out."""
    can_score: bool = True
    """Whether `self_score` takes the label."""


class SelfScore(NamedTuple):
    """The reward of a response that does exactly what the label says."""

    reward: float | None
    """None: it cannot be known here."""
    why: str
    """What the reward is lost by, or what cannot be known."""


WINS = SelfScore(1.0, "")


class RowTarget(Protocol):
    """A target beside the single-step one. Its score is that of Gym 0.7.0's server."""

    target: Target

    @property
    def settings(self) -> Settings:
        """Those of the config that a build writes, as far as a label's own score depends on them."""
        ...

    def label(self, call: ModelCall, tools: bytes, names: frozenset[str]) -> Label | Refusal:
        """The label of a model call with these `tools`, or why the target cannot expect what it did."""
        ...

    def read(self, row: Fields, tools: Tools) -> ReadLabel:
        """Read the label of a row back. `tools` are those of its request."""
        ...

    def self_score(self, row: Fields, tools: bytes, settings: Settings) -> SelfScore:
        """Score the label of a row that `read` took, against itself, under a server with `settings`."""
        ...


def text_of(row: Fields, name: str) -> str | None:
    """A field that is a text; None for any other value and for text with broken escapes."""
    value = bytes(row.get(name, b"null"))
    if not value.startswith(b'"'):
        return None
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        return None


def object_of(row: Fields, name: str) -> Fields:
    """The fields of a field that is an object; none for any other value."""
    value = bytes(row.get(name, b"null"))
    if not value.startswith(b"{"):
        return {}
    try:
        return decode_fields(value)
    except (msgspec.DecodeError, RecursionError):
        return {}


def threshold_problem(threshold: Any, default: float) -> str | None:
    """Why nothing reaches a similarity of `threshold`; None where equal texts do."""
    found = default if threshold is None else threshold
    if not is_number(found):
        return f"the threshold is {str(found)[:80]}, no number"
    return None if found <= 1.0 else f"the threshold {found} is above the similarity of equal texts"


def self_score_refusal(label: Label, target: RowTarget, tools: bytes) -> Refusal | None:
    """Why `label` does not surely win under the settings that a build writes; None where it does."""
    score = target.self_score(fields_of_label(label), tools, target.settings)
    if score.reward == 1.0:
        return None
    scored = "cannot be scored" if score.reward is None else f"scores {score.reward} against itself"
    return Refusal(SkipReason.LABEL_REJECTED, f"{scored}: {score.why}")


def fields_of_label(label: Label) -> Fields:
    """The fields of a row that `label` is made of, as they will stand in it."""
    encoded = b'{"%b":%b%b}' % (label.field.encode(), label.raw, label.beside)
    return decode_fields(encoded)
