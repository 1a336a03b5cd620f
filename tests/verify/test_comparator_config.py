import re

import pytest

from gymbal.errors import UsageError
from gymbal.verify import ComparatorConfig, RewardMode
from gymbal.verify.config import NEWER_OPTIONS

NEEDED = {"word_count_similarity_threshold": 0.1}


def test_config_defaults_are_those_of_gym() -> None:
    # Gym 0.7.0's own defaults; the word threshold is what its stock config of the server sets.
    assert ComparatorConfig.from_dict(NEEDED) == ComparatorConfig(
        word_count_similarity_threshold=0.1,
        floating_point_comparison_threshold=1e-6,
        parallel_tool_call_rewarding=False,
        allow_subset=False,
        allow_superset=False,
        parallel_tool_call_reward_mode=RewardMode.BINARY_STRICT,
    )


def test_config_reads_every_option() -> None:
    options = {
        "word_count_similarity_threshold": 0,
        "floating_point_comparison_threshold": 0.5,
        "parallel_tool_call_rewarding": True,
        "allow_subset": True,
        "allow_superset": True,
        "parallel_tool_call_reward_mode": "f1",
    }
    config = ComparatorConfig.from_dict(options)
    assert {name: getattr(config, name) for name in options} == options


def test_config_without_word_threshold_is_refused() -> None:
    with pytest.raises(UsageError, match="word_count_similarity_threshold is missing"):
        ComparatorConfig.from_dict({})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("word_count_similarity_threshold", "0.1"),
        ("word_count_similarity_threshold", True),
        ("word_count_similarity_threshold", 10**400),
        ("floating_point_comparison_threshold", None),
        ("parallel_tool_call_rewarding", 1),
        ("allow_subset", "yes"),
        ("allow_superset", None),
        ("parallel_tool_call_reward_mode", "F1"),
        ("parallel_tool_call_reward_mode", ["f1"]),
    ],
)
def test_config_names_an_ill_typed_option(option: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"^{option} must be"):
        ComparatorConfig.from_dict({**NEEDED, option: value})


def test_config_names_an_unknown_option() -> None:
    with pytest.raises(UsageError, match=re.escape("'allow_subsets' is not an option")):
        ComparatorConfig.from_dict({**NEEDED, "allow_subsets": True})


@pytest.mark.parametrize("option", sorted(NEWER_OPTIONS))
def test_config_refuses_options_newer_than_the_comparator(option: str) -> None:
    with pytest.raises(UsageError, match=f"^{option} is an option of a Gym newer than 0.7.0"):
        ComparatorConfig.from_dict({**NEEDED, option: None})
