"""Quantal response equilibria against Gambit and theory."""

import itertools

import numpy as np
import pytest

from agon.analysis import symmetric
from agon.analysis.games import NormalForm
from agon.analysis.quantal import Counts, fit_quantal, quantal_response, trace_branch

MATCHING_PENNIES = NormalForm.of([[9, 0], [0, 1]], [[0, 1], [1, 0]])
DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]])


def random_game(shape, seed=11):
    generator = np.random.default_rng(seed)
    return NormalForm.of(*(generator.normal(size=shape) * 3 for _ in shape))


GAMES = [MATCHING_PENNIES, DILEMMA, *(random_game(s) for s in [(3, 3), (2, 3, 2), (4, 3)])]


def gambit_or_skip():
    gambit = pytest.importorskip("pygambit")
    if not hasattr(gambit, "StrategicGame"):
        pytest.skip("the test speaks to Gambit 17")
    return gambit


def gambit_game(gambit, game):
    return gambit.StrategicGame.from_arrays(*game.payoffs)


def gambit_profile(game, profile):
    return [
        np.array([float(profile[player][strategy]) for strategy in game.get_strategies(player)])
        for player in game.players
    ]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("precision", [0.1, 0.5, 2.0])
def test_equilibria_equal_gambits(game, precision):
    gambit = gambit_or_skip()
    other = gambit_game(gambit, game)
    expected = gambit_profile(other, gambit.qre.logit_solve_lambda(other, [precision])[0].profile)
    found = quantal_response(game, precision)
    for own, reference in zip(found, expected, strict=True):
        assert own == pytest.approx(reference, abs=1e-7)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 3, 2), (4, 4), (2, 2, 2)])
def test_no_step_leaves_the_branch_that_gambit_follows(shape):
    gambit = gambit_or_skip()
    for seed in range(6):
        game = random_game(shape, seed)
        other, branch = gambit_game(gambit, game), trace_branch(game, 7.0)
        profile = gambit.qre.logit_solve_lambda(other, [6.0])[0].profile
        expected = np.concatenate(gambit_profile(other, profile))
        assert min(np.abs(play - expected).max() for play in branch.at(6.0)) < 1e-6


@pytest.mark.parametrize(
    ("game", "counts"),
    [
        (MATCHING_PENNIES, ([60, 40], [25, 75])),
        (DILEMMA, ([20, 80], [25, 75])),
        (GAMES[2], ([30, 5, 10], [20, 12, 13])),
        (GAMES[4], ([5, 20, 10, 6], [10, 20, 12])),
    ],
)
def test_the_most_likely_precision_equals_gambits(game, counts):
    gambit = gambit_or_skip()
    other = gambit_game(gambit, game)
    names = [other.get_strategies(player) for player in other.players]
    data = other.mixed_strategy_profile()
    for player, strategies, own in zip(other.players, names, counts, strict=True):
        data.set_mixed_strategy(player, dict(zip(strategies, map(float, own), strict=True)))
    expected = gambit.qre.logit_estimate(data)
    found = fit_quantal(Counts.of(game, *counts))
    assert found.log_likelihood == pytest.approx(expected.log_like, abs=1e-5)
    assert found.precision.value == pytest.approx(expected.lam, rel=1e-3, abs=1e-4)


def test_each_probability_is_a_logit_of_its_payoff():
    game, precision = GAMES[3], 1.3
    play = quantal_response(game, precision)
    for own, payoffs in zip(play, game.responses(play), strict=True):
        weights = np.exp(precision * payoffs)
        assert own == pytest.approx(weights / weights.sum(), abs=1e-9)


def test_no_precision_is_uniform_play_and_much_is_nash():
    assert quantal_response(MATCHING_PENNIES, 0.0)[0] == pytest.approx([0.5, 0.5])
    row, column = quantal_response(MATCHING_PENNIES, 500.0)
    # Nash: each makes the other indifferent, so row plays 1/2 and column 1/10.
    assert row == pytest.approx([0.5, 0.5], abs=0.01)
    assert column == pytest.approx([0.1, 0.9], abs=0.01)


def test_data_of_pure_nash_play_do_not_bound_the_precision():
    fit = fit_quantal(Counts.of(DILEMMA, [0, 100], [0, 100]), most=40.0)
    assert fit.precision.high == 40.0
    assert fit.precision.low > 2.0


