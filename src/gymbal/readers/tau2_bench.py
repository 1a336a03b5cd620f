"""Results of tau2-bench: one JSON document, or `results.json` beside a folder `simulations` with a file each.

The harness opens with a fixed greeting. The user simulator may call tools of its own, which the policy never
sees. The system prompt is not recorded: the domain policy stands for it, without the instructions around it.
Arguments are objects; where the provider's message is kept, its own string is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Raw

from gymbal.errors import InputError
from gymbal.io.decode import json_problem
from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Conversion, NonModelTurn, Source, Trajectory
from gymbal.readers.base.chat import read_conversation
from gymbal.readers.base.content import EMPTY, NULL, fields_of, list_of, present_names, token
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import (
    call_count_of,
    content_name,
    name_among,
    name_in_domain,
    number_at,
    opening_of,
)
from gymbal.readers.base.records import Record, locate, on_one_line, read_document

NAME = "tau2_bench"

SIMULATIONS = "simulations"
"""Folder beside `results.json` that holds the simulations, where the document does not."""


class _Results(msgspec.Struct, gc=False):
    info: Raw
    simulations: list[Raw] | None = None
    simulation_index: list[Raw] | None = None


_decode_results = msgspec.json.Decoder(_Results).decode
_decode_any = msgspec.json.decode


def matches(head: Head) -> bool:
    """A document with `info` and `simulations`, or an index of them."""
    lists = (head.kind("simulations"), head.kind("simulation_index"))
    return head.kind("info", "environment_info") == "object" and "list" in lists


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the simulations of one document, or those in the folder beside it by name.

    Raises InputError for what is no document of tau2-bench, and for a folder that lacks a simulation of the
    index.
    """
    body, results = _read_results(path)
    environment = fields_of(token(fields_of(on_one_line(bytes(results.info))), "environment_info"))
    records = locate(path, body, results.simulations) if results.simulations else _from_folder(path, results)
    for record in records:
        try:
            trajectory = _trajectory(record, environment, options)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = f"is no simulation of tau2-bench: {error}"
            source = record.source
            raise InputError(problem, path=source.path, line=source.line, offset=source.offset) from error
        yield trajectory


def files(path: Path) -> tuple[Path, ...]:
    """The document, and the files beside it that hold its simulations where it does not.

    Raises InputError for what is no document of tau2-bench.
    """
    results = _read_results(path)[1]
    return (path,) if results.simulations else (path, *_simulation_files(path, results))


