"""Writes the files of an export: rows as they are, records in every container, and the texts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.export import LeftOut
from gymbal.pivot.export.parquet import ParquetWriter
from gymbal.pivot.export.row import ExportRow, json_line
from gymbal.pivot.export.target import CONFIG, Container, ExportFormat, ExportSetting
from gymbal.pivot.lines import ROWS, ROWS_OF_PART
from gymbal.pivot.split import PARTS

LEFT_OUT, REPORT = "left_out.jsonl", "export.json"


def gym_files(sides: Sequence[str]) -> dict[str, str]:
    """Name of the file of Gym rows of each side, as `build` names it."""
    return {PARTS[0]: ROWS} if len(sides) == 1 else {side: ROWS_OF_PART[side] for side in sides}


def table_files(format: ExportFormat, sides: Sequence[str], container: Container) -> dict[str, str]:
    """Name of the file of records of each side."""
    if format.table is None:
        return {}
    return {side: f"{format.table.stem}{side}.{container}" for side in sides}


def trainer_files(
    format: ExportFormat, sides: Sequence[str], containers: Sequence[Container]
) -> dict[str, str]:
    """Name of the file that a trainer is pointed at, by side."""
    return gym_files(sides) if format.has_gym_rows else table_files(format, sides, containers[0])


def file_names(format: ExportFormat, setting: ExportSetting) -> tuple[str, ...]:
    """All files of an export."""
    rows = [*gym_files(setting.sides).values(), CONFIG] if format.has_gym_rows else []
    for container in setting.containers:
        rows += table_files(format, setting.sides, container).values()
    return (*rows, *format.texts(setting), LEFT_OUT, REPORT)


class ExportWriter:
    """Writes into an empty folder. As a context it closes its files."""

    def __init__(self, format: ExportFormat, setting: ExportSetting, folder: Path) -> None:
        """Raises MissingExtraError where a container needs a package that is not there."""
        self._format, self._setting, self._folder = format, setting, folder
        self._stack = ExitStack()
        with ExitStack() as opening:
            self._left_out = opening.enter_context(self._open(LEFT_OUT))
            self._rows = {}
            if format.has_gym_rows:
                for side, name in gym_files(setting.sides).items():
                    self._rows[side] = opening.enter_context(self._open(name))
            self._lines, self._parquets = {}, {}
            for container in setting.containers:
                for side, name in table_files(format, setting.sides, container).items():
                    stream = opening.enter_context(self._open(name))
                    if container is Container.JSONL:
                        self._lines[side] = stream
                    elif format.table is not None:
                        self._parquets[side] = ParquetWriter(stream, format.table.shape(setting.is_rendered))
            self._stack = opening.pop_all()

    def add(self, row: ExportRow) -> None:
        """Write one row into the files of its side."""
        if row.side in self._rows:
            self._rows[row.side].write(row.line)
        if self._format.table is None:
            return
        record = self._format.table.record(row)
        if row.side in self._lines:
            self._lines[row.side].write(json_line(record))
        if row.side in self._parquets:
            self._parquets[row.side].add(record, len(row.line))

    def leave_out(self, left: LeftOut) -> None:
        """Write a pivot that is not in the export, with its reason."""
        self._left_out.write(msgspec.json.encode(left) + b"\n")

    def write_texts(self) -> None:
        """Write what goes with the rows."""
        if self._format.has_gym_rows:
            (self._folder / CONFIG).write_bytes(self._setting.gym_config)
        for name, text in self._format.texts(self._setting).items():
            (self._folder / name).write_bytes(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if error is None:
                for parquet in self._parquets.values():
                    parquet.close()

    def _open(self, name: str) -> BinaryIO:
        return (self._folder / name).open("wb", buffering=WRITE_BUFFER_BYTES)
