"""What a user asked to leave out, as refusals: whole trajectories first, then single rows.

A trajectory that is left out still has candidates, and each of them is counted with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from gymbal.model.pivot import ActionKind, Boundary, Refusal, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.candidate import Candidate, Judged, judge
from gymbal.pivot.groups import GroupKind, Groups
from gymbal.pivot.nested_json import unwrap_nested_json
from gymbal.pivot.options import BuildOptions, MixedGroups, check_options
from gymbal.pivot.reasoning import repair_reasoning
from gymbal.pivot.row import KEY_BYTES, Row
from gymbal.pivot.targets.registry import row_target
from gymbal.pivot.tokens import TokenLimit
from gymbal.verify import Comparator

_BY_CONFIDENCE = (Boundary.GUESSED, Boundary.STRUCTURAL, Boundary.RECORDED)

_MOST_BYTES_A_CHARACTER = 4
"""Of UTF-8."""


class JudgeWanted:
    """Judges trajectories as `candidate.judge` does, and refuses what the options leave out.

    `groups` may be empty where mixed groups are ignored. `source_names` has what rows call a source by its
    path, where that is not the name of the file. Raises UsageError for an impossible option.
    """

    def __init__(
        self,
        dataset: str,
        comparator: Comparator,
        options: BuildOptions,
        groups: Groups,
        source_names: Mapping[str, str],
    ) -> None:
        check_options(options)
        self.options = options
        self._dataset = dataset
        self._comparator = comparator
        self._groups = groups
        self._source_names = source_names
        self._filters_rows = (
            options.min_confidence != _BY_CONFIDENCE[0]
            or options.max_input_characters is not None
            or options.drop_messages > 0.0
        )
        self._any_mixed = GroupKind.MIXED in groups.values()
        self._target = row_target(options.target, options.harness)
        self._tokens = TokenLimit.of(options)

    def __call__(self, trajectory: Trajectory) -> Judged:
        trajectory = repaired(trajectory, self.options)
        judged = judge(
            trajectory,
            self._dataset,
            self._comparator,
            source=self._source_names.get(trajectory.source.path),
            left_out=self._trajectory_refusal(trajectory),
            with_reference=self.options.reference_output,
            target=self._target,
        )
        if self._tokens is not None:
            judged = self._tokens.applied_to(judged)
        if not self._filters_rows:
            return judged
        wanted = tuple(_filtered(candidate, trajectory, self.options) for candidate in judged.candidates)
        return judged._replace(candidates=wanted)

    def _trajectory_refusal(self, trajectory: Trajectory) -> Refusal | None:
        if self.options.split and trajectory.task is None:
            return Refusal(SkipReason.NO_TASK, "no task is named: it could be on either side of the split")
        return self._reward_refusal(trajectory) or self._group_refusal(trajectory)

    def _reward_refusal(self, trajectory: Trajectory) -> Refusal | None:
        least = self.options.least_reward
        if least is None:
            return None
        if trajectory.reward is None:
            return Refusal(SkipReason.NO_REWARD, f"no reward is recorded, and {least:g} is asked for")
        if trajectory.reward < least:
            return Refusal(SkipReason.LOW_REWARD, f"reward {trajectory.reward:g} is below {least:g}")
        return None

    def _group_refusal(self, trajectory: Trajectory) -> Refusal | None:
        rule = self.options.mixed_groups
        if rule is MixedGroups.IGNORE or (rule is MixedGroups.PREFER and not self._any_mixed):
            return None
        kind = GroupKind.UNKNOWN
        if trajectory.task is not None:
            kind = self._groups.get(trajectory.task, GroupKind.UNKNOWN)
        if kind is GroupKind.MIXED or (kind is GroupKind.UNKNOWN and rule is MixedGroups.PREFER):
            return None
        detail = {
            GroupKind.UNIFORM: "all trajectories of the task have the same reward",
            GroupKind.UNKNOWN: "fewer than two trajectories of the task have a reward",
        }[kind]
        return Refusal(SkipReason.GROUP_NOT_MIXED, detail)


def repaired(trajectory: Trajectory, options: BuildOptions) -> Trajectory:
    """The trajectory with the repairs that the options ask for."""
    if options.unwrap_nested_json:
        trajectory = unwrap_nested_json(trajectory)
    return repair_reasoning(trajectory, options.repair_reasoning)


def _filtered(candidate: Candidate, trajectory: Trajectory, options: BuildOptions) -> Candidate:
    """Return `candidate`, refused when it made a row that the options leave out."""
    row = candidate.outcome
    if isinstance(row, Refusal):
        return candidate
    refusal = (
        _confidence_refusal(row, options.min_confidence)
        or _length_refusal(row, trajectory, options.max_input_characters)
        or _message_refusal(row, options.drop_messages)
    )
    return candidate if refusal is None else Candidate(candidate.call, refusal)


def _confidence_refusal(row: Row, least: Boundary) -> Refusal | None:
    found = row.place.boundary
    if _BY_CONFIDENCE.index(found) >= _BY_CONFIDENCE.index(least):
        return None
    return Refusal(SkipReason.LOW_CONFIDENCE, f"the boundary is {found}, and {least} is asked for")


def _length_refusal(row: Row, trajectory: Trajectory, most: int | None) -> Refusal | None:
    if most is None:
        return None
    pieces = (row.input, trajectory.tools, trajectory.instructions or b"")
    size = sum(len(piece) for piece in pieces)
    if size <= most:
        return None
    if size <= most * _MOST_BYTES_A_CHARACTER:
        size = sum(len(str(piece, "utf-8")) for piece in pieces)
        if size <= most:
            return None
    else:
        # Not decoded: so many bytes are too many characters whatever they are.
        size = -(-size // _MOST_BYTES_A_CHARACTER)
    return Refusal(SkipReason.INPUT_TOO_LONG, f"the input has at least {size} characters, limit {most}")


def _message_refusal(row: Row, share: float) -> Refusal | None:
    """The key is a hash of the content, so the same rows are left out of every build and every order."""
    if row.label.kind is not ActionKind.MESSAGE:
        return None
    if int.from_bytes(row.key) >= share * 2 ** (8 * KEY_BYTES):
        return None
    return Refusal(SkipReason.MESSAGE_THINNED, f"left out with a share of {share:g} of the messages")
