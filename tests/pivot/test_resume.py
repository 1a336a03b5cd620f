"""A build that is interrupted leaves no half dataset, and goes on from the shards that were finished."""

import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from folders import contents
from json_rows import write_rows
from simulations import write_results, write_simulation

from gymbal.commands import pivot_shards
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_shards import build_in_shards, plan_parts
from gymbal.commands.sources import open_sources
from gymbal.errors import InputError
from gymbal.model.pivot import BuildMetrics
from gymbal.parallel import Engine, WorkersLostError
from gymbal.pivot.options import BuildOptions

EPISODES = ["RMCCOORM", "COM", "CMC", "COCOCOM"]


def rollouts_of(path: Path, first: int, count: int) -> Path:
    seeds = [[{"role": "user", "content": f"ask {number}"}] for number in range(first, first + count)]
    return write_rows(path, [rollout(EPISODES[n % 4], seed=seed) for n, seed in enumerate(seeds)])


def build_parts(sources: list[Path], output: Path, **options: Any) -> BuildMetrics:
    return build_in_shards(
        plan_parts(open_sources(sources), shard_bytes=10**6),
        output,
        name="dataset",
        threshold=0.1,
        options=BuildOptions(**options),
        engine=Engine.IN_PROCESS,
        workers=1,
    )


class Interrupting:
    """Stands for the work on a part; stops like a user's Ctrl-C, or any other `error`, at one part."""

    def __init__(self, error: BaseException, at: int) -> None:
        self.parts: list[str] = []
        self._error = error
        self._at = at
        self._work = pivot_shards.shard_of_part

    def __call__(self, job: pivot_shards.ShardJob) -> None:
        if len(self.parts) == self._at:
            raise self._error
        self.parts.append(job.part.path.name)
        self._work(job)


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    return [rollouts_of(tmp_path / f"{name}.jsonl", 100 * n, 6) for n, name in enumerate("abc")]


def interrupt(
    monkeypatch: pytest.MonkeyPatch, sources: list[Path], output: Path, error: BaseException
) -> list[str]:
    """Stop a build at its third part; return what is left beside the sources."""
    with monkeypatch.context() as patch:
        patch.setattr(pivot_shards, "shard_of_part", Interrupting(error, 2))
        with pytest.raises(type(error)):
            build_parts(sources, output)
    return sorted(path.name for path in output.parent.iterdir() if path not in sources)


def parts_worked_on(
    monkeypatch: pytest.MonkeyPatch, sources: list[Path], output: Path, **options: Any
) -> list[str]:
    with monkeypatch.context() as patch:
        work = Interrupting(KeyboardInterrupt(), -1)
        patch.setattr(pivot_shards, "shard_of_part", work)
        build_parts(sources, output, **options)
    return work.parts


@pytest.mark.parametrize("error", [KeyboardInterrupt(), WorkersLostError("killed")])
def test_interrupted_build_goes_on_from_its_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path], error: BaseException
) -> None:
    pivot_build(sources, tmp_path / "dataset")
    whole = contents(tmp_path / "dataset")
    shutil.rmtree(tmp_path / "dataset")
    assert interrupt(monkeypatch, sources, tmp_path / "dataset", error) == [".dataset.shards"]
    assert parts_worked_on(monkeypatch, sources, tmp_path / "dataset") == ["c.jsonl"]
    assert contents(tmp_path / "dataset") == whole
    assert not (tmp_path / ".dataset.shards").exists()


def test_shards_of_a_changed_source_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    interrupt(monkeypatch, sources, tmp_path / "dataset", KeyboardInterrupt())
    before = sources[0].stat()
    text = sources[0].read_bytes()
    sources[0].write_bytes(text.replace(b"ask 3", b"ask X"))
    os.utime(sources[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert sources[0].stat().st_size == before.st_size
    assert parts_worked_on(monkeypatch, sources, tmp_path / "dataset") == ["a.jsonl", "c.jsonl"]
    assert b"ask X" in (tmp_path / "dataset/pivots.jsonl").read_bytes()


def test_shards_of_a_folder_whose_simulation_changed_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / name for name in "abc"]
    sources = [write_results(folder, 2) for folder in folders]
    interrupt(monkeypatch, sources, tmp_path / "dataset", KeyboardInterrupt())
    write_simulation(folders[0], "s1", "ask X")
    assert len(parts_worked_on(monkeypatch, sources, tmp_path / "dataset")) == 2
    assert b"ask X" in (tmp_path / "dataset/pivots.jsonl").read_bytes()


def test_shards_of_other_options_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    interrupt(monkeypatch, sources, tmp_path / "dataset", KeyboardInterrupt())
    assert len(parts_worked_on(monkeypatch, sources, tmp_path / "dataset", reference_output=True)) == 3
    assert b'"reference_output"' in (tmp_path / "dataset/pivots.jsonl").read_bytes()


@pytest.mark.parametrize("error", [InputError("is bad", path="a.jsonl"), ValueError("is a fault")])
def test_what_is_no_interruption_leaves_no_shards_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path], error: Exception
) -> None:
    assert interrupt(monkeypatch, sources, tmp_path / "dataset", error) == []


