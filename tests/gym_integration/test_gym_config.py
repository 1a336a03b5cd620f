"""`gym env validate` takes the config that `pivot config` writes for rows, and refuses a broken one."""

from __future__ import annotations

import json
from pathlib import Path

from gym_prefork import GymPrefork

from gymbal.commands.pivot_config import pivot_config
from gymbal.probe.gym_validate import GymCommand, validate_config

ROW = {
    "responses_create_params": {"input": [{"role": "user", "content": "go"}], "tools": []},
    "expected_action": {"type": "message", "content": "done"},
    "agent_ref": {"type": "responses_api_agents", "name": "desk_agent"},
}


def test_gym_takes_the_config_of_existing_rows(gym_venv: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    python = gym_venv / "bin" / "python"
    result = pivot_config(tmp_path / "rows.jsonl", tmp_path / "gym.yaml", check=True, gym_python=python)
    assert result.check is not None
    assert result.check.is_valid, result.check.said
    assert "valid" in result.check.said


def test_gym_refuses_a_config_with_an_agent_of_no_server(gym_python: GymPrefork, tmp_path: Path) -> None:
    gym_python.make_environment(tmp_path / "environment")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    pivot_config(tmp_path / "rows.jsonl", tmp_path / "gym.yaml")
    text = (tmp_path / "gym.yaml").read_text()
    broken = tmp_path / "broken.yaml"
    broken.write_text(text.replace("name: desk_resources_server", "name: nonesuch"))
    answer = validate_config(GymCommand(tmp_path / "environment" / "bin" / "gym", "0.7.0"), broken)
    assert answer.text is None
    assert answer.problem
