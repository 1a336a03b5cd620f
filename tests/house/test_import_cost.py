"""What starting gymbal loads. Modules are counted, not milliseconds: a busy machine must not fail a test."""

import json
import subprocess
import sys

import pytest

SLOW_MODULES = {
    "asyncio",
    "multiprocessing",
    "numpy",
    "omegaconf",
    "ray",
    "rich",
    "scipy",
    "yaml",
    "zstandard",
}
"""Each costs a good part of the time that the whole of `gymbal --help` may take."""

LATE_LAYERS = {"commands", "parallel", "pivot", "probe", "readers", "sampling", "stats", "triage", "verify"}

IMPORT = "import gymbal"
RUN = """
import runpy
try:
    runpy.run_module("gymbal", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
"""
REPORT = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def loaded_by(code: str, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\n{REPORT}", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return set(json.loads(done.stderr))


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        pytest.param(IMPORT, (), id="import gymbal"),
        pytest.param(RUN, ("--version",), id="gymbal --version"),
        pytest.param(RUN, ("--help",), id="gymbal --help"),
        pytest.param(RUN, ("triage", "--help"), id="gymbal triage --help"),
        pytest.param(RUN, ("gate", "--help"), id="gymbal gate --help"),
        pytest.param(RUN, ("pivot", "--help"), id="gymbal pivot --help"),
        pytest.param(RUN, ("evidence", "--help"), id="gymbal evidence --help"),
        pytest.param(RUN, ("record", "--help"), id="gymbal record --help"),
    ],
)
def test_start_loads_nothing_slow(code: str, arguments: tuple[str, ...]) -> None:
    loaded = loaded_by(code, *arguments)
    assert "gymbal" in loaded
    assert {name.split(".")[0] for name in loaded} & SLOW_MODULES == set()
    assert {
        name for name in loaded if name.startswith("gymbal.") and name.split(".")[1] in LATE_LAYERS
    } == set()


def test_start_check_sees_a_slow_import() -> None:
    assert "numpy" in loaded_by("import numpy")
