"""A dataset is the same, byte for byte, from every engine, number of workers and size of shards."""

import gzip
import importlib.util
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from folders import contents
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import write_rows
from simulations import write_results

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_shards import build_in_shards, plan_parts
from gymbal.commands.sources import open_sources
from gymbal.errors import InputError, UsageError
from gymbal.parallel import Engine
from gymbal.pivot import shard
from gymbal.pivot.options import BuildOptions, MixedGroups
from gymbal.pivot.shard import PlacedShard, WrittenShard
from gymbal.pivot.split import split_of

HAS_RAY = importlib.util.find_spec("ray") is not None

EPISODES = ["RMCCOORM", "COM", "MM", "CMC", "HUM", "COCOCOM", "RUM", "CCOORM"]


def mixture(count: int) -> list[dict[str, Any]]:
    """Rollouts with equal rows near and far, batches, refused calls and several rewards a task."""
    rng = random.Random(7)
    return [
        rollout(
            rng.choice(EPISODES),
            seed=[{"role": "user", "content": f"ask {rng.randrange(6)}"}],
            uuid=f"task {rng.randrange(5)}",
            reward=rng.choice([0.0, 1.0, None]),
        )
        for _ in range(count)
    ]


OPTIONS = [
    BuildOptions(),
    BuildOptions(dedupe=False, drop_messages=0.5),
    BuildOptions(
        mixed_groups=MixedGroups.PREFER,
        split=split_of({"train": 0.5, "validation": 0.5}),
        reference_output=True,
    ),
]


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """A plain file, a compressed one with the same rows again, and a third one."""
    rows = mixture(60)
    first = write_rows(tmp_path / "a.jsonl", rows)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(first.read_bytes()[: first.read_bytes().index(b"\n", 9000) + 1]))
    return [first, packed, write_rows(tmp_path / "c.jsonl", rows[::-2])]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size", [611, 977, 5000, 10**6])
def test_shards_of_any_size_give_the_bytes_of_one_pass(
    tmp_path: Path, sources: list[Path], options: BuildOptions, size: int
) -> None:
    folder = tmp_path / "dataset"
    metrics = pivot_build(sources, folder, options=options)
    assert 0 < metrics.kept < metrics.candidates
    whole = contents(folder)
    shutil.rmtree(folder)
    parts = plan_parts(open_sources(sources), shard_bytes=size)
    joined = build_in_shards(
        parts, folder, name="dataset", threshold=0.1, options=options, engine=Engine.IN_PROCESS, workers=1
    )
    assert joined == metrics
    assert contents(folder) == whole


def chat(number: int) -> dict[str, Any]:
    """A conversation; every third says the same."""
    messages = [{"role": role, "content": f"say {number % 3}"} for role in ("user", "assistant")]
    return {"messages": messages}


@pytest.mark.parametrize(
    ("records", "is_list", "is_cut"),
    [
        (mixture(20), False, True),
        (mixture(20), True, False),
        ([chat(number) for number in range(40)], False, True),
        ([chat(number) for number in range(40)], True, False),
    ],
)
def test_only_files_of_one_record_per_line_are_cut(
    tmp_path: Path, records: list[dict[str, Any]], is_list: bool, is_cut: bool
) -> None:
    source = tmp_path / "source"
    lines = "".join(json.dumps(record) + "\n" for record in records)
    source.write_text(json.dumps(records, indent=1) if is_list else lines)
    folder = tmp_path / "dataset"
    metrics = pivot_build(source, folder)
    whole = contents(folder)
    shutil.rmtree(folder)
    parts = plan_parts(open_sources([source]), shard_bytes=611)
    assert (len(parts) > 1) is is_cut
    joined = build_in_shards(
        parts,
        folder,
        name="dataset",
        threshold=0.1,
        options=BuildOptions(),
        engine=Engine.IN_PROCESS,
        workers=1,
    )
    assert joined == metrics
    assert contents(folder) == whole


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_that_are_written_twice_are_there_once(
    tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch, options: BuildOptions
) -> None:
    """A worker that is killed may have written any of its rows; another one writes them all again."""
    folder = tmp_path / "dataset"
    pivot_build(sources, folder, options=options)
    whole = contents(folder)

    def write_twice(placed: PlacedShard) -> WrittenShard:
        shard.write_rows(placed)
        return shard.write_rows(placed)

    monkeypatch.setattr("gymbal.commands.pivot_shards.write_rows", write_twice)
    build_in_shards(
        plan_parts(open_sources(sources), shard_bytes=5000),
        folder,
        name="dataset",
        threshold=0.1,
        options=options,
        engine=Engine.IN_PROCESS,
        workers=3,
    )
    assert contents(folder) == whole


