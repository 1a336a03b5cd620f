"""A document as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from gymbal.report.document import Bars, Block, Bullets, Document, Paragraph, Table
from gymbal.report.escape import markdown


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
        case Table():
            return _table(block)
        case Bars(rows):
            body = [f"| {markdown(label)} | {markdown(printed)} |" for label, _, printed in rows]
            return "\n".join(["|  |  |", "| --- | ---: |", *body])


def _table(table: Table) -> str:
    rules = ("---:" if index in table.numeric else "---" for index in range(len(table.header)))
    lines = [_row(map(markdown, table.header)), _row(rules)]
    lines.extend(_row(markdown(cell.text) for cell in row) for row in table.rows)
    return "\n".join(lines)


def _row(values: Iterable[str]) -> str:
    return "| " + " | ".join(values) + " |"
