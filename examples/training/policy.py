"""A very small policy: a softmax over the actions of the world, linear in hashed words of the state.

The score of an action is the sum of the scores of its parts (the tool, the bed, the value), so that what is
learnt of a word in one order serves in all others. Arrays end in what their axes are: N states, D
features, P parts, A actions.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from training.world import ACTIONS, Action, Json

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FEATURES = 1024


def last_text(state: Sequence[Json]) -> str:
    """What the policy sees of a state, a list of Responses items: the text that came last from outside."""
    last = state[-1]
    content = last["output"] if last.get("type") == "function_call_output" else last["content"]
    return content if isinstance(content, str) else " ".join(part["text"] for part in content)


def features(text: str) -> Array:
    """Hashed words and pairs of neighbouring words, as a vector of length 1."""
    words = text.lower().replace(":", "").replace(".", "").split()
    vector_D = np.zeros(FEATURES)
    for gram in [*words, *(f"{a} {b}" for a, b in pairwise(words))]:
        vector_D[zlib.crc32(gram.encode()) % FEATURES] = 1.0
    norm = float(np.linalg.norm(vector_D))
    return vector_D / norm if norm else vector_D


def parts_of(action: Action) -> list[str]:
    """The parts whose scores add up to that of the action."""
    if action.tool is None:
        return ["message"]
    return [action.tool, f"bed={action.bed}", f"{action.argument}={action.value}"]


PARTS = sorted({part for action in ACTIONS for part in parts_of(action)})
PARTS_OF_ACTIONS_AP: Array = np.array(
    [[float(part in parts_of(action)) for part in PARTS] for action in ACTIONS]
)


class Policy:
    """Weights, and Adam's moments for them."""

    def __init__(self) -> None:
        self.weights_DP: Array = np.zeros((FEATURES, len(PARTS)))
        self._mean_DP, self._square_DP = np.zeros_like(self.weights_DP), np.zeros_like(self.weights_DP)
        self._updates = 0

    def copy(self) -> Policy:
        """The same weights, with an optimizer that starts afresh."""
        other = Policy()
        other.weights_DP = self.weights_DP.copy()
        return other

    def probabilities(self, features_ND: Array) -> Array:
        """Probability of each action in each state, N by A."""
        scores_NA = (features_ND @ self.weights_DP) @ PARTS_OF_ACTIONS_AP.T
        weights_NA = np.exp(scores_NA - scores_NA.max(axis=1, keepdims=True))
        probabilities_NA: Array = weights_NA / weights_NA.sum(axis=1, keepdims=True)
        return probabilities_NA

    def ascend(self, features_ND: Array, gradient_NA: Array, rate: float) -> None:
        """One step of Adam (Kingma and Ba 2015, algorithm 1) up the gradient with respect to the scores."""
        gradient_DP = features_ND.T @ (gradient_NA @ PARTS_OF_ACTIONS_AP)
        self._updates += 1
        self._mean_DP = 0.9 * self._mean_DP + 0.1 * gradient_DP
        self._square_DP = 0.999 * self._square_DP + 0.001 * gradient_DP**2
        mean_DP = self._mean_DP / (1 - 0.9**self._updates)
        square_DP = self._square_DP / (1 - 0.999**self._updates)
        self.weights_DP += rate * mean_DP / (np.sqrt(square_DP) + 1e-8)


def draw(probabilities_NA: Array, k: int, rng: np.random.Generator) -> Indices:
    """`k` actions in each state, N by k."""
    bounds_NA = probabilities_NA.cumsum(axis=1)
    points_NK = rng.random((len(probabilities_NA), k))
    drawn_NK: Indices = (points_NK[:, :, None] >= bounds_NA[:, None, :]).sum(axis=2)
    return np.minimum(drawn_NK, len(ACTIONS) - 1)


def imitate(policy: Policy, features_ND: Array, actions_N: Indices, *, epochs: int, rate: float) -> None:
    """Raise the likelihood of one right action in each state, all states at once."""
    right_NA = np.eye(len(ACTIONS))[actions_N]
    for _ in range(epochs):
        gradient_NA = (right_NA - policy.probabilities(features_ND)) / len(features_ND)
        policy.ascend(features_ND, gradient_NA, rate)
