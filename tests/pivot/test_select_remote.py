"""Indexes, profiles and selections behind a URL, in fsspec's own memory store."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_select import pivot_select

EXAMPLE = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"


@pytest.fixture
def store() -> Iterator[Any]:
    found = fsspec.filesystem("memory")
    found.pipe("/selection/tool_use.rollouts.jsonl", EXAMPLE.read_bytes())
    yield found
    found.rm("/selection", recursive=True)


def profile_of(pivots: str | Path) -> bytes:
    lines = []
    for number, entry in enumerate(open_pivots(pivots)):
        rewards = [1.0] * (number % 3) + [0.0] * (2 - number % 3)
        mean = sum(rewards) / 2
        lines.append({"pivot": entry.id, "k": 2, "rewards": rewards, "mean": mean, "source": "sampled"})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_everything_at_urls_gives_the_bytes_of_local_files(store: Any, tmp_path: Path) -> None:
    remote = "memory://selection"
    pivot_index(f"{remote}/tool_use.rollouts.jsonl", f"{remote}/index.jsonl", name="same")
    store.pipe("/selection/profile.jsonl", profile_of(f"{remote}/index.jsonl"))
    metrics = pivot_select(f"{remote}/index.jsonl", f"{remote}/profile.jsonl", f"{remote}/out")
    pivot_index(EXAMPLE, tmp_path / "index.jsonl", name="same")
    (tmp_path / "profile.jsonl").write_bytes(profile_of(tmp_path / "index.jsonl"))
    pivot_select(tmp_path / "index.jsonl", tmp_path / "profile.jsonl", tmp_path / "out")
    assert metrics.kept
    for name in ("pivots.jsonl", "skipped.jsonl", "selected.jsonl"):
        assert store.cat(f"/selection/out/{name}") == (tmp_path / "out" / name).read_bytes()


def test_index_at_a_url_finds_its_local_source(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source.jsonl").write_bytes(EXAMPLE.read_bytes())
    monkeypatch.chdir(tmp_path)
    pivot_index("source.jsonl", "memory://selection/local.index.jsonl")
    monkeypatch.chdir("/")
    pivots = open_pivots("memory://selection/local.index.jsonl")
    assert sum(len(pivots.row(entry)) for entry in pivots) == sum(entry.size for entry in pivots)
