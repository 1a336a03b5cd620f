"""Asks an installed NeMo Gym what it says to pivot rows. Runs under Gym's own Python, where gymbal is not.

    python -P gym_rows_script.py FILE

Each line of FILE is `{"row": {...}, "comparator": {...} or null}`; the comparator's settings are those of the
row's config. Prints one line for each: `{"refusal", "reward", "failure"}`, of which the last two are null
where there are no settings. `gym_rows.py` is the other end.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

SERVER = "resources_servers.single_step_tool_use_with_argument_comparison"

Json = dict[str, Any]


class Gym:
    """The request models and the comparator, imported from where Gym lies."""

    def __init__(self) -> None:
        app = import_module(f"{SERVER}.app")
        comparison = import_module(f"{SERVER}.common.verification_utils")
        pydantic = import_module("pydantic")
        self._run_request = app.SingleStepToolUseArgumentComparisonRunRequest
        openai_utils = import_module("nemo_gym.openai_utils")
        self._request = openai_utils.NeMoGymResponseCreateParamsNonStreaming
        self._label = pydantic.TypeAdapter(comparison.ExpectedAction)
        self._settings = comparison.ToolCallComparatorConfig
        self._comparator = comparison.ActionComparator
        self._refused = pydantic.ValidationError

    def verdict(self, row: Json, settings: Json | None) -> Json:
        """What the models say to a row, and what reward its label gets for itself."""
        answer: Json = {"refusal": self._refusal(row), "reward": None, "failure": None}
        if answer["refusal"] is None and settings is not None:
            answer["reward"], answer["failure"] = self._reward(row, settings)
        return answer

    def _refusal(self, row: Json) -> str | None:
        try:
            self._run_request.model_validate(row)
            self._request.model_validate(row["responses_create_params"])
        except self._refused as error:
            return self._shown(error)
        except (AttributeError, TypeError) as error:  # an item of an odd shape makes Gym's own model fail
            return f"{type(error).__name__}: {error}"
        return None

    def _reward(self, row: Json, settings: Json) -> tuple[float | None, str | None]:
        try:
            label = self._label.validate_python(row["expected_action"])
            comparator = self._comparator(config=self._settings(**settings))
            return float(comparator.compare_action(label, label).reward), None
        except self._refused as error:
            return None, self._shown(error)
        except (AttributeError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
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
    gym = Gym()
    with Path(sys.argv[1]).open("rb") as questions:
        for line in questions:
            question = json.loads(line)
            answers.write(json.dumps(gym.verdict(question["row"], question["comparator"])) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
