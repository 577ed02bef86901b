"""Ratings, repeated looks, and tournaments."""

import os
import shutil

import numpy as np
import pytest

from agon.analysis.ratings import ELO, PRIOR_VARIANCE, Match, rate
from agon.analysis.sequential import probability_within, repeated_level
from agon.analysis.tournament import looks_planned, swiss_pairs, tournament

PENALTY = 0.5 / PRIOR_VARIANCE  # choix adds this times the sum of squares

TRUTH = {"a": 0.8, "b": 0.2, "c": -0.2, "d": -0.8}


def simulated(seed, truth=TRUTH, dollars=0.01):
    generator = np.random.default_rng(seed)

    def play(pairing, repeats):
        matches = []
        for _ in range(repeats):
            luck = generator.gumbel(size=len(pairing))
            paid = tuple(truth[name] + own for name, own in zip(pairing, luck, strict=True))
            matches.append(Match(pairing, paid, dollars, str(generator.integers(2**60))))
        return matches

    return play


def pairwise(count, seed=1):
    play, names = simulated(seed), list(TRUTH)
    pairs = [(a, b) for a in names for b in names if a != b]
    return [match for pair in pairs for match in play(pair, count)]


def test_bradley_terry_equals_choix():
    choix = pytest.importorskip("choix")
    matches, names = pairwise(4), list(TRUTH)
    data = []
    for match in matches:
        order = sorted(range(2), key=lambda seat: -match.payoffs[seat])
        data.append(tuple(names.index(match.seats[seat]) for seat in order))
    expected = choix.opt_pairwise(4, data, alpha=PENALTY, tol=1e-10)
    found = [strength.value / ELO for strength in rate(matches, names).strengths]
    assert found == pytest.approx(expected - expected.mean(), abs=1e-5)


def test_plackett_luce_equals_choix():
    choix = pytest.importorskip("choix")
    names = list(TRUTH)
    matches = simulated(2)(("b", "d", "a", "c"), 40)
    data = [
        [names.index(match.seats[seat]) for seat in np.argsort(-np.array(match.payoffs))]
        for match in matches
    ]
    expected = choix.opt_rankings(4, data, alpha=PENALTY, tol=1e-10)
    found = [s.value / ELO for s in rate(matches, names, "plackett_luce").strengths]
    assert found == pytest.approx(expected - expected.mean(), abs=1e-5)


def test_a_tie_is_half_a_win():
    even = [Match(("a", "b"), (1.0, 1.0), 0.0, str(n)) for n in range(10)]
    assert rate(even, ["a", "b"]).strengths[0].value == pytest.approx(0.0)
    with pytest.raises(ValueError, match="tied"):
        rate(even, ["a", "b"], "plackett_luce")


def test_sessions_that_repeat_each_other_count_once():
    matches = pairwise(3)
    copied = [
        Match(m.seats, m.payoffs, 0.0, f"same-{number}") for number, m in enumerate(matches)
    ] * 9
    once, often = rate(matches, list(TRUTH)), rate(copied, list(TRUTH))
    # Nine copies of a session: naive errors would be a third; the penalty weighs less, too.
    ratio = np.sqrt(np.diag(often.covariance) / np.diag(once.covariance))
    assert (ratio > 0.9).all()


@pytest.mark.parametrize(("looks", "bound"), [(2, 2.178), (3, 2.289), (5, 2.413), (10, 2.555)])
def test_bounds_are_pococks(looks, bound):
    # Pocock 1977, table 1, for a two-sided 5 % test.
    assert probability_within(range(1, looks + 1), bound) == pytest.approx(0.95, abs=2e-4)


def test_more_looks_need_a_higher_level():
    levels = [repeated_level(range(1, looks + 1)) for looks in (1, 2, 5)]
    assert levels[0] == pytest.approx(0.95)
    assert levels[0] < levels[1] < levels[2] < 1 - 0.05 / 5 + 1e-3


def test_looks_grow_to_the_budget():
    assert looks_planned(10, 45, 2.0) == [10, 20, 40]
    with pytest.raises(ValueError, match="takes 10"):
        looks_planned(10, 9, 2.0)


def test_a_tournament_finds_the_order_and_stops_at_its_goal():
    standing = tournament(list(TRUTH), simulated(3), goal=90, most_sessions=2000)
    assert list(standing.frame()["name"]) == ["a", "b", "c", "d"]
    assert "known within 90" in standing.stopped
    assert standing.looks[-1].widest <= 90 < standing.looks[-2].widest
    assert standing.looks[-1].sessions == len(standing.matches)


def test_more_precision_needs_more_sessions():
    sessions = [
        tournament(list(TRUTH), simulated(4), goal, 5000).looks[-1].sessions for goal in (150, 75)
    ]
    # Four times as many by the square root law, in steps of growth.
    assert sessions[1] >= 2.5 * sessions[0]


