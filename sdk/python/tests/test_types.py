"""Users' code is checked against the package's types."""

from __future__ import annotations

import subprocess
import sys

GOOD = """
import agon
import pandas as pd

class Lowest(agon.Player):
    def decide(self, ask: agon.Ask) -> int:
        return int(ask.form["minimum"])

def text(ask: agon.Ask) -> str:
    return ask.text

players: dict[str, str | agon.Playing] = {"a": Lowest, "b": Lowest(), "c": text, "d": "sim"}
players["e"] = agon.PerSeat(Lowest)
run = agon.run("gamma-bench/quick-start", players=players, set={"params.rounds": 1})
frame: pd.DataFrame = run.table("seats", frames="pandas")
turns: list[int] = [move.turn for record in run.records() for move in record.moves]
dollars: float | None = agon.plan("x", model="m").expected_dollars
"""

BAD = """
import agon
agon.plan("x", modle="m")
agon.run("x", players={"a": 3})
agon.open("x").sessions(frames="arrow")
"""


def check(text, folder):
    (folder / "user.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "user.py"]
    return subprocess.run(command, capture_output=True, text=True)


def test_good_code_passes_and_mistakes_are_found(folder):
    passed = check(GOOD, folder)
    assert passed.returncode == 0, passed.stdout
    failed = check(BAD, folder)
    assert failed.returncode == 1
    for line in (3, 4, 5):
        assert f"user.py:{line}: error" in failed.stdout
