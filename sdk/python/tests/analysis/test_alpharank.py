"""Alpha-rank against theory and OpenSpiel."""

import numpy as np
import pytest

from agon.analysis.alpharank import alpha_rank, fixation, stationary
from agon.analysis.games import NormalForm

ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
BIASED = [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]]
DILEMMA = [[3, 0], [5, 1]]


def test_rock_paper_scissors_ranks_all_alike():
    rank = alpha_rank(NormalForm.symmetric(ROCK_PAPER_SCISSORS))
    assert rank.mass == pytest.approx(np.full(3, 1 / 3))


def test_defection_takes_all_of_the_dilemma():
    rank = alpha_rank(NormalForm.symmetric(DILEMMA, ["cooperate", "defect"]), alpha=10)
    assert rank.frame()["profile"][0] == "defect"
    assert rank.mass[1] == pytest.approx(1.0)


def test_fixation_without_selection_is_one_in_the_population():
    assert fixation(np.array([0.0]), 50)[0] == pytest.approx(1 / 50)


def test_fixation_does_not_overflow():
    assert fixation(np.array([-1e5, 1e5]), 50) == pytest.approx([0.0, 1.0])


def test_stationary_distribution_of_a_known_chain():
    assert stationary(np.array([[0.9, 0.1], [0.3, 0.7]])) == pytest.approx([0.75, 0.25])


def test_two_absorbing_states_are_refused():
    with pytest.raises(ValueError, match="more than one"):
        stationary(np.eye(2))


def random_game(seed, shape):
    generator = np.random.default_rng(seed)
    return NormalForm.of(*(generator.normal(size=shape) for _ in shape))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0, np.inf])
@pytest.mark.parametrize("matrix", [ROCK_PAPER_SCISSORS, BIASED, DILEMMA])
def test_single_populations_equal_open_spiel(matrix, alpha):
    reference = pytest.importorskip("open_spiel.python.egt.alpharank")
    limit = {"use_inf_alpha": True} if np.isinf(alpha) else {"alpha": alpha}
    expected = reference.compute([np.array(matrix, dtype=float)], m=20, **limit)[2]
    found = alpha_rank(NormalForm.symmetric(matrix), alpha, 20).mass
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0, np.inf])
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3, 2)])
def test_several_populations_equal_open_spiel(shape, alpha):
    reference = pytest.importorskip("open_spiel.python.egt.alpharank")
    game = random_game(7, shape)
    limit = {"use_inf_alpha": True} if np.isinf(alpha) else {"alpha": alpha}
    expected = reference.compute(list(game.payoffs), m=20, **limit)[2]
    found = alpha_rank(game, alpha, 20, single_population=False).mass
    assert found == pytest.approx(expected, abs=1e-8)


def test_means_of_equal_payoffs_are_equal():
    rounded = float(np.mean([64.1] * 6))
    assert rounded != 64.1
    game = NormalForm.of(np.array([[rounded, 64.1], [64.1, 64.1]]), np.full((2, 2), 64.1))
    rank = alpha_rank(game, alpha=np.inf, single_population=False)
    assert rank.mass == pytest.approx(np.full(4, 0.25))
