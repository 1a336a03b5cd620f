"""The page on selection lists what the code has."""

import re
from pathlib import Path

from gymbal.model.selection import BalanceField, SelectReason
from gymbal.pivot.selection.contamination import LEAST_OPENING_WORDS
from gymbal.pivot.selection.near_duplicates import SHINGLE_WORDS
from gymbal.pivot.selection.notes import HEALTHY_SHARE
from gymbal.pivot.selection.state import TAIL_CHARACTERS
from gymbal.stats.minhash import BANDS, HASHES, ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "selection.md").read_text(encoding="utf-8")


def test_page_lists_the_reasons_in_their_order() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE) == list(SelectReason)


def test_page_names_the_fields_of_a_balance() -> None:
    assert f"--balance {'|'.join(BalanceField)}" in PAGE


def test_page_has_the_numbers_of_the_code() -> None:
    low, high = HEALTHY_SHARE
    assert f"{100 * low:.0f} to {100 * high:.0f} % is usual" in PAGE
    assert f"last {TAIL_CHARACTERS:,} characters" in PAGE
    assert f"runs of {SHINGLE_WORDS} words" in PAGE
    assert f"with {HASHES} hashes" in PAGE
    assert f"words, {LEAST_OPENING_WORDS} or more" in PAGE


def test_page_says_how_many_pairs_share_a_band() -> None:
    # 1 - (1 - J^8)^8 is 0.989 at 0.9 and 0.770 at 0.8.
    found = {similarity: 1 - (1 - similarity**ROWS) ** BANDS for similarity in (0.9, 0.8)}
    assert f"at 0.9, {found[0.9]:.0%} of pairs are found, at 0.8, {found[0.8]:.0%}".replace("%", " %") in PAGE
