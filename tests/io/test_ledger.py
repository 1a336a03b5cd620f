"""The ledger balances or stops the program."""

from collections import Counter

import pytest

from gymbal.errors import LedgerMismatchError
from gymbal.io.ledger import Ledger


def test_ledger_balances_when_every_row_is_kept_or_dropped() -> None:
    Ledger(read=3, kept=1, dropped=Counter(bad_line=2)).check()


def test_ledger_check_names_a_lost_row() -> None:
    ledger = Ledger(read=2, kept=1)
    with pytest.raises(LedgerMismatchError, match="read 2, kept 1") as caught:
        ledger.check()
    assert caught.value.exit_code == 70
