"""Renders a state with a model's chat template, as transformers and vLLM do. The one place that names jinja2.

A template is a program by whoever published the model: it runs in jinja2's sandbox and changes nothing that
it is given. It sees no clock, so that the same pivots give the same prompts; one that asks for today's date
takes its own fallback, or fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError, UsageError, need
from gymbal.io.decode import read_bounded

MOST_TEMPLATE_BYTES = 4 * 1024 * 1024
TEMPLATE_FILE, TOKENIZER_FILE = "chat_template.jinja", "tokenizer_config.json"
_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token")

_ENDING_TOKENS = ("eos_token", "pad_token")
_USUAL_ENDS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|user|>",
    "<|observation|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
    "<｜end▁of▁sentence｜>",
)
"""What ends an answer of Qwen, Llama, Phi, gpt-oss, GLM, Command R, Gemma, Mistral and DeepSeek."""

_RUNTIME_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What an expression of a template can raise besides jinja2's own errors."""


class RenderError(ValueError):
    """The template failed on a state; the message says how."""


class ChatTemplate:
    """A compiled template with the special tokens of its tokenizer."""

    def __init__(self, source: str, tokens: Mapping[str, str], path: Path) -> None:
        """Raises MissingExtraError without jinja2, InputError for a template that cannot be compiled."""
        jinja2 = need("jinja2", extra="export", feature="a chat template")
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _generation()]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise_exception
        self._errors = (jinja2.TemplateError, *_RUNTIME_ERRORS)
        self._tokens = dict(tokens)
        known = [tokens[name] for name in _ENDING_TOKENS if tokens.get(name)]
        self.end_tokens = tuple(dict.fromkeys([*known, *(end for end in _USUAL_ENDS if end in source)]))
        """Special tokens that can end an answer: the tokenizer's, and usual ones that the template holds."""
        try:
            self._template = environment.from_string(source)
        except (jinja2.TemplateError, RecursionError) as error:
            raise InputError(f"is not a chat template: {error}", path=path) from error

    def render(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> str:
        """The prompt at which the policy begins to answer. Raises RenderError."""
        try:
            text = self._template.render(
                messages=[_with_decoded_arguments(message) for message in messages],
                tools=list(tools) or None,
                add_generation_prompt=True,
                **self._tokens,
            )
            text.encode()
        except RenderError:
            raise
        except self._errors as error:
            raise RenderError(f"{type(error).__name__}: {error}"[:300]) from error
        return text


def read_chat_template(path: Path) -> ChatTemplate:
    """Read a template file, or the one of a tokenizer's folder with its special tokens.

    Raises InputError where there is none, UsageError where a tokenizer has several and none is the default,
    MissingExtraError without jinja2.
    """
    if not path.is_dir():
        return ChatTemplate(_text(path), {}, path)
    config_path = path / TOKENIZER_FILE
    config = _json(config_path) if config_path.is_file() else {}
    tokens = {name: text for name in _SPECIAL_TOKENS if (text := _token(config.get(name))) is not None}
    if (path / TEMPLATE_FILE).is_file():
        return ChatTemplate(_text(path / TEMPLATE_FILE), tokens, path / TEMPLATE_FILE)
    source = config.get("chat_template")
    if isinstance(source, list):
        source = _default_of(source, config_path)
    if not isinstance(source, str):
        raise InputError(
            f"holds neither {TEMPLATE_FILE} nor a chat_template in {TOKENIZER_FILE}",
            path=path,
            remedy="Name the file of a chat template.",
        )
    return ChatTemplate(source, tokens, config_path)


def _default_of(templates: Sequence[Any], path: Path) -> Any:
    """Of several templates, the one for tools, else the default, as transformers chooses."""
    named = {entry.get("name"): entry.get("template") for entry in templates if isinstance(entry, dict)}
    for name in ("tool_use", "default"):
        if name in named:
            return named[name]
    raise UsageError(
        f"{path} holds {len(named)} chat templates, and none is called tool_use or default",
        remedy="Save the one to use as a file and name that.",
    )


def _token(value: Any) -> str | None:
    """A special token, which a config writes as a text or as an object with its `content`."""
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) else None


def _text(path: Path) -> str:
    try:
        return read_bounded(path, MOST_TEMPLATE_BYTES).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}", path=path) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(_text(path), type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"is not a JSON object: {error}", path=path) from error


def _with_decoded_arguments(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with the arguments of its calls as objects, which vLLM hands to templates."""
    calls = message.get("tool_calls")
    if not calls:
        return dict(message)
    decoded = []
    for call in calls:
        function = call["function"]
        try:
            arguments = json.loads(function["arguments"])
        except (ValueError, RecursionError) as error:
            raise RenderError(f"the arguments of an earlier call are not JSON: {error}"[:300]) from error
        decoded.append({**call, "function": {**function, "arguments": arguments}})
    return {**message, "tool_calls": decoded}


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    """jinja2's own filter escapes signs of HTML, which no prompt wants."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)


def _raise_exception(message: str) -> None:
    raise RenderError(message)


def _generation() -> type[Any]:
    """The tag `generation`, by which a template marks what the assistant wrote; here it marks nothing."""
    from jinja2.ext import Extension
    from jinja2.nodes import Node, Scope
    from jinja2.parser import Parser

    class Generation(Extension):
        tags = {"generation"}  # noqa: RUF012 - jinja2 declares it as an attribute of instances

        def parse(self, parser: Parser) -> Node:
            line = next(parser.stream).lineno
            return Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)

    return Generation
