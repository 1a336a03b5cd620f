import re

import pytest

from gymbal.errors import UsageError
from gymbal.verify import ArgumentOverride, ComparatorConfig, RewardMode
from gymbal.verify.config import MAIN_BRANCH_OPTIONS

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
        ("word_count_similarity_threshold", float("nan")),
        ("list_f1_max_actual_to_expected_ratio", float("inf")),
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


def test_config_defaults_of_the_main_branch_change_nothing() -> None:
    config = ComparatorConfig.from_dict(NEEDED)
    assert not config.compares_single_calls_apart
    assert not config.validate_against_declared_tool_schema
    # Gym's own defaults of the options that wait for `use_f1_for_list`.
    assert (config.list_f1_threshold, config.use_list_f1_threshold) == (0.5, True)
    assert config.list_f1_min_precision == config.list_f1_min_recall == 1.0
    assert config.list_f1_max_actual_to_expected_ratio == 1.0
    assert config.list_f1_reject_duplicate_actual_values


def test_config_reads_filters_and_overrides() -> None:
    config = ComparatorConfig.from_dict(
        {
            **NEEDED,
            "argument_filters": {"search": {"included_argument_names": ["q"]}, "open": {}},
            "argument_comparison_overrides": {
                "search": {"q": {"keep_quotes": True, "list_f1_max_unmatched_actual": 1}}
            },
        }
    )
    assert config.argument_filters["search"].included_argument_names == frozenset({"q"})
    assert config.argument_filters["open"].included_argument_names is None
    override = config.argument_comparison_overrides["search"]["q"]
    assert override == ArgumentOverride(keep_quotes=True, list_f1_max_unmatched_actual=1)


@pytest.mark.parametrize("option", ["argument_filters", "argument_comparison_overrides"])
def test_config_takes_null_for_no_filter_and_no_override(option: str) -> None:
    assert ComparatorConfig.from_dict({**NEEDED, option: None}) == ComparatorConfig()


@pytest.mark.parametrize("option", sorted(MAIN_BRANCH_OPTIONS - {"argument_filters"}))
def test_config_names_an_ill_typed_option_of_the_main_branch(option: str) -> None:
    with pytest.raises(UsageError, match=f"^{option} must be"):
        ComparatorConfig.from_dict({**NEEDED, option: "yes"})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"argument_filters": {"f": ["a"]}}, "argument_filters.f must be a mapping"),
        ({"argument_filters": {"f": {"names": []}}}, "argument_filters.f: 'names' is not an option"),
        (
            {"argument_filters": {"f": {"included_argument_names": "a"}}},
            "argument_filters.f.included_argument_names must be a list of names",
        ),
        (
            {"argument_comparison_overrides": {"f": {"a": {"use_f1_for_list": True}}}},
            "argument_comparison_overrides.f.a: 'use_f1_for_list' is not an option",
        ),
        (
            {"argument_comparison_overrides": {"f": {"a": {"list_f1_max_unmatched_actual": 1.5}}}},
            "argument_comparison_overrides.f.a.list_f1_max_unmatched_actual must be a whole number",
        ),
    ],
)
def test_config_names_the_place_of_a_nested_fault(options: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=re.escape(named)):
        ComparatorConfig.from_dict({**NEEDED, **options})
