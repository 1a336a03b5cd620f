"""Write a result to standard output in the form that the user chose."""

from __future__ import annotations

import click
import msgspec

from gymbal.report.document import Document

FORMATS = ("text", "json", "markdown")

format_option = click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print the result.",
)


def emit(document: Document, result: msgspec.Struct, format: str) -> None:
    """Print `result` as JSON, or `document`, which says the same, as text or Markdown."""
    if format == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(result), indent=2))
    elif format == "markdown":
        from gymbal.report.markdown import to_markdown

        click.echo(to_markdown(document), nl=False)
    else:
        from gymbal.report.terminal import print_document

        print_document(document)
