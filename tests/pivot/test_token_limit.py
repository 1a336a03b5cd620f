"""Rows with more tokens than a limit are left out, by a tokenizer or by characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.errors import InputError, UsageError
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.tokens import token_counter

WORDS: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"},
}
"""A tokenizer of words and signs: runs of letters and digits, and runs of anything else."""


def test_characters_stand_for_tokens_without_a_tokenizer() -> None:
    count = token_counter(None)
    assert [count(text) for text in ("", "abcd", "abcde")] == [0, 1, 2]


def kept(tmp_path: Path, limit: int, tokenizer: str | None = None) -> tuple[int, int]:
    source = write_rows(tmp_path / "r.jsonl", [rollout("COCOM", seed="U")])
    options = BuildOptions(max_input_tokens=limit, tokenizer=tokenizer)
    metrics = pivot_build(source, tmp_path / "d", options=options)
    is_estimated = any("estimated from characters" in note for note in metrics.notes)
    assert is_estimated == (tokenizer is None and metrics.kept > 0)
    return metrics.kept, metrics.skipped["input_too_long"]


def test_rows_with_too_many_tokens_are_left_out(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", [rollout("COCOM", seed="U")])
    pivot_build(source, tmp_path / "d")
    rows = read_rows(tmp_path / "d" / "pivots.jsonl")
    request = rows[1]["responses_create_params"]
    # Each item and the list of tools is counted on its own, four characters a token, rounded up.
    parts = [request["tools"], *request["input"]]
    tokens = sum(-(-len(json.dumps(part)) // 4) for part in parts)
    assert kept(tmp_path, tokens) == (2, 1)
    assert kept(tmp_path, tokens - 1) == (1, 2)
    assert "limit" in (tmp_path / "d" / "skipped.jsonl").read_text()


def test_a_tokenizer_counts_tokens(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text(json.dumps(WORDS))
    for given in (tmp_path, tmp_path / "tokenizer.json"):
        # Two words, a run of signs and another word.
        assert token_counter(str(given))('two words:"third') == 4
    assert kept(tmp_path, 1000, str(tmp_path)) == (3, 0)
    assert kept(tmp_path, 1, str(tmp_path)) == (0, 3)


def test_what_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="is no tokenizer"):
        token_counter(str(tmp_path / "tokenizer.json"))


def test_limits_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        kept(tmp_path, 0)
    source = write_rows(tmp_path / "r.jsonl", [rollout("M")])
    with pytest.raises(UsageError, match="no limit of them"):
        pivot_build(source, tmp_path / "d", options=BuildOptions(tokenizer="x"))
