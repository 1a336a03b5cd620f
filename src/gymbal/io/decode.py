"""JSON and YAML files as plain values, with errors that say where."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import open_bytes, stream_errors
from gymbal.io.secrets import mask_text

MAX_FILE_BYTES = 512 * 1024 * 1024

MAX_YAML_BYTES = 4 * 1024 * 1024
"""A merged Gym config is about 100 KB."""

MAX_YAML_NODES = 200_000
"""Values of a YAML document once its aliases are written out."""

_ALIAS = re.compile(r"(?<![\w*])\*[^\s\[\]{},*'\"]")
"""An alias, or something that looks like one; not the `****` of a masked secret."""

_LOADER_FAILURES = (AssertionError, AttributeError, LookupError)
"""What the loaders raise for a document that is a number, and for misplaced tags such as `!!bool`."""

_UTF8_BLOCK_BYTES = 64 * 1024


def check_utf8(data: bytes) -> None:
    """Raise UnicodeDecodeError, as `data.decode()` does, where `data` is no UTF-8.

    A long text is decoded block by block: to have room for all of it takes six times as long.
    """
    if len(data) <= _UTF8_BLOCK_BYTES or data.isascii():
        data.decode()
        return
    view = memoryview(data)
    start, last = 0, len(data) - _UTF8_BLOCK_BYTES
    try:
        while start < len(data):
            # A character that the end of a block cuts in two is left for the next one.
            start += utf_8_decode(view[start : start + _UTF8_BLOCK_BYTES], "strict", start >= last)[1]
    except UnicodeDecodeError:
        data.decode()  # says where in all of it


_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""One escape, or the two of a surrogate pair; the group is half of such a pair alone."""

_decode_raw = msgspec.json.Decoder(msgspec.Raw).decode


def json_problem(error: Exception, data: bytes) -> str:
    """What to say of `data`, whose decoding raised `error`; msgspec calls JSON with a lone surrogate cut."""
    return lone_surrogate(data) or str(error)


def lone_surrogate(data: bytes) -> str | None:
    """Say where half of a surrogate pair stands that alone keeps `data` from being JSON; None for no such.

    Python's json writes one for a text that is no Unicode, such as one that was cut within a character.
    """
    found = next((escape for escape in _ESCAPE.finditer(data) if escape[1]), None)
    if found is None:
        return None
    try:
        _decode_raw(_ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data))
    except (msgspec.DecodeError, RecursionError):
        return None
    escape, start = found[0].decode(), found.start()
    return f"the escape {escape} at its byte {start} is half a character (a lone surrogate)"


def read_bounded(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Return the whole file, decompressed; raise InputError when it is unreadable or above `limit` bytes."""
    damage = stream_errors(path)
    with open_bytes(path) as stream:
        try:
            data = stream.read(limit + 1)
        except damage as error:
            raise InputError(f"is damaged or cannot be read: {error}", path=path) from error
    if len(data) > limit:
        raise InputError(f"file is longer than {limit} bytes", path=path)
    return data


def read_json(path: Path, limit: int = MAX_FILE_BYTES) -> Any:
    """Decode one JSON document; raise InputError when it is none or above `limit` bytes."""
    try:
        return msgspec.json.decode(read_bounded(path, limit))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"is not JSON: {error}", path=path) from error


def read_yaml(path: Path) -> Any:
    """Decode a YAML file as `decode_yaml` does, up to `MAX_YAML_BYTES`."""
    return decode_yaml(read_bounded(path, MAX_YAML_BYTES).decode("utf-8", "replace"), path)


def decode_yaml(text: str, path: Path | str) -> Any:
    """Decode a YAML document the way Gym reads it, with `${...}` left as written; `path` is for messages.

    Gym reads its configs with OmegaConf, whose YAML differs from PyYAML's in numbers and dates; reading with
    the same loader keeps equal configs equal. Raises InputError when the text is no YAML mapping or grows
    above `MAX_YAML_NODES` values by aliases. The message quotes the text without its secrets.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        if _ALIAS.search(text):
            _refuse_alias_bomb(text, path)
        loaded = OmegaConf.create(text)
        return OmegaConf.to_container(loaded, resolve=False)
    except (YAMLError, OmegaConfBaseException, ValueError, RecursionError, *_LOADER_FAILURES) as error:
        problem = mask_text(str(error)) or "it is a single value"
        raise InputError(f"is not a YAML mapping: {problem}", path=path) from error


def _refuse_alias_bomb(text: str, path: Path | str) -> None:
    """Raise InputError when writing out the aliases of `text` makes too many values, or never ends.

    OmegaConf copies what an alias names, so that a few lines of nested aliases would fill the memory.
    """
    import yaml

    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        sizes[id(node)] = MAX_YAML_NODES + 1  # what a node that contains itself comes to
        total = 1
        if isinstance(node, yaml.SequenceNode):
            total += sum(size(child) for child in node.value)
        elif isinstance(node, yaml.MappingNode):
            total += sum(size(key) + size(value) for key, value in node.value)
        sizes[id(node)] = total
        return total

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None and size(root) > MAX_YAML_NODES:
        problem = f"holds more than {MAX_YAML_NODES} values once its aliases are written out"
        raise InputError(problem, path=path)
