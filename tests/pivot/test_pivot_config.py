"""`pivot_config`: the Gym config of rows that exist is the one that their verifier needs."""

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from json_rows import write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_config import pivot_config
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, MissingExtraError, UsageError
from gymbal.io.decode import read_yaml

Row = dict[str, Any]


def row(agent: str | None) -> Row:
    fields: Row = {
        "responses_create_params": {"input": [{"role": "user", "content": "go"}], "tools": []},
        "expected_action": {"type": "message", "content": "done"},
    }
    if agent is not None:
        fields["agent_ref"] = {"type": "responses_api_agents", "name": agent}
    return fields


def written(folder: Path, *agents: str | None) -> Path:
    return write_rows(folder / "desk-rows.v2.jsonl", [row(agent) for agent in agents])


def datasets_of(config: Any, agent: str) -> list[dict[str, Any]]:
    found = config[agent]["responses_api_agents"]["tool_simulation_agent"]["datasets"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("agents", "name", "dataset", "agent"),
    [
        # The rows' own agent is a block of the config, whatever the other blocks are called.
        (["shop_agent", "shop_agent"], None, "shop", "shop_agent"),
        (["shop_agent"], "market", "market", "shop_agent"),
        (["shopkeeper", None], None, "shopkeeper", "shopkeeper"),
        # Rows without an agent are routed by the config; its blocks are called after the file.
        ([None], None, "desk_rows", "desk_rows_agent"),
        ([None], "market", "market", "market_agent"),
        # Gym takes these names for blocks; the other blocks are called without dots and dashes.
        (["my-agent.v1"], None, "my_agent_v1", "my-agent.v1"),
        (["a.b_agent"], None, "a_b", "a.b_agent"),
        # Words that YAML would read as something else.
        (["on"], None, "on", "on"),
        (["null"], None, "null", "null"),
        (["True"], None, "True", "True"),
    ],
)
def test_config_fits_the_rows(
    tmp_path: Path, agents: list[str | None], name: str | None, dataset: str, agent: str
) -> None:
    rows = written(tmp_path, *agents)
    result = pivot_config(rows, tmp_path / "out.yaml", name=name, threshold=0.25)
    assert (result.dataset, result.agent, result.rows) == (dataset, agent, {"train": len(agents)})
    assert result.without_agent == agents.count(None)
    config = read_yaml(tmp_path / "out.yaml")
    block = config[agent]["responses_api_agents"]["tool_simulation_agent"]
    assert block["resources_server"]["name"] == f"{dataset}_resources_server"
    assert datasets_of(config, agent)[0]["jsonl_fpath"] == str(rows)
    # Gym 0.7.0 runs an agent through an environment server.
    server = config[f"{dataset}_environment_server"]["environment_servers"]["legacy_agent"]
    assert server["agent_server"] == {"type": "responses_api_agents", "name": agent}
    report = pivot_validate(rows, config=tmp_path / "out.yaml")
    assert {problem.rule for problem in report.violations} <= {"P021"}  # the rows of this test are equal
    assert report.rules["P018"] == report.rules["P020"] == len(agents)