def test_killed_build_leaves_no_dataset_and_is_taken_up(tmp_path: Path) -> None:
    sources = [rollouts_of(tmp_path / f"{n}.jsonl", 1000 * n, 30) for n in range(40)]
    pivot_build(sources, tmp_path / "whole", name="dataset")
    output = tmp_path / "out" / "dataset"
    program = (
        "import sys\nfrom gymbal.commands.pivot_build import pivot_build\n"
        "if __name__ == '__main__':\n"
        "    pivot_build(sys.argv[2:], sys.argv[1], engine='processes', workers=1)\n"
    )
    script = tmp_path / "build.py"
    script.write_text(program)
    build = subprocess.Popen([sys.executable, str(script), str(output), *map(str, sources)])
    shards = output.with_name(".dataset.shards")
    while build.poll() is None and not (shards.exists() and len(list(shards.iterdir())) > 2):
        time.sleep(0.002)
    build.send_signal(signal.SIGKILL)
    assert build.wait() == -signal.SIGKILL
    assert not output.exists()
    pivot_build(sources, output, engine="processes", workers=1)
    assert (output / "pivots.jsonl").read_bytes() == (tmp_path / "whole/pivots.jsonl").read_bytes()
    assert not shards.exists()


def test_truncated_source_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    source = rollouts_of(tmp_path / "a.jsonl", 0, 20)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(source.read_bytes()[:-40])
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes())[:-20])
    for engine in ("in-process", "processes"):
        with pytest.raises(InputError, match=r"cut\.jsonl:20 .*(?s:.)*no line break"):
            pivot_build(cut, tmp_path / "dataset", engine=engine, workers=1)
        with pytest.raises(InputError, match=r"packed\.jsonl\.gz:\d+ .*damaged or cut short"):
            pivot_build(packed, tmp_path / "dataset", engine=engine, workers=1)
    assert {path.name for path in tmp_path.iterdir()} == {"a.jsonl", "cut.jsonl", "packed.jsonl.gz"}


FULL = OSError(errno.ENOSPC, "No space left on device")


def test_full_disk_keeps_the_dataset_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    output = tmp_path / "dataset"
    pivot_build(sources[:1], output)
    whole = contents(output)

    def fail(*_: object) -> None:
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match="dataset: cannot be written: No space left on device"):
            pivot_build(sources, output)
    assert contents(output) == whole
    assert {path.name for path in tmp_path.iterdir()} == {"a.jsonl", "b.jsonl", "c.jsonl", "dataset"}


def test_full_disk_keeps_the_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr("gymbal.pivot.build.write_descriptions", fail)
        with pytest.raises(InputError, match="No space left on device"):
            build_parts(sources, tmp_path / "dataset")
    assert not (tmp_path / "dataset").exists()
    assert parts_worked_on(monkeypatch, sources, tmp_path / "dataset") == []


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_file_that_cannot_grow_leaves_nothing(tmp_path: Path, sources: list[Path], engine: str) -> None:
    """A limit on the size of files makes writing fail half way, as a full disk does."""
    program = (
        "import resource, sys\n"
        "from gymbal.commands.pivot_build import pivot_build\n"
        "from gymbal.errors import InputError\n"
        "if __name__ == '__main__':\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "    try:\n"
        "        pivot_build(sys.argv[3:], sys.argv[1], engine=sys.argv[2], workers=1)\n"
        "    except InputError as error:\n"
        "        print(error)\n"
    )
    script = tmp_path / "build.py"
    script.write_text(program)
    output = tmp_path / "out" / "dataset"
    command = [sys.executable, str(script), str(output), engine, *map(str, sources)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "cannot be written: File too large" in said
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_target_that_cannot_be_written_is_refused(tmp_path: Path, sources: list[Path], engine: str) -> None:
    with pytest.raises(InputError, match=r"cannot be (written|made a folder|a folder): Not a directory"):
        pivot_build(sources, sources[0] / "dataset", engine=engine, workers=1)
    if os.geteuid() == 0:
        return  # root writes into every folder
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(InputError, match="dataset: cannot be written: Permission denied"):
        pivot_build(sources, locked / "dataset", engine=engine, workers=1)
    assert list(locked.iterdir()) == []
