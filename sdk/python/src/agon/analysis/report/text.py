"""Numbers, rows and names as texts that terminals and pages can show.

Most modules of this package call it; it knows nothing of games or sections.
"""

from __future__ import annotations

import html
import json
import math
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

_MOST_ROWS = 60
"""Rows of a table that a page or a terminal shows."""

_TINY = 1e-9
"""Numbers that are shown as 0."""

_NOT_PRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def _shown(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Rows that are shown, as texts, and a note if they are not all."""
    note, kept = "", frame
    if len(frame) > _MOST_ROWS:
        if "time" in frame:
            times = frame["time"].unique()
            some = times[np.linspace(0, len(times) - 1, 11).astype(int)]
            kept = frame[frame["time"].isin(some)]
            note = f"(11 of {len(times)} times)"
        else:
            kept = frame.head(_MOST_ROWS)
            note = f"({_MOST_ROWS} of {len(frame)} rows)"
    texts = {name: [_cell(value) for value in kept[name]] for name in kept.columns}
    shown: pd.DataFrame = pd.DataFrame(texts, dtype=object)
    return shown, note


def _cell(value: Any) -> str:
    if value is None or value is pd.NA:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return _printable(str(value)).replace("\n", " ")


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0.0 else "-infinite"
    if abs(value) < _TINY:
        return "0"
    if abs(value) >= 10_000.0:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _first(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The frame with these columns in front."""
    ordered = [*names, *(name for name in frame.columns if name not in names)]
    moved: pd.DataFrame = frame[ordered].reset_index(drop=True)
    return moved


def _printable(text: str) -> str:
    """The text without characters that steer terminals or cannot stand in a page."""
    return _NOT_PRINTABLE.sub("\ufffd", text)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="  " if text.startswith("- ") else "")


def _escaped(text: object) -> str:
    return html.escape(_printable(str(text)))


def _listed(things: Iterable[Any]) -> str:
    return ", ".join(str(thing) for thing in things)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what}s"
