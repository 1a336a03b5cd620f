"""Files of environment variables: what `env` prints, `.env` files, `export` lines, `/proc/PID/environ`."""

from __future__ import annotations

import re
from pathlib import Path

from gymbal.errors import InputError
from gymbal.io.decode import read_bounded

MAX_BYTES = 4 * 1024 * 1024

_ASSIGNMENT = re.compile(r"(?:export\s+|declare\s+-\w+\s+|set\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)

_COMMENT_BEHIND_VALUE = re.compile(r"\s+#.*$")


def read_environment(path: str | Path) -> dict[str, str]:
    """Variables by name; a later line replaces an earlier one. The values hold secrets.

    Lines that set nothing, such as comments and the rest of a value of several lines, are passed over. Raises
    InputError when the file cannot be read, is no text, or sets no variable at all.
    """
    file = Path(path)
    data = read_bounded(file, MAX_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError("is no text in UTF-8", path=file, offset=error.start) from error
    is_dump = "\0" in text
    entries = text.split("\0") if is_dump else text.splitlines()
    found = [match for entry in entries if (match := _ASSIGNMENT.fullmatch(entry.strip()))]
    if not found:
        raise InputError(
            "sets no variable",
            path=file,
            remedy="expected lines such as NAME=value, as env prints them",
        )
    return {match[1]: match[2] if is_dump else _plain(match[2]) for match in found}


def _plain(value: str) -> str:
    """The value without its quotes, or without a comment behind it."""
    value = value.strip()
    if len(value) > 1 and value[0] in "'\"" and value.rstrip().endswith(value[0]):
        return value[1:-1]
    return _COMMENT_BEHIND_VALUE.sub("", value)
