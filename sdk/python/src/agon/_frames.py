"""Tables of `agon export` as pandas or polars frames."""

from __future__ import annotations

import csv
import importlib.util
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agon import _binary

Frames = Literal["pandas", "polars"]

TABLES = ("sessions", "seats", "rounds", "actions", "decisions", "observations")


@dataclass(frozen=True)
class Column:
    """What a column of a table is."""

    table: str
    column: str
    type: str
    about: str


class Exported:
    """The tables of one source, exported when they are first asked for."""

    def __init__(self, binary: str, source: Path) -> None:
        self._binary = binary
        self._source = source
        self._folder = tempfile.TemporaryDirectory(prefix="agon-tables-")

    def frame(self, table: str, frames: Frames | None) -> Any:
        """Read a table. Without `frames` it is pandas if that is installed, otherwise polars."""
        if table not in TABLES:
            raise ValueError(f"there is no table {table!r}; there are {', '.join(TABLES)}")
        kind = _installed(frames)
        path = self._export(table) / f"{table}.parquet"
        if kind == "polars":
            import polars

            return polars.read_parquet(path)
        import pandas

        return pandas.read_parquet(path)

    def columns(self) -> list[Column]:
        """Say what the columns of all tables are."""
        explained = []
        for table in TABLES:
            path = self._export(table) / "columns.csv"
            with path.open(encoding="utf-8", newline="") as rows:
                explained += [Column(**row) for row in csv.DictReader(rows)]
        return explained

    def _export(self, table: str) -> Path:
        folder = Path(self._folder.name) / table
        if not folder.exists():
            where = ["--out", str(folder), "--tables", table]
            _binary.call(self._binary, ["export", str(self._source), *where])
        return folder


def _installed(frames: Frames | None) -> Frames:
    if frames not in (None, "pandas", "polars"):
        raise ValueError(f'frames is "pandas" or "polars", not {frames!r}')
    kinds: tuple[Frames, ...] = (frames,) if frames is not None else ("pandas", "polars")
    for kind in kinds:
        needed = ("pandas", "pyarrow") if kind == "pandas" else ("polars",)
        if all(importlib.util.find_spec(name) for name in needed):
            return kind
    extra = frames or "pandas"
    raise ImportError(f"tables need {extra}: pip install 'agon[{extra}]'")
