"""Parts that the cards of built and of selected datasets have in common, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping


def count_table(head: str, counts: Mapping[str, int]) -> str:
    """A table of `counts`; `head` is above their names."""
    rows = "".join(f"| {name} | {count} |\n" for name, count in counts.items())
    return f"| {head} | count |\n| --- | ---: |\n{rows}"


def count_section(title: str, head: str, counts: Mapping[str, int]) -> str:
    """A section with those of `counts` that are not 0; no text where all are."""
    present = {name: count for name, count in counts.items() if count}
    return f"## {title}\n\n{count_table(head, present)}" if present else ""


def options_section(title: str, options: Mapping[str, object]) -> str:
    """A section with the options that were chosen; no text where none were."""
    lines = "".join(f"- `{name}`: `{json.dumps(value)}`\n" for name, value in options.items())
    return f"## {title}\n\n{lines}" if options else ""
