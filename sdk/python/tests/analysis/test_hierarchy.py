"""Levels of reasoning in games in normal form."""

import numpy as np
import pytest

from agon.analysis.games import NormalForm
from agon.analysis.hierarchy import (
    fit_level_mixture,
    fit_poisson_hierarchy,
    hierarchy_play,
    hierarchy_prediction,
    level_play,
)
from agon.analysis.quantal import Counts

# Level 1 plays M (best against uniform play), level 2 plays B (best against M).
LADDER = NormalForm.symmetric([[4, 0, 0], [1, 3, 3], [2, 4, 0]], ["T", "M", "B"])


def games(count):
    generators = [np.random.default_rng(seed) for seed in range(count)]
    return [NormalForm.of(g.normal(size=(3, 3)), g.normal(size=(3, 3))) for g in generators]


def simulate(mixtures, count, generator):
    return [
        Counts.of(game, *(generator.multinomial(count, own) for own in mixture))
        for game, mixture in mixtures
    ]


def test_each_level_replies_to_the_level_below():
    play = level_play(LADDER, 3)
    assert [list(level[0]) for level in play[1:]] == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]


def test_ties_are_split_evenly():
    game = NormalForm.symmetric([[1, 1], [1, 1]])
    assert list(level_play(game, 1)[1][0]) == [0.5, 0.5]


def test_level_two_of_the_hierarchy_believes_in_poisson_shares():
    # Against uniform play with weight 1 and M with weight tau, all over 1 + tau:
    # M earns (7/3 + 3 tau), B earns (2 + 4 tau): B is better exactly above tau = 1/3.
    assert hierarchy_play(LADDER, 0.32)[2][0] == pytest.approx([0, 1, 0])
    assert hierarchy_play(LADDER, 0.35)[2][0] == pytest.approx([0, 0, 1])


def test_logit_replies_are_logits():
    (row, _) = level_play(LADDER, 1, precision=2.0)[1]
    weights = np.exp(2.0 * np.array([4 / 3, 7 / 3, 2]))
    assert row == pytest.approx(weights / weights.sum())


def test_predictions_sum_to_one():
    for own in hierarchy_prediction(LADDER, 1.5, 3.0):
        assert own.sum() == pytest.approx(1.0)


def test_planted_tau_and_precision_are_recovered_from_several_games():
    generator = np.random.default_rng(4)
    mixtures = [(game, hierarchy_prediction(game, 1.5, 4.0)) for game in games(6)]
    fit = fit_poisson_hierarchy(simulate(mixtures, 1000, generator))
    assert fit.tau.value == pytest.approx(1.5, abs=0.15)
    assert fit.noise.value == pytest.approx(4.0, abs=0.5)


def test_best_replies_give_tau_on_a_grid():
    generator = np.random.default_rng(5)
    mixtures = [(game, hierarchy_prediction(game, 1.2)) for game in games(6)]
    fit = fit_poisson_hierarchy(simulate(mixtures, 1000, generator), precision=np.inf)
    assert fit.tau.value == pytest.approx(1.2, abs=0.06)
    assert fit.tau.low < fit.tau.value < fit.tau.high


def test_planted_levels_are_recovered_from_several_games():
    generator, planted = np.random.default_rng(6), [0.2, 0.5, 0.3]
    mixtures = []
    for game in games(6):
        levels = level_play(game, 2, 5.0)
        mix = [sum(w * level[p] for w, level in zip(planted, levels, strict=True)) for p in (0, 1)]
        mixtures.append((game, mix))
    fit = fit_level_mixture(simulate(mixtures, 1000, generator))
    assert [share.value for share in fit.shares] == pytest.approx(planted, abs=0.04)
    assert fit.precision.value == pytest.approx(5.0, abs=0.7)
