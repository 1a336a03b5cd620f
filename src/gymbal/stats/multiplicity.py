"""Several tests at once, and the test that two scores are the same within a margin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gymbal.model.finding import NoiseEstimate
from gymbal.stats.scores import FloatArray


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Holm's adjusted p-values, in the order given: for headline metrics named beforehand (Holm 1979)."""
    p, order = _sorted(p_values)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _unsorted(adjusted, order)


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Benjamini-Hochberg adjusted p-values, in the order given: for screening categories and tasks (1995)."""
    p, order = _sorted(p_values)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _unsorted(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _sorted(p_values: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("a p-value is not between 0 and 1")
    return p, np.argsort(p, kind="stable")


def _unsorted(adjusted: FloatArray, order: npt.NDArray[np.intp]) -> FloatArray:
    result = np.empty_like(adjusted)
    result[order] = np.minimum(adjusted, 1.0)
    return result


def equivalence(estimate: NoiseEstimate, *, margin: float) -> bool:
    """Whether two one-sided tests (Schuirmann 1987) show the difference to lie within +-margin.

    Each test is at (1 - level) / 2, so pass an estimate at level 0.90 for the usual 5 %. A p-value above
    0.05 shows no such thing. Raises ValueError unless the margin is positive.
    """
    if margin <= 0:
        raise ValueError(f"a margin is positive, not {margin}")
    return -margin < estimate.low and estimate.high < margin
