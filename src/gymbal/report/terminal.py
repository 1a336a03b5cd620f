"""A document on a terminal: wrapped to its width, coloured only where a person is looking."""

from __future__ import annotations

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


def print_document(document: Document, console: Console | None = None) -> None:
    """Print `document` to `console`, by default standard output."""
    out = console or Console(highlight=False, markup=False, emoji=False)
    with out.capture() as capture:
        _print_sections(document, out)
    # Rich fills every line to the full width; nobody wants those spaces in a file or a clipboard.
    lines = (line.rstrip(" ") for line in capture.get().splitlines())
    out.file.write("\n".join(lines) + "\n")


def _print_sections(document: Document, out: Console) -> None:
    out.print(RichText(visible(document.title), style="bold"))
    for section in document.sections:
        out.print()
        if section.title:
            out.print(RichText(visible(section.title), style="bold"))
        for block in section.blocks:
            if isinstance(block, Commands):
                for line in block.lines:
                    for shown in command_lines(line, out.width):
                        out.print(RichText(shown), crop=False, soft_wrap=True)
            else:
                out.print(Padding(_renderable(block), (0, 0, 0, INDENT if section.title else 0)))


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
