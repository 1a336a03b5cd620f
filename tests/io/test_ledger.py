"""The ledger balances or stops the program."""

import pytest

from gymbal.errors import LedgerMismatchError
from gymbal.io.ledger import Ledger


def test_ledger_balances_when_every_row_is_kept_or_dropped() -> None:
    ledger = Ledger()
    ledger.keep()
    ledger.drop("bad_line")
    ledger.drop("bad_line")
    ledger.check()
    assert (ledger.read, ledger.kept, dict(ledger.dropped)) == (3, 1, {"bad_line": 2})


def test_ledger_check_names_a_lost_row() -> None:
    ledger = Ledger(read=2, kept=1)
    with pytest.raises(LedgerMismatchError, match="read 2, kept 1") as caught:
        ledger.check()
    assert caught.value.exit_code == 70