def test_duplicates_in_a_folder_of_simulations_keep_the_path_of_their_file(tmp_path: Path) -> None:
    """Two folders ask the same, so that every row of the second one is a duplicate."""
    sources = [write_results(tmp_path / run / "same", 2) for run in ("first", "second")]
    folder = tmp_path / "dataset"
    pivot_build(sources, folder)
    whole = contents(folder)
    skipped = [json.loads(line) for line in whole["skipped.jsonl"].splitlines()]
    paths = [str(tmp_path / f"second/same/simulations/s{number}.json") for number in (0, 1)]
    assert [(line["reason"], line["source"]["path"]) for line in skipped] == [("duplicate", p) for p in paths]
    pivot_build(sources, folder, engine="processes", workers=2)
    assert contents(folder) == whole


@given(st.lists(st.sampled_from(EPISODES), min_size=1, max_size=8), st.integers(150, 4000))
@settings(max_examples=15, deadline=None)
def test_shards_find_the_duplicates_of_one_pass(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[str], size: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    source = write_rows(folder / "rollouts.jsonl", [rollout(letters) for letters in episodes])
    pivot_build(source, folder / "dataset")
    whole = contents(folder / "dataset")
    build_in_shards(
        plan_parts(open_sources([source], "gym_rollouts"), shard_bytes=size),
        folder / "dataset",
        name="dataset",
        threshold=0.1,
        options=BuildOptions(),
        engine=Engine.IN_PROCESS,
        workers=1,
    )
    assert contents(folder / "dataset") == whole


@pytest.mark.parametrize(
    ("engine", "workers", "options"),
    [
        ("processes", 1, OPTIONS[1]),
        ("processes", 2, OPTIONS[2]),
        ("processes", 3, OPTIONS[0]),
        pytest.param(
            "ray", 2, OPTIONS[2], marks=pytest.mark.skipif(not HAS_RAY, reason="ray is not installed")
        ),
    ],
)
def test_workers_give_the_bytes_of_one_pass(
    tmp_path: Path, sources: list[Path], engine: str, workers: int, options: BuildOptions
) -> None:
    folder = tmp_path / "dataset"
    pivot_build(sources, folder, options=options)
    whole = contents(folder)
    pivot_build(sources, folder, options=options, engine=engine, workers=workers)
    assert contents(folder) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl.gz", "c.jsonl", "dataset"]


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_bad_row_is_named_and_nothing_is_left_behind(tmp_path: Path, engine: str) -> None:
    lines = [json.dumps(rollout("M", seed=[{"role": "user", "content": str(n)}])) for n in range(40)]
    lines[30] = "{}"
    source = tmp_path / "rollouts.jsonl"
    source.write_text("".join(line + "\n" for line in lines))
    with pytest.raises(InputError, match=r"rollouts\.jsonl:31 \(byte \d+\)"):
        pivot_build(source, tmp_path / "dataset", engine=engine, workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["rollouts.jsonl"]


def test_build_refuses_unknown_engines_and_options_before_it_starts(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M")])
    with pytest.raises(UsageError, match="no engine 'threads'"):
        pivot_build(source, tmp_path / "dataset", engine="threads")
    with pytest.raises(UsageError, match=r"one worker, and 3 are asked for\n.*processes or ray"):
        pivot_build(source, tmp_path / "dataset", workers=3)
    for options, fault in ((BuildOptions(drop_messages=2.0), "drop_messages"), (BuildOptions(), "workers")):
        with pytest.raises(UsageError, match=fault):
            pivot_build(source, tmp_path / "dataset", engine="processes", workers=0, options=options)
    assert not (tmp_path / "dataset").exists()
