"""Write a result to standard output in the form that the user chose."""

from __future__ import annotations

import os
import sys

import click
import msgspec

from gymbal.io.printable import encode_printable
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
        click.echo(msgspec.json.format(encode_printable(result), indent=2))
    elif format == "markdown":
        from gymbal.report.markdown import to_markdown

        click.echo(to_markdown(document), nl=False)
    else:
        _print(document)


def _print(document: Document) -> None:
    """As plain text where nobody sees colours: rich takes its time to load."""
    if not _may_have_colour():
        from gymbal.report.plain import to_plain

        text = to_plain(document, _width())
        if text is not None:
            click.echo(text, nl=False)
            return
    from gymbal.report.terminal import to_terminal

    # click would take wanted colours away in a pipe, and give an ASCII terminal bytes of UTF-8.
    print(to_terminal(document), end="")


def _may_have_colour() -> bool:
    """At a terminal, or where one of the variables that rich knows asks for it."""
    # Python has no standard output where the shell closed it.
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ


def _width() -> int:
    """The columns of the terminal that any standard stream is connected to, else 80: as rich finds them."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal():
        return int(columns) or 80
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns or 80
        except OSError:
            continue
    return 80
