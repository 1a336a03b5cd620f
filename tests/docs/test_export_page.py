"""The page on exports lists what the code has."""

import re
from pathlib import Path

from gymbal.model.export import ExportTarget, LeftOutReason

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


def names_in(title: str) -> list[str]:
    """The names in the first column of the table below a title."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w-]+)` \|", section, flags=re.MULTILINE)


def test_page_lists_the_targets() -> None:
    assert sorted(names_in("Targets")) == sorted(ExportTarget)


def test_page_lists_the_reasons_in_their_order() -> None:
    assert names_in("Left out") == list(LeftOutReason)
