"""Who may import whom. The table is the one in docs/architecture.md; imports inside functions and under
TYPE_CHECKING count too, since both tie two rooms together."""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).parents[2] / "src"

LIBRARY = "version errors model stats io verify parallel probe readers triage pivot sampling skills"

MAY_IMPORT = {
    "errors": "",
    "version": "",
    "model": "errors",
    "stats": "model errors",
    "io": "model errors",
    "verify": "errors",
    "parallel": "errors",
    "probe": "io model errors",
    "readers": "io model errors",
    "triage": "stats io model errors",
    "pivot": "verify stats io model errors",
    "sampling": "io model errors",
    "report": "model errors",
    "skills": "",
    "commands": LIBRARY,
    "cli": f"{LIBRARY} commands report",
    "__init__": f"{LIBRARY} commands",
    "__main__": "cli",
}

HOME_OF_PACKAGE = {
    "click": "cli/",
    "fsspec": "io/remote.py",
    "jinja2": "pivot/export/chat_template.py",
    "jsonschema": "verify/tool_schema.py",
    "msgspec": "",
    "nemo_gym": "probe/gym_rows_script.py",  # runs under Gym's own Python alone
    "numpy": "stats/",
    "omegaconf": "io/decode.py",
    "pyarrow": "pivot/export/parquet.py",
    "pydantic": "probe/gym_rows_script.py",
    "ray": "parallel.py",
    "referencing": "verify/tool_schema.py",
    "rich": "report/terminal.py",
    "tokenizers": "pivot/tokens.py",
    "yaml": "io/decode.py",
    "zstandard": "io/",
}
"""Each third-party package and the one place that names it. A package that is not here is not used."""

LATE_PACKAGES = {
    "jinja2",
    "jsonschema",
    "omegaconf",
    "pyarrow",
    "ray",
    "referencing",
    "yaml",
    "zstandard",
}
"""Imported inside the function that needs them, so that start-up does not pay for them."""

PROGRAM_MODULES = {"subprocess"}
NETWORK_MODULES = {"asyncio", "http", "socket", "ssl", "urllib.error", "urllib.request"}

MODEL_NEVER_IMPORTS = {"datetime", "io", "os", "random", "socket", "subprocess", "sys", "tempfile", "time"}
"""The model opens no file, reads neither clock nor environment, and draws nothing."""

READERS_THAT_KNOW_ALL = {"__init__", "detect"}
READERS_THAT_ALL_KNOW = {"base"}

DYNAMIC_IMPORTS = {"__import__", "import_module", "need"}


class Import(NamedTuple):
    line: int
    names: tuple[str, ...]
    """What it may bind: `from a import b` can mean the module `a.b`, so both are listed, longest first."""
    is_relative: bool


class Violation(NamedTuple):
    line: int
    problem: str


Check = Callable[[Path, str], Iterable[Violation]]
"""Takes a file, relative to the package (`io/jsonl.py`), and its source."""


