"""Writes values as TOML, in which experiments and values on the command line are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agon.errors import BadInput

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def document(values: Mapping[str, Any]) -> str:
    """Write a document, one line per top-level key, so that faults are told with a short line."""
    plain = {key: value for key, value in values.items() if value is not None}
    lines = [f"{_key(key)} = {inline(value)}" for key, value in plain.items()]
    return "\n".join(lines) + "\n"


def inline(value: Any) -> str:
    """Write one value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        pairs = ((key, one) for key, one in value.items() if one is not None)
        return "{ " + ", ".join(f"{_key(key)} = {inline(one)}" for key, one in pairs) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(inline(one) for one in value) + "]"
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return inline(value.tolist())
    raise BadInput(f"an experiment cannot hold {value!r}, a {type(value).__name__}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise BadInput(f"keys of an experiment are text, not {key!r}")
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, except that TOML has no surrogate pairs and escapes DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(number: float) -> str:
    if math.isnan(number) or math.isinf(number):
        raise BadInput(f"an experiment cannot hold the number {number}")
    return repr(number)
