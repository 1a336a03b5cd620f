"""A document on a terminal: wrapped to its width, coloured only where a person is looking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from gymbal.report.document import Bars, Bullets, Commands, Document, Paragraph, Table, Text, Tone
from gymbal.report.escape import visible
from gymbal.report.plain import INDENT, bar, command_lines

STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "bold red",
    Tone.DOUBT: "yellow",
    Tone.QUIET: "dim",
}


def to_terminal(document: Document, console: Console | None = None) -> str:
    """Return `document` in the width and colours of `console`, by default that of standard output."""
    out = console or Console(highlight=False, markup=False, emoji=False)
    with out.capture() as capture:
        for part in _printed(document, out.width):
            out.print(part.shown, soft_wrap=part.is_pasted)
    # Rich fills every line to the full width; nobody wants those spaces in a file or a clipboard.
    return "\n".join(line.rstrip(" ") for line in capture.get().splitlines()) + "\n"


class _Printed(NamedTuple):
    shown: RichText | RichTable | Padding
    is_pasted: bool = False
    """Whether it goes into a shell: it is broken where a shell can take it, and nowhere else."""


def _printed(document: Document, width: int) -> Iterator[_Printed]:
    yield _Printed(RichText(visible(document.title), style="bold"))
    for section in document.sections:
        yield _Printed(RichText())
        if section.title:
            yield _Printed(RichText(visible(section.title), style="bold"))
        for block in section.blocks:
            if isinstance(block, Commands):
                for line in block.lines:
                    for shown in command_lines(line, width):
                        yield _Printed(RichText(shown), is_pasted=True)
            else:
                indent = INDENT if section.title else 0
                yield _Printed(Padding(_renderable(block), (0, 0, 0, indent)))


def _renderable(block: Paragraph | Bullets | Table | Bars) -> RichText | RichTable:
    match block:
        case Paragraph(texts):
            return RichText.assemble(*(_styled(text) for text in texts))
        case Bullets(items):
            return _bullets(items)
        case Table():
            return _table(block)
        case Bars(rows):
            return _bars(rows)


def _styled(text: Text) -> RichText:
    return RichText(visible(text.text), style=STYLES[text.tone])


def _bullets(items: tuple[str, ...]) -> RichTable:
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    for item in items:
        grid.add_row("-", RichText(visible(item)))
    return grid


def _table(table: Table) -> RichTable:
    out = RichTable(
        box=None, show_header=any(table.header), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for index, name in enumerate(table.header):
        out.add_column(
            visible(name),
            justify="right" if index in table.numeric else "left",
            overflow="fold",
            vertical="top",
        )
    for index, row in enumerate(table.rows):
        shown = [_styled(cell) for cell in row]
        if table.notes:
            note = RichText(visible(table.notes[index]), style=STYLES[Tone.QUIET])
            shown[1] = RichText.assemble(shown[1], "\n", note)
        out.add_row(*shown)
    return out


def _bars(rows: tuple[tuple[str, float, str], ...]) -> RichTable:
    """Bars share one scale; the longest takes `plain.BAR_CELLS`."""
    longest = max((abs(value) for _, value, _ in rows), default=0.0)
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True, overflow="crop")
    for label, value, printed in rows:
        style = STYLES[Tone.GOOD] if value > 0 else STYLES[Tone.BAD]
        grid.add_row(visible(label), visible(printed), RichText(bar(value, longest), style=style))
    return grid
