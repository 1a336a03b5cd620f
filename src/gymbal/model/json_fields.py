"""JSON decoded no further than is needed: the fields of an object, each still JSON."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Fields = Mapping[str, msgspec.Raw]
"""The value of each field; of the last one where several have the same name."""

decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
"""Raises msgspec.DecodeError for what is no object, and RecursionError for one that is nested too deep."""

decode_value = msgspec.json.Decoder().decode
"""Decodes all of a value. Raises what `decode_fields` does."""
