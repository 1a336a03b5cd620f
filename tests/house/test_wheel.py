"""What a user gets by `pip install gymbal`: every file of the package, and the licence."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build(target: str, folder: Path) -> Path:
    """Build with the installed hatchling, which needs neither pip nor a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build("wheel", tmp_path_factory.mktemp("wheel")))


def package_files() -> set[str]:
    files = (p for p in (ROOT / "src").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(ROOT / "src").as_posix() for p in files}


def test_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == package_files()
    assert "gymbal/py.typed" in packed


def test_wheel_holds_both_skills_whole(wheel: zipfile.ZipFile) -> None:
    skills = [name for name in wheel.namelist() if name.endswith("/SKILL.md")]
    assert len(skills) == 2


def test_wheel_holds_the_licence(wheel: zipfile.ZipFile) -> None:
    (licence,) = [name for name in wheel.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert wheel.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_wheel_metadata_names_command_python_and_extras(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    (entries,) = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
    fields = HeaderParser().parsestr(wheel.read(metadata).decode())
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["License-Expression"] == "Apache-2.0"
    assert "zstd" in fields.get_all("Provides-Extra", [])
    assert "gymbal = gymbal.cli.main:main" in wheel.read(entries).decode()


def test_sdist_can_run_its_own_tests(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}
    assert {"pyproject.toml", "Makefile", "README.md", "LICENSE", "CONTRIBUTING.md"} <= names
    assert {f"src/{name}" for name in package_files()} <= names
    assert "tests/house/test_wheel.py" in names
