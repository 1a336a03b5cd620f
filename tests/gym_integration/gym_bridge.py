"""Asks Gym's own code for its verdicts. Runs under the Python that holds nemo-gym, not under the tests'.

Reads one JSON object a line from standard input and answers each with one line on standard output:

    {"ask": "verify", "config": {...}, "cases": [{"expected_action": {...}, "output": [...]}, ...]}
    {"ask": "categories"}
    {"ask": "accept", "rows": [{...}, ...]}
    {"ask": "compare", "baseline": "a/rollouts.jsonl", "candidate": "b/rollouts.jsonl"}
    {"ask": "chat_requests", "requests": [{...}, ...]}
    {"ask": "chat_items", "messages": [{...}, ...]}

`bridge.py` is the other end.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from nemo_gym.comparison.runner import build_comparison_result
from nemo_gym.comparison.schema import ComparisonConfig
from nemo_gym.config_types import ConfigError
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.responses_converter import ResponsesConverter
from nemo_gym.server_utils import ServerClient
from pydantic import ValidationError
from resources_servers.single_step_tool_use_with_argument_comparison import app, task_data
from resources_servers.single_step_tool_use_with_argument_comparison.common.response_utils import (
    extract_action,
)

Json = dict[str, Any]

RESPONSE = {
    "id": "resp_1",
    "created_at": 1790000000,
    "model": "scripted",
    "object": "response",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""A response without its output."""

MODEL_FAULTS = (AttributeError, TypeError)
"""An item of an odd shape makes Gym's own model fail, and so the server answer with an error."""


def verify(question: Json) -> list[Json]:
    """What the server's own `verify` says to each case, or the kind of error that it would answer with."""
    server = app.SingleStepToolUseArgumentComparisonResourcesServer(
        config=app.SingleStepToolUseArgumentComparisonResourcesServerConfig(
            host="127.0.0.1",
            port=1,
            entrypoint="app.py",
            name="comparator",
            tool_call_comparator_config=question["config"],
        ),
        server_client=ServerClient.model_construct(),
    )
    loop = asyncio.new_event_loop()
    try:
        return [loop.run_until_complete(verdict(server, case)) for case in question["cases"]]
    finally:
        loop.close()


async def verdict(server: Any, case: Json) -> Json:
    request = {
        "responses_create_params": {"input": "?"},
        "response": RESPONSE | {"output": case["output"]},
        "expected_action": case["expected_action"],
    }
    try:
        body = app.SingleStepToolUseArgumentComparisonVerifyRequest.model_validate(request)
    except ValidationError as error:
        return {"error": "refused", "detail": first_problem(error)}
    except MODEL_FAULTS as error:
        return {"error": "refused", "detail": f"{type(error).__name__}: {error}"}
    try:
        action = extract_action(body.response)
        answer = await server.verify(body)
    except (AttributeError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        return {"error": "failed", "detail": f"{type(error).__name__}: {error}"[:200]}
    found = None if action is None else action.model_dump()
    return {"reward": answer.reward, "category": str(answer.category), "action": found}


def categories(question: Json) -> list[str]:
    """Every category that a verdict can have."""
    return [str(category) for category in app.StepRewardCategory]


def accept(question: Json) -> list[str | None]:
    """Why Gym refuses each row: its request model, the server's run request, the server's task data."""
    return [refusal(row) for row in question["rows"]]


def refusal(row: Any) -> str | None:
    try:
        app.SingleStepToolUseArgumentComparisonRunRequest.model_validate(row)
        NeMoGymResponseCreateParamsNonStreaming.model_validate(row["responses_create_params"])
        task_data.TaskData.model_validate(row)
    except ValidationError as error:
        return first_problem(error)
    except MODEL_FAULTS as error:
        return f"{type(error).__name__}: {error}"
    return None


def first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def compare(question: Json) -> Json:
    """What `gym eval compare` writes into compare_report.json, or the message it ends with."""
    config = ComparisonConfig(
        baseline_rollouts_jsonl_fpath=question["baseline"],
        candidate_rollouts_jsonl_fpaths=[question["candidate"]],
    )
    try:
        return build_comparison_result(config, "gym eval compare").model_dump(mode="json")  # type: ignore[no-any-return]  # Gym is untyped here
    except ConfigError as error:
        return {"error": str(error)}


def chat_requests(question: Json) -> list[Json]:
    """What the vLLM model server makes of each Responses request before it sends it on."""
    converter = ResponsesConverter(return_token_id_information=False)
    return [
        converter.responses_to_chat_completion_create_params(
            NeMoGymResponseCreateParamsNonStreaming.model_validate(request)
        ).model_dump(mode="json", exclude_unset=True)
        for request in question["requests"]
    ]


def chat_items(question: Json) -> list[list[Json]]:
    """The Responses items that the same server makes of each assistant message of a chat answer."""
    converter = ResponsesConverter(return_token_id_information=False)
    return [
        [item.model_dump(mode="json") for item in converter.postprocess_assistant_message_dict(message)]
        for message in question["messages"]
    ]


ANSWERS: dict[str, Callable[[Json], Any]] = {
    answer.__name__: answer for answer in (verify, categories, accept, compare, chat_requests, chat_items)
}


def main() -> None:
    # What Gym prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        question = json.loads(line)
        answers.write(json.dumps(ANSWERS[question["ask"]](question)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
