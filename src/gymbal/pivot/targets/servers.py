"""The resources server of each target and what its Gym config says, by NeMo Gym 0.7.0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from gymbal.model.target import Target


class Server(NamedTuple):
    """A resources server, and the agent that asks a policy for one response and sends it there."""

    name: str
    agent: str
    default_threshold: float
    """What Gym's own config of the server sets."""
    threshold_key: str
    """Path of the threshold in the settings, its parts joined by dots."""
    settings: tuple[str, ...]
    """Lines of the settings beside the threshold."""
    agent_settings: tuple[str, ...] = ()
    description: str = ""
    needs_threshold: bool = False
    """Whether the server starts only where its config sets the threshold."""
    stock_agents: tuple[str, ...] = ()
    """Agents of Gym's own configs of the server, where rows name them."""
    left_aside: Mapping[str, Any] = {}
    """Settings that take from the server what a label's own score leaves aside."""

    def lines(self, threshold: float) -> str:
        """The settings in YAML, indented to stand in the server's block."""
        *parents, key = self.threshold_key.split(".")
        lines = [f"      {'  ' * depth}{name}:" for depth, name in enumerate(parents)]
        lines.append(f"      {'  ' * len(parents)}{key}: {json.dumps(float(threshold))}")
        lines += [f"      {line}" for line in self.settings]
        return "".join(f"{line}\n" for line in lines)

    def threshold_in(self, settings: Mapping[str, Any]) -> Any:
        """The threshold of a block's settings as written; None where the server's own default holds."""
        value: Any = settings
        for key in self.threshold_key.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


_TOOL_AGENT = "tool_simulation_agent"

SERVERS: Mapping[Target, Server] = {
    Target.SINGLE_STEP: Server(
        name="single_step_tool_use_with_argument_comparison",
        agent=_TOOL_AGENT,
        default_threshold=0.1,
        threshold_key="tool_call_comparator_config.word_count_similarity_threshold",
        settings=(),
        description="single-step tool use",
        needs_threshold=True,
    ),
    Target.SWE_PIVOT: Server(
        name="swe_pivot",
        agent=_TOOL_AGENT,
        default_threshold=0.8,
        threshold_key="similarity_full_credit",
        # The server's own default. In continuous mode even the label loses reward by its length.
        settings=("reward_mode: binary",),
        description="single tool calls of a coding agent",
        stock_agents=("swe_pivot_tool_simulation_agent",),
        left_aside={"enable_diff_size_shaping": False},
    ),
    Target.TERMINUS_JUDGE: Server(
        name="terminus_judge",
        agent="simple_agent",
        default_threshold=0.9,
        threshold_key="string_similarity_threshold",
        # A judge needs a model server that only the user can name.
        settings=("enable_string_similarity: true", "enable_llm_judge: false"),
        agent_settings=("max_steps: 1",),
        description="terminal commands",
        stock_agents=("terminus_judge_simple_agent", "terminus_judge_string_only_simple_agent"),
    ),
    Target.TERMINAL_MULTI_HARNESS: Server(
        name="terminal_multi_harness",
        agent=_TOOL_AGENT,
        default_threshold=0.9,
        threshold_key="tool_call_comparator_config.string_similarity_threshold",
        settings=(),
        description="actions by the rulebook of a harness",
        needs_threshold=True,
        stock_agents=tuple(
            f"terminal_multi_harness_{harness}_agent"
            for harness in ("agent006", "codex", "opencode", "stirrup")
        ),
    ),
}

TARGET_OF_SERVER: Mapping[str, Target] = {server.name: target for target, server in SERVERS.items()}
