"""A document as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gymbal.report.document import Bars, Block, Bullets, Commands, Document, Paragraph, Table
from gymbal.report.escape import markdown, visible


def to_markdown(document: Document) -> str:
    """Return `document` as Markdown, ending in one line break."""
    parts = [f"# {markdown(document.title)}"]
    for section in document.sections:
        if section.title:
            parts.append(f"## {markdown(section.title)}")
        parts.extend(_block(block) for block in section.blocks)
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(texts):
            return "".join(markdown(text.text) for text in texts)
        case Bullets(items):
            return "\n".join(f"- {markdown(item)}" for item in items)
        case Commands(lines):
            return _fenced(lines)
        case Table():
            return _table(block)
        case Bars(rows):
            body = [f"| {markdown(label)} | {markdown(printed)} |" for label, _, printed in rows]
            return "\n".join(["|  |  |", "| --- | ---: |", *body])


def _fenced(lines: Iterable[str]) -> str:
    """A code block, whose fence is longer than any run of backticks inside."""
    text = "\n".join(visible(line) for line in lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}bash\n{text}\n{fence}"


def _table(table: Table) -> str:
    header = (*table.header, *((table.note_header,) if table.notes else ()))
    rules = ("---:" if index in table.numeric else "---" for index in range(len(header)))
    lines = [_row(map(markdown, header)), _row(rules)]
    for index, row in enumerate(table.rows):
        texts = [cell.text for cell in row] + ([table.notes[index]] if table.notes else [])
        lines.append(_row(map(markdown, texts)))
    return "\n".join(lines)


def _row(values: Iterable[str]) -> str:
    return "| " + " | ".join(values) + " |"
