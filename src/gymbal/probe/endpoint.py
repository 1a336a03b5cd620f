"""What the servers of a run say of themselves: the model endpoint, and the head server of its Gym servers.

Only addresses that the run's own command or config names are asked, with short time limits, and no redirect
is followed: it could carry the key of one host to another.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import decode_yaml
from gymbal.probe.program import NoAnswer

SECONDS = 2.0

MAX_BYTES = 4 * 1024 * 1024

SGLANG = "sglang"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def ask_model_endpoint(base_url: str, key: str | None = None) -> dict[str, Any] | NoAnswer:
    """`/v1/models` and `/version` of the endpoint, and of SGLang its settings.

    `base_url` is that of the OpenAI-compatible API, which ends in `/v1`; the others are asked beside it.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    base = base_url.rstrip("/")
    models = _get_json(f"{base}/models", headers)
    if isinstance(models, NoAnswer):
        return models
    if isinstance(models, str):
        return NoAnswer(f"{base}/models said something else")
    found: dict[str, Any] = {"models": models}
    root = base.removesuffix("/v1")
    version = _get_json(f"{root}/version", headers)
    if isinstance(version, dict):
        found["version"] = version
    if SGLANG in str(models):
        # The second is the older name.
        for path in ("server_info", "get_server_info"):
            info = _get_json(f"{root}/{path}", headers)
            if isinstance(info, dict):
                found["server_info"] = {
                    name: value for name, value in info.items() if not isinstance(value, dict | list)
                }
                break
    return found


def ask_head_server(host: str, port: int) -> dict[str, Any] | NoAnswer:
    """The config that running Gym servers were started with, secrets in clear text."""
    text = _get_json(f"http://{host}:{port}/global_config_dict_yaml", {})
    if isinstance(text, NoAnswer):
        return text
    if not isinstance(text, str):
        return NoAnswer("the head server said something else")
    try:
        config = decode_yaml(text, "head server")
    except InputError as error:
        return NoAnswer(error.message)
    return config if isinstance(config, dict) else NoAnswer("the head server's config is no mapping")


def _get_json(url: str, headers: Mapping[str, str]) -> Any:
    """The decoded body, or a NoAnswer."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return NoAnswer(f"no answer from {url}: no http address")
    opener = urllib.request.build_opener(_NoRedirect)
    request = urllib.request.Request(url, headers=dict(headers))
    try:
        with opener.open(request, timeout=SECONDS) as response:
            return msgspec.json.decode(response.read(MAX_BYTES))
    except urllib.error.HTTPError as error:
        return NoAnswer(f"no answer from {url}: HTTP {error.code}")
    except msgspec.DecodeError:
        return NoAnswer(f"no answer from {url}: no JSON")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return NoAnswer(f"no answer from {url}: {getattr(error, 'reason', error)}")
