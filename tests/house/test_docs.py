"""Text files that are tracked: links lead somewhere, fragments are named right, no path of one machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FRAGMENT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(breaking|added|fixed|changed)\.md")
MOST_FRAGMENT_WORDS = 40

LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)")
CODE = re.compile(r"^ *(```|~~~).*?^ *\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)

MACHINE_PATH = re.compile(r"(?<![\w.~])/(root|home|Users|work|tmp/\w+|mnt/\w+)/[\w.]|\b[A-Z]:\\Users\\")


def tracked_files() -> list[Path]:
    """Files that git tracks; outside a work tree (an unpacked sdist) every file of the project."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8")
    if listing.returncode == 0:
        return sorted(ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file())
    folders = ("src", "tests", "docs", "examples", "benchmarks", "changelog.d")
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file())


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(path: Path) -> str | None:
    """None for a binary file."""
    data = path.read_bytes()
    return None if b"\0" in data or path.suffix in {".gz", ".zst", ".png"} else data.decode("utf-8")


def broken_links(page: Path, text: str) -> list[str]:
    """Targets on this disk that do not exist; web addresses and anchors within the page are not followed."""
    targets = [match.partition("#")[0] for match in LINK.findall(CODE.sub("", text))]
    return [
        t
        for t in targets
        if t and "://" not in t and not t.startswith("mailto:") and not (page.parent / t).exists()
    ]


def test_links_lead_to_existing_files() -> None:
    pages = [path for path in tracked_files() if path.suffix == ".md"]
    broken = {relative(page): broken_links(page, page.read_text(encoding="utf-8")) for page in pages}
    assert {page: targets for page, targets in broken.items() if targets} == {}


def machine_path_lines(text: str) -> list[int]:
    """Numbers of the lines, from 1, that hold a path of one machine."""
    return [number for number, line in enumerate(text.splitlines(), 1) if MACHINE_PATH.search(line)]


def test_link_check_sees_a_broken_link() -> None:
    text = "[a](nonesuch.md#x) [b](README.md) [c](https://example.org) [d](#here) `[e](gone.md)`"
    assert broken_links(ROOT / "README.md", text) == ["nonesuch.md"]


def test_changelog_fragments_are_named_and_short() -> None:
    fragments = [p for p in sorted((ROOT / "changelog.d").iterdir()) if p.name != "README.md"]
    assert [p.name for p in fragments if not FRAGMENT.fullmatch(p.name)] == []
    words = {p.name: len(p.read_text(encoding="utf-8").split()) for p in fragments}
    assert {name: n for name, n in words.items() if not 0 < n <= MOST_FRAGMENT_WORDS} == {}


def test_files_name_no_path_of_one_machine() -> None:
    texts = {path: text_of(path) for path in tracked_files() if path != Path(__file__)}
    found = {relative(path): machine_path_lines(text) for path, text in texts.items() if text}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ("open('/home/ann/data')", True),
        ("/root/.cache", True),
        ("cd /tmp/scratch/x", True),
        ("https://example.org/home/x", False),
        ("src/root/x", False),
        ("~/work/x", False),
    ],
)
def test_path_check_sees_machine_paths_alone(text: str, is_seen: bool) -> None:
    assert bool(machine_path_lines(text)) is is_seen
