"""MinHash: how much two sets have in common, from a few numbers of each (Broder 1997).

The share of positions in which two signatures agree estimates the Jaccard similarity of the sets: unbiased,
with a standard error of sqrt(J * (1 - J) / 128), at most 0.044.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

HASHES = 128
BANDS, ROWS = 8, 8
"""The first 64 hashes, in bands: two sets share a band with probability 1 - (1 - J^8)^8."""

Signature = npt.NDArray[np.uint32]
"""Shape (HASHES,)."""

_SEED = 20260321
"""Of the permutations. Signatures can be compared only when it is the same."""


def signature_of(elements: Sequence[int]) -> Signature:
    """Signature of a set of 32-bit hashes, of which there is at least one; repeats make no difference.

    The permutations are multiply-shift hashes (Dietzfelbinger et al. 1997): (a * x + b) mod 2^64, upper half.
    """
    if not elements:
        raise ValueError("an empty set has no signature")
    factor_H, shift_H = _permutations()
    lowest_H = np.full(HASHES, np.iinfo(np.uint32).max, dtype=np.uint32)
    # With their counts, numpy finds them without loading numpy.ma.
    element_E, _ = np.unique(np.asarray(elements, dtype=np.uint64), return_counts=True)
    for start in range(0, len(element_E), 4096):
        mixed_EH = element_E[start : start + 4096, None] * factor_H[None, :] + shift_H[None, :]
        lowest_H = np.minimum(lowest_H, (mixed_EH >> np.uint64(32)).astype(np.uint32).min(axis=0))
    return lowest_H


def similarity(one: Signature, other: Signature) -> float:
    """Estimated Jaccard similarity of the sets of two signatures."""
    return float(np.count_nonzero(one == other)) / HASHES


def bands_of(signature: Signature) -> tuple[bytes, ...]:
    """The bands of a signature: sets that share none are taken to be unlike without comparing them."""
    return tuple(signature[band * ROWS : (band + 1) * ROWS].tobytes() for band in range(BANDS))


@cache
def _permutations() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    rng = np.random.default_rng(_SEED)
    factor_H = rng.integers(0, 2**63, size=HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    shift_H = rng.integers(0, 2**63, size=HASHES, dtype=np.uint64)
    return factor_H, shift_H
