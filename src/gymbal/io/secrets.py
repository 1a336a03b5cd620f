"""Secrets that configs and logs hold in clear text, found by the name of a key and by the shape of a value.

Gym's own masking (nemo-gym 0.7.0) looks for `token`, `key` and `header` in leaf keys only, and
`gym eval submit` masks nothing at all. So no value of a config is passed on before it went through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from gymbal.io.fingerprint import digest
from gymbal.model.evidence import Value

MASK = "****"
"""What Gym itself writes in place of a secret, and so do we."""

_SECRET_WORDS = re.compile(
    r"token|key|secret|passwo?r?d|passphrase|credential|bearer|authorization|cookie|header", re.IGNORECASE
)

_HARMLESS_WORDS = re.compile(
    r"tokeni[sz]\w*"  # tokenizer_mode
    r"|token_ids?(?![a-z])\w*"  # token_id_capture
    r"|(?<![a-z])(max|min|num|n|total|mean)_(\w+_)?tokens?(?![a-z])"  # max_output_tokens
    r"|keyword\w*",
    re.IGNORECASE,
)

_SECRET_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_\-]{6,}"
    r"|\b(?:hf|ghp|gho|ghu|ghs|ghr|glpat|github_pat|npm)[_-][A-Za-z0-9_\-]{6,}"
    r"|\bnvapi-[A-Za-z0-9_\-]{6,}"
    r"|\bxox[abprs]-[A-Za-z0-9\-]{6,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,2000}\.[A-Za-z0-9_\-]{8,2000}\.[A-Za-z0-9_\-]*"
)

_BEARER = re.compile(r"\b(bearer)\s+[^\s'\"]{6,}", re.IGNORECASE)

_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@]*:)[^\s/@]+(@)", re.IGNORECASE)

_NAME_IN_TEXT = re.compile(
    r"(?<![A-Za-z0-9_\-.])(?P<name>[A-Za-z0-9_\-.]+)(?P<between>[\"']?\s*[=:]\s*|\s+(?!-))"
)
"""What may stand before a value inside a longer text: `name=`, `"name": ` or `--name `."""

_VALUE_IN_TEXT = re.compile(
    r"(?:\*{4}|\"[^\"]*\"|'[^']*'|[{\[][^{}\[\]]*[}\]]?)[^\s\"',;&{}\[\]]*"
    r"|[^\s\"',;&]+"
)
"""What stands right behind a quote or a bracket belongs to the value."""


def is_secret_name(name: str) -> bool:
    """Whether a key of this name holds a secret; limits such as `max_output_tokens` do not."""
    return _SECRET_WORDS.search(_HARMLESS_WORDS.sub("", name.replace("-", "_"))) is not None


def is_secret_path(names: Iterable[str]) -> bool:
    """Whether any key on the way to a value is named like a secret: below `secrets:` every name is one."""
    return any(is_secret_name(name) for name in names)


def mask(name: str, value: Value) -> Value:
    """Return `value` without its secrets: `****` where `name` names one, else the text with them cut out.

    Null stays null, so that an unset secret is seen to be unset.
    """
    if value is None:
        return None
    if is_secret_name(name):
        return MASK
    return mask_text(value) if isinstance(value, str) else value


def mask_text(text: str) -> str:
    """Replace every secret inside `text` that its shape or the name before it gives away."""
    text = _URL_PASSWORD.sub(rf"\1{MASK}\2", text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    text = _SECRET_SHAPES.sub(MASK, text)
    return _mask_named(text)


def _mask_named(text: str) -> str:
    """Mask the values of secret names. Any other value is looked at again: it can hold a name of its own."""
    parts: list[str] = []
    done = place = 0
    while match := _NAME_IN_TEXT.search(text, place):
        place = match.end("name")
        is_assigned = match["between"].strip() != "" or match["name"].startswith("-")
        if is_assigned and is_secret_name(match["name"]):
            value = _VALUE_IN_TEXT.match(text, match.end())
            if value is not None:
                parts += (text[done : match.end()], MASK)
                done = place = value.end()
    return "".join((*parts, text[done:]))


MIN_SECRET_CHARACTERS = 6
"""A shorter value is no secret worth the name, and stands in too many other texts."""

PLACEHOLDERS = frozenset({"not-needed", "changeme", "no-key-required", "placeholder", "unused"})
"""What stands where an endpoint asks for no key."""


def secret_values(named: Iterable[tuple[str, Any]]) -> frozenset[str]:
    """The values of the keys that are named like secrets, to be found again wherever else they stand."""
    return frozenset(
        value
        for name, value in named
        if isinstance(value, str)
        and len(value) >= MIN_SECRET_CHARACTERS
        and value.lower() not in PLACEHOLDERS
        and MASK not in value
        and is_secret_name(name)
    )


def mask_values(text: str, secrets: Iterable[str]) -> str:
    """Replace every one of `secrets` in `text`, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def mask_tree(node: Any, secrets: Iterable[str] = (), *, is_secret: bool = False) -> Any:
    """A decoded document without its secrets, of the same shape: by key, by shape, and by value as known.

    Below a key that names a secret every value is one; null stays null. A text that is JSON is looked into.
    """
    if isinstance(node, dict):
        return {
            name: mask_tree(value, secrets, is_secret=is_secret or is_secret_name(str(name)))
            for name, value in node.items()
        }
    if isinstance(node, list):
        return [mask_tree(value, secrets, is_secret=is_secret) for value in node]
    if node is None or isinstance(node, bool):
        return node
    if is_secret:
        return MASK
    return _mask_document(node, secrets) if isinstance(node, str) else node


def _mask_document(text: str, secrets: Iterable[str]) -> str:
    """`text` without its secrets, as JSON again where it is an object or list in JSON."""
    if text.lstrip().startswith(("{", "[")):
        try:
            inner = msgspec.json.decode(text)
            masked = mask_tree(inner, secrets)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass  # Looked through as any other text.
        else:
            return text if masked == inner else msgspec.json.encode(masked).decode()
    return mask_values(mask_text(text), secrets)


def mask_apart(text: str) -> str:
    """`text` without its secrets; a digest of all of it follows where it held some.

    So two values that differ in a secret alone are still two.
    """
    return with_digest(mask_tree(text), text)


def with_digest(masked: str, value: str) -> str:
    """`masked`, followed by eight digits of the digest of `value` where the two differ."""
    if masked == value:
        return value
    return f"{masked} (digest {digest(value.encode('utf-8', 'surrogatepass'))[:8]})"


def mask_words(words: Iterable[str], secrets: Iterable[str] = ()) -> list[str]:
    """The words of a command line without its secrets: `--api-key X`, `++api_key=X`, `TOKEN=X`."""
    masked: list[str] = []
    names_next = False
    for word in words:
        name, equals, _ = word.partition("=")
        plain_name = name.lstrip("+~-")
        if names_next and not word.startswith("-"):
            masked.append(MASK)
        elif equals and " " not in name and is_secret_path(plain_name.split(".")):
            masked.append(f"{name}={MASK}")
        else:
            masked.append(mask_values(mask_text(word), secrets))
        names_next = not equals and word.startswith("-") and is_secret_name(plain_name)
    return masked
