"""Secrets in configs: by key, by shape, and nothing else."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gymbal.io.secrets import MASK, is_secret_name, is_secret_path, mask, mask_text

# Made up for these tests; none opens anything.
FAKE_SECRETS = [
    "sk-FAKEsecret2",
    "sk-proj-AbC123_456-xyz",
    "hf_FAKEsecret1",
    "nvapi-FAKE_0123456789",
    "ghp_FAKE0123456789abcdef",
    "github_pat_FAKE0123456789",
    "glpat-FAKE0123456789",
    "AKIAFAKE0123456789AB",
    "xoxb-FAKE-0123456789",
    "eyJGQUtFIjoxfQ.eyJGQUtFIjoyfQ.c2lnbmF0dXJl",
]


@pytest.mark.parametrize("secret", FAKE_SECRETS)
def test_mask_finds_a_secret_by_its_shape(secret: str) -> None:
    for text in (secret, f"run --flag {secret} --more", f'{{"x": "{secret}"}}', f"a={secret},b=2"):
        assert secret not in str(mask("extra_args", text))


@pytest.mark.parametrize(
    "name",
    [
        "policy_api_key",
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "token",
        "auth_tokens",
        "wandb_secret",
        "password",
        "db_passwd",
        "aws_credentials",
        "Authorization",
        "bearer",
        "openai_default_headers",
        "session_cookie",
        "apikey",
    ],
)
def test_mask_hides_everything_under_a_secret_name(name: str) -> None:
    assert is_secret_name(name)
    assert mask(name, "harmless-looking") == MASK
    assert mask(name, 12345) == MASK
    assert mask(name, None) is None


@pytest.mark.parametrize(
    "name",
    [
        "max_output_tokens",
        "max_tokens",
        "max_new_tokens",
        "max_total_output_tokens",
        "min_tokens",
        "tokenizer_mode",
        "skip_tokenizer_init",
        "token_id_capture",
        "keywords",
        "temperature",
        "reasoning_parser",
        "judge_model",
    ],
)
def test_mask_leaves_harmless_names_alone(name: str) -> None:
    assert not is_secret_name(name)
    assert mask(name, 8192) == 8192
    assert mask(name, "auto") == "auto"


def test_is_secret_path_looks_at_every_key_on_the_way() -> None:
    assert is_secret_path(["secrets", "anything"])
    assert not is_secret_path(["responses_create_params", "max_output_tokens"])


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("http://user:hunter2@host:80/v1", "http://user:****@host:80/v1"),
        ("postgres://:hunter2@db/x", "postgres://:****@db/x"),
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("curl -H 'Authorization: Bearer abcdef123'", "curl -H 'Authorization: **** ****'"),
        ("--api-key abc --max-model-len 32768", "--api-key **** --max-model-len 32768"),
        ("--api-key=abc --tokenizer-mode auto", "--api-key=**** --tokenizer-mode auto"),
        ('{"api_key": "abc", "max_tokens": 5}', '{"api_key": ****, "max_tokens": 5}'),
        ("PASSWORD='a b c' run", "PASSWORD=**** run"),
        ('{"headers": {"X-Team": "abc"}, "n": 5}', '{"headers": ****, "n": 5}'),
        ('cut off: {"tokens": ["abc", "d', 'cut off: {"tokens": ****'),
        ("api_key='abc'def n=5", "api_key=**** n=5"),
        ("the key idea is simple", "the key idea is simple"),
        ("--max-num-batched-tokens 8192", "--max-num-batched-tokens 8192"),
        ("a task-force for risk-averse people", "a task-force for risk-averse people"),
    ],
)
def test_mask_text_cuts_out_secrets_alone(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@given(st.text(max_size=60) | st.text("\"'{}[]=,: a0*", max_size=12))
@example('""0')
@example("{a}b")
@example('"a"}')
def test_mask_text_is_done_after_one_pass(text: str) -> None:
    once = mask_text(f"api_key={text}")
    assert mask_text(once) == once


@pytest.mark.parametrize(
    "piece",
    ["a", "a-", "a://", "eyJ-", "eyJaaaaaaaaa.", "token", "key=", "key={", "key=[a", "sk-", "bearer "],
)
def test_mask_text_takes_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    mask_text(text)
    assert time.process_time() - started < 10
