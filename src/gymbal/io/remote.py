"""Files and folders behind a URL, by fsspec: `s3://bucket/key`, `gs://...`, `https://...`, `memory://...`.

A URL is a path here, so that whatever reads and writes local files does the same with it. Sources are
streamed. What is written appears whole or not at all: it is made in a local folder, uploaded under another
name, and moved.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PosixPath
from typing import Any, TypeVar

from gymbal.errors import InputError, MissingExtraError, UsageError, need, unwritable
from gymbal.io.layout import stale_names

SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://")
LOCAL = "file"

_NO_HOST = "\0"
"""Segment of a path whose URL names no host, as `hdfs:///user` does: a path has no empty segments."""

_REMOTE_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("google.api_core.exceptions", "GoogleAPIError"),
    ("azure.core.exceptions", "AzureError"),
)
"""What drivers of fsspec raise beside OSError, where they are loaded."""

Result = TypeVar("Result")


def path_of(place: str | Path) -> Path:
    """The path of a file or folder: a URL becomes a `RemotePath`, or a local path where it is one.

    Raises UsageError for a URL of a kind that fsspec does not know, MissingExtraError where fsspec or what
    it needs for the URL is not installed.
    """
    if isinstance(place, Path):
        return place
    found = SCHEME.match(place)
    if found is None:
        return Path(place)
    rest = place[found.end() :]
    if found["scheme"] == LOCAL:
        return Path(rest)
    _check_scheme(found["scheme"], place)
    return RemotePath(f"{found[0]}{_NO_HOST}{rest}" if rest.startswith("/") else place)


def is_remote(path: Path) -> bool:
    """Whether `path` is a URL."""
    return isinstance(path, RemotePath)


class RemotePath(PosixPath):
    """A URL as a path, with what gymbal asks of one. Its parts are the scheme and the segments."""

    def __str__(self) -> str:
        """The URL."""
        scheme, *segments = self.parts
        if segments[:1] == [_NO_HOST]:
            return f"{scheme}///{'/'.join(segments[1:])}"
        return f"{scheme}//{'/'.join(segments)}"

    def __fspath__(self) -> str:
        return str(self)

    def as_posix(self) -> str:
        """The URL."""
        return str(self)

    def is_absolute(self) -> bool:
        """Always."""
        return True

    def resolve(self, strict: bool = False) -> RemotePath:
        """The same path."""
        return self

    def open(self, mode: str = "r", buffering: int = -1, *_: Any, **__: Any) -> Any:
        """Open the file in a binary mode. Raises OSError."""
        fs, name = _filesystem(self)
        stream = _translated(lambda: fs.open(name, mode))
        if mode != "rb":
            return stream
        raw = _Stream(stream)
        return raw if buffering == 0 else io.BufferedReader(raw, max(buffering, io.DEFAULT_BUFFER_SIZE))

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is something. Raises OSError where that cannot be told."""
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is a file. Raises OSError where that cannot be told."""
        return self.exists() and stat.S_ISREG(self.stat().st_mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is a folder. Raises OSError where that cannot be told."""
        return self.exists() and stat.S_ISDIR(self.stat().st_mode)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Size and kind, and the time of the last change as far as the store tells it. Raises OSError."""
        fs, name = _filesystem(self)
        info = _translated(lambda: fs.info(name))
        kind = stat.S_IFDIR if info.get("type") == "directory" else stat.S_IFREG
        changed = info.get("LastModified") or info.get("mtime") or info.get("created") or 0
        seconds = changed.timestamp() if hasattr(changed, "timestamp") else 0
        return os.stat_result((kind, 0, 0, 1, 0, 0, int(info.get("size") or 0), seconds, seconds, seconds))

    def glob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override]  # as iterdir
        """Yield what is in the folder by names that match `pattern`; nothing without the folder."""
        try:
            found = list(self.iterdir())
        except FileNotFoundError:
            return
        yield from (path for path in found if fnmatchcase(path.name, pattern))

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override]  # of a narrower type
        """Yield what is in the folder. Raises OSError."""
        fs, name = _filesystem(self)
        for found in _translated(lambda: fs.ls(name, detail=False)):
            yield self / str(found).rstrip("/").rpartition("/")[2]


class _Stream(io.RawIOBase):
    """A file of fsspec whose every failure is an OSError."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def readinto(self, buffer: Any) -> int:
        target = memoryview(buffer).cast("B")
        data = _translated(lambda: self._stream.read(len(target)))
        target[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(_translated(lambda: self._stream.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def remote_folder(
    path: RemotePath, *, names: Collection[str], layouts: Collection[Collection[str]], overwrite: bool
) -> Iterator[Path]:
    """Yield a local folder whose files are uploaded to `path` when the block ends without an error.

    Every file appears whole or not at all; a store has no folders that could appear at once. Raises
    UsageError where `path` holds other files than one of the `layouts`, unless `overwrite`; InputError when
    it cannot be written.
    """
    fs, name = _filesystem(path)
    beside = f"{name.rstrip('/')}.{os.getpid()}.partial"
    try:
        present = _present(fs, name)
        if present and not overwrite and not any(present == set(layout) for layout in layouts):
            other = min(present - set(names), default=min(present))
            raise UsageError(f"{path} holds other files, such as {other}", remedy="Choose a new folder.")
        with local_folder() as local:
            yield local
            _translated(lambda: _upload(fs, local, beside, name, stale_names(present, names, layouts)))
    except OSError as error:
        raise unwritable(str(path), error) from error


@contextmanager
def remote_file(path: RemotePath) -> Iterator[Path]:
    """Yield a local file that is uploaded to `path` when the block ends without an error.

    Raises InputError when it cannot be written, or is a folder.
    """
    fs, name = _filesystem(path)
    try:
        if path.is_dir():
            # Moved there, the file would get into the folder under its name of a part.
            raise InputError("cannot be written: is a folder, not a file", path=str(path))
        with local_folder() as folder:
            local = folder / path.name
            yield local
            _translated(lambda: _move_up(fs, local, f"{name}.{os.getpid()}.partial", name))
    except OSError as error:
        raise unwritable(str(path), error) from error


@contextmanager
def local_folder() -> Iterator[Path]:
    """Yield a folder of this machine that is removed when the block ends."""
    import tempfile  # here, since every command would pay for it

    with tempfile.TemporaryDirectory(prefix="gymbal-") as folder:
        yield Path(folder)


def _present(fs: Any, folder: str) -> set[str]:
    """Names in a folder; none where there is no such folder."""
    try:
        found = _translated(lambda: fs.ls(folder, detail=False))
    except FileNotFoundError:
        return set()
    return {str(each).rstrip("/").rpartition("/")[2] for each in found}


def _upload(fs: Any, local: Path, beside: str, folder: str, stale: set[str]) -> None:
    """Upload all files under other names, then move each to its own; drop those that are `stale`."""
    files = sorted(local.iterdir())
    try:
        fs.makedirs(folder, exist_ok=True)
        fs.makedirs(beside, exist_ok=True)
        for file in files:
            fs.put_file(str(file), f"{beside}/{file.name}")
        for file in files:
            fs.mv(f"{beside}/{file.name}", f"{folder}/{file.name}")
        for name in stale:
            fs.rm(f"{folder}/{name}")
    finally:
        if fs.exists(beside):
            fs.rm(beside, recursive=True)


def _move_up(fs: Any, local: Path, beside: str, name: str) -> None:
    try:
        fs.put_file(str(local), beside)
        fs.mv(beside, name)
    finally:
        if fs.exists(beside):
            fs.rm(beside)


def _filesystem(path: RemotePath) -> tuple[Any, str]:
    fsspec = need("fsspec", extra="remote", feature=f"opening {path}")
    found: tuple[Any, str] = _translated(lambda: fsspec.core.url_to_fs(str(path)))
    return found


def _check_scheme(scheme: str, url: str) -> None:
    fsspec = need("fsspec", extra="remote", feature=f"opening {url}")
    try:
        fsspec.get_filesystem_class(scheme)
    except ValueError as error:
        raise UsageError(f"there is nothing to open {scheme}:// with: {error}") from error
    except ImportError as error:
        raise MissingExtraError(f"opening {url} needs another package: {error}") from error


def _translated(act: Callable[[], Result]) -> Result:
    """What `act` returns; an error of a driver as an OSError."""
    loaded = [getattr(sys.modules.get(module), name, None) for module, name in _REMOTE_ERRORS]
    try:
        return act()
    except tuple(kind for kind in loaded if kind is not None) as error:
        raise OSError(str(error)) from error
