"""What every export target says about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from gymbal.model.export import ExportTarget
from gymbal.model.target import Target
from gymbal.pivot.export.row import ExportRow
from gymbal.pivot.targets.servers import SERVERS

CONFIG = "config.yaml"

Shape = Mapping[str, Any]
"""Name and type of each column: `str`, `int`, a mapping for a struct, a list of one for a list."""


class Container(StrEnum):
    """A file format of rows; its value is the suffix of the file."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class ExportSetting(NamedTuple):
    """What is known of an export before its first row."""

    dataset: str
    verifier: Target
    """The verifier of the rows."""
    gym_config: bytes
    """Gym's config of the rows."""
    folder: str
    """Where the export will lie."""
    paths: Mapping[str, str]
    """The files that a trainer reads, below `folder`, by side of the split."""
    comparator: Mapping[str, Any]
    """The options of the comparator by their names in a Gym config."""
    is_rendered: bool
    end_tokens: tuple[str, ...]
    """Special tokens that can end an answer, as far as they are known."""
    containers: tuple[Container, ...]
    """Those that are written."""

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides of the split; the first alone without one."""
        return tuple(self.paths)

    @property
    def server(self) -> str:
        """The resources server that scores the rows."""
        return SERVERS[self.verifier].name

    @property
    def config_path(self) -> str:
        """Where Gym's config of the rows will lie."""
        return f"{self.folder}/{CONFIG}"


class Table(NamedTuple):
    """Records in columns, in any container."""

    stem: str
    """Names a file, as in `<stem><side>.jsonl`."""
    shape: Callable[[bool], Shape]
    """The columns, when the prompts are rendered (True) and when they are not."""
    record: Callable[[ExportRow], dict[str, Any]]
    containers: tuple[Container, ...]
    """Those that the trainer reads; the first is always written."""


class ExportFormat(NamedTuple):
    """One target."""

    name: ExportTarget
    title: str
    """The name of the trainer in a text."""
    texts: Callable[[ExportSetting], dict[str, bytes]]
    """The files beside the rows, by name; the same names whatever the setting."""
    has_gym_rows: bool = False
    """Whether the rows themselves are written, byte for byte, with their Gym config."""
    table: Table | None = None
    takes_prompt: bool = False
    """Whether it takes a prompt that a chat template rendered."""
    needs_template: bool = False
    """Whether it takes prompts as texts alone."""
    reward_sees_tools: bool = True
    reward_sees_special_tokens: bool = False
    """Whether the reward reads an answer with the special tokens in it."""
    needs_chat: bool = True
    """Whether a row must have a form in chat, and a label that `gymbal.verify` scores."""
