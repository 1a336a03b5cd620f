"""Plain text is held against rich, which lays out the same documents for a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rich.console import Console

from gymbal.report.document import (
    Bars,
    Bullets,
    Commands,
    Document,
    Paragraph,
    Section,
    Table,
    Text,
    paragraph,
)
from gymbal.report.plain import to_plain
from gymbal.report.terminal import to_terminal

RUNS = Path(__file__).parents[2] / "examples" / "runs"

TEXT = (
    st.text("ab-_/.0  \n\t", max_size=60)
    | st.text("abc  ", max_size=20)
    | st.sampled_from(
        [
            "",
            "x",
            "0.0000",
            "a sentence that is wrapped somewhere in the middle, at least once or twice on a narrow page",
            "one-word-that-is-longer-than-any-of-the-columns-could-ever-be-on-a-narrow-page",
        ]
    )
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns, rows = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    header = draw(st.tuples(*[TEXT] * columns) | st.just(("",) * columns))
    cells = tuple(tuple(Text(draw(TEXT)) for _ in range(columns)) for _ in range(rows))
    notes = tuple(draw(TEXT) for _ in range(rows)) if columns > 1 and draw(st.booleans()) else ()
    return Table(header, cells, frozenset(draw(st.sets(st.integers(0, columns - 1)))), notes)


ROWS = st.tuples(TEXT, st.floats(-1, 1), st.sampled_from(["0.0000", "-0.2500", "+1.0000"]))
BLOCKS = (
    tables()
    | st.builds(Bars, st.lists(ROWS, min_size=1, max_size=4).map(tuple))
    | st.builds(Bullets, st.lists(TEXT, max_size=3).map(tuple))
    | st.builds(Commands, st.lists(TEXT, max_size=2).map(tuple))
    | st.builds(Paragraph, st.lists(st.builds(Text, TEXT), max_size=3).map(tuple))
)
DOCUMENTS = st.builds(
    Document,
    TEXT,
    st.lists(st.builds(Section, TEXT, st.lists(BLOCKS, max_size=2).map(tuple)), max_size=2).map(tuple),
)


def by_rich(document: Document, width: int) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=False, highlight=False, markup=False, emoji=False
    )
    return to_terminal(document, console)


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, st.integers(20, 110))
def test_plain_text_is_what_rich_prints(document: Document, width: int) -> None:
    text = to_plain(document, width)
    assert text is None or text == by_rich(document, width)


def has_text(table: Table, column: int) -> bool:
    cells = [table.header[column], *(row[column].text for row in table.rows)]
    return any(cell.strip() for cell in cells)


@settings(max_examples=50, deadline=None)
@given(st.lists(tables(), max_size=2), st.integers(80, 110))
def test_tables_that_fit_need_no_rich(blocks: list[Table], width: int) -> None:
    # Six columns of at least 13 cells each, none of them blank: rich drops lines of a column without a width.
    assume(all(has_text(block, column) for block in blocks for column in range(len(block.header))))
    document = Document("t", (Section("s", tuple(blocks)),))
    assert to_plain(document, width) == by_rich(document, width)


@pytest.mark.parametrize(
    "document",
    [
        Document("é", ()),
        Document("t", (Section("s", (paragraph("\u6f22\u5b57"),)),)),
        Document("t", (Section("s", (Bars((("x" * 90, 1.0, "1.0"),)),)),)),
        Document("t", (Section("s", (Bars(()),)),)),
        Document("t", (Section("s", (Table(("a",), ((Text("a"), Text("b")),)),)),)),
    ],
)
def test_what_needs_more_than_plain_rules_is_left_to_rich(document: Document) -> None:
    assert to_plain(document, 80) is None


def triage(*python: str, **variables: str) -> str:
    command = [
        sys.executable,
        *python,
        "-m",
        "gymbal",
        "triage",
        str(RUNS / "baseline"),
        str(RUNS / "candidate"),
    ]
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")
    }
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment | variables,
    )
    return done.stderr if python else done.stdout


def test_a_pipe_gets_plain_text_without_rich() -> None:
    loaded = triage("-X", "importtime")
    assert "gymbal.report.plain" in loaded
    assert "rich" not in loaded


def test_colour_is_there_where_it_is_asked_for() -> None:
    assert "\x1b[1m" in triage(FORCE_COLOR="1")
    assert "\x1b" not in triage()


def test_columns_of_the_environment_are_kept_to() -> None:
    assert 90 < max(map(len, triage(COLUMNS="100").splitlines())) <= 100
