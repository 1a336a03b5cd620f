"""Pivots for exports to trainers, and answers to them of which the rewards are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from export_states import LABELS, TEMPLATE, call, completion_of, pivot_row
from json_rows import read_rows

import gymbal
from gymbal.commands.pivot_export import pivot_export
from gymbal.pivot.export.targets import export_format

Json = dict[str, Any]

ROLLOUTS = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"


class Export(NamedTuple):
    folder: Path
    labels: list[str]
    """The labels, as the rows have them."""
    prompts: list[str]
    """The prompts through the chat template."""

    @property
    def answers(self) -> list[list[Json]]:
        """To each pivot what its label says, reward 1, and an answer of another kind, reward 0."""
        right = [json.loads(label) for label in self.labels]
        wrong = [OTHER_KIND if action["type"] == "message" else REFUSAL for action in right]
        return [right, wrong]

    @property
    def rewards(self) -> list[list[float]]:
        """The rewards of these answers."""
        return [[1.0] * len(self.labels), [0.0] * len(self.labels)]


OTHER_KIND: Json = call("no_such_tool")
REFUSAL: Json = {"type": "message", "content": "Rather not."}


def completions(exported: Export) -> list[list[str]]:
    """The answers as texts of a policy."""
    return [[completion_of(action) for action in actions] for actions in exported.answers]


def chat_messages(exported: Export) -> list[list[Json]]:
    """The answers as messages of a model server that has a tool parser."""
    return [[_chat_message(action) for action in actions] for actions in exported.answers]


def _chat_message(action: Json) -> Json:
    if action["type"] == "message":
        return {"role": "assistant", "content": action["content"]}
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {name: each[name] for name in ("name", "arguments")},
        }
        for number, each in enumerate(action.get("calls") or [action])
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def write_pivots(folder: Path) -> Path:
    """Pivots of the example rollouts that a template can render, and some with odd characters."""
    gymbal.pivot_build(ROLLOUTS, folder / "built")
    built = (folder / "built" / "pivots.jsonl").read_bytes().splitlines(keepends=True)
    lines = [line for line in built if has_objects_as_arguments(line)]
    agent = json.loads(lines[0])["agent_ref"]
    odd = [{**pivot_row(number, label), "agent_ref": agent} for number, label in enumerate(LABELS)]
    path = folder / "pivots.jsonl"
    path.write_bytes(b"".join(lines) + "".join(json.dumps(row) + "\n" for row in odd).encode())
    return path


def has_objects_as_arguments(row: bytes) -> bool:
    """Whether the earlier calls of a row have arguments that a template takes."""
    items = json.loads(row)["responses_create_params"]["input"]
    try:
        for item in items:
            json.loads(item.get("arguments", "{}"))
    except ValueError:
        return False
    return True


def export(pivots: Path, to: str) -> Export:
    """An export, prompts rendered where the trainer takes that; they and the labels are read from TRL's."""
    template = pivots.with_name("template.jinja")
    template.write_text(TEMPLATE, encoding="utf-8")
    folders = {name: pivots.with_name(name) for name in (to, "trl")}
    for name, folder in folders.items():
        takes_prompt = export_format(name).takes_prompt
        pivot_export(pivots, folder, to=name, chat_template=template if takes_prompt else None)
    rows = read_rows(folders["trl"] / "train.jsonl")
    return Export(folders[to], [row["expected_action"] for row in rows], [row["prompt"] for row in rows])
