"""Asks an installed NeMo Gym what it says to pivot rows. Runs under Gym's own Python, where gymbal is not.

    python -P gym_rows_script.py TARGET FILE

Each line of FILE is `{"row": {...}, "settings": {...} or null}`; the settings are those of the row's config:
of its comparator for rows of `single_step`, else of its server. Prints one line for each:
`{"refusal", "reward", "failure", "unchecked"}`, of which the last three are null where there are no settings.
`gym_rows.py` is the other end.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

SINGLE_STEP = "resources_servers.single_step_tool_use_with_argument_comparison"
NAMES = {
    "swe_pivot": "SwePivot",
    "terminus_judge": "TerminusJudge",
    "terminal_multi_harness": "TerminalMultiHarness",
}
"""What the classes of the other servers begin with."""

PLACE = {"host": "127.0.0.1", "port": 1, "entrypoint": "app.py"}
"""Where a server would listen. It is asked without being started."""

Json = dict[str, Any]


class NotBuiltError(Exception):
    """A server that does not come about here; the message says why."""


class Verifier(Protocol):
    """What a target has of its own."""

    run_request: Any
    """The model of a request to its server."""

    def reward(self, row: Json, settings: Json) -> float:
        """What a response gets that does what the row's label says."""


class SingleStep:
    """The comparator, which takes a label for a response too."""

    def __init__(self) -> None:
        comparison = import_module(f"{SINGLE_STEP}.common.verification_utils")
        pydantic = import_module("pydantic")
        self.run_request = import_module(f"{SINGLE_STEP}.app").SingleStepToolUseArgumentComparisonRunRequest
        self._label = pydantic.TypeAdapter(comparison.ExpectedAction)
        self._settings = comparison.ToolCallComparatorConfig
        self._comparator = comparison.ActionComparator

    def reward(self, row: Json, settings: Json) -> float:
        label = self._label.validate_python(row["expected_action"])
        comparator = self._comparator(config=self._settings(**settings))
        return float(comparator.compare_action(label, label).reward)


class OtherServer:
    """A server that is given a response."""

    def __init__(self, target: str) -> None:
        app, name = import_module(f"resources_servers.{target}.app"), NAMES[target]
        self._target = target
        self.run_request = getattr(app, f"{name}RunRequest")
        self._verify_request = getattr(app, f"{name}VerifyRequest")
        self._config = getattr(app, f"{name}ResourcesServerConfig")
        self._server = getattr(app, f"{name}ResourcesServer")
        self._client = import_module("nemo_gym.server_utils").ServerClient.model_construct()
        # Gym starts a server in its own folder, and the files that its settings name lie there.
        os.chdir(Path(str(app.__file__)).parent)

    def reward(self, row: Json, settings: Json) -> float:
        config = self._config(**(PLACE | {"name": self._target} | settings))
        try:
            server = self._server(config=config, server_client=self._client)
        except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
            raise NotBuiltError(f"{type(error).__name__}: {error}") from error
        body = self._verify_request.model_validate({**row, "response": response_to(row, self._target)})
        return float(asyncio.run(server.verify(body)).reward)


def response_to(row: Json, target: str) -> Json:
    """A response that does what the label of the row says."""
    response = {"id": "r", "created_at": 1, "model": "m", "object": "response", "tools": []}
    items = items_of(action_of(row, target))
    return response | {"parallel_tool_calls": True, "tool_choice": "auto", "output": items}


def action_of(row: Json, target: str) -> Json:
    """What the row expects, from where the target's server looks for it."""
    if target == "terminus_judge":
        return {"type": "message", "content": row["expected_answer"]}
    if target != "swe_pivot":
        return dict(row["expected_action"])
    metadata = row.get("metadata") or {}
    places = (
        row.get("expected_action"),
        decoded(row.get("expected_answer")),
        metadata.get("expected_action"),
    )
    calls = [each for each in places if isinstance(each, dict) and each.get("type") == "function_call"]
    return calls[0]


def decoded(text: str | None) -> object:
    """The JSON value in a text; None for any other text."""
    try:
        return json.loads(text or "")
    except ValueError:
        return None


def items_of(action: Json) -> list[Json]:
    """The items of a response that does what is expected."""
    if action["type"] == "message":
        content = [{"type": "output_text", "text": action["content"], "annotations": []}]
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
        return [message | {"content": content}]
    return [
        {"type": "function_call", "call_id": str(at), "name": call["name"], "arguments": call["arguments"]}
        for at, call in enumerate(action.get("calls", [action]))
    ]


class Gym:
    """The request models and the verifier of a target, imported from where Gym lies."""

    def __init__(self, target: str) -> None:
        self._verifier: Verifier = OtherServer(target) if target in NAMES else SingleStep()
        self._request = import_module("nemo_gym.openai_utils").NeMoGymResponseCreateParamsNonStreaming
        self._refused = import_module("pydantic").ValidationError

    def verdict(self, row: Json, settings: Json | None) -> Json:
        """What the models say to a row, and what reward its label gets for itself."""
        answer: Json = {"refusal": self._refusal(row), "reward": None, "failure": None, "unchecked": None}
        if answer["refusal"] is None and settings is not None:
            try:
                answer["reward"], answer["failure"] = self._reward(row, settings)
            except NotBuiltError as error:
                answer["unchecked"] = str(error)
        return answer

    def _refusal(self, row: Json) -> str | None:
        try:
            self._verifier.run_request.model_validate(row)
            self._request.model_validate(row["responses_create_params"])
        except self._refused as error:
            return self._shown(error)
        except (AttributeError, TypeError) as error:  # an item of an odd shape makes Gym's own model fail
            return f"{type(error).__name__}: {error}"
        return None

    def _reward(self, row: Json, settings: Json) -> tuple[float | None, str | None]:
        try:
            return self._verifier.reward(row, settings), None
        except self._refused as error:
            return None, self._shown(error)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            return None, f"{type(error).__name__}: {error}"

    def _shown(self, error: Any) -> str:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def main() -> None:
    """Answer each question of the file that the command line names."""
    # What Gym prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    gym = Gym(sys.argv[1])
    with Path(sys.argv[2]).open("rb") as questions:
        for line in questions:
            question = json.loads(line)
            answers.write(json.dumps(gym.verdict(question["row"], question["settings"])) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
