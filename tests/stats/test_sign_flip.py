"""Sign flips over paired tasks."""

import pytest

from gymbal.stats.sign_flip import paired_sign_flip_p


def test_share_that_rises_in_every_task_is_beyond_chance() -> None:
    # Six tasks all rise: 2 of the 2^6 sign patterns are as extreme.
    assert paired_sign_flip_p([0.0] * 6, [0.5] * 6, seed=0) == pytest.approx(2 / 64)


def test_equal_shares_are_no_difference() -> None:
    assert paired_sign_flip_p([0.5, 0.25], [0.5, 0.25], seed=0) == 1.0


def test_no_task_is_no_difference() -> None:
    assert paired_sign_flip_p([], [], seed=0) == 1.0


def test_tasks_of_one_cluster_flip_together() -> None:
    # Sums of the clusters 1, 1 and -0.5: of their 2^3 sign patterns the four that agree on the first two
    # reach 1.5. Without clusters four of five tasks rise: so do at least four either way in 12 of 2^5.
    left, right = [0.0, 0.0, 0.0, 0.0, 0.5], [0.5, 0.5, 0.5, 0.5, 0.0]
    assert paired_sign_flip_p(left, right, seed=0, clusters_T=["a", "a", "b", "b", "c"]) == 4 / 8
    assert paired_sign_flip_p(left, right, seed=0) == 12 / 32


def test_unpaired_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        paired_sign_flip_p([0.5], [], seed=0)
