"""Sign-flip permutation test of values that are paired by task."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from gymbal.stats.paired import sign_flip_p, sums_by_cluster


def paired_sign_flip_p(
    left_T: Sequence[float],
    right_T: Sequence[float],
    *,
    seed: int,
    clusters_T: Sequence[Hashable] | None = None,
) -> float:
    """Two-sided p for no difference on any task; entry t of both is task t's mean or share.

    A task is one observation, since its rows are not independent; with clusters all tasks of one flip
    together. 1.0 without a task. Raises ValueError for different numbers of tasks.
    """
    if len(left_T) != len(right_T):
        raise ValueError(f"{len(left_T)} tasks cannot be paired with {len(right_T)}")
    if not left_T:
        return 1.0
    difference_T = np.asarray(right_T, dtype=float) - np.asarray(left_T, dtype=float)
    if clusters_T is not None:
        difference_T = sums_by_cluster(difference_T, clusters_T)
    return sign_flip_p(difference_T, seed=seed)