def test_config_of_a_built_folder_is_the_one_that_build_wrote(tmp_path: Path) -> None:
    pivot_build(write_rows(tmp_path / "rollouts.jsonl", [rollout("COM")]), tmp_path / "desk")
    pivot_config(tmp_path / "desk", tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_bytes() == (tmp_path / "desk" / "config.yaml").read_bytes()


def test_config_of_a_split_folder_has_both_sides_or_the_one_asked_for(tmp_path: Path) -> None:
    write_rows(tmp_path / "train.jsonl", [row("desk_agent"), row("desk_agent")])
    write_rows(tmp_path / "validation.jsonl", [row("desk_agent")])
    both = pivot_config(tmp_path, tmp_path / "both.yaml")
    assert both.rows == {"train": 2, "validation": 1}
    types = [each["type"] for each in datasets_of(read_yaml(tmp_path / "both.yaml"), "desk_agent")]
    assert types == ["train", "validation"]
    one = pivot_config(tmp_path, tmp_path / "one.yaml", type="validation")
    assert one.rows == {"validation": 1}


def test_config_marks_a_file_for_validation(tmp_path: Path) -> None:
    result = pivot_config(written(tmp_path, None), tmp_path / "out.yaml", type="validation")
    assert result.rows == {"validation": 1}


def test_config_replaces_a_file_only_when_asked(tmp_path: Path) -> None:
    rows = written(tmp_path, None)
    (tmp_path / "out.yaml").write_text("mine: 1\n")
    with pytest.raises(UsageError, match="exists"):
        pivot_config(rows, tmp_path / "out.yaml")
    assert (tmp_path / "out.yaml").read_text() == "mine: 1\n"
    pivot_config(rows, tmp_path / "out.yaml", overwrite=True)
    assert "desk_rows_agent" in (tmp_path / "out.yaml").read_text()


@pytest.mark.parametrize(
    ("agents", "options", "problem"),
    [
        (["a_agent", "b_agent"], {}, "2 agents, such as 'a_agent' and 'b_agent'"),
        (["not a block"], {}, "cannot be a block"),
        (["-x"], {}, "cannot be a block"),
        # Two blocks of one config cannot have one name; Gym calls the policy by the last of these.
        (["foo_resources_server"], {"name": "foo"}, "another block, 'foo_resources_server'"),
        (["foo_environment_server"], {"name": "foo"}, "another block, 'foo_environment_server'"),
        (["policy_model"], {}, "another block, 'policy_model'"),
        ([None], {"name": "no-name"}, "dataset name"),
        ([None], {"threshold": 1.5}, "threshold"),
        ([None], {"type": "test"}, "none of train, validation"),
    ],
)
def test_config_refuses_what_no_config_can_have(
    tmp_path: Path, agents: list[str | None], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        pivot_config(written(tmp_path, *agents), tmp_path / "out.yaml", **options)
    assert not (tmp_path / "out.yaml").exists()


@pytest.mark.parametrize(
    ("line", "problem"), [("", "no rows"), ("[]", ":1 "), ('{"agent_ref":1}', "agent_ref")]
)
def test_config_refuses_a_file_that_holds_no_rows(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "rows.jsonl").write_text(line)
    with pytest.raises(InputError, match=problem):
        pivot_config(tmp_path / "rows.jsonl", tmp_path / "out.yaml")


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def install_gym(folder: Path, says: str, code: int) -> Path:
    """Programs that answer like the Python and the command line of a NeMo Gym 0.7.0."""
    packages = {"python": "3.13.0", "executable": "python", "packages": {"nemo-gym": ["0.7.0", None]}}
    program(folder / "bin" / "python", f"echo '{json.dumps(packages)}'")
    program(
        folder / "bin" / "gym", f'test "$1 $2 $3" = "env validate --config" && echo "{says}"; exit {code}'
    )
    return folder / "bin" / "python"


@pytest.mark.parametrize(
    ("says", "code", "is_valid", "said"),
    [
        ("Config is valid.", 0, True, "Config is valid."),
        ("No such block.", 1, False, "gym failed: No such block."),
    ],
)
def test_config_tells_what_gym_says_to_it(
    tmp_path: Path, says: str, code: int, is_valid: bool, said: str
) -> None:
    python = install_gym(tmp_path / "venv", says, code)
    rows = written(tmp_path, None)
    result = pivot_config(rows, tmp_path / "out.yaml", check=True, gym_python=python)
    assert result.check is not None
    assert (result.check.version, result.check.is_valid, result.check.said) == ("0.7.0", is_valid, said)
    assert (tmp_path / "out.yaml").is_file()


def test_config_without_a_gym_to_check_with_writes_nothing(tmp_path: Path) -> None:
    rows = written(tmp_path, None)
    absent = tmp_path / "venv" / "bin" / "python"
    with pytest.raises(MissingExtraError, match="NeMo Gym, which was not found beside"):
        pivot_config(rows, tmp_path / "out.yaml", check=True, gym_python=absent)
    program(absent.with_name("gym"), "exit 0")
    program(absent, 'echo \'{"python":"3.13.0","executable":"python","packages":{}}\'')
    with pytest.raises(MissingExtraError, match="NeMo Gym"):
        pivot_config(rows, tmp_path / "out.yaml", check=True, gym_python=absent)
    assert not (tmp_path / "out.yaml").exists()
