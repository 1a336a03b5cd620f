"""The Gym command: its flags are config keys, and it is found behind whatever wraps it."""

from __future__ import annotations

import shlex

import pytest

from gymbal.model.evidence import Role
from gymbal.readers.run.command import command_facts, find_gym_command, find_in_text, plain_value


@pytest.mark.parametrize(
    "text",
    [
        "gym eval run --output o.jsonl --num-repeats 4",
        "uv run --extra x gym eval run --output=o.jsonl --num-repeats=4",
        "srun -o slurm.log env A=b /opt/venv/bin/gym eval run +output_jsonl_fpath=o.jsonl +num_repeats=4",
        "gymbal record -- gym eval run -o o.jsonl --num-repeats 4",
        "nemo_gym_e2e_collect_rollouts +output_jsonl_fpath=o.jsonl ++num_repeats=4",
        "ng_collect_rollouts +output_jsonl_fpath=o.jsonl ++num_repeats=4",
    ],
)
def test_command_is_found_behind_what_wraps_it(text: str) -> None:
    for command in (find_gym_command(shlex.split(text)), find_in_text(f"+ {text} 2>&1 | tee log --limit 3")):
        assert command is not None
        assert (command.output, command.settings["num_repeats"]) == ("o.jsonl", 4)
        assert "limit" not in command.settings


@pytest.mark.parametrize(
    "text", ["python train.py --output x", "gym eval health-check runs", "mygym eval run"]
)
def test_command_of_something_else_is_none(text: str) -> None:
    assert find_gym_command(shlex.split(text)) is None
    assert find_in_text(text) is None


def test_command_sets_config_keys_by_flags_and_overrides() -> None:
    command = find_gym_command(
        shlex.split(
            "gym eval run --benchmark gpqa --config a.yaml +config_paths=[b.yaml,c.yaml] --resume --no-serve "
            "--temperature 0.60 ++policy_model.responses_api_models.vllm_model.uses_reasoning_parser=true "
            "'++stop=[a,b]' --model-api-key sk-FAKEsecret1"
        )
    )
    assert command is not None
    assert command.selectors == (
        ("--benchmark", "gpqa"),
        ("--config", "a.yaml"),
        ("--config", "b.yaml"),
        ("--config", "c.yaml"),
    )
    assert (command.is_resume, command.is_serving) == (True, False)
    assert command.settings["stop"] == ["a", "b"]
    facts = {fact.name: fact for fact in command_facts(command, "launch.log:1")}
    assert (facts["temperature"].value, facts["temperature"].key) == (0.6, "--temperature")
    parser = facts["config.policy_model.responses_api_models.vllm_model.uses_reasoning_parser"]
    assert (parser.value, parser.role) == (True, Role.SERVING)
    assert "FAKEsecret" not in str(facts)


def test_command_names_the_files_that_its_components_can_be_in() -> None:
    words = "gym eval run --benchmark a/b --resources-server mcqa --model-type vllm_model --config x.yaml"
    command = find_gym_command(words.split())
    assert command is not None
    assert command.configs == (
        ("benchmarks/a/b/config.yaml", "benchmarks/a/b.yaml"),
        ("resources_servers/mcqa/configs/mcqa.yaml",),
        ("responses_api_models/vllm_model/configs/vllm_model.yaml",),
        ("x.yaml",),
    )


def test_command_keeps_its_overrides_as_hydra_takes_them() -> None:
    command = find_gym_command(shlex.split("gym eval run --limit 3 --resume ++a.b=c ~d=e"))
    assert command is not None
    assert command.overrides == ("+limit=3", "+resume_from_cache=true", "++a.b=c", "~d=e")


def test_command_with_a_shell_variable_does_not_know_its_value() -> None:
    command = find_in_text("gym eval run --model $MODEL --limit 5 --output x")
    assert command is not None
    facts = {fact.name: fact for fact in command_facts(command, "job.sh:1")}
    assert not facts["policy_model_name"].is_known
    assert facts["config.limit"].value == 5


def test_command_goes_on_behind_an_empty_value() -> None:
    command = find_in_text("gym eval run --prompt-config '' --limit 5")
    assert command is not None
    assert command.settings == {"prompt_config": "", "limit": 5}


def test_command_whose_quotes_do_not_match_is_none() -> None:
    assert find_in_text("gym eval run --output 'x") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.6", 0.6),
        ("1e-3", 0.001),
        ("True", True),
        ("null", None),
        ("v1", "v1"),
        ("'x'", "x"),
    ],
)
def test_plain_value_is_read_like_yaml(text: str, value: object) -> None:
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)
