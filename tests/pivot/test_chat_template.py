"""Chat templates: read from where models keep them, and rendered as transformers renders them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from gymbal.errors import InputError, UsageError
from gymbal.pivot.export.chat_template import ChatTemplate, RenderError, read_chat_template

USER: list[dict[str, Any]] = [{"role": "user", "content": "Málaga <b> & 'x'"}]


def template(source: str, **tokens: str) -> ChatTemplate:
    return ChatTemplate(source, tokens, Path("t.jinja"))


def test_prompt_ends_where_the_policy_begins() -> None:
    assert template("{{ messages[0].content }}|{% if add_generation_prompt %}A{% endif %}").render(
        USER, []
    ) == ("Málaga <b> & 'x'|A")


def test_no_tools_are_none() -> None:
    assert template("{{ tools is none }}").render(USER, []) == "True"


def test_arguments_of_earlier_calls_are_objects() -> None:
    function = {"name": "find", "arguments": '{"to": "Oslo"}'}
    call = {"id": "1", "type": "function", "function": function}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    source = "{{ messages[0].tool_calls[0].function.arguments.to }}"
    assert template(source).render([message], []) == "Oslo"
    assert function["arguments"] == '{"to": "Oslo"}'


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no system message') }}",
        "{{ messages[7].content.x }}",
        "{{ 1 // 0 }}",
        "{{ messages.append(1) }}",
        "{{ strftime_now('%Y') }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages[0].content + 1 }}",
    ],
)
def test_template_that_fails_says_so(source: str) -> None:
    with pytest.raises(RenderError):
        template(source).render(USER, [])


def test_template_sees_no_file() -> None:
    with pytest.raises(RenderError):
        template("{% include 'README.md' %}").render(USER, [])


def test_text_that_is_no_unicode_fails() -> None:
    with pytest.raises(RenderError):
        template("{{ messages[0].content }}").render([{"role": "user", "content": "\ud800"}], [])


def test_broken_template_names_its_file() -> None:
    with pytest.raises(InputError, match=r"t\.jinja: is not a chat template"):
        template("{% if %}")


def folder_with(path: Path, **config: Any) -> Path:
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    return path


def test_tokenizer_folder_gives_template_and_special_tokens(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        chat_template="{{ bos_token }}{{ eos_token }}",
        bos_token="<s>",
        eos_token={"content": "</s>"},
    )
    assert read_chat_template(folder).render(USER, []) == "<s></s>"


def test_template_file_of_a_folder_comes_first(tmp_path: Path) -> None:
    folder_with(tmp_path, chat_template="old", bos_token="<s>")
    (tmp_path / "chat_template.jinja").write_text("{{ bos_token }}new")
    assert read_chat_template(tmp_path).render(USER, []) == "<s>new"


def test_template_for_tools_comes_before_the_default(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}]
    assert read_chat_template(folder_with(tmp_path, chat_template=named)).render(USER, []) == "tools"
    assert read_chat_template(folder_with(tmp_path, chat_template=named[:1])).render(USER, []) == "plain"
    with pytest.raises(UsageError, match="none is called"):
        read_chat_template(folder_with(tmp_path, chat_template=[{"name": "rag", "template": "x"}]))


def test_what_is_no_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds neither"):
        read_chat_template(folder_with(tmp_path, bos_token="<s>"))
    (tmp_path / "tokenizer_config.json").write_text("[1]")
    with pytest.raises(InputError, match="is not a JSON object"):
        read_chat_template(tmp_path)
    (tmp_path / "x.jinja").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8"):
        read_chat_template(tmp_path / "x.jinja")
    with pytest.raises(InputError, match="cannot be read"):
        read_chat_template(tmp_path / "none.jinja")


@pytest.mark.parametrize("name", ["cut.jinja.gz", "cut.jinja.zst"])
def test_a_compressed_template_that_is_cut_is_refused(tmp_path: Path, name: str) -> None:
    text = b"{{ messages[0].content }}" * 1000
    data = gzip.compress(text) if name.endswith(".gz") else zstandard.compress(text)
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is damaged"):
        read_chat_template(tmp_path / name)


def test_ends_of_an_answer_are_those_of_the_tokenizer_and_of_the_template(tmp_path: Path) -> None:
    source = "<|im_start|>{{ messages[0].content }}<|im_end|>{{ eos_token }}"
    assert template(source).end_tokens == ("<|im_end|>",)
    tokens = {"bos_token": "<s>", "eos_token": "<|end of it|>", "pad_token": {"content": "<|none|>"}}
    folder = folder_with(tmp_path, chat_template=source, **tokens)
    assert read_chat_template(folder).end_tokens == ("<|end of it|>", "<|none|>", "<|im_end|>")
    assert template("{{ messages[0].content }}").end_tokens == ()
