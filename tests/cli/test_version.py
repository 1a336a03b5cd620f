"""The version has one home, which both the package's metadata and the command line show."""

from __future__ import annotations

from importlib.metadata import version

from run_gymbal import gymbal

from gymbal import __version__


def test_version_is_that_of_the_installed_package() -> None:
    assert __version__ == version("gymbal")
    assert gymbal("--version").stdout == f"gymbal {__version__}\n"
