"""A document as plain text, for a file or a pipe: what the terminal's renderer would print there.

Loading rich and laying out by it takes longer than comparing two small runs. Where nobody looks at colours,
and every character is one cell wide, a few rules do. What they do not cover is left to `report.terminal`, and
the tests hold the two to the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from gymbal.report.document import Bars, Bullets, Commands, Document, Paragraph, Table
from gymbal.report.escape import visible

INDENT = 2
GAP = 2
"""Cells between two columns."""
BAR_CELLS = 24
"""Widest bar, in character cells."""

_NARROWEST = 20
"""Below that, columns lose their last cell."""
_CONTINUED = " \\"
_WORD = re.compile(r" *[^ ]+ *")
_SHELL_WORD = re.compile(r"""(?:[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|\\.|['"\\])+""")
"""What a shell reads as one word, quotes included; a quote without its end is one character of it."""


class _NotPlainError(Exception):
    """The document needs more than the rules of this module."""


class _Column(NamedTuple):
    cells: Sequence[str]
    """A line break parts a cell from the note below it."""
    is_right: bool = False


def to_plain(document: Document, width: int) -> str | None:
    """The lines of `document`, none of them longer than `width`; None where they need more than one rule."""
    try:
        text = "".join(f"{line.rstrip(' ')}\n" for line in _lines(document, width))
    except _NotPlainError:
        return None
    return text if width >= _NARROWEST and text.isascii() else None


def command_lines(line: str, width: int) -> list[str]:
    """A line for a shell, broken between words alone, with a backslash, so that a shell reads it as one."""
    lines = []
    shown = " " * INDENT
    for word in _SHELL_WORD.findall(visible(line)):
        is_first = not shown.strip()
        if not is_first and len(shown) + len(word) + len(" ") + len(_CONTINUED) > width:
            lines.append(shown + _CONTINUED)
            shown, is_first = " " * 2 * INDENT, True
        shown += word if is_first else f" {word}"
    return [*lines, shown]


def bar(value: float, longest: float) -> str:
    """A signed bar on a scale whose longest takes `BAR_CELLS`."""
    length = round(abs(value) / longest * BAR_CELLS) if longest else 0
    return ("+" if value > 0 else "-") * length


def _lines(document: Document, width: int) -> Iterator[str]:
    yield from _wrapped(visible(document.title), width)
    for section in document.sections:
        yield ""
        if section.title:
            yield from _wrapped(visible(section.title), width)
        indent = INDENT if section.title else 0
        for block in section.blocks:
            if isinstance(block, Commands):
                for line in block.lines:
                    yield from command_lines(line, width)
            else:
                yield from (" " * indent + line for line in _block(block, width - indent))


def _block(block: Paragraph | Bullets | Table | Bars, width: int) -> list[str]:
    match block:
        case Paragraph(texts):
            return _wrapped("".join(visible(text.text) for text in texts), width)
        case Bullets(items):
            wrapped = (_wrapped(visible(item), width - INDENT) for item in items)
            return [
                ("  " if number else "- ") + line for lines in wrapped for number, line in enumerate(lines)
            ]
        case Table():
            return _set(_columns(block), width, has_header=any(block.header))
        case Bars(rows):
            columns = _bar_columns(rows)
            if not rows or sum(_natural_widths(columns)) > width:
                raise _NotPlainError
            return _set(columns, width)


def _columns(table: Table) -> list[_Column]:
    rows = [[visible(cell.text) for cell in row] for row in table.rows]
    if any(len(row) != len(table.header) for row in rows):
        raise _NotPlainError
    for row, note in zip(rows, table.notes, strict=False):
        row[1] += f"\n{visible(note)}"
    if any(table.header):
        rows.insert(0, [visible(name) for name in table.header])
    return [_Column(cells, index in table.numeric) for index, cells in enumerate(zip(*rows, strict=True))]


def _bar_columns(rows: tuple[tuple[str, float, str], ...]) -> list[_Column]:
    longest = max((abs(value) for _, value, _ in rows), default=0.0)
    return [
        _Column([visible(label) for label, _, _ in rows]),
        _Column([visible(printed) for _, _, printed in rows], is_right=True),
        _Column([bar(value, longest) for _, value, _ in rows]),
    ]


def _set(columns: Sequence[_Column], width: int, *, has_header: bool = False) -> list[str]:
    """Columns side by side, each as wide as it needs, or narrower where all together are too wide."""
    if not columns:
        raise _NotPlainError
    widths = _widths(_natural_widths(columns), width)
    inner = [*(width - GAP for width in widths[:-1]), widths[-1]]
    if any(
        width < 1 and (width < 0 or any(column.cells)) for width, column in zip(inner, columns, strict=True)
    ):
        raise _NotPlainError
    lines = []
    for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        parts = [_cell(text, width) for text, width in zip(row, inner, strict=True)]
        if has_header and number == 0:
            # Names stand right above their columns, however many lines the others take.
            height = max(map(len, parts))
            parts = [[""] * (height - len(part)) + part for part in parts]
        for line in zip_longest(*parts, fillvalue=""):
            aligned = zip(line, columns, inner, strict=True)
            shown = [_aligned(part, width, is_right=column.is_right) for part, column, width in aligned]
            lines.append((" " * GAP).join(shown))
    return lines


def _aligned(part: str, width: int, *, is_right: bool) -> str:
    return part.rstrip().rjust(width) if is_right else part.ljust(width)


def _cell(text: str, width: int) -> list[str]:
    return [line for part in text.split("\n") for line in _wrapped(part, width)]


def _natural_widths(columns: Sequence[_Column]) -> list[int]:
    """Cells of the widest line of each column, with the gap behind it."""
    longest = [max(len(line) for cell in column.cells for line in cell.split("\n")) for column in columns]
    return [*(width + GAP for width in longest[:-1]), longest[-1] or 1]


def _widths(natural: Sequence[int], most: int) -> list[int]:
    """The widest columns give first, down to the next widest; if all are equal, they give alike."""
    widths = [min(width, most) for width in natural]
    while (excess := sum(widths) - most) > 0:
        widest = max(widths)
        step = widest - max((width for width in widths if width != widest), default=0)
        may_give = [min(excess, step) if width == widest else 0 for width in widths]
        widths = _reduced(widths, may_give, excess)
    return widths


def _reduced(widths: Sequence[int], may_give: Sequence[int], excess: int) -> list[int]:
    """Widths less `excess`, spread evenly over those that may give, as far as each may."""
    givers = sum(most > 0 for most in may_give)
    left = []
    for width, most in zip(widths, may_give, strict=True):
        given = min(most, round(excess / givers)) if most else 0
        left.append(width - given)
        excess -= given
        givers -= most > 0
    return left


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words; a word that is longer than a line begins a new one and is cut."""
    starts = [0]
    used = 0
    for found in _WORD.finditer(text):
        word, start = found[0], found.start()
        length = len(word.rstrip())
        if used + length <= width:
            used += len(word)
        elif length > width:
            starts += range(start, start + len(word), width)
            used = (len(word) - 1) % width + 1
        else:
            starts.append(start)
            used = len(word)
    ends = [*dict.fromkeys(starts), len(text)]
    return [text[start:end][:width] for start, end in pairwise(ends)]
