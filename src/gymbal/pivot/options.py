"""What a user can ask of a build beyond its sources: which candidates to leave out, how to write rows."""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from typing import Any

import msgspec

from gymbal.errors import UsageError
from gymbal.model.pivot import Boundary
from gymbal.model.target import Target
from gymbal.pivot.targets.registry import row_target

SUCCESS = 1.0
"""The reward that Gym's verifiers give to a solved task."""


FILTERS = (
    "min_reward",
    "success_only",
    "mixed_groups",
    "drop_messages",
    "max_input_characters",
    "max_input_tokens",
    "tokenizer",
    "min_confidence",
)
"""The options that leave candidates out one by one."""


class MixedGroups(StrEnum):
    """What to do with a task by the rewards of its trajectories; see `pivot.groups`."""

    PREFER = "prefer"
    """Leave out tasks whose trajectories all have one reward, unless no task has several."""
    REQUIRE = "require"
    """Leave out every task that is not known to have several rewards."""
    IGNORE = "ignore"


class ReasoningRepair(StrEnum):
    """What to do with reasoning that stands where it cannot have been thought; see `pivot.reasoning`."""

    OFF = "off"
    REDISTRIBUTE = "redistribute"
    """Hand surplus reasoning to later model calls that have none, and move interleaved reasoning up."""
    DROP = "drop"
    """Leave surplus and interleaved reasoning out."""


class SplitPart(msgspec.Struct, frozen=True):
    """One side of a split: the name of its file and dataset, and its share of the tasks."""

    name: str
    share: float


class BuildOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which candidates of a build become rows, and what their rows hold."""

    min_reward: float | None = None
    """Least reward of a trajectory whose model calls may become rows."""
    success_only: bool = False
    """The same as a `min_reward` of 1."""
    mixed_groups: MixedGroups = MixedGroups.IGNORE
    drop_messages: float = 0.0
    """Share of the message rows to leave out."""
    max_input_characters: int | None = None
    max_input_tokens: int | None = None
    tokenizer: str | None = None
    """File or name of the tokenizer that counts them. None: characters stand for tokens."""
    target: Target = Target.SINGLE_STEP
    """The verifier that the rows are made for."""
    harness: str | None = None
    """Which of its harnesses, where the target has some."""
    repair_reasoning: ReasoningRepair = ReasoningRepair.OFF
    unwrap_nested_json: bool = False
    """Take layers of JSON text off arguments and results."""
    dedupe: bool = True
    min_confidence: Boundary = Boundary.GUESSED
    """The least certain kind of boundary that a row may have."""
    reference_output: bool = False
    """Write the items of the model call into its row, as `reference_output`."""
    split: tuple[SplitPart, ...] = ()
    """Sides to divide the tasks over, in the order of their hashes. Empty: one file."""

    @property
    def least_reward(self) -> float | None:
        """The stricter of `min_reward` and `success_only`; None when neither is asked for."""
        if not self.success_only:
            return self.min_reward
        return SUCCESS if self.min_reward is None else max(SUCCESS, self.min_reward)


def without_filters(options: BuildOptions) -> BuildOptions:
    """The same without what leaves candidates out: what is left shapes the rows."""
    defaults = BuildOptions()
    return msgspec.structs.replace(options, **{name: getattr(defaults, name) for name in FILTERS})


def check_options(options: BuildOptions) -> None:
    """Raise UsageError for a value outside its range. `split` was checked when it was read."""
    if options.min_reward is not None and not isfinite(options.min_reward):
        raise UsageError(f"min_reward must be a finite number, found {options.min_reward}")
    if not 0.0 <= options.drop_messages <= 1.0:
        raise UsageError(f"drop_messages must be between 0 and 1, found {options.drop_messages}")
    if options.max_input_characters is not None and options.max_input_characters < 1:
        raise UsageError(f"max_input_characters must be at least 1, found {options.max_input_characters}")
    if options.max_input_tokens is not None and options.max_input_tokens < 1:
        raise UsageError(f"max_input_tokens must be at least 1, found {options.max_input_tokens}")
    if options.tokenizer is not None and options.max_input_tokens is None:
        raise UsageError("a tokenizer counts tokens, and no limit of them is given (max_input_tokens)")
    row_target(options.target, options.harness)


def shown_options(options: BuildOptions) -> dict[str, Any]:
    """The options that are not at their default, as plain values for `metrics.json`."""
    defaults = msgspec.structs.asdict(BuildOptions())
    chosen = {
        name: value for name, value in msgspec.structs.asdict(options).items() if value != defaults[name]
    }
    if options.split:
        chosen["split"] = {part.name: part.share for part in options.split}
    shown: dict[str, Any] = msgspec.to_builtins(chosen)
    return shown
