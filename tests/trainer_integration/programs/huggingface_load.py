"""Hugging Face's `datasets` loads an exported folder by its card."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from datasets import load_dataset
from request import reply_with


def load(request: dict[str, Any]) -> dict[str, Any]:
    sides = load_dataset(request["folder"], cache_dir=request["scratch"])
    return {
        "version": version("datasets"),
        "columns": sides["train"].column_names,
        "rows": {side: list(rows["row"]) for side, rows in sides.items()},
    }


if __name__ == "__main__":
    reply_with(load)
