"""What is independent in session records: sessions, or the series that they belong to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def unit_of(record: Any) -> str:
    """A name that records of one series share, and other records do not.

    Sessions of a series have everything in common but their place. `record` is an `agon` record or
    a line of `records.jsonl` as a dictionary.
    """
    data: Mapping[str, Any] = getattr(record, "data", record)
    spec = dict(data["spec"])
    spec["luck"] = {key: value for key, value in spec["luck"].items() if key != "place"}
    return json.dumps(spec, sort_keys=True)
