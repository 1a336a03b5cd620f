"""`docs/evidence.md` names what is recorded: every variable, and every part of the provenance file."""

from __future__ import annotations

from pathlib import Path

from gymbal.probe.machine import KEPT_PREFIXES, KEPT_VARIABLES

PAGE = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")


def test_page_lists_every_recorded_variable() -> None:
    assert [name for name in (*KEPT_VARIABLES, *KEPT_PREFIXES) if f"`{name}`" not in PAGE] == []


def test_page_names_every_part_of_the_provenance_file() -> None:
    parts = (
        "command folder started ended exit_code signal gym working_folder config config_environment "
        "environment endpoint container gpus packages dataset tasks missing"
    )
    assert [part for part in parts.split() if f"`{part}`" not in PAGE] == []
