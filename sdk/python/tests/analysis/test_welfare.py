"""Welfare by hand."""

import numpy as np
import pandas as pd
import pytest

from agon.analysis.equilibria import Equilibria, as_equilibria, nash_equilibria
from agon.analysis.games import NormalForm
from agon.analysis.welfare import anarchy, best_welfare, efficiency, gini, welfare_table

DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]])
BATTLE = NormalForm.of([[3, 0], [0, 2]], [[2, 0], [0, 3]])


def test_efficiency_is_the_share_of_what_can_be_gained():
    assert efficiency(5, 6) == pytest.approx(5 / 6)
    assert efficiency(5, 6, worst=2) == pytest.approx(3 / 4)
    assert efficiency(1, 6, worst=2) == pytest.approx(-1 / 4)
    assert np.isnan(efficiency(5, 2, worst=2))


def test_prices_of_the_dilemma():
    # Optimum 3 + 3, the only equilibrium 1 + 1.
    prices = anarchy(DILEMMA, as_equilibria(DILEMMA))
    assert (prices.price_of_anarchy, prices.price_of_stability) == (3.0, 3.0)


def test_the_worst_equilibrium_may_be_a_mixed_one():
    pytest.importorskip("pygambit")
    # Pure equilibria have welfare 5, the mixed one 6/5 + 6/5.
    prices = anarchy(BATTLE, nash_equilibria(BATTLE))
    assert prices.price_of_stability == pytest.approx(1.0)
    assert prices.price_of_anarchy == pytest.approx(5 / 2.4)


def test_prices_are_undefined_where_welfare_is_not_positive():
    losses = NormalForm.symmetric([[-1, -3], [0, -2]])
    assert np.isnan(anarchy(losses, as_equilibria(losses)).price_of_anarchy)
    nothing = Equilibria(DILEMMA, (), "none", False)
    assert np.isnan(anarchy(DILEMMA, nothing).price_of_stability)


def test_the_best_profile_need_not_be_symmetric():
    assert best_welfare(NormalForm.symmetric([[3, 0], [7, 1]])) == 7


@pytest.mark.parametrize(
    ("payoffs", "expected"),
    [
        ([1, 1, 1], 0.0),
        ([0, 0, 12], 2 / 3),
        # |1 - 3| counted twice, over 2 * 4 * 2.
        ([1, 3], 0.25),
        ([4, 1, 3, 2], 0.25),
    ],
)
def test_gini_by_hand(payoffs, expected):
    assert gini(payoffs) == pytest.approx(expected)
    pairs = sum(abs(a - b) for a in payoffs for b in payoffs)
    assert gini(payoffs) == pytest.approx(pairs / (2 * len(payoffs) ** 2 * np.mean(payoffs)))


@pytest.mark.parametrize("payoffs", [[-1, 5], [0, 0], [], [float("nan"), 1]])
def test_gini_is_undefined(payoffs):
    assert np.isnan(gini(payoffs))


def test_the_table_counts_undefined_sessions():
    seats = pd.DataFrame({"session": ["x", "x", "y", "y"], "payoff": [1.0, 3.0, -1.0, 3.0]})
    table = welfare_table(seats, optimum=8.0)
    rows = table.frame().set_index("measure")
    assert rows.loc["welfare", "mean"] == 3.0
    assert rows.loc["efficiency", "mean"] == pytest.approx((4 / 8 + 2 / 8) / 2)
    assert rows.loc["gini", "mean"] == 0.25
    assert rows.loc["gini", "undefined"] == 1


def test_sessions_of_a_series_count_as_one_in_the_interval():
    names = [f"s{place}" for place in range(6)]
    seats = pd.DataFrame({"session": names, "payoff": [1.0, 1.0, 1.0, 5.0, 5.0, 5.0]})
    sessions = pd.DataFrame({"session": names, "cluster": ["a", "a", "a", "b", "b", "b"]})
    rows = welfare_table(seats, optimum=8.0, sessions=sessions).frame().set_index("measure")
    pair = pd.DataFrame({"session": ["a", "b"], "payoff": [1.0, 5.0]})
    same = welfare_table(pair, optimum=8.0).frame().set_index("measure")
    assert rows.loc["welfare", ["sessions", "units"]].tolist() == [6, 2]
    of_pair = same.loc["welfare", ["mean", "low", "high"]].tolist()
    assert rows.loc["welfare", ["mean", "low", "high"]].tolist() == of_pair