def imports_of(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    yield Import(node.lineno, (alias.name,), False)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                for alias in aliases:
                    base = module or ""
                    yield Import(node.lineno, (f"{base}.{alias.name}".lstrip("."), base), level > 0)
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in DYNAMIC_IMPORTS:
                if (
                    node.args
                    and isinstance(node.args[0], ast.Constant)
                    and isinstance(node.args[0].value, str)
                ):
                    yield Import(node.lineno, (node.args[0].value,), False)


def layer_of(module: str) -> str:
    """`gymbal.io.jsonl` -> `io`; the package itself is `__init__`."""
    return [*module.split("."), "__init__"][1]


def layer_violations(file: Path, source: str) -> list[Violation]:
    here = file.parts[0].removesuffix(".py")
    allowed = {here, *MAY_IMPORT[here].split()}
    found = []
    for item in imports_of(ast.parse(source)):
        if item.is_relative:
            found.append(Violation(item.line, "relative import"))
        elif item.names[0].split(".")[0] == "gymbal" and layer_of(item.names[0]) not in allowed:
            found.append(Violation(item.line, f"{here} may not import {item.names[0]}"))
    return found


def reader_violations(file: Path, source: str) -> list[Violation]:
    """Imports of one format's reader by another's."""
    here = file.parts[1].removesuffix(".py")
    if here in READERS_THAT_KNOW_ALL:
        return []
    allowed = {here, *READERS_THAT_ALL_KNOW}
    return [
        Violation(item.line, f"reader {here} may not import {item.names[0]}")
        for item in imports_of(ast.parse(source))
        if item.names[0].startswith("gymbal.readers")
        and [*item.names[0].split("."), "__init__"][2] not in allowed
    ]


def package_violations(file: Path, source: str) -> list[Violation]:
    """Third-party packages outside their home."""
    found = []
    for item in imports_of(ast.parse(source)):
        package = item.names[0].split(".")[0]
        if item.is_relative or package == "gymbal" or package in sys.stdlib_module_names:
            continue
        home = HOME_OF_PACKAGE.get(package)
        if home is None:
            found.append(Violation(item.line, f"{package} is not one of the packages that gymbal uses"))
        elif not file.as_posix().startswith(home):
            found.append(Violation(item.line, f"{package} belongs in {home}"))
    return found


def early_imports(file: Path, source: str) -> list[Violation]:
    """Imports of slow packages that run when the module is imported: those outside functions."""
    outside = [
        node for node in ast.parse(source).body if not isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    imports = imports_of(ast.Module(body=outside, type_ignores=[]))
    return [
        Violation(item.line, f"{item.names[0]} is imported at the top")
        for item in imports
        if item.names[0].split(".")[0] in LATE_PACKAGES
    ]


def prints(file: Path, source: str) -> Iterator[Violation]:
    """Uses of the standard streams."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="print" | "input" as name)):
                yield Violation(node.lineno, f"{name}()")
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" | "stdin" as name):
                yield Violation(node.lineno, f"sys.{name}")
            case ast.ImportFrom(module="sys", names=names):
                if {alias.name for alias in names} & {"stdout", "stderr", "stdin"}:
                    yield Violation(node.lineno, "a standard stream from sys")


def report_writes(file: Path, source: str) -> Iterator[Violation]:
    """Writes to any stream, and what a console prints without capturing it."""
    tree = ast.parse(source)
    captured: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.With(items=[ast.withitem(ast.Call(func=ast.Attribute(attr="capture")))], body=body):
                captured.update(inner for statement in body for inner in ast.walk(statement))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="write" | "writelines" as name)):
                yield Violation(node.lineno, f".{name}()")
            case ast.Call(func=ast.Attribute(attr="print")) if node not in captured:
                yield Violation(node.lineno, ".print() outside of a capture")


def imports_from(modules: set[str], source: str) -> list[Violation]:
    return [
        Violation(item.line, item.names[0])
        for item in imports_of(ast.parse(source))
        if modules & {*item.names, item.names[0].split(".")[0]}
    ]


def network_imports(file: Path, source: str) -> list[Violation]:
    """Imports that can reach the network, outside the layers that ask an endpoint."""
    return [] if file.parts[0] in {"probe", "sampling"} else imports_from(NETWORK_MODULES, source)


def program_imports(file: Path, source: str) -> list[Violation]:
    """Imports that can start another program, outside the layer that asks one."""
    return [] if file.parts[0] == "probe" else imports_from(PROGRAM_MODULES, source)


def outside_imports(file: Path, source: str) -> list[Violation]:
    """Imports that the model may not have."""
    return imports_from(MODEL_NEVER_IMPORTS, source)


def source_files(below: str = "") -> list[Path]:
    """Relative to the package, sorted."""
    return sorted(p.relative_to(SRC / "gymbal") for p in (SRC / "gymbal" / below).rglob("*.py"))


def read(file: Path) -> str:
    return (SRC / "gymbal" / file).read_text(encoding="utf-8")


def found_in(files: Iterable[Path], check: Check) -> list[str]:
    """What `check` finds in the package, as `file:line: problem`."""
    return [f"{file}:{line}: {problem}" for file in files for line, problem in check(file, read(file))]


def test_layers_import_only_what_they_may() -> None:
    assert found_in(source_files(), layer_violations) == []


def test_readers_import_no_other_reader() -> None:
    assert found_in(source_files("readers"), reader_violations) == []


def test_packages_are_named_only_at_their_home() -> None:
    assert found_in(source_files(), package_violations) == []


def test_slow_packages_are_imported_late() -> None:
    assert found_in(source_files(), early_imports) == []


def test_prints_stand_only_in_the_command_line() -> None:
    assert found_in((file for file in source_files() if file.parts[0] != "cli"), prints) == []


def test_reports_are_returned_and_not_written() -> None:
    assert found_in(source_files("report"), report_writes) == []


def test_network_is_used_only_to_ask_an_endpoint() -> None:
    assert found_in(source_files(), network_imports) == []


def test_programs_are_started_only_by_the_probe() -> None:
    assert found_in(source_files(), program_imports) == []


def test_model_touches_nothing_outside() -> None:
    assert found_in(source_files("model"), outside_imports) == []


def test_modules_form_no_import_cycle() -> None:
    files = {
        ".".join(("gymbal", *f.with_suffix("").parts)).removesuffix(".__init__"): f for f in source_files()
    }
    graph = {
        module: {
            next((name for name in item.names if name in files), module)
            for item in imports_of(ast.parse(read(file)))
        }
        - {module}
        for module, file in files.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("model/run.py", "import gymbal.io"),
        ("model/run.py", "from gymbal import triage"),
        ("model/run.py", "from gymbal.io.jsonl import read_lines"),
        ("model/run.py", "from . import evidence"),
        ("stats/paired.py", "def f():\n    from gymbal.readers import detect"),
        ("triage/explain.py", "if TYPE_CHECKING:\n    from gymbal.pivot.build import build"),
        ("pivot/build.py", "importlib.import_module('gymbal.parallel')"),
        ("commands/triage.py", "from gymbal.report.document import Document"),
        ("commands/triage.py", "import gymbal.cli.main"),
        ("errors.py", "from gymbal.model import run"),
    ],
)
def test_layer_check_sees_a_planted_import(file: str, source: str) -> None:
    assert layer_violations(Path(file), source)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("readers/chat.py", "from gymbal.readers import inspect_log"),
        ("readers/chat.py", "from gymbal.readers.inspect_log import FORMAT"),
        ("readers/chat.py", "from gymbal.readers import read_run"),
        ("readers/chat.py", "def f():\n    import gymbal.readers.inspect_log"),
    ],
)
def test_reader_check_sees_a_planted_import(file: str, source: str) -> None:
    assert reader_violations(Path(file), source)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("pivot/build.py", "import numpy as np"),
        ("pivot/build.py", "from numpy.random import Generator"),
        ("pivot/build.py", "need('ray', extra='ray', feature='x')"),
        ("report/markdown.py", "def f():\n    import rich.table"),
        ("verify/compare.py", "import nemo_gym"),
        ("stats/paired.py", "from scipy import stats"),
    ],
)
def test_package_check_sees_a_planted_import(file: str, source: str) -> None:
    assert package_violations(Path(file), source)


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (prints, "print(1)"),
        (prints, "sys.stdout.write('x')"),
        (prints, "from sys import stderr"),
        (report_writes, "console.file.write('x')"),
        (report_writes, "with console.capture():\n    pass\nconsole.print('x')"),
        (early_imports, "try:\n    import omegaconf\nexcept ImportError:\n    pass"),
        (network_imports, "def f():\n    import http.client"),
        (network_imports, "from urllib import request"),
        (program_imports, "import subprocess"),
        (outside_imports, "from os import environ"),
    ],
)
def test_checks_see_a_planted_fault(check: Check, source: str) -> None:
    assert list(check(Path("model/run.py"), source))


def test_report_check_allows_what_is_captured() -> None:
    assert not list(
        report_writes(Path("report/x.py"), "with console.capture() as c:\n    console.print('x')")
    )


def test_early_import_check_allows_a_late_one() -> None:
    assert early_imports(Path("io/decode.py"), "def f():\n    import omegaconf") == []
