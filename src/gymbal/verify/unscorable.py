"""Input on which Gym's comparator would fail instead of giving a reward.

UsageError
└── UnscorableError
    ├── LabelError      the expected action, or a tool schema beside it
    └── ResponseError   the response
"""

from __future__ import annotations

from gymbal.errors import UsageError


class UnscorableError(UsageError):
    """There is no reward to give: Gym's server rejects such input or answers with an internal error.

    `key` is the path of the offending value below `expected_action` or `output`.
    """

    def __init__(self, problem: str, *, key: str, remedy: str | None = None) -> None:
        super().__init__(f"{key}: {problem}", remedy=remedy)
        self.key = key


class LabelError(UnscorableError):
    """The expected action is malformed, its arguments do not decode, or a tool schema cannot be applied."""


class ResponseError(UnscorableError):
    """The response is not a list of Responses items, or its arguments go beyond what Python can decode."""
