"""How often a tournament's intervals contain the strengths when it stops.

    python benchmarks/analysis_tournament.py [--tournaments 1000] [--processes 2]

Each tournament stops when all intervals are narrow enough, or, in the rows "stops at a winner",
when the interval of the leader is above all others, which is what people are tempted to do. "plain"
uses 95 % intervals at every look; "repeated" those of repeated confidence intervals.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from agon.analysis.ratings import ELO, Match, rate
from agon.analysis.sequential import repeated_level
from agon.analysis.tournament import looks_planned, tournament

ROSTERS = {
    "five players": [0.8, 0.3, 0.0, -0.3, -0.8],
    "four equal players": [0.0, 0.0, 0.0, 0.0],
}


def player(strengths: dict[str, float], generator: np.random.Generator):
    def play(pairing: tuple[str, ...], repeats: int) -> list[Match]:
        luck = generator.gumbel(size=(repeats, len(pairing)))
        paid = luck + [strengths[name] for name in pairing]
        return [Match(pairing, tuple(row), 0.0, str(generator.integers(2**62))) for row in paid]

    return play


def narrow(seed: int, values: list[float], kind: str, level: float | None) -> tuple[float, int]:
    """Share of strengths covered, and sessions, when all intervals are within 75 points.

    With a level, intervals are plain ones of that level.
    """
    names = [f"p{place}" for place in range(len(values))]
    truth = dict(zip(names, np.array(values) - np.mean(values), strict=True))
    play = player(truth, np.random.default_rng(seed))
    if level is None:
        standing = tournament(names, play, 75.0, 3000, kind=kind, seed=seed)
        strengths = standing.ratings.strengths
        sessions = standing.looks[-1].sessions
    else:
        matches, strengths = [], ()
        first = 2 * len(names) * (len(names) - 1) // 2
        for target in looks_planned(first, 3000, 1.6):
            matches += schedule(names, play, target - len(matches), len(matches))
            strengths = rate(matches, names, level=level).strengths
            if max(one.width for one in strengths) <= 150.0:
                break
        sessions = len(matches)
    return float(np.mean([one.covers(truth[one.name] * ELO) for one in strengths])), sessions


def winner(seed: int, values: list[float], kind: str, level: float | None) -> tuple[float, int]:
    """Whether all intervals at the stop cover, on average, when the leader is above all others."""
    names = [f"p{place}" for place in range(len(values))]
    truth = dict(zip(names, np.array(values) - np.mean(values), strict=True))
    play = player(truth, np.random.default_rng(seed))
    first = 2 * len(names) * (len(names) - 1) // 2
    plan = looks_planned(first, 600, 1.3)
    each = level or repeated_level([float(n) for n in plan])
    matches: list[Match] = []
    for target in plan:
        matches += schedule(names, play, target - len(matches), len(matches))
        strengths = sorted(rate(matches, names, level=each).strengths, key=lambda one: -one.value)
        if strengths[0].low > max(one.high for one in strengths[1:]):
            break
    leader = strengths[0]
    return float(leader.covers(truth[leader.name] * ELO)), len(matches)


def schedule(names: list[str], play, count: int, done: int) -> list[Match]:
    pairs = [(a, b) for a in names for b in names if a != b]
    return [match for n in range(count) for match in play(pairs[(done + n) % len(pairs)], 1)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tournaments", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"{'tournament':58}{'covers %':>10}{'se':>6}{'sessions':>10}")
    with ProcessPoolExecutor(options.processes) as pool:
        for name, values in ROSTERS.items():
            rows = [
                ("round robin, within 75 points, repeated", narrow, "round_robin", None),
                ("Swiss, within 75 points, repeated", narrow, "swiss", None),
                ("round robin, within 75 points, plain", narrow, "round_robin", 0.95),
                ("stops at a winner, its interval, repeated", winner, "", None),
                ("stops at a winner, its interval, plain", winner, "", 0.95),
            ]
            for title, function, kind, level in rows:
                one = partial(function, values=values, kind=kind, level=level)
                found = np.array(list(pool.map(one, range(options.tournaments), chunksize=10)))
                error = 100.0 * found[:, 0].std() / np.sqrt(len(found))
                print(
                    f"{name + ', ' + title:58}{100 * found[:, 0].mean():10.1f}{error:6.1f}"
                    f"{found[:, 1].mean():10.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
