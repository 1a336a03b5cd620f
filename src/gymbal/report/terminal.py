"""A document on a terminal: wrapped to its width, coloured only where a person is looking."""

from __future__ import annotations

import re

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from gymbal.report.document import Bars, Bullets, Commands, Document, Paragraph, Table, Text, Tone
from gymbal.report.escape import visible

STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "bold red",
    Tone.DOUBT: "yellow",
    Tone.QUIET: "dim",
}
INDENT = 2
CONTINUED = " \\"
_SHELL_WORD = re.compile(r"""(?:[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|\\.|['"\\])+""")
"""What a shell reads as one word, quotes included; a quote without its end is one character of it."""
BAR_CELLS = 24
"""Widest bar, in character cells."""


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
                _print_commands(block.lines, out)
            else:
                out.print(Padding(_renderable(block), (0, 0, 0, INDENT if section.title else 0)))


def _print_commands(lines: tuple[str, ...], out: Console) -> None:
    """Break a line between words alone, with a backslash, so that a shell reads it as one."""
    for line in lines:
        shown = " " * INDENT
        for word in _SHELL_WORD.findall(visible(line)):
            is_first = not shown.strip()
            if not is_first and len(shown) + len(word) + len(" ") + len(CONTINUED) > out.width:
                out.print(RichText(shown + CONTINUED), crop=False, soft_wrap=True)
                shown, is_first = " " * 2 * INDENT, True
            shown += word if is_first else f" {word}"
        out.print(RichText(shown), crop=False, soft_wrap=True)


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
    """Bars share one scale; the longest takes `BAR_CELLS`."""
    longest = max((abs(value) for _, value, _ in rows), default=0.0)
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True, overflow="crop")
    for label, value, printed in rows:
        length = round(abs(value) / longest * BAR_CELLS) if longest else 0
        style = STYLES[Tone.GOOD] if value > 0 else STYLES[Tone.BAD]
        grid.add_row(
            visible(label), visible(printed), RichText(("+" if value > 0 else "-") * length, style=style)
        )
    return grid
