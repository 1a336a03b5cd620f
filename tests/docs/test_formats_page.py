"""The page on source formats lists what the code has."""

import re
from pathlib import Path

from gymbal.model.trajectory import Conversion, NonModelTurn
from gymbal.readers import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"{title}\n", 1)[1]


def test_page_lists_the_formats_with_their_summaries() -> None:
    found = re.findall(
        r"^\| `(\w+)` \| (.*?) \| .* \|$", PAGE.split("## What becomes")[0], flags=re.MULTILINE
    )
    assert found == [(known.name, known.summary) for known in FORMATS]


def test_page_lists_the_conversions_and_the_turns_of_others() -> None:
    names = re.findall(
        r"^\| `(\w+)` \|", section("## What becomes of a record").split("## ")[0], flags=re.MULTILINE
    )
    assert names == [*Conversion, *NonModelTurn]


def test_page_says_something_about_every_format() -> None:
    told = re.findall(r"^- \*\*(\w+)\*\*:", section("## One by one").split("## ")[0], flags=re.MULTILINE)
    assert told == [known.name for known in FORMATS]


def test_page_says_how_every_format_records_boundaries() -> None:
    rows = re.findall(
        r"^\| (`.*?) \|", section("## Where model calls end").split("## ")[0], flags=re.MULTILINE
    )
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == {known.name for known in FORMATS}