def test_a_budget_of_dollars_is_kept():
    standing = tournament(
        list(TRUTH), simulated(5, dollars=0.5), goal=1, most_sessions=5000, most_dollars=40.0
    )
    assert standing.looks[-1].dollars <= 40.0
    assert "exceed the budget" in standing.stopped
    with pytest.raises(ValueError, match="unknown cost"):
        tournament(
            list(TRUTH), simulated(5, dollars=None), goal=1, most_sessions=5000, most_dollars=40.0
        )


def test_a_first_batch_beyond_the_budget_is_not_begun():
    played = []

    def dear(pairing, repeats):
        played.extend([pairing] * repeats)
        return simulated(5, dollars=1.0)(pairing, repeats)

    with pytest.raises(ValueError, match="does not allow a first batch"):
        tournament(list(TRUTH), dear, goal=1, most_sessions=5000, most_dollars=5.0)
    assert len(played) == 1


def test_degrees_of_freedom_are_those_of_series():
    def widths(series):
        matches = [
            Match(("a", "b"), (1.0, 0.0) if place % 3 else (0.0, 1.0), 0.0, f"{place % series}")
            for place in range(60)
        ]
        return [one.width for one in rate(matches, ["a", "b"]).strengths]

    assert all(np.isnan(width) for width in widths(1))
    # Student's t for two degrees is 2.1 times as far out as for ten and more.
    assert widths(3)[0] > 2.0 * widths(60)[0]


def test_seats_are_rotated():
    standing = tournament(list(TRUTH), simulated(6), goal=1, most_sessions=200)
    seats = [match.seats for match in standing.matches]
    for a, b in [("a", "b"), ("c", "d")]:
        assert abs(seats.count((a, b)) - seats.count((b, a))) <= 1


def test_three_seats_are_ranked_by_plackett_luce():
    standing = tournament(list(TRUTH), simulated(7), 60, 2000, seats=3, model="plackett_luce")
    assert standing.frame()["name"][0] == "a"
    assert {len(match.seats) for match in standing.matches} == {3}


def test_swiss_pairs_neighbours_and_avoids_rematches():
    order = ["a", "b", "c", "d"]
    assert swiss_pairs(order, {}) == [("a", "b"), ("c", "d")]
    met = {frozenset("ab"): 1, frozenset("cd"): 1}
    assert swiss_pairs(order, met) == [("a", "c"), ("b", "d")]


def test_who_played_most_sits_out():
    met = {frozenset("ab"): 1, frozenset("ac"): 1}
    assert swiss_pairs(["a", "b", "c"], met) == [("b", "c")]
    assert swiss_pairs(["a", "b", "c"], {}) == [("a", "b")]


def test_everybody_plays_about_as_often_in_a_swiss_tournament():
    names = [*TRUTH, "e"]
    play = simulated(8, {**TRUTH, "e": -1.5})
    standing = tournament(names, play, goal=1, most_sessions=150, kind="swiss")
    played = standing.frame()["sessions"]
    assert played.max() - played.min() <= 2
    # Few sessions may swap neighbours, not the ends.
    assert standing.frame()["name"][0] in ("a", "b")
    assert standing.frame()["name"][4] in ("d", "e")


def test_intervals_hold_although_the_tournament_stops_early():
    # 30 tournaments of four players; strengths of one depend on each other. At 95 % fewer than
    # 100 of 120 has a chance below 0.1 % even if only 30 of them were independent.
    covered = 0
    for seed in range(30):
        standing = tournament(list(TRUTH), simulated(100 + seed), 110, 1000)
        covered += sum(
            strength.covers(TRUTH[strength.name] * ELO) for strength in standing.ratings.strengths
        )
    assert covered >= 100


def test_a_play_that_returns_other_players_is_refused():
    def play(pairing, repeats):
        return [Match(("x", "y"), (1.0, 0.0))] * repeats

    with pytest.raises(ValueError, match="must return"):
        tournament(["a", "b"], play, 50, 100)


def test_agon_plays_a_tournament(tmp_path):
    if not (os.environ.get("AGON_BINARY") or shutil.which("agon")):
        pytest.skip("there is no agon binary")
    from agon.analysis.agon_play import AgonPlay

    play = AgonPlay(
        "public_goods",
        {
            "rider": {"kind": "rule", "strategy": "free_rider"},
            "giver": {"kind": "rule", "strategy": "full"},
            "random": {"kind": "rule", "strategy": "random"},
        },
        params={"rounds": 3, "ratio": 1.2},
        data=tmp_path,
        progress=False,
    )
    standing = tournament(["giver", "rider", "random"], play, goal=1, most_sessions=12, first=2)
    frame = standing.frame()
    # Who gives less always earns more in a session.
    assert list(frame["name"]) == ["rider", "random", "giver"]
    assert frame.set_index("name").loc["rider", "points"] == 1.0
    assert standing.looks[-1].dollars == 0.0
    assert len({match.session for match in standing.matches}) == len(standing.matches)
