"""Secrets in whole documents and command lines: by name, by shape, and by value where it is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymbal.errors import InputError
from gymbal.io.decode import read_yaml
from gymbal.io.secrets import mask_apart, mask_text, mask_tree, mask_values, mask_words, secret_values


def test_tree_keeps_its_shape_and_loses_its_secrets() -> None:
    tree = {
        "policy_api_key": "sk-FAKEsecret1",
        "max_output_tokens": 512,
        "secrets": {"a": ["x", 7, None], "b": {"c": "y"}},
        "url": "http://me:FAKEsecret2@host/v1",
        "note": ["hunter2hunter2 here", True, 0.5],
        "token": None,
    }
    assert mask_tree(tree, ["hunter2hunter2"]) == {
        "policy_api_key": "****",
        "max_output_tokens": 512,
        "secrets": {"a": ["****", "****", None], "b": {"c": "****"}},
        "url": "http://me:****@host/v1",
        "note": ["**** here", True, 0.5],
        "token": None,
    }


def test_tree_is_masked_in_the_json_that_a_text_holds() -> None:
    tree = {"extra_body": '{"headers": {"X-Team": "abc"}, "stop": ["x"]}', "note": '{"stop":  ["x"]}'}
    assert mask_tree(tree) == {
        "extra_body": '{"headers":{"X-Team":"****"},"stop":["x"]}',
        "note": '{"stop":  ["x"]}',
    }


@pytest.mark.parametrize(
    "text", ['{"api_key": "abc", ', "[" * 100_000 + ' "api_key": "abc"', "{\udc80} api_key=abc"]
)
def test_text_that_is_no_json_is_masked_as_text(text: str) -> None:
    assert "abc" not in mask_tree(text)


def test_values_that_differ_in_a_secret_alone_stay_different() -> None:
    first, second = mask_apart('{"api_key": "abc"}'), mask_apart('{"api_key": "abd"}')
    assert first.startswith('{"api_key":"****"} (digest ')
    assert first != second
    assert mask_apart("quiz-model") == "quiz-model"


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        (["--model-api-key", "abc"], ["--model-api-key", "****"]),
        (["--model-api-key=abc", "x"], ["--model-api-key=****", "x"]),
        (["++policy_model.api_key=abc"], ["++policy_model.api_key=****"]),
        (["env", "HF_TOKEN=abc", "gym"], ["env", "HF_TOKEN=****", "gym"]),
        (["--model-api-key", "--limit", "3"], ["--model-api-key", "--limit", "3"]),
        (["--max-output-tokens", "512"], ["--max-output-tokens", "512"]),
        (["bash", "-c", "export MY_TOKEN=abc; gym"], ["bash", "-c", "export MY_TOKEN=****; gym"]),
        (["--note", "knownvalue1"], ["--note", "****"]),
    ],
)
def test_words_of_a_command_lose_its_secrets(words: list[str], masked: list[str]) -> None:
    assert mask_words(words, ["knownvalue1"]) == masked


def test_secret_values_are_those_of_secret_names_alone() -> None:
    named = [
        ("HF_TOKEN", "hf_abcdef"),
        ("A_KEY", "short"),
        ("B_KEY", "not-needed"),
        ("C_KEY", 123456),
        ("D", "value12"),
    ]
    assert secret_values([*named, ("E_KEY", "**** x ****")]) == {"hf_abcdef"}


def test_values_are_masked_longest_first() -> None:
    assert mask_values("abcdef-long abcdef", ["abcdef", "abcdef-long"]) == "**** ****"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("export MY_TOKEN=abc; gym", "export MY_TOKEN=****; gym"),
        ("curl -H 'X-Api-Key: abc' x", "curl -H 'X-Api-Key: ****' x"),
        ("set A=1 DB_PASSWORD=x y", "set A=1 DB_PASSWORD=**** y"),
        ("--verbose --api-key abc y", "--verbose --api-key **** y"),
    ],
)
def test_text_before_a_secret_does_not_hide_it(text: str, masked: str) -> None:
    assert mask_text(text) == masked


def test_yaml_error_quotes_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("a: 1\napi_key: sk-FAKEsecret1 password: hunter2hunter2: [\n")
    with pytest.raises(InputError) as caught:
        read_yaml(file)
    assert "FAKEsecret" not in str(caught.value)
    assert "hunter2" not in str(caught.value)
