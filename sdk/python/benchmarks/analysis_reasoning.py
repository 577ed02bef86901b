"""How often intervals of the models of reasoning contain what was planted.

    python benchmarks/analysis_reasoning.py [--sets 1000] [--only WORD] [--processes 2]

Prints a row per parameter: mean and spread of the estimates, and the percentage of nominal 95 %
intervals that contain the truth, with the standard error of that percentage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from analysis_coverage import Case, main

from agon.analysis.guessing import GuessingGame, fit_hierarchy, fit_levels
from agon.analysis.mixture import poisson_shares
from agon.analysis.results import Estimate, FloatArray


def choices(
    game: GuessingGame, shares: FloatArray, targets: FloatArray, sigma: float, count: int
) -> Callable[[np.random.Generator], FloatArray]:
    probabilities = np.exp(game.log_probabilities(game.grid, targets[1:], sigma))
    law = probabilities @ shares
    return lambda generator: generator.choice(game.grid, size=count, p=law / law.sum())


def hierarchy(tau: float, sigma: float, count: int, game: GuessingGame) -> Case:
    draw = choices(game, poisson_shares(tau, 21), game.hierarchy_targets(tau), sigma, count)

    def fit(generator: np.random.Generator) -> list[Estimate]:
        found = fit_hierarchy(draw(generator), game)
        return [found.tau, found.noise]

    return Case(f"CH tau {tau:g}, p {game.ratio:.2g}, n {count}", fit, [tau, sigma])


def levels(shares: list[float], sigma: float, count: int, game: GuessingGame) -> Case:
    draw = choices(game, np.array(shares), game.level_targets(len(shares) - 1), sigma, count)

    def fit(generator: np.random.Generator) -> list[Estimate]:
        found = fit_levels(draw(generator), game, len(shares) - 1)
        return [*found.shares, found.noise]

    return Case(f"level-k, p {game.ratio:.2g}, n {count}", fit, [*shares, sigma])


CASES = [
    hierarchy(1.5, 4.0, 50, GuessingGame()),
    *(hierarchy(tau, 4.0, 200, GuessingGame()) for tau in (0.5, 1.5, 3.0)),
    hierarchy(1.5, 4.0, 200, GuessingGame(ratio=0.8, low=1, players=5)),
    hierarchy(1.5, 40.0, 200, GuessingGame(ratio=2 / 3, high=1000, step=None)),
    levels([0.2, 0.4, 0.3, 0.1], 4.0, 100, GuessingGame()),
    levels([0.2, 0.4, 0.3, 0.1], 4.0, 300, GuessingGame()),
    levels([0.3, 0.4, 0.3], 3.0, 200, GuessingGame(ratio=0.5)),
]

if __name__ == "__main__":
    main(CASES)
