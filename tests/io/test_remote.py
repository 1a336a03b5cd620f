"""Sources and datasets behind a URL, in fsspec's own memory store."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import pytest
from folders import contents

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_config import pivot_config
from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.commands.pivot_stats import pivot_stats
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, UsageError
from gymbal.io.jsonl import read_lines
from gymbal.io.remote import RemotePath, path_of
from gymbal.io.write import write_bytes
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.split import split_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def store() -> Iterator[Any]:
    """The memory store, with the example in it, plain and compressed."""
    found = fsspec.filesystem("memory")
    found.pipe("/in/tool_use.rollouts.jsonl", EXAMPLE.read_bytes())
    found.pipe("/in/tool_use.rollouts.jsonl.gz", gzip.compress(EXAMPLE.read_bytes()))
    yield found
    for name in ("/in", "/out"):
        if found.exists(name):
            found.rm(name, recursive=True)


def names_in(store: Any, folder: str) -> set[str]:
    return {name.rpartition("/")[2] for name in store.ls(folder, detail=False)}


def test_paths_keep_their_url() -> None:
    path = RemotePath("s3://bucket/a/b.jsonl")
    assert str(path) == path.as_posix() == os.fspath(path) == "s3://bucket/a/b.jsonl"
    assert (path.name, path.suffix, str(path.parent)) == ("b.jsonl", ".jsonl", "s3://bucket/a")
    assert str(path.with_name("c") / "d") == "s3://bucket/a/c/d"
    assert path_of("a/b") == Path("a/b")
    assert path_of("file:///a/b") == Path("/a/b")
    assert not isinstance(path_of("file:///a/b"), RemotePath)


def test_paths_keep_that_their_url_names_no_host() -> None:
    path = path_of("local:///data/a/b.jsonl")
    assert str(path) == "local:///data/a/b.jsonl"
    assert str(path.with_name("c") / "d") == "local:///data/a/c/d"
    assert (str(path.parent), str(path.parent.parent.parent)) == ("local:///data/a", "local:///")
    assert pickle.loads(pickle.dumps(path)) == path
    assert path_of(str(path)) == path


def test_dataset_at_a_url_without_a_host_is_that_of_the_file(tmp_path: Path) -> None:
    for engine in ("in-process", "processes"):
        there = f"local://{tmp_path}/{engine}"
        pivot_build(f"local://{EXAMPLE}", there, name="x", engine=engine)
        pivot_build(EXAMPLE, tmp_path / "here", name="x")
        assert contents(tmp_path / engine)["pivots.jsonl"] == contents(tmp_path / "here")["pivots.jsonl"]
        assert pivot_validate(there).config == f"{there}/config.yaml"


def test_lines_are_streamed_from_a_web_server(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")  # fsspec reads the web with it
    (tmp_path / "rollouts.jsonl").write_bytes(EXAMPLE.read_bytes())
    handler = partial(SilentHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        metrics = pivot_build(f"{url}/rollouts.jsonl", tmp_path / "pivots")
        with pytest.raises(InputError, match="cannot be read"):
            pivot_build(f"{url}/absent.jsonl", tmp_path / "absent", source_format="gym_rollouts")
        server.shutdown()
    assert metrics == pivot_build(tmp_path / "rollouts.jsonl", tmp_path / "pivots")
    assert not (tmp_path / "absent").exists()


def test_url_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to open nowhere://"):
        path_of("nowhere://a/b")


@pytest.mark.parametrize("name", ["tool_use.rollouts.jsonl", "tool_use.rollouts.jsonl.gz"])
def test_lines_are_streamed_from_a_url(store: Any, name: str) -> None:
    assert list(read_lines(path_of(f"memory://in/{name}"))) == list(read_lines(EXAMPLE))


def test_missing_url_is_an_input_error(store: Any) -> None:
    with pytest.raises(InputError, match="memory://in/missing"):
        pivot_inspect("memory://in/missing.jsonl")


def test_dataset_of_a_url_is_that_of_the_file(store: Any, tmp_path: Path) -> None:
    local = pivot_build(EXAMPLE, tmp_path / "local", name="x")
    remote = pivot_build("memory://in/tool_use.rollouts.jsonl", "memory://out/pivots", name="x")
    assert remote == local
    expected = contents(tmp_path / "local")
    # The config says where the rows lie, and the list of skipped candidates where their source does.
    expected["config.yaml"] = expected["config.yaml"].replace(
        str(tmp_path / "local").encode(), b"memory://out/pivots"
    )
    expected["skipped.jsonl"] = expected["skipped.jsonl"].replace(
        str(EXAMPLE).encode(), b"memory://in/tool_use.rollouts.jsonl"
    )
    found = {name: store.cat(f"/out/pivots/{name}") for name in names_in(store, "/out/pivots")}
    assert found == expected
    assert names_in(store, "/out") == {"pivots"}


def test_dataset_at_a_url_is_validated_audited_and_counted(store: Any, tmp_path: Path) -> None:
    source, dataset = "memory://in/tool_use.rollouts.jsonl.gz", "memory://out/pivots"
    metrics = pivot_build(source, dataset)
    report = pivot_validate(dataset)
    assert (report.rows, report.violations, report.config) == (metrics.kept, (), f"{dataset}/config.yaml")
    assert pivot_audit(dataset, source).problem_count == 0
    assert getattr(pivot_stats(dataset), "rows") == metrics.kept  # noqa: B009  # of one of two types
    result = pivot_config(dataset, "memory://out/again.yaml")
    assert result.rows == {"train": metrics.kept}
    assert b"memory://out/pivots/pivots.jsonl" in store.cat("/out/again.yaml")


def test_dataset_at_a_url_is_replaced_only_where_it_is_one(store: Any) -> None:
    source, dataset = "memory://in/tool_use.rollouts.jsonl", "memory://out/pivots"
    pivot_build(source, dataset)
    pivot_build(source, dataset)
    store.pipe("/out/pivots/notes.txt", b"mine")
    with pytest.raises(UsageError, match=r"holds other files, such as notes\.txt"):
        pivot_build(source, dataset)
    pivot_build(source, dataset, overwrite=True)
    assert store.cat("/out/pivots/notes.txt") == b"mine"
    halves = split_of({"train": 0.5, "validation": 0.5})
    pivot_build(source, dataset, overwrite=True, options=BuildOptions(split=halves))
    files = {"train.jsonl", "validation.jsonl", "skipped.jsonl", "metrics.json", "config.yaml", "README.md"}
    assert names_in(store, "/out/pivots") == {*files, "notes.txt"}


def test_failed_build_leaves_nothing_at_a_url(store: Any) -> None:
    store.pipe("/in/torn.jsonl", EXAMPLE.read_bytes() + b'{"responses_create_params": ')
    with pytest.raises(InputError, match=r"memory://in/torn\.jsonl:17"):
        pivot_build("memory://in/torn.jsonl", "memory://out/pivots", source_format="gym_rollouts")
    assert not store.exists("/out/pivots")


def test_failed_upload_leaves_nothing_half_written(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(store)
    put = kind.put_file
    sent: list[str] = []

    def put_some(self: Any, local: str, name: str, **options: Any) -> None:
        if len(sent) == 2:
            raise OSError("the store is full")
        sent.append(name)
        put(self, local, name, **options)

    monkeypatch.setattr(kind, "put_file", put_some)
    with pytest.raises(InputError, match="memory://out/pivots: cannot be written: the store is full"):
        pivot_build("memory://in/tool_use.rollouts.jsonl", "memory://out/pivots")
    assert not [name for name in store.find("/out") if store.isfile(name)]


def test_file_at_a_url_appears_whole(store: Any) -> None:
    write_bytes(path_of("memory://out/x.json"), json.dumps({"a": 1}).encode())
    assert names_in(store, "/out") == {"x.json"}


@pytest.mark.parametrize("url", ["memory://out/d", "local://{}/d"])
def test_folder_at_a_url_is_not_written_as_a_file(store: Any, tmp_path: Path, url: str) -> None:
    url = url.format(tmp_path)
    pivot_build(EXAMPLE, url)
    before = sorted(path.name for path in path_of(url).iterdir())
    with pytest.raises(InputError, match="is a folder, not a file"):
        write_bytes(path_of(url), b"")
    assert sorted(path.name for path in path_of(url).iterdir()) == before


def test_shards_are_joined_at_a_url(store: Any, tmp_path: Path) -> None:
    local = pivot_build(EXAMPLE, tmp_path / "local", name="x")
    remote = pivot_build(EXAMPLE, "memory://out/pivots", name="x", engine="processes", workers=2)
    assert remote == local
    assert store.cat("/out/pivots/pivots.jsonl") == (tmp_path / "local" / "pivots.jsonl").read_bytes()


def test_simulations_in_a_folder_at_a_url_are_found(store: Any) -> None:
    folder = Path(__file__).parents[1] / "readers" / "formats" / "tau2_bench" / "split"
    for path in folder.rglob("*.json"):
        store.pipe(f"/in/split/{path.relative_to(folder)}", path.read_bytes())
    here = pivot_inspect(folder / "results.json").left
    there = pivot_inspect("memory://in/split/results.json").left
    assert there.model_calls == here.model_calls > 0
