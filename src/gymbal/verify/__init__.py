"""Gym's `single_step_tool_use_with_argument_comparison` verifier, re-implemented and equal to Gym 0.7.0.

The options of Gym's main branch are there too; unset, they change nothing. Standard library only, so that a
trainer or Gym's own Python can import it alone; one option asks for the package `jsonschema`.
"""

from __future__ import annotations

from gymbal.verify.action import extract_action
from gymbal.verify.argument_options import ArgumentFilter, ArgumentOverride
from gymbal.verify.category import Category
from gymbal.verify.check import Check, Rule
from gymbal.verify.config import ComparatorConfig, RewardMode
from gymbal.verify.explain import CallComparison, Explanation, explain
from gymbal.verify.label import Label
from gymbal.verify.score import Comparator, Score, score
from gymbal.verify.unscorable import LabelError, ResponseError, UnscorableError

__all__ = [
    "ArgumentFilter",
    "ArgumentOverride",
    "CallComparison",
    "Category",
    "Check",
    "Comparator",
    "ComparatorConfig",
    "Explanation",
    "Label",
    "LabelError",
    "ResponseError",
    "RewardMode",
    "Rule",
    "Score",
    "UnscorableError",
    "explain",
    "extract_action",
    "score",
]
