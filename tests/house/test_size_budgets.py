"""Small rooms: the longest file and function, the deepest package, and names that no module may have."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"

MOST_FILE_LINES = 450
MOST_BODY_LINES = 60
MOST_PACKAGE_DEPTH = 3  # gymbal/triage/rungs is three deep

ROOMS_WITHOUT_A_SUBJECT = {"common", "helper", "helpers", "misc", "util", "utils"}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the last, comments and blank lines included."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MOST_BODY_LINES:
            yield f"{node.name} at line {node.lineno}: {body_lines(node)} lines"


def source_files() -> Iterator[tuple[Path, str]]:
    """Every file of the package with its text; paths are relative to `src`."""
    for path in sorted(SRC.rglob("*.py")):
        yield path.relative_to(SRC), path.read_text(encoding="utf-8")


def test_files_are_short() -> None:
    lengths = {file.as_posix(): len(text.splitlines()) for file, text in source_files()}
    assert {file: n for file, n in lengths.items() if n > MOST_FILE_LINES} == {}


def test_functions_are_short() -> None:
    assert [f"{file}: {found}" for file, text in source_files() for found in long_functions(text)] == []


def test_packages_are_not_deep() -> None:
    packages = [file.parent for file, _ in source_files() if file.name == "__init__.py"]
    assert [p.as_posix() for p in packages if len(p.parts) > MOST_PACKAGE_DEPTH] == []


def test_modules_are_named_after_their_subject() -> None:
    names = (file.with_suffix("") for file, _ in source_files())
    assert [name.as_posix() for name in names if ROOMS_WITHOUT_A_SUBJECT & set(name.parts)] == []


@pytest.mark.parametrize(("statements", "is_long"), [(60, False), (61, True)])
def test_length_check_counts_the_body_without_its_docstring(statements: int, is_long: bool) -> None:
    source = 'def f():\n    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * statements
    assert bool(list(long_functions(source))) is is_long
