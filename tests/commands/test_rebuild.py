"""Rebuilding a config with an installed Gym: here a stand-in that reads YAML as Gym's command line does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gymbal.commands.rebuild import rebuild_facts
from gymbal.errors import UsageError
from gymbal.model.evidence import Fact, Role, Strength

STAND_IN = '''#!{python}
"""Takes `env resolve --config PATH ... ++key=value ...`; fails like Gym 0.7.0 for what is not set."""
import os, re, sys
from omegaconf import OmegaConf
from omegaconf.errors import InterpolationResolutionError
words = sys.argv[3:]
open("asked", "a").write(" ".join(words) + "\\n")
configs = [OmegaConf.load(words[i + 1]) for i, word in enumerate(words) if word == "--config"]
overrides = [word.lstrip("+") for word in words if word.startswith("+")]
merged = OmegaConf.merge(*configs, OmegaConf.from_dotlist(overrides))
merged.python_version = "3.13.0"
try:
    resolved = OmegaConf.to_container(merged, resolve=True)
except InterpolationResolutionError as error:
    key = re.search("Interpolation key '([^']+)' not found", str(error))
    text = f"Config value 'x' references '{{key[1]}}', which is not set after merging." if key else str(error)
    print("Error: " + text)
    sys.exit(1)
def hide(node):
    if not isinstance(node, dict):
        return node
    return {{k: "****" if "token" in k or "key" in k else hide(v) for k, v in node.items()}}
print("Note: two lines before the config")
print(OmegaConf.to_yaml(hide(resolved)))
'''

CONFIG = """quiz:
  resources_servers:
    quiz:
      grading_mode: strict
      judge_model: ${oc.env:JUDGE_MODEL}
      region: ${oc.env:REGION,eu}
policy_model:
  responses_api_models:
    vllm_model:
      base_url: ${policy_base_url}
      api_key: ${policy_api_key}
      model: ${policy_model_name}
      return_token_id_information: false
max_output_tokens: 512
session_key: ${late_key}
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Python beside a stand-in `gym`, in a folder with a config; the folder is the working one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    gym = folder / "gym"
    gym.write_text(STAND_IN.format(python=sys.executable))
    gym.chmod(0o755)
    (tmp_path / "quiz.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return folder / "python"


def by_name(facts: tuple[Fact, ...]) -> dict[str, Fact]:
    return {fact.name: fact for fact in facts}


def test_rebuilt_facts_say_that_they_are(python: Path) -> None:
    facts = by_name(rebuild_facts(["quiz.yaml"], ["num_repeats=4"], gym_python=python))
    mode = facts["config.quiz.resources_servers.quiz.grading_mode"]
    assert (mode.value, mode.strength) == ("strict", Strength.REBUILT)
    assert mode.file is not None
    assert mode.file.startswith("gym env resolve")
    assert (facts["num_repeats"].value, facts["num_repeats"].role) == (4, Role.REPEATS)
    assert facts["policy_model_type"].strength is Strength.REBUILT
    assert facts["config.quiz.resources_servers.quiz.region"].value == "eu"


def test_rebuilding_leaves_unknown_what_nobody_set(python: Path) -> None:
    facts = by_name(rebuild_facts(["quiz.yaml"], gym_python=python))
    judge = facts["config.quiz.resources_servers.quiz.judge_model"]
    assert (judge.value, judge.strength) == (None, Strength.MISSING)
    assert "JUDGE_MODEL" in str(judge.remedy)
    model = facts["config.policy_model.responses_api_models.vllm_model.model"]
    assert "policy_model_name" in str(model.remedy)
    assert "gymbal-unset" not in str(facts)


def test_rebuilding_takes_values_from_overrides_and_environment(python: Path) -> None:
    facts = by_name(
        rebuild_facts(
            ["quiz.yaml"],
            ["policy_model_name=quiz-8b"],
            gym_python=python,
            environment={"JUDGE_MODEL": "judge-x", "REGION": "us"},
        )
    )
    assert facts["config.policy_model.responses_api_models.vllm_model.model"].value == "quiz-8b"
    assert facts["config.quiz.resources_servers.quiz.judge_model"].value == "judge-x"
    assert facts["config.quiz.resources_servers.quiz.region"].value == "us"


def test_rebuilding_reads_what_gym_masks_without_need(python: Path) -> None:
    facts = by_name(rebuild_facts(["quiz.yaml"], ["max_output_tokens=1024"], gym_python=python))
    server = "config.policy_model.responses_api_models.vllm_model"
    assert facts[f"{server}.return_token_id_information"].value is False
    # The file says 512, the command line said otherwise.
    assert not facts["config.max_output_tokens"].is_known
    assert f"{server}.api_key" not in facts


def test_rebuilding_knows_nothing_of_the_python_that_ran(python: Path) -> None:
    assert "python_version" not in by_name(rebuild_facts(["quiz.yaml"], gym_python=python))


def test_rebuilding_opens_no_exporter(python: Path, tmp_path: Path) -> None:
    rebuild_facts(["quiz.yaml"], ["wandb_project=mine"], gym_python=python)
    asked = (tmp_path / "asked").read_text().splitlines()[-1]
    assert "++wandb_project=null ++mlflow_tracking_uri=null" in asked
    assert "mine" not in asked
    assert "hydra.output_subdir=null" in asked


def test_rebuilding_asks_again_for_what_gym_misses(python: Path, tmp_path: Path) -> None:
    rebuild_facts(["quiz.yaml"], gym_python=python)
    # late_key is in no list of known keys: Gym names it, and the second try has it.
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2
    assert "++late_key=gymbal-unset-late_key" in asked[1]


def test_rebuilding_without_gym_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="there is no gym on PATH"):
        rebuild_facts(["quiz.yaml"])
    with pytest.raises(UsageError, match="there is no gym beside"):
        rebuild_facts(["quiz.yaml"], gym_python=tmp_path / "python")
    with pytest.raises(UsageError, match="needs --gym-config"):
        rebuild_facts([], ["a=1"])


def test_rebuilding_says_what_gym_refused_and_no_secret(python: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "gym").write_text(
        "#!/bin/sh\necho 'Error: bad api_key=sk-FAKEsecret1 here'\nexit 1\n"
    )
    with pytest.raises(UsageError) as caught:
        rebuild_facts(["quiz.yaml"], gym_python=python)
    assert "gym env resolve refused the configs" in str(caught.value)
    assert "FAKEsecret" not in str(caught.value)
