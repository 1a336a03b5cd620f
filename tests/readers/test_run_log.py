"""Launcher and engine logs: the lines that say what ran, and the many that only look like it.

The engine lines have the form of those of vLLM 0.10 and 0.11 and of SGLang 0.5.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.model.evidence import Fact, Role, Value
from gymbal.readers.run.engine_log import read_printed
from gymbal.readers.run.log import read_log_facts

COMMIT = "1f8afc7aa0" + "0" * 30


def facts_of(folder: Path, *lines: str) -> dict[str, Value]:
    log = folder / "launch.log"
    log.write_text("\n".join(lines) + "\n")
    found = read_log_facts(log, "launch.log")
    assert all(isinstance(fact, Fact) and fact.file and fact.file.startswith("launch.log:") for fact in found)
    return {fact.name: fact.value for fact in found}


@pytest.mark.parametrize(
    "lines",
    [
        ("Cloning into '/scratch/gym-install-x1/gym'...", f"HEAD is now at {COMMIT} Release 0.7.0"),
        ("+ git -C /opt/gym rev-parse HEAD", COMMIT),
        (f"Gym commit: {COMMIT}",),
        (f"export GYM_COMMIT={COMMIT}",),
        (f" + nemo-gym==0.7.0 (from git+https://example.org/NVIDIA-NeMo/Gym@{COMMIT})",),
        (f"  Resolved https://example.org/NVIDIA-NeMo/gym.git to commit {COMMIT}",),
    ],
)
def test_log_names_the_gym_commit(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert facts_of(tmp_path, *lines)["gym_commit"] == COMMIT


@pytest.mark.parametrize(
    "lines",
    [
        ("Cloning into 'my-experiments'...", f"HEAD is now at {COMMIT} tune"),
        ("+ git rev-parse HEAD", COMMIT),
        (COMMIT,),
        (f'{{"gym_commit": "{COMMIT}", "gym_job_id": "x"}}',),
        ("gym commit: unknown",),
    ],
)
def test_log_takes_no_other_hash_for_the_gym_commit(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert "gym_commit" not in facts_of(tmp_path, *lines)


@pytest.mark.parametrize(
    "line",
    ["NeMo Gym v0.7.0", "nemo-gym==0.7.0", "nemo-gym        0.7.0", "Successfully installed nemo-gym-0.7.0"],
)
def test_log_names_the_gym_version(tmp_path: Path, line: str) -> None:
    assert facts_of(tmp_path, line)["gym_version"] == "0.7.0"


def test_log_names_the_command_and_no_secret_of_it(tmp_path: Path) -> None:
    found = facts_of(
        tmp_path,
        "+ HF_TOKEN=hf_FAKEsecret1 gym eval run --benchmark gpqa --model-type vllm_model \\",
        "   --model-url http://me:FAKEsecret2@host/v1 --model-api-key sk-FAKEsecret3 --num-repeats 8 \\",
        "   ++responses_create_params.temperature=1.0 --output out/rollouts.jsonl 2>&1 | tee out.log",
    )
    assert (found["num_repeats"], found["temperature"], found["policy_model_type"]) == (8, 1.0, "vllm_model")
    assert found["config.output_jsonl_fpath"] == "out/rollouts.jsonl"
    assert found["command.benchmark"] == "gpqa"
    assert "FAKEsecret" not in str(found)


def test_log_takes_a_hint_for_no_command(tmp_path: Path) -> None:
    found = facts_of(tmp_path, "To go on where it stopped, use gym eval run --resume with the same arguments")
    assert found == {}


def test_log_names_what_gym_prints_of_its_settings(tmp_path: Path) -> None:
    found = facts_of(
        tmp_path,
        "Overriding responses_create_params fields with {'temperature': 0.6, 'max_output_tokens': 512}",
        "Repeating rows 4 times (in a pattern of abc to aabbcc)!",
    )
    assert found == {"temperature": 0.6, "max_output_tokens": 512, "num_repeats": 4}


def test_log_names_what_vllm_says_at_its_start(tmp_path: Path) -> None:
    found = facts_of(
        tmp_path,
        "(APIServer pid=7) INFO 08-19 14:58:40 [api_server.py:1882] vLLM API server version 0.11.0",
        "(APIServer pid=7) INFO 08-19 14:58:40 [utils.py:328] non-default args: {'model_tag': '/models/q', "
        "'api_key': ['sk-FAKEsecret4'], 'served_model_name': ['q'], 'max_model_len': 32768, "
        "'reasoning_parser': 'qwen3', 'tensor_parallel_size': 2, 'dtype': 'auto'}",
        "\x1b[1;36m(EngineCore pid=9)\x1b[0;0m INFO 08-19 14:58:41 [core.py:75] Initializing a V1 LLM engine "
        "(v0.11.0) with config: model='/models/q', speculative_config=None, dtype=torch.bfloat16, "
        "max_seq_len=32768, tensor_parallel_size=2, quantization=None, kv_cache_dtype=auto, "
        "decoding_config=DecodingConfig(backend='x, y', reasoning_backend=''), enable_prefix_caching=True",
        "INFO [x.py:9] Using default chat sampling params from model: {'temperature': 0.6, 'top_p': 0.9}",
    )
    assert found == {
        "serving_engine": "vllm",
        "serving_engine_version": "0.11.0",
        "model_checkpoint": "/models/q",
        "served_model_name": "q",
        "serving.max_model_len": 32768,
        "serving.reasoning_parser": "qwen3",
        "serving.tool_call_parser": "none",
        "serving.chat_template": "none",
        "serving.override_generation_config": "none",
        "serving.speculative_config": "none",
        "serving.tensor_parallel_size": 2,
        "serving.dtype": "bfloat16",
        "serving.quantization": "none",
        "serving.kv_cache_dtype": "auto",
        "serving.enable_prefix_caching": True,
        "serving.default_sampling": '{"temperature":0.6,"top_p":0.9}',
    }


def test_log_names_what_sglang_says_at_its_start_under_the_same_names(tmp_path: Path) -> None:
    found = facts_of(
        tmp_path,
        "[2026-05-15 08:39:19] server_args=ServerArgs(model_path='/models/q', tp_size=8, "
        "context_length=4096, quantization='fp8', ssl_keyfile_password='FAKEsecret5', "
        "tool_call_parser=None, dtype='auto', reasoning_parser='qwen3')",
    )
    assert found["serving_engine"] == "sglang"
    assert found["model_checkpoint"] == "/models/q"
    assert found["serving.tensor_parallel_size"] == 8
    assert found["serving.max_model_len"] == 4096
    assert found["serving.quantization"] == "fp8"
    assert (found["serving.reasoning_parser"], found["serving.tool_call_parser"]) == ("qwen3", "none")
    assert "serving.dtype" not in found
    assert "FAKEsecret" not in str(found)


def test_log_names_an_engine_by_its_command_and_container(tmp_path: Path) -> None:
    found = facts_of(
        tmp_path,
        "srun --container-image=/images/vllm-0.11.sqsh vllm serve /models/q -tp 4 "
        "--no-enable-prefix-caching &",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)",
    )
    assert (found["model_checkpoint"], found["serving_container"]) == ("/models/q", "/images/vllm-0.11.sqsh")
    assert found["serving.tensor_parallel_size"] == "4"
    assert found["serving.enable_prefix_caching"] == "false"
    assert found["gpu_type"] == "NVIDIA H100 80GB HBM3"


def test_log_reads_what_a_progress_bar_overwrote(tmp_path: Path) -> None:
    assert facts_of(tmp_path, "0it\rRepeating rows 2 times (in a pattern)\r1it")["num_repeats"] == 2


def test_log_facts_have_the_roles_of_the_rungs(tmp_path: Path) -> None:
    log = tmp_path / "l.log"
    log.write_text(f"Gym commit: {COMMIT}\nINFO vLLM API server version 0.11.0\n")
    roles = {fact.name: fact.role for fact in read_log_facts(log, "l.log")}
    assert roles == {
        "gym_commit": Role.CODE,
        "serving_engine": Role.SERVING,
        "serving_engine_version": Role.SERVING,
    }


def test_log_that_is_no_text_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "core"
    log.write_bytes(b"\x7fELF\0\0gym\n")
    with pytest.raises(InputError, match="no text"):
        read_log_facts(log, "core")


@settings(max_examples=60)
@given(st.text(alphabet="gym evalrun-{}[]()'\",=:\\vllm non-default args\n", max_size=120))
def test_log_takes_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    log = tmp_path_factory.mktemp("log") / "x.log"
    log.write_text(f"non-default args: {{{text}\nvllm serve {text}\ngym eval run {text}\n")
    read_log_facts(log, "x.log")


def test_printed_settings_are_read_and_never_run() -> None:
    text = "a=1, 'b': [2, 'x,y'], c={'d': None}, e=Thing(f=1, g=[2]), h=-1.5e3, i='(', j=__import__('os'))"
    assert dict(read_printed(text)) == {
        "a": 1,
        "b": [2, "x,y"],
        "c": {"d": None},
        "e": "Thing(f=1, g=[2])",
        "h": -1500.0,
        "i": "(",
        "j": "__import__('os')",
    }


def test_printed_settings_that_are_nested_without_end_stay_text() -> None:
    text = "a=" + "[" * 5000 + "]" * 5000 + ")"
    assert list(dict(read_printed(text))) == ["a"]
