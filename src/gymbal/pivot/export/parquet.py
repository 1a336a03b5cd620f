"""Writes records as Parquet. The one place that names pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, BinaryIO

from gymbal.errors import need

ROWS_PER_GROUP = 1000
BYTES_PER_GROUP = 64 * 1024 * 1024
"""Of texts held in memory."""


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def need_parquet() -> Any:
    """The package pyarrow. Raises MissingExtraError where it is not installed."""
    return need("pyarrow", extra="export", feature="Parquet")


class ParquetWriter:
    """Records of one shape into a stream, some at a time. The same records give the same bytes."""

    def __init__(self, stream: BinaryIO, shape: Mapping[str, Any]) -> None:
        """Raises MissingExtraError without pyarrow."""
        self._arrow = need_parquet()
        from pyarrow import parquet

        self._schema = self._arrow.schema([(name, self._type(kind)) for name, kind in shape.items()])
        self._writer = parquet.ParquetWriter(stream, self._schema, compression="snappy")
        self._held: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, record: dict[str, Any], size: int) -> None:
        """Take one record, which holds about `size` bytes."""
        self._held.append(record)
        self._bytes += size
        if len(self._held) >= ROWS_PER_GROUP or self._bytes >= BYTES_PER_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is held and the end of the file."""
        if self._held:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._held, schema=self._schema))
        self._held, self._bytes = [], 0

    def _type(self, kind: Any) -> Any:
        if isinstance(kind, Mapping):
            return self._arrow.struct([(name, self._type(inner)) for name, inner in kind.items()])
        if isinstance(kind, list):
            return self._arrow.list_(self._type(kind[0]))
        return self._arrow.int64() if kind is int else self._arrow.string()
