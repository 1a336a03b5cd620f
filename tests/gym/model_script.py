"""What a scripted model says: a JSON script, and the player that picks its next answer.

A script is an object::

    {"model": "demo-8b", "created": 1790000000, "rules": [RULE, ...]}

RULE     {"name": "q1", "match": MATCH, "draws": [EPISODE, ...]}      draw n plays draws[n % len(draws)]
         {"name": "q1", "match": MATCH, "choices": [CHOICE, ...]}     draw n plays one of them by weight
CHOICE   {"weight": 0.7, "turns": EPISODE}              picked by a hash of seed, last user message and draw
MATCH    {"last_user": "...", "last_user_contains": "...", "system_contains": "...", "tool": "name",
          "conversation": "..."}    the `Conversation.digest` of one conversation
         All given conditions must hold; {} matches everything. The first rule that matches is played.
EPISODE  [TURN, ...]
         Turn t answers a conversation with t rounds of tool results since its last user message.
TURN     {"reasoning": "...", "text": "...",
          "calls": [{"name": "...", "arguments": {...} or "verbatim string"}],
          "truncated": true, "delay_s": 0.2, "errors": [500, 503],
          "usage": {"input": 10, "output": 5, "reasoning": 0} or null}
         Every key is optional. `errors` are the HTTP statuses of the first requests for this turn; the answer
         comes after them. A turn of errors alone is a failure, and with its last error the draw is spent.
         `usage` null leaves the usage out; without the key, tokens are counted as words and signs.

A draw is one run through an episode. A conversation that holds a call id which the player issued belongs to
the draw that issued it. Any other conversation starts a new draw: its number says how often that same
conversation was asked before.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ScriptError(ValueError):
    """The script is not valid; the message names the place in it."""


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    """Sent as it is, so that a script can hold malformed JSON."""


@dataclass(frozen=True)
class Usage:
    input: int
    output: int
    reasoning: int


@dataclass(frozen=True, kw_only=True)
class Turn:
    reasoning: str | None
    text: str | None
    calls: tuple[Call, ...]
    is_truncated: bool
    delay_s: float
    errors: tuple[int, ...]
    usage: Usage | None
    """None: counted from the text, unless `has_usage` is false."""
    has_usage: bool

    @property
    def has_answer(self) -> bool:
        """An empty answer is one too when it was cut off; a turn of errors alone has none."""
        return bool(self.reasoning or self.text or self.calls or self.is_truncated or not self.errors)


Episode = tuple[Turn, ...]


@dataclass(frozen=True)
class Match:
    last_user: str | None
    last_user_contains: str | None
    system_contains: str | None
    tool: str | None
    conversation: str | None


@dataclass(frozen=True)
class Rule:
    name: str
    match: Match
    draws: tuple[Episode, ...]
    weights: tuple[float, ...] | None
    """None: the draws are played in order. Else the chance of each, and `draws` are the choices."""


@dataclass(frozen=True)
class Script:
    model: str
    created: int
    """Unix seconds of the first answer; every further answer is dated one second later."""
    rules: tuple[Rule, ...]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A request reduced to what a script can depend on, the same for both dialects."""

    system: str
    last_user: str
    tool_rounds: int
    """Maximal runs of tool results since the last user message."""
    call_ids: tuple[str, ...]
    tools: frozenset[str]
    digest: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What to send: `status` 200 and the turn, or an HTTP error status."""

    status: int
    rule: str
    draw: int
    turn_index: int
    turn: Turn
    created: int
    key: str
    """Hex digest, unique per draw and conversation: the stem of every id in the answer."""

    def call_id(self, position: int) -> str:
        return "call_" + digest(self.key, "call", position)[:24]


class NoAnswer(LookupError):
    """No rule, or no turn of the matching rule, fits the conversation."""


@dataclass
class Player:
    """Plays one script. Thread-safe; answers depend on script, seed and the order of requests alone."""

    script: Script
    seed: str = "0"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _draws_spent: Counter[str] = field(default_factory=Counter)
    _requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    _draw_of_call: dict[str, int] = field(default_factory=dict)
    _answers: int = 0

    def answer(self, conversation: Conversation) -> Answer:
        """The next answer to `conversation`. Raises NoAnswer where the script has none."""
        rule = self._rule(conversation)
        with self._lock:
            known = [self._draw_of_call[i] for i in conversation.call_ids if i in self._draw_of_call]
            draw = known[-1] if known else self._draws_spent[conversation.digest]
            turn = self._turn(rule, draw, conversation)
            sent = self._requests[conversation.digest, draw]
            self._requests[conversation.digest, draw] += 1
            fails = sent < len(turn.errors) or not turn.has_answer
            is_last_error = not turn.has_answer and sent + 1 >= len(turn.errors)
            if not known and (is_last_error or not fails):
                self._draws_spent[conversation.digest] += 1
            answer = Answer(
                status=turn.errors[min(sent, len(turn.errors) - 1)] if fails else 200,
                rule=rule.name,
                draw=draw,
                turn_index=conversation.tool_rounds,
                turn=turn,
                created=self.script.created + self._answers,
                key=digest(self.seed, rule.name, draw, conversation.digest),
            )
            if not fails:
                self._answers += 1
                self._draw_of_call.update((answer.call_id(i), draw) for i in range(len(turn.calls)))
        return answer

    def _rule(self, conversation: Conversation) -> Rule:
        for rule in self.script.rules:
            if _fits(rule.match, conversation):
                return rule
        raise NoAnswer(
            f"no rule of the script matches the last user message {conversation.last_user[:120]!r}"
        )

    def _turn(self, rule: Rule, draw: int, conversation: Conversation) -> Turn:
        episode = rule.draws[self._pick(rule, draw, conversation.last_user)]
        if conversation.tool_rounds >= len(episode):
            raise NoAnswer(
                f"rule {rule.name!r}, draw {draw}, has {len(episode)} turns; "
                f"the conversation asks for turn {conversation.tool_rounds}"
            )
        return episode[conversation.tool_rounds]

    def _pick(self, rule: Rule, draw: int, last_user: str) -> int:
        if rule.weights is None:
            return draw % len(rule.draws)
        point = int(digest(self.seed, last_user, draw)[:16], 16) / 16**16 * sum(rule.weights)
        for position, weight in enumerate(rule.weights):
            point -= weight
            if point < 0:
                return position
        return len(rule.weights) - 1


def _fits(match: Match, conversation: Conversation) -> bool:
    return (
        (match.last_user is None or match.last_user == conversation.last_user)
        and (match.last_user_contains is None or match.last_user_contains in conversation.last_user)
        and (match.system_contains is None or match.system_contains in conversation.system)
        and (match.tool is None or match.tool in conversation.tools)
        and (match.conversation is None or match.conversation == conversation.digest)
    )


def digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def load_script(path: Path) -> Script:
    """Reads a script file. Raises ScriptError where it is not valid, OSError where it cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ScriptError(f"{path}: not JSON: {error}") from error
    return parse_script(document)


