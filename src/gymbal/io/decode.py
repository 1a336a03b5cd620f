"""JSON and YAML files as plain values, with errors that say where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import open_bytes

MAX_FILE_BYTES = 512 * 1024 * 1024


def read_bounded(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Return the whole file, decompressed; raise InputError when it is unreadable or above `limit` bytes."""
    with open_bytes(path) as stream:
        try:
            data = stream.read(limit + 1)
        except (OSError, EOFError) as error:
            raise InputError(f"cannot be read: {error}", path=path) from error
    if len(data) > limit:
        raise InputError(f"file is longer than {limit} bytes", path=path)
    return data


def read_json(path: Path) -> Any:
    """Decode one JSON document; raise InputError when it is none."""
    try:
        return msgspec.json.decode(read_bounded(path))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"is not JSON: {error}", path=path) from error


def read_yaml(path: Path) -> Any:
    """Decode a YAML document the way Gym reads it, with `${...}` left as written.

    Gym reads its configs with OmegaConf, whose YAML differs from PyYAML's in numbers and dates; reading with
    the same loader keeps equal configs equal. Raises InputError when the file is no YAML mapping.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    text = read_bounded(path, 16 * 1024 * 1024).decode("utf-8", "replace")
    try:
        loaded = OmegaConf.create(text)
        return OmegaConf.to_container(loaded, resolve=False)
    except (YAMLError, OmegaConfBaseException, ValueError, RecursionError) as error:
        raise InputError(f"is not a YAML mapping: {error}", path=path) from error
