"""How often intervals of strategy frequencies contain what was planted.

    python benchmarks/analysis_strategies.py [--sets 1000] [--only WORD] [--processes 2]

Pairs of players of planted strategies play a repeated game with trembles. In the cases "alike" both
players of a session follow the same strategy, so that players of a session depend on each other;
"players resampled" shows what happens to intervals that ignore it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from analysis_coverage import Case, main

from agon.analysis.repeated import DAL_BO_FRECHETTE, History
from agon.analysis.results import Estimate
from agon.analysis.strategies import Play, fit_strategies

NAMES = ["AD", "AC", "G", "TFT", "WSLS"]
LIBRARY = {name: DAL_BO_FRECHETTE[name] for name in NAMES}


def match(
    pair: list[str], beta: float, rounds: int, generator: np.random.Generator
) -> list[History]:
    own = np.zeros((2, rounds), dtype=bool)
    for now in range(rounds):
        for seat in (0, 1):
            seen = History(own[seat, : now + 1], own[1 - seat, : now + 1].astype(float))
            wanted = LIBRARY[pair[seat]](seen)[-1]
            own[seat, now] = wanted == (generator.random() < beta)
    return [History(own[seat], own[1 - seat].astype(float)) for seat in (0, 1)]


def session(
    number: int,
    size: int,
    shares: list[float],
    beta: float,
    rounds: int,
    alike: bool,
    apart: bool,
    generator: np.random.Generator,
) -> list[Play]:
    """Plays of a session of some pairs; `apart` calls every player independent."""
    plays = []
    kinds = generator.choice(NAMES, size=size, p=shares)
    if alike:
        kinds[:] = kinds[0]
    for first in range(0, size, 2):
        histories = match(list(kinds[first : first + 2]), beta, rounds, generator)
        for seat, history in enumerate(histories):
            player = (number, first + seat)
            plays.append(Play(player, player if apart else number, (history,)))
    return plays


def case(
    shares: list[float],
    beta: float,
    sessions: int,
    size: int,
    rounds: int,
    alike: bool = False,
    apart: bool = False,
) -> Case:
    def fit(generator: np.random.Generator) -> list[Estimate]:
        plays = [
            play
            for number in range(sessions)
            for play in session(number, size, shares, beta, rounds, alike, apart, generator)
        ]
        found = fit_strategies(plays, LIBRARY, draws=500, seed=int(generator.integers(2**31)))
        return [*found.shares, found.beta]

    name = f"{sessions} sessions of {size}, {rounds} rounds"
    name += ", alike" if alike else ""
    name += ", players resampled" if apart else ""
    return Case(name, fit, [*shares, beta])


SHARES = [0.35, 0.15, 0.15, 0.25, 0.10]

CASES = [
    case(SHARES, 0.9, 30, 4, 20),
    case(SHARES, 0.9, 60, 2, 20),
    case(SHARES, 0.9, 100, 2, 40),
    case(SHARES, 0.9, 100, 2, 20, alike=True),
    case(SHARES, 0.9, 100, 2, 20, alike=True, apart=True),
]

if __name__ == "__main__":
    main(CASES)
