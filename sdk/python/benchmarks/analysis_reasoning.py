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

from agon.analysis import symmetric
from agon.analysis.games import NormalForm
from agon.analysis.guessing import GuessingGame, fit_hierarchy, fit_levels
from agon.analysis.hierarchy import (
    fit_level_mixture,
    fit_poisson_hierarchy,
    hierarchy_prediction,
    level_play,
)
from agon.analysis.mixture import poisson_shares
from agon.analysis.quantal import Counts, fit_quantal, quantal_response, trace_branch
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


def random_games(count: int) -> list[NormalForm]:
    generators = [np.random.default_rng(seed) for seed in range(count)]
    return [NormalForm.of(g.normal(size=(3, 3)), g.normal(size=(3, 3))) for g in generators]


def drawn(
    plays: list[tuple[NormalForm, list[FloatArray]]], count: int, generator: np.random.Generator
) -> list[Counts]:
    return [
        Counts.of(game, *(generator.multinomial(count, own) for own in mixed))
        for game, mixed in plays
    ]


def normal_hierarchy(tau: float, precision: float, games: int, count: int) -> Case:
    plays = [(game, hierarchy_prediction(game, tau, precision)) for game in random_games(games)]

    def fit(generator: np.random.Generator) -> list[Estimate]:
        found = fit_poisson_hierarchy(drawn(plays, count, generator))
        return [found.tau, found.noise]

    return Case(f"CH, {games} 3x3 games, n {count} a role", fit, [tau, precision])


def normal_levels(shares: list[float], precision: float, games: int, count: int) -> Case:
    plays = []
    for game in random_games(games):
        levels = level_play(game, len(shares) - 1, precision)
        mixed = [
            np.asarray(sum(w * own[player] for w, own in zip(shares, levels, strict=True)))
            for player in (0, 1)
        ]
        plays.append((game, mixed))

    def fit(generator: np.random.Generator) -> list[Estimate]:
        found = fit_level_mixture(drawn(plays, count, generator), len(shares) - 1)
        return [*found.shares, found.precision]

    return Case(f"level-k, {games} 3x3 games, n {count} a role", fit, [*shares, precision])


def quantal(
    name: str, game: NormalForm | symmetric.SymmetricGame, precision: float, count: int, most: float
) -> Case:
    branch, play = trace_branch(game, most), quantal_response(game, precision)

    def fit(generator: np.random.Generator) -> list[Estimate]:
        counts = [generator.multinomial(count, own) for own in play]
        return [fit_quantal(Counts.of(game, *counts), branches=[branch]).precision]

    return Case(f"QRE, {name}, n {count}", fit, [precision])


PENNIES = NormalForm.of([[9, 0], [0, 1]], [[0, 1], [1, 0]])
DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]])

CASES = [
    hierarchy(1.5, 4.0, 50, GuessingGame()),
    *(hierarchy(tau, 4.0, 200, GuessingGame()) for tau in (0.5, 1.5, 3.0)),
    hierarchy(1.5, 4.0, 200, GuessingGame(ratio=0.8, low=1, players=5)),
    hierarchy(1.5, 40.0, 200, GuessingGame(high=1000, step=None)),
    levels([0.2, 0.4, 0.3, 0.1], 4.0, 100, GuessingGame()),
    levels([0.2, 0.4, 0.3, 0.1], 4.0, 300, GuessingGame()),
    levels([0.3, 0.4, 0.3], 3.0, 200, GuessingGame(ratio=0.5)),
    normal_hierarchy(1.5, 4.0, 6, 40),
    normal_levels([0.3, 0.4, 0.3], 5.0, 6, 40),
    quantal("asymmetric matching pennies", PENNIES, 0.6, 100, 20.0),
    quantal("prisoner's dilemma", DILEMMA, 0.5, 60, 20.0),
    quantal("random 3x3", random_games(3)[2], 1.5, 60, 40.0),
    quantal("public goods, 5 levels", symmetric.public_goods(range(0, 21, 5)), 0.08, 100, 3.0),
    quantal("El Farol, home 2", symmetric.el_farol(home=2.0), 0.4, 100, 10.0),
    quantal("guessing, 11 numbers", symmetric.guess(range(0, 101, 10)), 10.0, 100, 60.0),
]

if __name__ == "__main__":
    main(CASES)
