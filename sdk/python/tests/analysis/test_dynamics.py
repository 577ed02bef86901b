"""Replicator and Moran dynamics against closed forms and programs of others."""

import numpy as np
import pytest

from agon.analysis.dynamics import (
    fixation_probability,
    is_symmetric,
    moran,
    moran_payoffs,
    moran_ranking,
    replicator,
)
from agon.analysis.games import NormalForm

DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]], ["C", "D"])
HAWK_DOVE = NormalForm.symmetric([[-1, 4], [0, 2]], ["hawk", "dove"])
ROCK_PAPER_SCISSORS = NormalForm.symmetric([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def test_hawks_and_doves_settle_where_they_earn_the_same():
    # -x + 4 (1 - x) = 2 (1 - x) at x = 2/3.
    (path,) = replicator(HAWK_DOVE, [0.1, 0.9], until=60)
    assert path.shares[-1] == pytest.approx([2 / 3, 1 / 3], abs=1e-6)


def test_constant_advantages_grow_logistically():
    # u_1 - u_2 = 1 always: x / (1 - x) grows as exp(t).
    game = NormalForm.symmetric([[1, 1], [0, 0]])
    (path,) = replicator(game, [0.1, 0.9], until=3.0, points=4)
    odds = path.shares[:, 0] / path.shares[:, 1]
    assert odds == pytest.approx(np.exp([0, 1, 2, 3]) / 9, rel=1e-6)


def test_rock_paper_scissors_keeps_the_product_of_shares():
    (path,) = replicator(ROCK_PAPER_SCISSORS, [0.5, 0.3, 0.2], until=30)
    assert path.shares.prod(axis=1) == pytest.approx(np.full(201, 0.03), rel=1e-5)


def test_velocities_equal_open_spiel():
    reference = pytest.importorskip("open_spiel.python.egt.dynamics")
    generator = np.random.default_rng(1)
    game = NormalForm.of(generator.normal(size=(3, 2)), generator.normal(size=(3, 2)))
    start = [np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])]
    field = reference.MultiPopulationDynamics(np.array(game.payoffs), reference.replicator)
    expected = field(np.concatenate(start))
    step = 1e-4
    rows, columns = replicator(game, start, until=step, points=2)
    moved = np.concatenate([path.shares[1] - path.shares[0] for path in (rows, columns)])
    assert moved / step == pytest.approx(expected, abs=1e-3)


def test_neutral_mutants_take_over_once_in_the_population():
    same = NormalForm.symmetric([[1, 1], [1, 1]])
    assert fixation_probability(same, 0, 1, 20) == pytest.approx(1 / 20)


def test_constant_fitness_has_the_known_fixation_probability():
    # Fitness e^s against 1: rho = (1 - 1/r) / (1 - 1/r^N), r = e^s (Moran 1958).
    game, r = NormalForm.symmetric([[0.1, 0.1], [0, 0]]), np.exp(0.1)
    expected = (1 - 1 / r) / (1 - 1 / r**30)
    assert fixation_probability(game, 0, 1, 30) == pytest.approx(expected)


def test_no_game_against_oneself():
    # One of two cooperators among three meets the other once in two times.
    payoffs = moran_payoffs(DILEMMA, np.array([2, 1]))
    assert payoffs == pytest.approx([1.5, 5.0])


@pytest.mark.parametrize("selection", [0.0, 0.05, 0.5])
def test_fixation_probabilities_equal_egttools(selection):
    tools = pytest.importorskip("egttools")
    matrix = np.array([[-1.0, 4.0], [0.0, 2.0]])
    game = tools.games.Matrix2PlayerGameHolder(2, matrix)
    evolver = tools.analytical.PairwiseComparison(25, game)
    # The Fermi process of pairs has the same ratios of up to down as exponential fitness.
    expected = evolver.calculate_fixation_probability(0, 1, selection)
    found = fixation_probability(HAWK_DOVE, 0, 1, 25, selection)
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_simulated_path_fixes_as_often_as_the_formula_says():
    game = NormalForm.symmetric([[0.3, 0.3], [0, 0]])
    chance = fixation_probability(game, 0, 1, 6)
    paths = [moran(game, [1, 5], steps=400, seed=seed, every=400) for seed in range(400)]
    share = np.mean([path.shares[-1][0] == 1.0 for path in paths])
    # Four standard errors.
    assert share == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 400))


def test_three_seats_are_filled_without_replacement():
    # The first strategy earns 1 if both others play it: with counts (3, 2), of the C(4, 2) = 6
    # pairs of others exactly one is two of the two remaining first ones.
    first = np.zeros((2, 2, 2))
    first[0, 0, 0] = 1.0
    game = NormalForm.of(first, first, first, strategies=[["x", "y"]] * 3)
    assert is_symmetric(game)
    assert moran_payoffs(game, np.array([3, 2]))[0] == pytest.approx(1 / 6)


def test_rare_mutations_favour_defection():
    ranking = moran_ranking(DILEMMA, 20, 0.5)
    frame = ranking.frame().set_index("strategy")
    assert frame.loc["D", "share"] > 0.999
    # Relative to a neutral mutant, whose chance is 1 / population.
    assert frame.loc["D", "takes over C"] > 1 > frame.loc["C", "takes over D"]


def test_shares_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match="sum to 1"):
        replicator(DILEMMA, [0.5, 0.6])


def test_asymmetric_games_have_no_moran_process():
    game = NormalForm.of([[1, 2], [3, 4]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="symmetric"):
        moran(game, [5, 5])


def test_paths_draw_a_line_per_strategy():
    pytest.importorskip("matplotlib")
    (path,) = replicator(HAWK_DOVE)
    lines = path.figure().axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["hawk", "dove"]
