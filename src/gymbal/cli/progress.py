"""One line on the standard error that says how far a command is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

SECONDS_BETWEEN = 0.2
"""So rare that showing costs nothing."""

SECONDS_BETWEEN_LINES = 5.0
"""In a log, where each time is a line of its own."""

progress_option = click.option(
    "--progress/--no-progress",
    default=None,
    help="Say on the standard error how far the work is; by default where that is a terminal.",
)


@contextmanager
def shown_progress(wanted: bool | None) -> Iterator[Callable[[int, int], None]]:
    """Yield what shows the bytes that are done, of all there are, while the block lasts."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (is_terminal if wanted is None else wanted):
        yield _show_nothing
        return
    shown = _Shown(is_terminal)
    try:
        yield shown.show
    finally:
        shown.clear()


class _Shown:
    def __init__(self, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._next = 0.0

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (SECONDS_BETWEEN if self._is_terminal else SECONDS_BETWEEN_LINES)
        share = done / total if total else 1.0
        said = f"{share:.0%} of {total / 1e6:,.1f} MB"
        click.echo(f"\r{said}\x1b[K" if self._is_terminal else said, nl=not self._is_terminal, err=True)

    def clear(self) -> None:
        if self._is_terminal:
            click.echo("\r\x1b[K", nl=False, err=True)


def _show_nothing(done: int, total: int) -> None:
    pass
