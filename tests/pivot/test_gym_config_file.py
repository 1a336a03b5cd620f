"""A Gym config is read with what it includes: what overrides what is that of Gym's own loader."""

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from json_rows import write_rows

from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError
from gymbal.pivot.wiring import wired

REFERENCE = {"type": "resources_servers", "name": "s"}
AGENT = {"a": {"responses_api_agents": {"simple_agent": {"resources_server": REFERENCE}}}}


def written(path: Path, *blocks: dict[str, Any], includes: list[str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    merged: dict[str, Any] = {} if includes is None else {"config_paths": includes}
    for block in blocks:
        merged |= block
    path.write_text(json.dumps(merged), encoding="utf-8")  # JSON is YAML
    return path


def server(**settings: Any) -> dict[str, Any]:
    return {"s": {"resources_servers": {"swe_pivot": settings}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gym looks for included files below the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEMO_GYM_EXTRA_ROOTS", raising=False)
    return tmp_path


def test_config_overrides_what_it_includes_key_by_key(folder: Path) -> None:
    written(folder / "deep" / "base.yaml", AGENT, server(x=1, y=1, z=1))
    written(folder / "middle.yaml", server(y=2, z=2), includes=["deep/base.yaml"])
    top = written(folder / "top.yaml", server(z=3), includes=["middle.yaml"])
    assert wired(read_gym_config_file(top), "a").settings == {"x": 1, "y": 2, "z": 3}


def test_config_that_is_included_later_overrides_an_earlier_one_and_all_that_it_includes(
    folder: Path,
) -> None:
    written(folder / "one.yaml", AGENT, server(x="one", y="one"))
    written(folder / "inner.yaml", server(y="inner"))
    written(folder / "two.yaml", server(x="two"), includes=["inner.yaml"])
    top = written(folder / "top.yaml", includes=["one.yaml", "two.yaml"])
    assert wired(read_gym_config_file(top), "a").settings == {"x": "two", "y": "inner"}


def test_configs_that_include_each_other_end(folder: Path) -> None:
    written(folder / "b.yaml", AGENT, includes=["a.yaml", "b.yaml"])
    top = written(folder / "a.yaml", server(), includes=["b.yaml"])
    assert wired(read_gym_config_file(top), "a").server is not None


def test_included_configs_are_found_below_the_extra_roots_of_gym(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder / "roots" / "base.yaml", AGENT, server())
    top = written(folder / "top.yaml", includes=["base.yaml"])
    assert read_gym_config_file(top).unread == ("base.yaml",)
    monkeypatch.setenv("NEMO_GYM_EXTRA_ROOTS", str(folder / "roots"))
    assert read_gym_config_file(top).unread == ()


@pytest.mark.parametrize("block", [{"a": "${inherit_from:b}"}, {"a": {"_inherit_from": "b", **AGENT["a"]}}])
def test_blocks_that_are_made_of_others_are_not_known(folder: Path, block: dict[str, Any]) -> None:
    link = wired(read_gym_config_file(written(folder / "top.yaml", block, server())), "a")
    assert (link.server, link.unknown) == (None, "the config takes a from elsewhere")


def test_included_config_that_is_no_yaml_is_an_error(folder: Path) -> None:
    (folder / "base.yaml").write_text("a: [")
    with pytest.raises(InputError, match=r"base\.yaml"):
        read_gym_config_file(written(folder / "top.yaml", includes=["base.yaml"]))


def test_validate_follows_a_config_into_what_it_includes(folder: Path) -> None:
    pivot_build(write_rows(folder / "rollouts.jsonl", [rollout("COM")]), folder / "dataset")
    top = written(folder / "top.yaml", includes=["dataset/config.yaml"])
    report = pivot_validate(folder / "dataset" / "pivots.jsonl", config=top)
    assert (report.violations, report.rules["P020"]) == ((), report.rows)
    lost = written(folder / "lost.yaml", includes=["nowhere.yaml"])
    report = pivot_validate(folder / "dataset" / "pivots.jsonl", config=lost)
    assert (report.violations, report.rules["P018"], report.rules["P020"]) == ((), 0, 0)
    assert report.warnings[0] == (
        "P018, P019, P020, P022 were not checked: the config takes nowhere.yaml from elsewhere"
    )
