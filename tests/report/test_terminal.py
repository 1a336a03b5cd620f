"""Documents on terminals of every width, and on none."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gymbal.report.document import Bars, Bullets, Document, Section, Table, Text, Tone, cells, paragraph
from gymbal.report.terminal import to_terminal

DOCUMENT = Document(
    "left -> right: noise",
    (
        Section(
            "",
            (
                paragraph(
                    "A headline that is long enough to be wrapped on a narrow terminal, twice at least."
                ),
            ),
        ),
        Section(
            "Sides", (Table(("", "left", "right"), (cells("score", "0.5", "0.75"),), frozenset({1, 2})),)
        ),
        Section("Parts", (Bars((("accounting", 0.5, "+0.5000"), ("residual", -0.25, "-0.2500"))),)),
        Section("Next", (Bullets(("[bold]not markup[/bold] \x1b[31m",)),)),
        Section("Tone", (Table(("",), ((Text("bad", Tone.BAD),),)),)),
    ),
)


def printed(width: int, *, terminal: bool = False, no_color: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, no_color=no_color, markup=False, emoji=False
    )
    text = to_terminal(DOCUMENT, console)
    assert out.getvalue() == ""
    return text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(width).splitlines())) <= width


def test_no_line_ends_in_spaces() -> None:
    assert all(line == line.rstrip() for line in printed(80).splitlines())


def test_every_number_survives_forty_columns() -> None:
    text = printed(40)
    assert all(number in text for number in ("0.5", "0.75", "+0.5000", "-0.2500"))


def test_model_text_is_shown_and_never_interpreted() -> None:
    text = printed(80)
    assert r"[bold]not markup[/bold] \x1b[31m" in text
    assert "\x1b" not in text


def test_colour_only_where_wanted() -> None:
    assert "\x1b[" in printed(80, terminal=True)
    assert "\x1b[1;31m" not in printed(80, terminal=True, no_color=True)


def test_bars_share_one_scale() -> None:
    lines = {
        line.split()[0]: line for line in printed(80).splitlines() if "0.5000" in line or "0.2500" in line
    }
    # The longest bar has 24 cells and stands for 0.5, so -0.25 has 12.
    assert lines["accounting"].count("+") == 24 + 1
    assert lines["residual"].count("-") == 12 + 1
