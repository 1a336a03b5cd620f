"""Folders that appear whole or not at all."""

from pathlib import Path

import pytest

from gymbal.errors import InputError, UsageError
from gymbal.io.folder import atomic_folder

NAMES = ("a.txt", "b.txt")


def fill(path: Path, text: str, *, overwrite: bool = False) -> None:
    with atomic_folder(path, names=NAMES, overwrite=overwrite) as folder:
        for name in NAMES:
            (folder / name).write_text(text)


def texts(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in path.iterdir()}


def test_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder"
    with atomic_folder(target, names=NAMES) as folder:
        (folder / "a.txt").write_text("1")
        assert not target.exists()
    assert texts(target) == {"a.txt": "1"}
    assert [path.name for path in target.parent.iterdir()] == ["folder"]


def test_folder_of_our_own_files_is_replaced(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "1")
    fill(tmp_path / "folder", "2")
    assert texts(tmp_path / "folder") == {"a.txt": "2", "b.txt": "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def copy_into(path: Path, source: Path) -> None:
    """Write one file, then fail when `source` is not there."""
    with atomic_folder(path, names=NAMES) as folder:
        (folder / "a.txt").write_text("2")
        (folder / "b.txt").write_text(source.read_text())


def test_folder_is_untouched_when_the_block_fails(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "1")
    with pytest.raises(InputError, match="cannot be written"):
        copy_into(tmp_path / "folder", tmp_path / "absent")
    assert texts(tmp_path / "folder") == {"a.txt": "1", "b.txt": "1"}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("present", [("c.txt",), ("a.txt",), ("a.txt", "b.txt", "c.txt")])
def test_folder_with_other_files_needs_leave(tmp_path: Path, present: tuple[str, ...]) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    for name in present:
        (target / name).write_text("0")
    with pytest.raises(UsageError, match="holds other files"):
        fill(target, "1")
    assert texts(target) == dict.fromkeys(present, "0")
    fill(target, "1", overwrite=True)
    assert texts(target) == dict.fromkeys(present, "0") | dict.fromkeys(NAMES, "1")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def names_after_overwriting(target: Path, present: tuple[str, ...]) -> set[str]:
    """What is in a folder with these files once NAMES are written over it, by a writer of c.txt and d.txt."""
    target.mkdir()
    for name in present:
        (target / name).write_text("0")
    with atomic_folder(target, names=NAMES, overwrite=True, earlier=[("c.txt", "d.txt")]) as folder:
        for name in NAMES:
            (folder / name).write_text("1")
    return set(texts(target))


def test_overwriting_removes_the_files_of_an_earlier_layout(tmp_path: Path) -> None:
    found = names_after_overwriting(tmp_path / "folder", ("c.txt", "d.txt", "mine.txt"))
    assert found == {*NAMES, "mine.txt"}


def test_overwriting_leaves_a_part_of_an_earlier_layout_alone(tmp_path: Path) -> None:
    found = names_after_overwriting(tmp_path / "folder", ("c.txt", "mine.txt"))
    assert found == {*NAMES, "c.txt", "mine.txt"}


def test_folder_that_is_empty_is_taken(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    fill(tmp_path / "folder", "1")
    assert set(texts(tmp_path / "folder")) == set(NAMES)


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("mine")
    with pytest.raises(InputError, match="cannot be a folder"):
        fill(tmp_path / "folder", "1", overwrite=True)
    assert (tmp_path / "folder").read_text() == "mine"


def test_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "1")
    (tmp_path / "link").symlink_to("folder")
    fill(tmp_path / "link", "2")
    assert (tmp_path / "link").is_symlink()
    assert texts(tmp_path / "folder") == {"a.txt": "2", "b.txt": "2"}


def test_bytecode_beside_our_own_files_is_replaced_with_them(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "1")
    (tmp_path / "folder" / "__pycache__").mkdir()
    (tmp_path / "folder" / "__pycache__" / "a.cpython-311.pyc").touch()
    fill(tmp_path / "folder", "2")
    assert texts(tmp_path / "folder") == {"a.txt": "2", "b.txt": "2"}
