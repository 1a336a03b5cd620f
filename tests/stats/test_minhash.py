"""MinHash against the Jaccard similarity that it estimates."""

import math
from itertools import combinations

import numpy as np
import pytest

from gymbal.stats.minhash import BANDS, HASHES, ROWS, bands_of, signature_of, similarity


@pytest.mark.parametrize("shared", [0, 100, 300, 500, 540, 594, 600])
def test_similarity_is_near_the_shared_share(shared: int) -> None:
    # Two sets of 600 with `shared` in common: Jaccard is shared / (1200 - shared). Four standard errors.
    rng = np.random.default_rng(shared)
    elements = rng.choice(2**32, size=1200 - shared, replace=False).tolist()
    exact = shared / (1200 - shared)
    found = similarity(signature_of(elements[:600]), signature_of(elements[-600:]))
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / HASHES) + 1e-12)


def test_similarity_is_unbiased_over_many_sets() -> None:
    # 200 pairs of Jaccard 30 / 90: their mean has a standard error of sqrt(2 / 9 / 128 / 200) = 0.0029.
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        elements = rng.choice(2**32, size=90, replace=False).tolist()
        found.append(similarity(signature_of(elements[:60]), signature_of(elements[30:])))
    assert np.mean(found) == pytest.approx(1 / 3, abs=4 * 0.0029)


def test_signature_is_of_the_set_alone() -> None:
    elements = list(range(0, 10**6, 99))
    assert np.array_equal(signature_of(elements), signature_of([*reversed(elements), *elements[:50]]))


def test_sets_share_a_band_as_often_as_the_formula_says() -> None:
    # Jaccard 50 / 70: shared with probability 1 - (1 - (5/7)^8)^8 = 0.4295; 500 pairs: standard error 0.0221.
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(500):
        elements = rng.choice(2**32, size=70, replace=False).tolist()
        one, other = bands_of(signature_of(elements[:60])), bands_of(signature_of(elements[10:]))
        hits += any(a == b for a, b in zip(one, other, strict=True))
    assert hits / 500 == pytest.approx(0.4295, abs=4 * 0.0221)


def test_bands_are_apart() -> None:
    bands = bands_of(signature_of(list(range(40))))
    assert [len(band) for band in bands] == [4 * ROWS] * BANDS
    assert all(one != other for one, other in combinations(bands, 2))


def test_empty_set_has_no_signature() -> None:
    with pytest.raises(ValueError, match="empty"):
        signature_of([])
