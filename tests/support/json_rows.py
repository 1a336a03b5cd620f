"""Rows of JSONL files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec


def read_rows(path: Path) -> list[dict[str, Any]]:
    # As bytes, because a line separator within a text is no line break.
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write_rows(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_encoded(path: Path, rows: Iterable[Any]) -> Path:
    """Write rows, structs too, without spaces and with every character as itself."""
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path
