"""What a format is: a name, a way to recognise it, a way to read it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from gymbal.errors import InputError
from gymbal.io.shards import ByteRange
from gymbal.model.json_fields import Fields, decode_fields

if TYPE_CHECKING:
    from gymbal.model.trajectory import Trajectory


class Head(msgspec.Struct, frozen=True, gc=False):
    """The first record of a file, by which its format is told."""

    fields: Fields
    """Its top-level fields, undecoded; empty when it is no JSON object."""

    def kind(self, *keys: str) -> str | None:
        """Kind of value at the path `keys`: object, list, string, null or other; None where nothing is."""
        fields = self.fields
        for key in keys[:-1]:
            fields = _fields_of(fields.get(key))
        value = fields.get(keys[-1])
        return None if value is None else _KINDS.get(bytes(value)[:1], "other")


_KINDS = {b"{": "object", b"[": "list", b'"': "string", b"n": "null"}


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user can say about how a source is read."""

    call_count_field: str | None = None
    """Field of a record that holds the number of model calls; dots lead into objects."""
    part: ByteRange | None = None
    """Read only the records that begin here; for formats that have lines."""


class _Module(Protocol):
    """What a module of a format offers."""

    def matches(self, head: Head) -> bool: ...

    def read(self, path: Path, options: ReadOptions) -> Iterator[Trajectory]: ...


class _FolderModule(_Module, Protocol):
    """What a module offers whose sources can be more than the file that is named."""

    def files(self, path: Path) -> tuple[Path, ...]: ...


class Format(msgspec.Struct, frozen=True):
    """One source format. Its module is loaded when it is first used."""

    name: str
    summary: str
    """One line that says what writes such files."""
    home: str
    """The module that holds `matches(head)` and `read(path, options)`."""
    has_lines: bool = False
    """A file that holds one record per line is read in the part that `ReadOptions.part` names, any other
    one whole."""
    has_folder: bool = False
    """A source can be more than the file that is named: the module holds `files(path)` too."""

    def matches(self, head: Head) -> bool:
        """Whether a file with this head looks like one of the format."""
        return self._module().matches(head)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Trajectory]:
        """Yield the trajectories of one file in order.

        Raises InputError, with file and line, for a record that the format does not allow.
        """
        return self._module().read(path, options)

    def files(self, path: Path) -> tuple[Path, ...]:
        """All files that the source `path` consists of, itself first.

        Raises InputError, as `read` does, where it says what they are and cannot be read.
        """
        return cast(_FolderModule, self._module()).files(path) if self.has_folder else (path,)

    def _module(self) -> _Module:
        return cast(_Module, importlib.import_module(self.home))


def read_head(path: Path) -> Head:
    """Return the head of `path`; raise InputError when it cannot be read, is empty or holds no JSON."""
    from gymbal.readers.base.records import read_records

    record = next(iter(read_records(path)), None)
    if record is None:
        raise InputError(
            "is empty: its format cannot be told", path=path, remedy="Name one with --source-format."
        )
    return Head(_fields_of(msgspec.Raw(record.data)))


def _fields_of(value: msgspec.Raw | None) -> Fields:
    if value is None or not bytes(value).startswith(b"{"):
        return {}
    try:
        return decode_fields(value)
    except (msgspec.DecodeError, RecursionError):
        return {}
