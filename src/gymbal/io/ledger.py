"""Rows read = rows kept + rows dropped, each drop with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gymbal.errors import LedgerMismatchError


@dataclass
class Ledger:
    """Counts one file's rows while it is read."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def check(self) -> None:
        """Raise LedgerMismatchError unless every row read is accounted for."""
        if self.read != self.kept + self.dropped.total():
            raise LedgerMismatchError(f"read {self.read}, kept {self.kept}, dropped {dict(self.dropped)}")
