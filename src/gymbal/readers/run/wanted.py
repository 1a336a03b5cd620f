"""What a comparison wants to know of a side, and the cheapest way to learn what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gymbal.model.evidence import Fact, Role, Strength


class Wanted(msgspec.Struct, frozen=True):
    """One line of the sheet; a known fact of its name, of `names`, or of a whole role supplies it."""

    name: str
    role: Role
    remedy: str
    names: tuple[str, ...] = ()
    whole_role: bool = False


RECORD = "launch with gymbal record"
ENGINE_LOG = "the engine's start-up log (--log), or its launch command"
CONFIG = "the saved config, or rebuild it (--gym-config)"

WANTED = (
    Wanted(
        "gym_commit", Role.CODE, f"git rev-parse HEAD in the checkout that ran, its log (--log), or {RECORD}"
    ),
    Wanted("gym_version", Role.CODE, f"pip show nemo-gym in the environment that ran it, or {RECORD}"),
    Wanted("driver_container", Role.CODE, f"image and tag that the evaluation ran in; {RECORD}"),
    Wanted("model", Role.MODEL, "the rollouts' response.model", ("response_model", "policy_model_name")),
    Wanted("model_checkpoint", Role.MODEL, "path or revision that the endpoint served, from its launcher"),
    Wanted("serving.dtype", Role.MODEL, f"precision: {ENGINE_LOG}"),
    Wanted("serving.quantization", Role.MODEL, f"precision: {ENGINE_LOG}"),
    Wanted("policy_model_type", Role.SERVING, CONFIG),
    Wanted("serving_engine", Role.SERVING, ENGINE_LOG),
    Wanted("serving_engine_version", Role.SERVING, f"{ENGINE_LOG}, or its container tag"),
    Wanted("serving_container", Role.SERVING, "image and tag that the engine ran in"),
    Wanted("serving.reasoning_parser", Role.SERVING, ENGINE_LOG),
    Wanted("serving.tool_call_parser", Role.SERVING, ENGINE_LOG),
    Wanted("serving.tensor_parallel_size", Role.SERVING, f"parallelism: {ENGINE_LOG}"),
    Wanted("gpu_type", Role.SERVING, "nvidia-smi -L on the machine that served"),
    Wanted("request.temperature", Role.SAMPLING, CONFIG, ("temperature",)),
    Wanted("request.top_p", Role.SAMPLING, CONFIG, ("top_p",)),
    Wanted("request.reasoning", Role.SAMPLING, f"reasoning effort or mode: {CONFIG}"),
    Wanted("serving.default_sampling", Role.SAMPLING, f"what unset sampling values become: {ENGINE_LOG}"),
    Wanted("request.max_output_tokens", Role.LIMITS, CONFIG, ("max_output_tokens",)),
    Wanted("serving.max_model_len", Role.LIMITS, f"context length: {ENGINE_LOG}"),
    Wanted("time_limits", Role.LIMITS, f"timeouts and the most steps or turns: {CONFIG}"),
    Wanted("request.instructions", Role.PROMPT, CONFIG),
    Wanted("agent", Role.HARNESS, CONFIG, ("config.agent_name",)),
    Wanted("judge", Role.JUDGE, f"judge model, where the benchmark has one: {CONFIG}", whole_role=True),
    Wanted(
        "user_simulator",
        Role.USER_SIMULATOR,
        f"its model, where the benchmark has one: {CONFIG}",
        whole_role=True,
    ),
    Wanted("tools_used", Role.TOOLS, "the rollouts' function calls"),
    Wanted("repeats", Role.REPEATS, CONFIG, ("num_repeats",)),
)
"""The evidence sheet, in the order in which it is read."""

_TIME_WORDS = ("timeout", "max_steps", "max_turns", "step_limit", "budget")


def missing_lines(facts: Iterable[Fact]) -> Iterator[Fact]:
    """A missing fact for every wanted one that `facts` neither know nor already miss with a remedy."""
    held = {fact.name: fact for fact in facts}
    known = {name: fact for name, fact in held.items() if fact.is_known}
    roles = {fact.role for fact in known.values()}
    for wanted in WANTED:
        names = (wanted.name, *wanted.names)
        if any(name in known for name in names) or wanted.name in held:
            continue
        if wanted.whole_role and wanted.role in roles:
            continue
        if wanted.name == "time_limits" and any(word in name for name in known for word in _TIME_WORDS):
            continue
        yield Fact(
            name=wanted.name,
            role=wanted.role,
            value=None,
            strength=Strength.MISSING,
            remedy=wanted.remedy,
        )
