"""Regret and exploitability against hand calculations and OpenSpiel."""

import itertools

import numpy as np
import pytest
from test_payoffs import RECORDS

from agon.analysis.games import NormalForm
from agon.analysis.payoffs import guess_two_thirds, public_goods
from agon.analysis.regret import (
    best_response_gaps,
    exploitability,
    hindsight_regrets,
    mean_interval,
    nash_conv,
    regret_table,
    regrets,
)

DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]])


def test_regrets_of_the_dilemma_by_hand():
    # Both cooperate: each would gain 5 - 3. Both defect: nobody gains.
    assert regrets(DILEMMA, DILEMMA.pure((0, 0))) == pytest.approx([2, 2])
    assert nash_conv(DILEMMA, DILEMMA.pure((1, 1))) == 0.0
    # Against 1/2, 1/2: defect earns 3, cooperate 1.5, the mixture 2.25.
    assert exploitability(DILEMMA, DILEMMA.uniform()) == pytest.approx(0.75)


def test_a_contribution_costs_what_does_not_come_back():
    payoff = public_goods({"tokens": 20, "ratio": 2.0})
    gaps = best_response_gaps(payoff, [20, 0, 5, 10], [range(21)] * 4)
    assert [gap.gap for gap in gaps] == pytest.approx([10, 0, 2.5, 5])
    assert [gap.best_action for gap in gaps] == [0] * 4


def test_the_best_number_against_fixed_others_is_found():
    payoff = guess_two_thirds({"ratio": 2 / 3, "tie": "all"})
    (gap, *_) = best_response_gaps(payoff, [50, 30, 30], [range(101)] * 3)
    # x wins against 30, 30 if it is closer to 2/9 (x + 60): every x from 0 to 29.
    assert gap.gap == 1.0
    assert payoff([gap.best_action, 30, 30]) == (1.0, 0.0, 0.0)


def test_hindsight_compares_with_one_action_for_all_rounds():
    pennies = [((1, -1), (-1, 1)), ((-1, 1), (1, -1))]

    def payoff(actions):
        return pennies[actions[0]][actions[1]]

    rounds = [(payoff, (0, 1)), (payoff, (0, 1)), (payoff, (1, 0))]
    # The row player earned -3; always 0 would earn -1 - 1 + 1, always 1 earns 1 + 1 - 1.
    assert hindsight_regrets(rounds, [[0, 1], [0, 1]])[0] == pytest.approx(4.0)


def test_dominant_play_in_records_has_no_gap():
    records = [r for r in RECORDS if r["spec"]["game"] in ("public_goods", "diners_dilemma")]
    frame = regret_table(records).frame().set_index("player")
    assert frame.loc["eq", "gap"] == 0.0
    assert frame.loc["eq", "best_replies"] == 1.0
    assert frame.loc["rnd", "gap"] > 0.0


def test_truth_is_a_best_reply_in_second_price_auctions():
    records = [r for r in RECORDS if r["spec"]["game"] == "second_price_auction"]
    frame = regret_table(records).frame().set_index("player")
    assert frame.loc["eq", "gap"] == 0.0


def test_sessions_of_a_series_are_one_unit():
    record = next(r for r in RECORDS if r["spec"]["game"] == "el_farol")
    series = []
    for place in range(3):
        luck = {**record["spec"]["luck"], **({"place": place} if place else {})}
        spec = {**record["spec"], "luck": luck}
        series.append({**record, "session": f"s{place}", "spec": spec})
    other = {**record["spec"], "luck": {"seed": 99, "repeat": 0}}
    series.append({**record, "session": "other", "spec": other})
    table = regret_table(series)
    assert set(table.frame()["units"]) == {2}
    assert table.rounds["session"].nunique() == 4


def test_intervals_rest_on_sessions():
    from scipy import stats

    values = np.array([1.0, 2.0, 4.0])
    expected = stats.t.interval(0.95, 2, loc=values.mean(), scale=stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert np.isnan(mean_interval(np.array([1.0]))[0])


MATRIX_GAMES = ["matrix_rps", "matrix_pd", "matrix_mp", "matrix_cd", "matrix_bos", "matrix_sh"]


@pytest.mark.parametrize("name", MATRIX_GAMES)
def test_matrix_games_equal_open_spiel(name):
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import exploitability as reference

    matrix = pyspiel.load_matrix_game(name)
    game = NormalForm.of(matrix.row_utilities(), matrix.col_utilities())
    turns = pyspiel.convert_to_turn_based(matrix)
    generator = np.random.default_rng(1)
    for _ in range(5):
        mixed = [generator.dirichlet(np.ones(size)) for size in game.shape]
        policy = policies.TabularPolicy(turns)
        for player, own in enumerate(mixed):
            for state in policy.states_per_player[player]:
                policy.policy_for_key(state)[:] = own
        assert nash_conv(game, mixed) == pytest.approx(reference.nash_conv(turns, policy))


def test_kuhn_poker_in_normal_form_equals_open_spiel():
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import exploitability as reference

    poker = pyspiel.load_game("kuhn_poker")
    matrix = pyspiel.extensive_to_matrix_game(poker)
    game = NormalForm.of(matrix.row_utilities(), matrix.col_utilities())
    # The even mixture of all plans is the behaviour that draws every action evenly.
    expected = reference.exploitability(poker, policies.UniformRandomPolicy(poker))
    assert exploitability(game, game.uniform()) == pytest.approx(expected)


def test_expected_payoffs_of_three_players_are_those_of_enumeration():
    generator = np.random.default_rng(2)
    game = NormalForm.of(*(generator.normal(size=(2, 3, 2)) for _ in range(3)))
    mixed = [generator.dirichlet(np.ones(size)) for size in game.shape]
    expected = np.zeros(3)
    for profile in itertools.product(*(range(size) for size in game.shape)):
        chance = np.prod([own[place] for own, place in zip(mixed, profile, strict=True)])
        expected += chance * np.array([array[profile] for array in game.payoffs])
    assert game.expected(mixed) == pytest.approx(expected)
