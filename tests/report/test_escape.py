"""What a model wrote cannot move a cursor, reorder text or become markup."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gymbal.report.document import Document, Section, Table, cells, paragraph
from gymbal.report.escape import markdown, visible
from gymbal.report.markdown import to_markdown


def test_visible_shows_terminal_escapes() -> None:
    assert visible("\x1b[31mred") == r"\x1b[31mred"


def test_visible_shows_bidirectional_overrides() -> None:
    assert visible("a\u202eb") == r"a\u202eb"


def test_visible_keeps_ordinary_text_of_any_script() -> None:
    assert visible("straße 東京 é") == "straße 東京 é"


@given(st.text())
def test_visible_text_is_printable_and_one_line(text: str) -> None:
    categories = {unicodedata.category(character) for character in visible(text)}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_markdown_cell_cannot_end_its_row() -> None:
    document = Document("t", (Section("s", (Table(("a",), (cells("x | y\n| z"),)),)),))
    assert r"| x \| y \| z |" in to_markdown(document)


def test_markdown_shows_html_as_text() -> None:
    assert markdown("<script>") == r"\<script\>"


def test_markdown_document_ends_in_one_line_break() -> None:
    assert to_markdown(Document("title", (Section("", (paragraph("text"),)),))) == "# title\n\ntext\n"
