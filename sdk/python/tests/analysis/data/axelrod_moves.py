"""Writes axelrod_moves.json: what the Axelrod library's strategies do after random pasts.

Kept as data because the library brings several gigabytes with it. Run it with `axelrod` installed.
"""

import json
from pathlib import Path

import axelrod
import numpy as np

NAMES = {
    "AC": "Cooperator",
    "AD": "Defector",
    "TFT": "TitForTat",
    "D-TFT": "SuspiciousTitForTat",
    "WSLS": "WinStayLoseShift",
    "TF2T": "TitFor2Tats",
    "2TFT": "TwoTitsForTat",
}


def cases(strategy: str) -> list[dict[str, list[bool]]]:
    """Moves of both players, and what the strategy does in each round after its past."""
    word = {True: axelrod.Action.C, False: axelrod.Action.D}
    generator = np.random.default_rng(2)
    found = []
    for _ in range(30):
        own, other = generator.random(10) < 0.5, generator.random(10) < 0.5
        expected = []
        for now in range(10):
            player, opponent = getattr(axelrod, strategy)(), axelrod.MockPlayer()
            for mine, theirs in zip(own[:now], other[:now], strict=True):
                player.history.append(word[bool(mine)], word[bool(theirs)])
                opponent.history.append(word[bool(theirs)], word[bool(mine)])
            expected.append(player.strategy(opponent) == axelrod.Action.C)
        found.append({"own": own.tolist(), "other": other.tolist(), "expected": expected})
    return found


if __name__ == "__main__":
    written = {name: cases(strategy) for name, strategy in NAMES.items()}
    data = {"axelrod": axelrod.__version__, "cases": written}
    Path(__file__).with_suffix(".json").write_text(json.dumps(data) + "\n")
