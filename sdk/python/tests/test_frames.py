"""Frames hold what the CSVs of `agon export` hold."""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from pathlib import Path

import pytest

import agon
from agon._frames import TABLES


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with every table: models, fouls, an axis, nulls."""
    data = tmp_path_factory.mktemp("frames")
    settings = {"params.rounds": 3}
    return agon.run("gamma-bench/leaderboard", model="sim", repeats=2, set=settings, data=data)


@pytest.fixture(scope="module")
def exported(run, binary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv") / "tables"
    command = [binary, "export", str(run.folder), "-o", str(folder), "--format", "csv"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_equal_the_csv(run, exported, table, frames):
    frame = getattr(run, table)(frames=frames)
    with (exported / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows) > 0
    records = frame.to_dicts() if frames == "polars" else frame.to_dict("records")
    for record, row in zip(records, rows, strict=True):
        for column, text in row.items():
            assert same(record[column], text), (column, record[column], text)


def same(value: object, text: str) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return text == ""
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)):
        return float(text) == float(value)
    return text.removeprefix("'") == str(value).removeprefix("'")


def test_columns_are_explained(run):
    columns = {(column.table, column.column): column for column in run.columns()}
    for table in TABLES:
        for name in run.table(table, frames="polars").columns:
            assert columns[table, name].about


def test_polars_is_used_where_pandas_is_missing(run):
    program = f"""
import sys
sys.modules["pandas"] = None
import importlib.util
spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "pandas" else spec(name)
import agon
print(type(agon.open({str(run.folder)!r}).sessions()).__module__)
"""
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert printed.stdout.startswith("polars")


def test_an_unknown_table_or_frame_is_refused(run):
    with pytest.raises(ValueError, match="there are sessions, seats"):
        run.table("turns")
    with pytest.raises(ValueError, match="pandas"):
        run.sessions(frames="arrow")


def test_tables_are_gone_with_the_run(run, guessing):
    other = agon.run(guessing())
    other.sessions()
    folder = Path(other._exported._folder.name)
    assert folder.exists()
    del other
    import gc

    gc.collect()
    assert not folder.exists()
