"""Secrets that configs and logs hold in clear text, found by the name of a key and by the shape of a value.

Gym's own masking (nemo-gym 0.7.0) looks for `token`, `key` and `header` in leaf keys only, and
`gym eval submit` masks nothing at all. So no value of a config is passed on before it went through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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

_NAMED_IN_TEXT = re.compile(
    r"(?<![A-Za-z0-9_\-.])([A-Za-z0-9_\-.]+)([\"']?\s*[=:]\s*|\s+)(\"[^\"]*\"|'[^']*'|[^\s\"',;&]+)"
)
"""`name=value`, `"name": value` or `--name value` inside a longer text."""


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
    return _NAMED_IN_TEXT.sub(_mask_named, text)


def _mask_named(match: re.Match[str]) -> str:
    name, between, _ = match.groups()
    is_assignment = between.strip() != "" or name.startswith("-")
    return f"{name}{between}{MASK}" if is_assignment and is_secret_name(name) else match.group()
