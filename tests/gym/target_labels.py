"""Labels of the targets beside the single-step one, with the reward that each gets from its own server.

The rewards are those that the servers of NeMo Gym 0.7.0 gave to a response that does exactly what the label
says; `tests/gym_integration/test_gym_targets.py` asks them again.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

ANSWER_1 = {
    "state_analysis": "a prompt",
    "explanation": "list the files",
    "commands": [{"keystrokes": "ls\n", "is_blocking": True, "timeout_sec": 1}],
    "is_task_complete": False,
}
ANSWER_2 = {"analysis": "a prompt", "plan": "list", "commands": [{"keystrokes": "ls\n"}]}
SIMILARITY = {"enable_string_similarity": True, "enable_llm_judge": False}
TEXT, LIST = {"type": "string"}, {"type": "array"}
ANY: Json = {}


def tool(name: str, properties: Json, **schema: Any) -> Json:
    parameters = {"type": "object", "properties": properties, **schema}
    return {"type": "function", "name": name, "parameters": parameters, "strict": False}


def swe_row(name: str, arguments: Json) -> Json:
    return {"expected_action": {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}}


SWE_PIVOT_LABELS: list[tuple[str, Json, Json, float]] = [
    ("str_replace_editor", {"command": "view", "path": "/a.py", "view_range": [40, 80]}, {}, 1.0),
    # One line, and to the end of the file: last minus first is no length.
    ("str_replace_editor", {"command": "view", "path": "/a.py", "view_range": [40, 40]}, {}, 0.0),
    ("str_replace_editor", {"command": "view", "path": "/a.py", "view_range": [1, -1]}, {}, 0.0),
    ("StrReplaceEditor", {"command": "view", "path": "/a.py", "view_range": "[7, 7]"}, {}, 0.0),
    ("edit", {"command": "view", "view_range": ["1", "9"]}, {}, 1.0),
    ("edit", {"command": "view", "view_range": [7]}, {}, 1.0),
    ("edit", {"command": "create", "view_range": [7, 7]}, {}, 1.0),
    ("view_file", {"command": "view", "view_range": [7, 7]}, {}, 1.0),
    ("edit", {"command": "view", "view_range": [7, 7]}, {"enable_target_match": False}, 1.0),
    ("execute_bash", {"command": "ls " + "x" * 5000}, {}, 1.0),
    ("execute_bash", {}, {}, 1.0),
    ("of_no_category", {"n": 1}, {}, 1.0),
    ("edit", {"new_str": "a"}, {"similarity_full_credit": 1.2}, 0.0),
    ("edit", {"new_str": "a"}, {"similarity_full_credit": 1.2, "enable_argument_similarity": False}, 1.0),
]
"""Tool, arguments, settings of the server, reward."""

TERMINUS_JUDGE_LABELS: list[tuple[Json, Json, float]] = [
    ({"expected_answer": json.dumps(ANSWER_1)}, SIMILARITY, 1.0),
    ({"expected_answer": json.dumps(ANSWER_1 | {"commands": []})}, SIMILARITY, 1.0),
    ({"expected_answer": json.dumps(ANSWER_1 | {"more": 1})}, SIMILARITY, 0.0),
    ({"expected_answer": json.dumps(ANSWER_1 | {"is_task_complete": 1})}, SIMILARITY, 0.0),
    ({"expected_answer": json.dumps(ANSWER_2)}, SIMILARITY, 0.0),
    ({"expected_answer": json.dumps(ANSWER_1 | {"explanation": "a </think> b"})}, SIMILARITY, 0.0),
    ({"expected_answer": json.dumps([ANSWER_1])}, SIMILARITY, 0.0),
    ({"expected_answer": json.dumps(ANSWER_1), "threshold": 1.1}, SIMILARITY, 0.0),
    (
        {"expected_answer": json.dumps(ANSWER_1)},
        SIMILARITY | {"string_similarity_threshold": 1.1},
        0.0,
    ),
    (
        {"expected_answer": json.dumps(ANSWER_1)},
        {"enable_string_similarity": False, "enable_llm_judge": False},
        1.0,
    ),
]
"""Row, settings of the server, reward; the harness is terminus_1."""

MULTI_HARNESS_LABELS: list[tuple[str, str, Json, Json, float]] = [
    ("codex", "exec_command", {"cmd": "ls"}, {"cmd": TEXT}, 1.0),
    ("codex", "exec_command", {"workdir": "/"}, {"cmd": TEXT, "workdir": TEXT}, 0.0),
    ("codex", "exec_command", {"cmd": ["ls"]}, {"cmd": ANY}, 0.0),
    ("codex", "update_plan", {"plan": [{"step": "a"}]}, {"plan": LIST}, 1.0),
    ("codex", "update_plan", {"plan": []}, {"plan": LIST}, 0.0),
    ("codex", "update_plan", {"plan": '[{"step": 1}]'}, {"plan": LIST}, 1.0),
    ("codex", "of_no_rule", {"n": 1}, {"n": ANY}, 1.0),
    ("codex", "of_no_rule", {"n": 1}, {"n": TEXT}, 0.0),
    ("agent006", "execute_python", {"code": " "}, {"code": TEXT}, 0.0),
    ("agent006", "return_result", {"result": "[1]"}, {"result": LIST}, 0.0),
    ("agent006", "return_result", {"result": [1]}, {"result": LIST}, 1.0),
    ("opencode", "edit", {"filePath": "a", "oldString": "x", "newString": "x"}, {}, 0.0),
    ("opencode", "edit", {"filePath": "a", "oldString": "x", "newString": "y"}, {}, 1.0),
    ("opencode", "edit", {"filePath": "a"}, {}, 0.0),
    ("opencode", "todowrite", {"todos": "[]"}, {"todos": LIST}, 0.0),
    ("opencode", "todowrite", {"todos": []}, {"todos": LIST}, 1.0),
    ("opencode", "todowrite", {"todos": [{"status": "done"}]}, {"todos": LIST}, 1.0),
    ("opencode", "grep", {"pattern": "x"}, {}, 1.0),
    ("stirrup", "finish", {"reason": "done", "paths": ["a"]}, {}, 1.0),
    ("stirrup", "finish", {"reason": "done", "paths": '["a"]'}, {"paths": LIST}, 0.0),
    ("stirrup", "finish", {"reason": "", "paths": ["a"]}, {}, 0.0),
    ("stirrup", "web_search", {"query": ""}, {}, 0.0),
    ("stirrup", "fetch_web_page", {"url": "HTTP://a"}, {}, 1.0),
    ("generic", "bash", {}, {"command": TEXT}, 1.0),
    ("generic", "bash", {"command": "ls"}, {"command": TEXT, "seconds": {"type": "float"}}, 0.0),
]
"""Harness, tool, arguments, properties of its schema, reward."""