def test_uniform_data_give_no_precision():
    fit = fit_quantal(Counts.of(DILEMMA, [50, 50], [50, 50]))
    assert fit.precision.value == pytest.approx(0.0, abs=1e-6)
    assert fit.precision.low == 0.0


def test_intervals_cover_a_planted_precision_about_as_often_as_they_say():
    # The chance of fewer than 105 of 120 at 95 % is 0.1 %; at 80 % it is 98 %.
    game, precision = GAMES[2], 0.8
    branch = trace_branch(game, 30.0)
    play = quantal_response(game, precision)
    generator, covered = np.random.default_rng(8), 0
    for _ in range(120):
        counts = [generator.multinomial(60, own) for own in play]
        fit = fit_quantal(Counts.of(game, *counts), branches=[branch])
        covered += fit.precision.covers(precision)
    assert covered >= 105


def test_one_precision_is_fitted_to_several_games():
    generator, data = np.random.default_rng(9), []
    for seed in range(4):
        game = random_game((3, 3), seed)
        play = quantal_response(game, 0.7)
        data.append(Counts.of(game, *(generator.multinomial(500, own) for own in play)))
    fit = fit_quantal(data)
    assert fit.precision.value == pytest.approx(0.7, abs=0.06)
    assert fit.precision.covers(0.7)
    assert set(fit.frame()["game"]) == {0, 1, 2, 3}


def brute_force(payoffs, actions, players, play):
    """Expected payoff of each action against independent others, by enumeration."""
    gains = np.zeros(len(actions))
    for place, action in enumerate(actions):
        for others in itertools.product(range(len(actions)), repeat=players - 1):
            chance = np.prod([play[other] for other in others])
            gains[place] += chance * payoffs([action, *(actions[other] for other in others)])[0]
    return gains


def guess_payoffs(numbers, ratio=2 / 3):
    target = ratio * np.mean(numbers)
    distances = [round(abs(number - target), 9) for number in numbers]
    closest = [distance == min(distances) for distance in distances]
    return [won / sum(closest) for won in closest]


@pytest.mark.parametrize("players", [2, 3, 5])
def test_expected_payoffs_of_guessing_are_those_of_enumeration(players):
    numbers = [0, 10, 22, 33, 50, 90]
    play = np.random.default_rng(1).dirichlet(np.ones(6))
    game = symmetric.guess(numbers, players)
    expected = brute_force(guess_payoffs, numbers, players, play)
    assert game.utilities(play) == pytest.approx(expected, abs=1e-12)


def test_expected_payoffs_of_other_games_are_those_of_enumeration():
    play = np.array([0.3, 0.7])
    bar = symmetric.el_farol(players=4, ratio=0.5)

    def bar_payoffs(words):
        good = words.count("go") / 4 <= 0.5
        return [5.0 if word == "stay" else 10.0 * good for word in words]

    assert bar.utilities(play) == pytest.approx(brute_force(bar_payoffs, bar.names, 4, play))
    dollar = symmetric.divide_dollar([20, 50], players=3)

    def dollar_payoffs(bids):
        return [bid if sum(bids) <= 100 else 0 for bid in bids]

    assert dollar.utilities(play) == pytest.approx(brute_force(dollar_payoffs, [20, 50], 3, play))


def test_a_dominant_dish_is_a_logit_of_what_it_gains():
    # Costly instead of cheap: 5 more utility, 10 / 10 more cost, whatever others order.
    (play,) = quantal_response(symmetric.diners_dilemma(), 0.5)
    assert play[1] == pytest.approx(1 / (1 + np.exp(-0.5 * 4.0)))


def test_a_symmetric_equilibrium_is_that_of_the_normal_form():
    game = symmetric.guess([0, 25, 50, 100], players=2)
    matrix = [[guess_payoffs([a, b])[0] for b in (0, 25, 50, 100)] for a in (0, 25, 50, 100)]
    (found,) = quantal_response(game, 3.0)
    assert found == pytest.approx(quantal_response(NormalForm.symmetric(matrix), 3.0)[0], abs=1e-8)


def test_numbers_are_taken_for_the_nearest_action():
    game = symmetric.guess([0, 25, 50], players=3)
    assert Counts.of_numbers(game, [0, 3, 30, 49, 100]).counts[0].tolist() == [2, 1, 2]
