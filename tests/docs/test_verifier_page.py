"""`docs/verifier.md` names every option and every category of the comparator."""

from dataclasses import fields
from pathlib import Path

from gymbal.verify import ArgumentFilter, ArgumentOverride, Category, ComparatorConfig

PAGE = (Path(__file__).parents[2] / "docs" / "verifier.md").read_text(encoding="utf-8")


def test_verifier_page_names_every_option() -> None:
    options = {
        field.name for kind in (ComparatorConfig, ArgumentFilter, ArgumentOverride) for field in fields(kind)
    }
    assert {option for option in options if option not in PAGE} == set()


def test_verifier_page_names_the_categories_of_the_main_branch() -> None:
    ours = {
        Category.LIST_F1_LOW,
        Category.LIST_GUARDRAIL_FAILED,
        Category.LIST_ITEM_MALFORMED,
        Category.TOOL_NOT_DECLARED,
        Category.TOOL_SCHEMA_BROKEN,
    }
    assert {category for category in ours if category.value not in PAGE} == set()
