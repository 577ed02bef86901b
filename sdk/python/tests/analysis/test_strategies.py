"""Strategies of repeated games and their frequencies."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_payoffs import RECORDS

from agon.analysis.repeated import (
    DAL_BO_FRECHETTE,
    LIBRARY,
    History,
    histories_of,
)
from agon.analysis.strategies import Play, estimate, fit_strategies, plays_of, prescribed

C, D = True, False
SMALL = {name: DAL_BO_FRECHETTE[name] for name in ("AD", "AC", "G", "TFT")}


def match(pair, beta, rounds, generator):
    own = np.zeros((2, rounds), dtype=bool)
    for now in range(rounds):
        for seat in (0, 1):
            seen = History(own[seat, : now + 1], own[1 - seat, : now + 1].astype(float))
            wanted = LIBRARY[pair[seat]](seen)[-1]
            own[seat, now] = wanted == (generator.random() < beta)
    return [History(own[seat], own[1 - seat].astype(float)) for seat in (0, 1)]


def simulate(shares, beta, sessions, rounds, generator, alike=False):
    plays = []
    for session in range(sessions):
        pair = list(generator.choice(list(SMALL), size=2, p=shares))
        if alike:
            pair[1] = pair[0]
        for seat, history in enumerate(match(pair, beta, rounds, generator)):
            plays.append(Play((session, seat), session, (history,)))
    return plays


# Written by data/axelrod_moves.py.
AXELROD = json.loads((Path(__file__).parent / "data" / "axelrod_moves.json").read_text())["cases"]


@pytest.mark.parametrize("name", AXELROD)
def test_strategies_are_those_of_the_axelrod_library(name):
    assert len(AXELROD[name]) == 30
    for case in AXELROD[name]:
        own, other = np.array(case["own"]), np.array(case["other"])
        assert list(LIBRARY[name](History.of(own, other))) == case["expected"]


@pytest.mark.parametrize(
    ("name", "others", "expected"),
    [
        ("G", [C, D, C, C, C], [C, C, D, D, D]),
        ("G2", [D, C, D, D, C, C], [C, C, C, C, D, D]),
        ("G3", [D, D, C, D, D, D, C], [C, C, C, C, C, C, D]),
        ("TF3T", [D, D, D, C, D, C], [C, C, C, D, C, C]),
        ("T2", [C, D, C, C, C, D, C, C], [C, C, D, D, C, C, D, D]),
    ],
)
def test_prescriptions_by_hand(name, others, expected):
    own = np.array(expected)
    assert list(LIBRARY[name](History.of(own, others))) == expected


def test_grim_is_set_off_by_its_own_slip():
    assert list(LIBRARY["G"](History.of([C, D, C], [C, C, C]))) == [C, C, D]


def test_a_trembling_player_is_matched_round_by_round():
    play = Play("a", 0, (History.of([C, C, D], [C, D, D]),))
    matches, rounds = prescribed([play], SMALL)
    # AD is right in the third round; AC in two; G and TFT prescribe C, C, D.
    assert matches.tolist() == [[1, 2, 3, 3]]
    assert rounds.tolist() == [3]


def test_the_estimate_is_the_maximum_of_the_likelihood():
    from scipy.optimize import minimize
    from scipy.special import softmax

    generator = np.random.default_rng(3)
    plays = simulate([0.4, 0.2, 0.1, 0.3], 0.85, 30, 12, generator)
    matches, rounds = prescribed(plays, SMALL)

    def minus_log_likelihood(point):
        beta = 0.5 + 0.5 / (1 + np.exp(-point[-1]))
        each = beta**matches * (1 - beta) ** (rounds[:, None] - matches)
        return -np.log(each @ softmax(np.append(point[:-1], 0.0))).sum()

    starts = [np.zeros(4), np.array([1.0, 0.0, 0.0, 1.0])]
    best = min(minimize(minus_log_likelihood, s, method="BFGS").fun for s in starts)
    _, _, found = estimate(matches, rounds, np.ones((1, len(plays))))
    assert found[0] == pytest.approx(-best, abs=1e-4)


def test_planted_frequencies_are_recovered():
    generator, planted = np.random.default_rng(4), [0.4, 0.15, 0.15, 0.3]
    fit = fit_strategies(simulate(planted, 0.9, 800, 20, generator), SMALL, draws=0)
    assert [share.value for share in fit.shares] == pytest.approx(planted, abs=0.05)
    assert fit.beta.value == pytest.approx(0.9, abs=0.01)


def test_players_without_trembles_are_counted():
    generator = np.random.default_rng(5)
    plays = simulate([0.5, 0.0, 0.0, 0.5], 1.0, 60, 10, generator)
    kinds = fit_strategies(plays, {k: SMALL[k] for k in ("AD", "TFT")}, draws=0)
    # A player that defects in the first round is not TFT.
    defectors = np.mean([not play.matches[0].own[0] for play in plays])
    assert kinds.shares[0].value == pytest.approx(defectors, abs=1e-6)


def test_whole_sessions_are_resampled():
    # Two players who always follow the same strategy say as much as one: intervals of sessions
    # are about sqrt(2) as wide as intervals that count every player.
    generator = np.random.default_rng(6)
    plays = simulate([0.5, 0.5, 0.0, 0.0], 0.95, 80, 10, generator, alike=True)
    library = {name: SMALL[name] for name in ("AD", "AC")}
    apart = [Play(play.player, play.player, play.matches) for play in plays]
    together = fit_strategies(plays, library, draws=800).shares[0].width
    alone = fit_strategies(apart, library, draws=800).shares[0].width
    assert together / alone == pytest.approx(np.sqrt(2), rel=0.12)


def test_intervals_cover_planted_frequencies_about_as_often_as_they_say():
    # The chance of fewer than 102 of 120 at 93 % is 0.2 %; at 75 % it is 99 %.
    generator, covered = np.random.default_rng(7), 0
    for _ in range(60):
        plays = simulate([0.4, 0.2, 0.0, 0.4], 0.9, 50, 12, generator)
        library = {name: SMALL[name] for name in ("AD", "AC", "TFT")}
        fit = fit_strategies(plays, library, draws=200)
        covered += fit.shares[0].covers(0.4) + fit.shares[1].covers(0.2)
    assert covered >= 102


def test_histories_come_from_records():
    record = next(r for r in RECORDS if r["spec"]["game"] == "diners_dilemma")
    histories = histories_of(record)
    dishes = [m.get("action") for m in record["moves"] if m["turn"] == 1]
    assert [bool(histories[seat].own[0]) for seat in sorted(histories)] == [
        dish == "cheap" for dish in dishes
    ]
    others = [dish == "cheap" for dish in dishes[1:]]
    assert histories[0].others[0] == pytest.approx(np.mean(others))


def test_rule_players_of_records_are_recognised():
    # `eq` orders the costly dish in every round.
    records = [r for r in RECORDS if r["spec"]["game"] == "diners_dilemma"]
    plays = plays_of(records, "eq")
    fit = fit_strategies(plays, {k: LIBRARY[k] for k in ("AD", "AC", "TFT")}, draws=0)
    assert fit.shares[0].value == pytest.approx(1.0, abs=1e-4)
    assert fit.players == len(plays) > 1
