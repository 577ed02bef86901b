"""Level-k and cognitive hierarchy models of guessing games."""

import os
import shutil

import numpy as np
import pytest

from agon.analysis.guessing import GuessingGame, choices_of, fit_hierarchy, fit_levels
from agon.analysis.mixture import poisson_shares


def simulate(game, shares, targets, sigma, count, generator):
    """Choices of levels with these shares and targets."""
    levels = generator.choice(len(shares), size=count, p=shares)
    probabilities = np.exp(game.log_probabilities(game.grid, targets[1:], sigma))
    return np.array([generator.choice(game.grid, p=probabilities[:, level]) for level in levels])


def test_levels_aim_at_powers_of_the_ratio():
    targets = GuessingGame().level_targets(3)
    assert targets == pytest.approx([50.0, 100 / 3, 200 / 9, 400 / 27])


def test_level_two_of_the_hierarchy_replies_to_a_truncated_poisson_law():
    # Camerer, Ho, Chong 2004: g_2(1) / g_2(0) = f(1) / f(0) = tau.
    tau = 1.5
    expected = 2 / 3 * (50 + tau * 100 / 3) / (1 + tau)
    assert GuessingGame().hierarchy_targets(tau)[2] == pytest.approx(expected)


def test_a_very_high_tau_is_level_one_below():
    # As tau grows, g_k(k - 1) tends to 1, and the hierarchy to level-k (section II.A).
    game = GuessingGame()
    hierarchy = game.hierarchy_targets(500.0, 5)
    assert hierarchy == pytest.approx(game.level_targets(4), abs=0.3)


def test_own_influence_solves_the_own_equation():
    # x = p ((n - 1) m + x) / n
    game = GuessingGame(ratio=0.8, players=4)
    x = game.response(60.0)
    assert x == pytest.approx(0.8 * (3 * 60.0 + x) / 4)


@pytest.mark.parametrize("sigma", [0.2, 1.0, 5.0, 50.0])
def test_probabilities_of_all_numbers_sum_to_one(sigma):
    game = GuessingGame(ratio=1.3, low=20, high=80)
    logs = game.log_probabilities(game.grid, game.level_targets(4)[1:], sigma)
    assert np.exp(logs).sum(axis=0) == pytest.approx(np.ones(5), abs=1e-9)


def test_probabilities_are_those_of_a_rounded_truncated_normal_law():
    from scipy.stats import truncnorm

    game = GuessingGame()
    law = truncnorm((-0.5 - 30) / 6, (100.5 - 30) / 6, loc=30, scale=6)
    expected = np.log(law.cdf(25.5) - law.cdf(24.5))
    found = game.log_probabilities(np.array([25.0]), np.array([30.0]), 6.0)
    assert found[0, 1] == pytest.approx(expected)


def test_planted_levels_are_recovered():
    game, generator = GuessingGame(), np.random.default_rng(3)
    planted = [0.2, 0.4, 0.3, 0.1]
    choices = simulate(game, planted, game.level_targets(3), 2.0, 4000, generator)
    fit = fit_levels(choices)
    assert [share.value for share in fit.shares] == pytest.approx(planted, abs=0.03)
    assert fit.noise.value == pytest.approx(2.0, abs=0.15)


def test_planted_tau_is_recovered_for_other_ranges_and_ratios():
    game, generator = GuessingGame(ratio=0.8, low=1, high=200, step=None), np.random.default_rng(4)
    targets = game.hierarchy_targets(2.0)
    choices = simulate(game, poisson_shares(2.0, 21), targets, 6.0, 3000, generator)
    fit = fit_hierarchy(choices, game)
    assert fit.tau.value == pytest.approx(2.0, abs=0.2)
    assert fit.noise.value == pytest.approx(6.0, abs=0.6)


def test_intervals_cover_the_planted_tau_about_as_often_as_they_say():
    # The chance of fewer than 20 of 25 at 95 % is 0.1 %; at 70 % it is 80 %.
    game, generator = GuessingGame(), np.random.default_rng(5)
    covered = 0
    for _ in range(25):
        choices = simulate(
            game, poisson_shares(1.5, 21), game.hierarchy_targets(1.5), 4.0, 80, generator
        )
        covered += fit_hierarchy(choices).tau.covers(1.5)
    assert covered >= 20


def test_one_number_alone_has_a_bounded_likelihood():
    fit = fit_levels([33] * 30)
    assert fit.shares[1].value == pytest.approx(1.0, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(0.0, abs=1e-6)


def test_equilibrium_players_are_told_from_levels():
    fit = fit_levels([0] * 60 + [33] * 40, equilibrium=True)
    assert fit.shares[-1].name == "equilibrium"
    assert fit.shares[-1].value == pytest.approx(0.6, abs=0.01)


def test_the_table_names_levels_with_their_targets():
    table = str(fit_levels([33, 34, 22, 50, 70]))
    assert "level 1" in table
    assert "33.33" in table


def test_choices_outside_the_range_are_refused():
    with pytest.raises(ValueError, match="from 0"):
        fit_levels([101.0])


def test_choices_come_from_the_first_round_of_the_export():
    actions = {
        "turn": [1, 1, 2, 1],
        "player": ["m", "m", "m", "x"],
        "number": [33, None, 20, 50],
        "forfeited": [False, True, False, False],
    }
    assert choices_of(actions, "m").tolist() == [33.0]
    assert choices_of(actions).tolist() == [33.0, 50.0]


def test_the_game_is_that_of_recorded_parameters():
    game = GuessingGame.of({"ratio": 0.8, "min": 1, "max": 100, "players": 5})
    assert game.response(50.0) == pytest.approx(0.8 * 4 * 50 / (5 - 0.8))
    assert (
        GuessingGame.of({"ratio": 0.8, "min": 1, "max": 100, "players": 5}, False).players is None
    )


def test_level_k_rule_players_are_recognised(tmp_path):
    binary = shutil.which(os.environ.get("AGON_BINARY", "agon"))
    if binary is None:
        pytest.skip("there is no agon binary")
    import agon

    experiment = {
        "name": "levels",
        "repeats": 3,
        "players": {
            "one": {"kind": "rule", "strategy": "level_k", "k": 1},
            "two": {"kind": "rule", "strategy": "level_k", "k": 2},
        },
        "games": [
            {
                "game": "guess_two_thirds",
                "params": {"rounds": 1},
                "seats": [{"player": "one", "count": 6}, {"player": "two", "count": 4}],
            }
        ],
    }
    run = agon.run(experiment, data=tmp_path, progress=False)
    fit = fit_levels(choices_of(run.actions()))
    assert [share.value for share in fit.shares] == pytest.approx([0, 0.6, 0.4, 0], abs=1e-3)
