"""Facts from configs and job records: what is known, what is not and how to supply it, and no secret."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_builder import write_run

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.run import ProblemKind, Run
from gymbal.readers.run import read_run
from gymbal.readers.run.interpolation import leaves
from gymbal.readers.run.roles import role_of

CONFIG = """
quiz:
  resources_servers:
    quiz:
      grading_mode: strict
      host: 127.0.0.1
      judge_model: ${oc.env:JUDGE_MODEL_NAME,some-judge}
policy_model:
  responses_api_models:
    vllm_model:
      base_url: ${policy_base_url}
      api_key: ${policy_api_key}
      model: ${policy_model_name}
      chat_template_kwargs:
        enable_thinking: true
      note: built for ${policy_model_name} at ${port}
policy_base_url: http://user:hunter2@127.0.0.1/v1
policy_api_key: '****'
policy_model_name: quiz-model
port: 8000
num_repeats: 4
secrets:
  anything: swordfish
responses_create_params:
  temperature: 0.6
  max_output_tokens: '****'
a: ${b}
b: ${a}
hidden: ${secrets.anything}
"""

SUBMIT: dict[str, Any] = {
    "services": {
        "policy": {
            "type": "vllm",
            "container": "/images/vllm-0.11.sqsh",
            "model": "/models/quiz-8b",
            "served_model_name": "quiz-model",
            "tensor_parallel_size": 8,
            "port": 8000,
            "extra_args": "--max-model-len 32768 --api-key sk-FAKEsecret9 --enable-prefix-caching "
            "--dtype=bfloat16",
            "env": {"HF_TOKEN": "hf_FAKEsecret1", "VLLM_USE_V1": "1"},
        },
        "judge": {"type": "vllm", "model": "/models/judge-70b"},
    },
    "compute": {"here": {"node_pools": {"gpu": {"partition": "batch", "nodes": 2, "gpus_per_node": 8}}}},
    "driver": {
        "container": "python:3.12",
        "gym_install": {"repo": "https://example.org/gym", "ref": "0" * 40},
        "policy_model": "policy",
        "policy_model_type": "vllm_model",
        "benchmarks": {
            "quiz": {
                "prepare": {"split": "test"},
                "run": {
                    "num_repeats": 8,
                    "responses_create_params": {"temperature": 1.0, "max_output_tokens": 8192},
                    "policy_api_key": "dummy",
                    "++judge_model": "${oc.env:JUDGE_MODEL_NAME}",
                },
                "command": "gym eval run --token sk-FAKEsecret8",
            }
        },
        "env": {
            "JUDGE_API_KEY": "sk-FAKEsecret2",
            "JUDGE_MODEL_NAME": "judge-x",
            "NODE_IP": "runtime:NODE_IP",
        },
    },
}


def by_name(run: Run) -> dict[str, Fact]:
    facts = {fact.name: fact for fact in run.facts}
    assert len(facts) == len(run.facts)
    return facts


def read_config(folder: Path, text: str, stem: str = "rollouts") -> Run:
    write_run(folder, stem=stem)
    (folder / f"{stem}_resolved_config.yaml").write_text(text)
    return read_run(folder)


def read_job(folder: Path, config: dict[str, Any] | None = None, record: dict[str, Any] | None = None) -> Run:
    folder.mkdir(exist_ok=True)
    write_run(folder / "quiz" / "artifacts")
    # JSON is YAML.
    (folder / "resolved-config.yaml").write_text(json.dumps(SUBMIT if config is None else config))
    (folder / "gym-job.json").write_text(
        json.dumps(record or {"gym_version": "0.7.0", "gym_commit": "b" * 40})
    )
    return read_run(folder)


def changed(*path: str, to: Any) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(json.dumps(SUBMIT))
    node = config
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = to
    return config


def test_facts_without_any_config_are_missing_with_a_remedy(tmp_path: Path) -> None:
    write_run(tmp_path)
    facts = by_name(read_run(tmp_path))
    assert facts.keys() == {"gym_commit", "gym_version", "serving_engine", "model_checkpoint"}
    assert all(
        fact.strength is Strength.MISSING and fact.value is None and fact.remedy for fact in facts.values()
    )


def test_facts_of_a_saved_config_name_value_file_and_key(tmp_path: Path) -> None:
    facts = by_name(read_config(tmp_path, CONFIG))
    assert facts["temperature"] == Fact(
        name="temperature",
        role=Role.SAMPLING,
        value=0.6,
        strength=Strength.RECORDED,
        file="rollouts_resolved_config.yaml",
        key="responses_create_params.temperature",
    )
    assert facts["num_repeats"].value == 4
    assert facts["policy_model_type"].value == "vllm_model"
    thinking = facts[
        "config.policy_model.responses_api_models.vllm_model.chat_template_kwargs.enable_thinking"
    ]
    assert (thinking.value, thinking.role) == (True, Role.SAMPLING)


def test_facts_follow_references_inside_the_file(tmp_path: Path) -> None:
    facts = by_name(read_config(tmp_path, CONFIG))
    server = "config.policy_model.responses_api_models.vllm_model"
    assert facts[f"{server}.model"].value == "quiz-model"
    assert facts[f"{server}.note"].value == "built for quiz-model at 8000"
    assert facts["config.a"].strength is Strength.MISSING


def test_facts_know_nothing_of_an_unset_environment_variable(tmp_path: Path) -> None:
    # The default may or may not have been used: two equal files can have run with two judges.
    judge = by_name(read_config(tmp_path, CONFIG))["config.quiz.resources_servers.quiz.judge_model"]
    assert (judge.value, judge.strength, judge.role) == (None, Strength.MISSING, Role.JUDGE)
    assert "JUDGE_MODEL_NAME" in str(judge.remedy)


def test_facts_take_a_masked_value_for_unknown(tmp_path: Path) -> None:
    limit = by_name(read_config(tmp_path, CONFIG))["max_output_tokens"]
    assert (limit.value, limit.strength) == (None, Strength.MISSING)
    assert "rollouts' own request" in str(limit.remedy)


def test_facts_hold_no_secret_of_a_saved_config(tmp_path: Path) -> None:
    run = read_config(tmp_path, CONFIG)
    text = str((run.facts, run.problems))
    assert "hunter2" not in text
    assert "swordfish" not in text
    assert "config.policy_api_key" not in by_name(run)
    assert by_name(run)["config.policy_base_url"].value == "http://user:****@127.0.0.1/v1"


def test_facts_only_come_from_the_file_of_the_stem(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_resolved_config.SIMULATED.yaml").write_text("num_repeats: 3\n")
    assert "num_repeats" not in by_name(read_run(tmp_path))


def test_facts_say_when_a_config_cannot_be_read(tmp_path: Path) -> None:
    run = read_config(tmp_path, "- 1\n- 2\n")
    (problem,) = run.problems
    assert (problem.kind, problem.file) == (ProblemKind.UNREADABLE_FILE, "rollouts_resolved_config.yaml")


def test_facts_hold_a_long_text_as_its_digest(tmp_path: Path) -> None:
    fact = by_name(read_config(tmp_path, f"system_prompt: {'x' * 600}\n"))["config.system_prompt"]
    assert str(fact.value).startswith("text of 600 characters, digest ")
    assert fact.role is Role.PROMPT


def test_facts_on_which_shards_disagree_are_missing(tmp_path: Path) -> None:
    for shard, repeats in (("shard-0", 2), ("shard-1", 3)):
        write_run(tmp_path, stem=shard, first_task=repeats * 10)
        (tmp_path / f"{shard}_resolved_config.yaml").write_text(f"num_repeats: {repeats}\nsplit: test\n")
    facts = by_name(read_run(f"{tmp_path}/shard-?.jsonl"))
    assert facts["config.split"].value == "test"
    assert facts["num_repeats"].strength is Strength.MISSING
    assert "2 in shard-0_resolved_config.yaml, 3 in shard-1_resolved_config.yaml" in str(
        facts["num_repeats"].remedy
    )


def test_facts_of_a_manifest_are_opaque(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "rollouts_manifest.json").write_text('{"digests": {"dataset": "abc"}, "format_version": 1}')
    fact = by_name(read_run(tmp_path))["manifest.digests.dataset"]
    assert (fact.value, fact.role) == ("abc", Role.BOOKKEEPING)


def test_job_commit_is_that_of_the_install_and_not_of_the_submitter(tmp_path: Path) -> None:
    facts = by_name(read_job(tmp_path / "job"))
    assert (facts["gym_commit"].value, facts["gym_commit"].strength) == ("0" * 40, Strength.RECORDED)
    assert facts["gym_commit"].key == "driver.gym_install.ref"
    assert facts["submitter_gym_commit"].value == "b" * 40
    assert facts["submitter_gym_commit"].role is Role.BOOKKEEPING


@pytest.mark.parametrize(("ref", "version"), [("main", None), ("v0.7.0", "0.7.0"), ("1f8afc7", None)])
def test_job_ref_that_can_move_is_no_commit(tmp_path: Path, ref: str, version: str | None) -> None:
    facts = by_name(read_job(tmp_path / "job", changed("driver", "gym_install", "ref", to=ref)))
    assert facts["gym_ref"].value == ref
    assert facts["gym_commit"].strength is Strength.MISSING
    assert ref in str(facts["gym_commit"].remedy)
    assert facts["gym_version"].value == version
    assert facts["gym_version"].strength is (Strength.REBUILT if version else Strength.MISSING)


def test_job_without_an_install_ran_what_its_container_held(tmp_path: Path) -> None:
    facts = by_name(read_job(tmp_path / "job", changed("driver", "gym_install", to=None)))
    assert facts["gym_commit"].strength is Strength.MISSING
    assert "python:3.12" in str(facts["gym_commit"].remedy)
    assert facts["driver_container"].value == "python:3.12"


def test_job_names_model_engine_and_parallelism_of_the_policy(tmp_path: Path) -> None:
    facts = by_name(read_job(tmp_path / "job"))
    expected = {
        "serving_engine": ("vllm", Role.SERVING),
        "serving_container": ("/images/vllm-0.11.sqsh", Role.SERVING),
        "model_checkpoint": ("/models/quiz-8b", Role.MODEL),
        "served_model_name": ("quiz-model", Role.MODEL),
        "serving.tensor_parallel_size": (8, Role.SERVING),
        "serving.max_model_len": ("32768", Role.LIMITS),
        "serving.enable_prefix_caching": ("true", Role.SERVING),
        "serving.dtype": ("bfloat16", Role.MODEL),
        "serving.env.VLLM_USE_V1": ("1", Role.SERVING),
        "serving.port": (8000, Role.BOOKKEEPING),
        "compute.gpu.gpus_per_node": (8, Role.SERVING),
        "judge.model_checkpoint": ("/models/judge-70b", Role.JUDGE),
        "policy_model_type": ("vllm_model", Role.SERVING),
    }
    assert {name: (facts[name].value, facts[name].role) for name in expected} == expected


def test_job_names_what_the_benchmark_was_run_with(tmp_path: Path) -> None:
    facts = by_name(read_job(tmp_path / "job"))
    assert (facts["num_repeats"].value, facts["temperature"].value) == (8, 1.0)
    assert (facts["max_output_tokens"].value, facts["max_output_tokens"].role) == (8192, Role.LIMITS)
    assert (
        facts["max_output_tokens"].key
        == "driver.benchmarks.quiz.run.responses_create_params.max_output_tokens"
    )
    # Looked up in driver.env.
    assert (facts["config.judge_model"].value, facts["config.judge_model"].role) == ("judge-x", Role.JUDGE)
    assert facts["prepare.split"].value == "test"
    assert facts["benchmark_command"].value == "gym eval run --token ****"


def test_saved_config_comes_before_the_submit_config(tmp_path: Path) -> None:
    read_job(tmp_path / "job")
    saved = tmp_path / "job" / "quiz" / "artifacts" / "rollouts_resolved_config.yaml"
    saved.write_text(
        "num_repeats: 2\njudge: ${oc.env:JUDGE_MODEL_NAME}\n"
        "responses_create_params: {max_output_tokens: '****'}\n"
    )
    facts = by_name(read_run(tmp_path / "job"))
    assert (facts["num_repeats"].value, facts["num_repeats"].file) == (
        2,
        "quiz/artifacts/rollouts_resolved_config.yaml",
    )
    # What the one masks the other knows.
    assert (facts["max_output_tokens"].value, facts["max_output_tokens"].file) == (
        8192,
        "resolved-config.yaml",
    )
    assert facts["config.judge"].value == "judge-x"


def test_job_holds_no_secret(tmp_path: Path) -> None:
    text = str(read_job(tmp_path / "job"))
    assert "FAKEsecret" not in text


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"services": 3, "driver": []},
        {"services": {"policy": "x"}, "driver": {"benchmarks": {"quiz": 1}, "env": "y"}},
    ],
)
def test_job_config_of_another_shape_is_taken_as_far_as_it_goes(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    facts = by_name(read_job(tmp_path / "job", config))
    assert facts["serving_engine"].strength is Strength.MISSING


def test_leaves_end_where_references_run_in_circles() -> None:
    config = {"a": {"b": "${a}"}, "c": ["${c}"], "d": "${d}"}
    assert all(leaf.resolved.remedy for leaf in leaves(config))


def test_leaves_are_bounded_when_references_multiply() -> None:
    config: dict[str, Any] = {"l0": [{"x": 1}] * 10}
    config |= {f"l{n}": [f"${{l{n - 1}}}"] * 10 + [{"y": 1}] for n in range(1, 9)}
    assert sum(1 for _ in leaves(config)) <= 20_000


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=4), st.text(alphabet="${}:.,abco nve", max_size=12), max_size=4))
def test_leaves_take_any_text(config: dict[str, str]) -> None:
    assert len(list(leaves(config))) == len(config)


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("judge.responses_create_params.temperature", Role.JUDGE),
        ("quiz.resources_servers.quiz.judge_model_server.name", Role.JUDGE),
        ("agent.responses_api_agents.simple_agent.user_simulator.model", Role.USER_SIMULATOR),
        ("agent.responses_api_agents.simple_agent.max_steps", Role.LIMITS),
        ("quiz.resources_servers.quiz.timeout_seconds", Role.LIMITS),
        ("responses_create_params.max_output_tokens", Role.LIMITS),
        ("responses_create_params.top_p", Role.SAMPLING),
        ("responses_create_params.reasoning.effort", Role.SAMPLING),
        ("num_repeats_add_seed", Role.REPEATS),
        ("count_failure_classes_as_zero", Role.ACCOUNTING),
        ("policy_model.responses_api_models.vllm_model.uses_reasoning_parser", Role.SERVING),
        ("policy_model.responses_api_models.vllm_model.model", Role.MODEL),
        ("agent.responses_api_agents.simple_agent.system_prompt", Role.PROMPT),
        ("quiz.resources_servers.quiz.grading_mode", Role.HARNESS),
        ("quiz.resources_servers.quiz.port", Role.BOOKKEEPING),
        ("server_spinup_timeout_seconds", Role.BOOKKEEPING),
        ("output_jsonl_fpath", Role.BOOKKEEPING),
        ("head_server_deps", Role.CODE),
        # Files of nemo-gym 0.7.0's own configs that decide what is asked, and how it is judged.
        ("quiz.resources_servers.quiz.judge_prompt_template_fpath", Role.JUDGE),
        ("quiz.resources_servers.quiz.judge_prompt_paths", Role.JUDGE),
        ("quiz.resources_servers.quiz.rubric_judge_prompt_template_fpath", Role.JUDGE),
        ("quiz.resources_servers.quiz.retrieval_system_prompt_fpath", Role.PROMPT),
        ("quiz.resources_servers.quiz.policy_verifier_templates_path", Role.PROMPT),
        ("agent.responses_api_agents.simple_agent.prompt_fpath", Role.PROMPT),
        ("agent.responses_api_agents.simple_agent.harness_skills_dir", Role.PROMPT),
        ("agent.responses_api_agents.harbor_agent.harbor_agent_import_path", Role.HARNESS),
        ("quiz.resources_servers.quiz.dataset_path", Role.BOOKKEEPING),
        ("agent.responses_api_agents.simple_agent.logs_dir", Role.BOOKKEEPING),
    ],
)
def test_role_of_reads_the_words_of_a_key(key: str, role: Role) -> None:
    assert role_of(key) is role