def _read_results(path: Path) -> tuple[bytes, _Results]:
    body = read_document(path)
    try:
        body.decode()
        return body, _decode_results(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"is no document of tau2-bench: {json_problem(error, body)}"
        raise InputError(problem, path=path) from error


def _simulation_files(path: Path, results: _Results) -> list[Path]:
    return sorted((path.parent / SIMULATIONS).glob("*.json")) if results.simulation_index else []


def _from_folder(path: Path, results: _Results) -> Iterator[Record]:
    listed = {name_among((token(fields_of(bytes(entry)), "id"),)) for entry in results.simulation_index or ()}
    found = _simulation_files(path, results)
    missing = sorted(name for name in listed - {file.stem for file in found} if name is not None)
    if missing:
        raise InputError(
            f"lists simulations that are not there, such as {missing[0]}",
            path=path,
            remedy=f"Expected {path.parent / SIMULATIONS}/{missing[0]}.json.",
        )
    for file in found:
        body = read_document(file)
        try:
            body.decode()
            msgspec.json.decode(body, type=Raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"is not JSON: {json_problem(error, body)}", path=file) from error
        yield Record(on_one_line(body.strip()), Source(path=str(file), line=1, offset=0), True)


def _trajectory(record: Record, environment: Fields, options: ReadOptions) -> Trajectory:
    fields = fields_of(record.data)
    turns = [turn for message in list_of(token(fields, "messages")) for turn in _flat(message)]
    seen = [turn for turn in turns if not _is_of_user_simulator(turn)]
    prompt = _system_prompt(fields, environment, seen)
    messages = [*prompt, *map(_chat_message, seen)]
    conversation = read_conversation(messages, _given(seen, offset=len(prompt)))
    conversions = Counter(conversation.conversions)
    conversions[Conversion.SYSTEM_PROMPT_REBUILT] += len(prompt)
    tools = _tools(environment)
    conversions[Conversion.TOOLS_REBUILT] += tools != b"[]"
    domain = (token(environment, "domain_name"), token(environment, "policy"))
    task = name_in_domain(name_among((token(fields, "task_id"),)), *domain)
    trial = name_among((token(fields, "trial"),))
    call_count, call_count_field = call_count_of(fields, options.call_count_field)
    return Trajectory(
        source=record.source,
        format=NAME,
        seed=conversation.seed,
        items=conversation.items,
        tools=tools,
        allows_parallel_calls=None,
        is_truncated=bool(seen) and _finish_reason(seen[-1]) == b'"length"',
        reward=number_at(fields, "reward_info.reward"),
        task=task or content_name(*opening_of(conversation.seed)),
        rollout=None if task is None or trial is None else f"{task}-{trial}",
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=conversation.cuts,
        non_model_turns=Counter(conversation.non_model_turns) + _unseen(turns),
        conversions=+conversions,
    )


def _flat(message: bytes) -> Iterator[Fields]:
    """A message, or the tool messages that one message for several calls is made of."""
    fields = fields_of(message)
    parts = list_of(token(fields, "tool_messages"))
    yield from map(fields_of, parts) if parts else (fields,)


def _calls(turn: Fields) -> list[Fields]:
    return [fields_of(call) for call in list_of(token(turn, "tool_calls"))]


def _is_of_user_simulator(turn: Fields) -> bool:
    """The policy's view leaves out what the user simulator asks of tools and what they answer it."""
    role = token(turn, "role")
    if role == b'"tool"':
        return token(turn, "requestor") == b'"user"'
    return role == b'"user"' and bool(_calls(turn))


def _unseen(turns: Sequence[Fields]) -> Counter[NonModelTurn]:
    return Counter(
        NonModelTurn.USER_SIMULATOR_CALL
        if token(turn, "role") == b'"user"'
        else NonModelTurn.USER_SIMULATOR_RESULT
        for turn in turns
        if _is_of_user_simulator(turn)
    )


def _given(seen: Sequence[Fields], offset: int) -> Mapping[int, NonModelTurn]:
    """Assistant messages that no model made: those before the first that keeps its provider's response.

    Where none keeps it, those before the first user message that call no tool.
    """
    roles = [token(turn, "role") for turn in seen]
    asked = roles.index(b'"user"') if b'"user"' in roles else 0
    sampled = [at for at, turn in enumerate(seen) if roles[at] == b'"assistant"' and _was_sampled(turn)]
    end = sampled[0] if sampled else asked
    return {
        offset + at: NonModelTurn.SCRIPTED_GREETING if at < asked else NonModelTurn.GIVEN_HISTORY
        for at in range(end)
        if roles[at] == b'"assistant"' and (sampled or not _calls(seen[at]))
    }


def _was_sampled(turn: Fields) -> bool:
    return bool({"raw_data", "usage"} & present_names(turn))


def _system_prompt(fields: Fields, environment: Fields, seen: Sequence[Fields]) -> list[bytes]:
    """The recorded policy as a system message, where the messages hold none."""
    if any(token(turn, "role") == b'"system"' for turn in seen):
        return []
    policy = token(fields, "policy")
    if policy in EMPTY:
        policy = token(environment, "policy")
    return [b'{"role":"system","content":%b}' % policy] if policy.startswith(b'"') else []


def _chat_message(turn: Fields) -> bytes:
    """The message as Chat Completions has it."""
    role, content = token(turn, "role"), token(turn, "content")
    if role == b'"tool"':
        return b'{"role":"tool","tool_call_id":%b,"content":%b}' % (token(turn, "id"), content)
    if role != b'"assistant"':
        return b'{"role":%b,"content":%b}' % (role, content)
    provider = _provider_message(turn)
    calls = b",".join(_chat_call(call, _calls(provider)) for call in _calls(turn))
    return b'{"role":"assistant","content":%b,"reasoning_content":%b,"reasoning":%b,"tool_calls":[%b]}' % (
        content,
        token(provider, "reasoning_content"),
        token(provider, "reasoning"),
        calls,
    )


def _chat_call(call: Fields, provided: Sequence[Fields]) -> bytes:
    """A call with the arguments string that the provider sent, where it says the same."""
    call_id, arguments = token(call, "id"), token(call, "arguments")
    for other in provided:
        sent = token(fields_of(token(other, "function")), "arguments")
        if token(other, "id") == call_id and _says_the_same(sent, arguments):
            arguments = sent
    raw = b'{"id":%b,"type":"function","function":{"name":%b,"arguments":%b}}'
    return raw % (call_id, token(call, "name"), arguments)


def _says_the_same(sent: bytes, arguments: bytes) -> bool:
    if not sent.startswith(b'"'):
        return False
    try:
        return bool(_decode_any(_decode_any(sent, type=str)) == _decode_any(arguments))
    except (msgspec.DecodeError, RecursionError):
        return False


def _provider_message(turn: Fields) -> Fields:
    return fields_of(token(_choice(turn), "message"))


def _finish_reason(turn: Fields) -> bytes:
    return token(_choice(turn), "finish_reason")


def _choice(turn: Fields) -> Fields:
    """The provider's choice; nothing for a message that keeps none."""
    response = fields_of(token(turn, "raw_data"))
    choices = list_of(token(response, "choices"))
    return fields_of(choices[0]) if choices else response


def _tools(environment: Fields) -> bytes:
    """Schemas from the recorded signatures, whose texts are not those that the policy saw."""
    schemas = []
    for raw in fields_of(token(environment, "tool_defs")).values():
        signature = fields_of(bytes(raw))
        parameters = token(signature, "params")
        schemas.append(
            b'{"type": "function", "name": %b, "description": %b, "parameters": %b, "strict": false}'
            % (
                token(signature, "name"),
                token(signature, "doc"),
                b'{"type": "object", "properties": {}}' if parameters == NULL else parameters,
            )
        )
    return b"[" + b", ".join(schemas) + b"]"