def parse_script(document: object) -> Script:
    """Checks a decoded script and makes it typed. Raises ScriptError."""
    fields = _object(document, "script", {"model", "created", "rules"})
    rules = tuple(_rule(rule, f"rules[{i}]") for i, rule in enumerate(_list(fields.get("rules"), "rules")))
    names = Counter(rule.name for rule in rules)
    if repeated := [name for name, times in names.items() if times > 1]:
        raise ScriptError(f"rules: the name {repeated[0]!r} is used {names[repeated[0]]} times")
    return Script(
        model=_text(fields.get("model", "scripted"), "model"),
        created=_whole(fields.get("created", 1_790_000_000), "created"),
        rules=rules,
    )


def _rule(document: object, where: str) -> Rule:
    fields = _object(document, where, {"name", "match", "draws", "choices"})
    if ("draws" in fields) == ("choices" in fields):
        raise ScriptError(f"{where}: give either 'draws' or 'choices'")
    weights: tuple[float, ...] | None = None
    if "draws" in fields:
        episodes = _list(fields["draws"], f"{where}.draws")
    else:
        choices = [
            _object(choice, f"{where}.choices[{i}]", {"weight", "turns"})
            for i, choice in enumerate(_list(fields["choices"], f"{where}.choices"))
        ]
        weights = tuple(_number(choice.get("weight"), f"{where}.choices.weight") for choice in choices)
        episodes = [choice.get("turns") for choice in choices]
        if sum(weights) <= 0:
            raise ScriptError(f"{where}.choices: the weights add up to nothing")
    return Rule(
        name=_text(fields.get("name", where), f"{where}.name"),
        match=_match(fields.get("match", {}), f"{where}.match"),
        draws=tuple(
            tuple(
                _turn(turn, f"{where}.draws[{i}][{t}]")
                for t, turn in enumerate(_list(episode, f"{where}.draws[{i}]"))
            )
            for i, episode in enumerate(episodes)
        ),
        weights=weights,
    )


def _match(document: object, where: str) -> Match:
    keys = ("last_user", "last_user_contains", "system_contains", "tool", "conversation")
    fields = _object(document, where, set(keys))
    return Match(*(_text(fields[key], f"{where}.{key}") if key in fields else None for key in keys))


def _turn(document: object, where: str) -> Turn:
    fields = _object(
        document, where, {"reasoning", "text", "calls", "truncated", "delay_s", "usage", "errors"}
    )
    calls = _list(fields["calls"], f"{where}.calls") if "calls" in fields else []
    errors = _list(fields["errors"], f"{where}.errors") if "errors" in fields else []
    usage = fields.get("usage")
    return Turn(
        reasoning=_text(fields["reasoning"], f"{where}.reasoning") if "reasoning" in fields else None,
        text=_text(fields["text"], f"{where}.text") if "text" in fields else None,
        calls=tuple(_call(call, f"{where}.calls[{i}]") for i, call in enumerate(calls)),
        is_truncated=fields.get("truncated", False) is True,
        delay_s=_number(fields.get("delay_s", 0), f"{where}.delay_s"),
        errors=tuple(_whole(status, f"{where}.errors") for status in errors),
        usage=_usage(usage, f"{where}.usage") if usage is not None else None,
        has_usage="usage" not in fields or usage is not None,
    )


def _call(document: object, where: str) -> Call:
    fields = _object(document, where, {"name", "arguments"})
    arguments = fields.get("arguments", {})
    return Call(
        name=_text(fields.get("name"), f"{where}.name"),
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
    )


def _usage(document: object, where: str) -> Usage:
    fields = _object(document, where, {"input", "output", "reasoning"})
    return Usage(*(_whole(fields.get(key, 0), f"{where}.{key}") for key in ("input", "output", "reasoning")))


def _object(value: object, where: str, allowed: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ScriptError(f"{where}: expected an object, found {type(value).__name__}")
    if unknown := sorted(set(value) - set(allowed)):
        raise ScriptError(f"{where}: unknown key {unknown[0]!r}; allowed: {', '.join(sorted(allowed))}")
    return value


def _list(value: object, where: str) -> Sequence[Any]:
    if not isinstance(value, list) or not value:
        raise ScriptError(f"{where}: expected a list that is not empty")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ScriptError(f"{where}: expected text, found {type(value).__name__}")
    return value


def _whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScriptError(f"{where}: expected a whole number, found {value!r}")
    return value


def _number(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise ScriptError(f"{where}: expected a number of at least 0, found {value!r}")
    return float(value)
