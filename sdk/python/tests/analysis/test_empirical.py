"""Empirical games, equilibria, dominance and best replies."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from agon.analysis.alpharank import alpha_rank
from agon.analysis.empirical import MissingCellsError, bootstrap, payoff_table
from agon.analysis.equilibria import (
    GambitMissingError,
    as_equilibria,
    best_response_graph,
    dominated,
    nash_equilibria,
    pure_equilibria,
    undominated,
)
from agon.analysis.games import NormalForm

BATTLE = NormalForm.of([[3, 0], [0, 2]], [[2, 0], [0, 3]])
DILEMMA = NormalForm.symmetric([[3, 0], [5, 1]])
PENNIES = NormalForm.of([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])


def seats(*sessions):
    rows = [
        {"session": f"s{number}", "seat": seat, "player": player, "payoff": payoff}
        for number, session in enumerate(sessions)
        for seat, (player, payoff) in enumerate(session)
    ]
    return pd.DataFrame(rows)


TABLE = seats(
    [("a", 3), ("a", 3)],
    [("a", 0), ("b", 5)],
    [("b", 3), ("a", 2)],
    [("b", 1), ("b", 2)],
)


def test_seats_do_not_matter_in_a_symmetric_table():
    game = payoff_table(TABLE)
    assert game.profiles == [("a", "a"), ("a", "b"), ("b", "b")]
    assert game.matrix().tolist() == [[3.0, 1.0], [4.0, 1.5]]
    frame = game.frame().set_index(["profile", "player"])
    assert frame.loc[("a / b", "b"), "units"] == 2
    # 5 and 3: standard deviation sqrt(2), over sqrt(2).
    assert frame.loc[("a / b", "b"), "se"] == pytest.approx(1.0)
    assert np.isnan(frame.loc[("a / a", "a"), "se"])


def test_seats_are_roles_in_an_asymmetric_table():
    game = payoff_table(TABLE, symmetric=False)
    assert game.payoff(("a", "b")).tolist() == [0, 5]
    assert game.payoff(("b", "a")).tolist() == [3, 2]
    assert game.normal_form().payoffs[1].tolist() == [[3, 5], [2, 2]]


def test_missing_cells_are_shown_and_refused():
    game = payoff_table(seats([("a", 3), ("a", 3)], [("a", 0), ("b", 5)]))
    assert game.missing == [("b", "b")]
    assert "1 missing" in game.heading()
    assert np.isnan(game.frame().set_index("profile").loc["b / b", "payoff"])
    with pytest.raises(MissingCellsError, match="b / b"):
        game.normal_form()


def test_a_series_is_one_unit():
    sessions = pd.DataFrame({"session": ["s1", "s2"], "cluster": ["x", "x"]})
    game = payoff_table(TABLE, sessions)
    frame = game.frame().set_index(["profile", "player"])
    assert frame.loc[("a / b", "b"), "units"] == 1
    assert frame.loc[("a / b", "b"), "payoff"] == 4


def test_forfeited_sessions_and_mixed_games_are_kept_apart():
    table = TABLE.assign(forfeited=TABLE["session"] == "s1", game="public_goods")
    assert payoff_table(table).payoff(("a", "b")).tolist() == [2, 3]
    table.loc[0, "game"] = "el_farol"
    with pytest.raises(ValueError, match="several games"):
        payoff_table(table)


def test_settings_are_not_pooled_silently():
    sessions = pd.DataFrame(
        {
            "session": ["s0", "s1", "s2", "s3"],
            "cluster": list("wxyz"),
            "setting": ["{}", "{}", "{}", '{"ratio":2}'],
        }
    )
    with pytest.raises(ValueError, match="2 settings"):
        payoff_table(TABLE, sessions)
    assert payoff_table(TABLE, sessions, pool_settings=True).missing == []
    sessions["setting"] = ['{"seats[0]":"a"}', '{"seats[0]":"b"}', "{}", "{}"]
    assert payoff_table(TABLE, sessions).missing == []


def test_a_game_is_measured_from_a_run(tmp_path):
    if shutil.which(os.environ.get("AGON_BINARY", "agon")) is None:
        pytest.skip("there is no agon binary")
    import agon

    experiment = {
        "name": "diners",
        "repeats": 2,
        "players": {
            "cheap": {"kind": "rule", "strategy": "cheap"},
            "costly": {"kind": "rule", "strategy": "costly"},
        },
        "grid": {"seats[0]": ["cheap", "costly"], "seats[1]": ["cheap", "costly"]},
        "games": [
            {
                "game": "diners_dilemma",
                "params": {"rounds": 4, "costly_utility": 18},
                "seats": ["cheap", "cheap"],
            }
        ],
    }
    run = agon.run(experiment, data=tmp_path, progress=False)
    game = payoff_table(run.seats(), run.sessions())
    # Cheap: 15 less half of the bill; costly: 18 less half of the bill; four rounds.
    assert game.matrix() == pytest.approx(4 * np.array([[5.0, 0.0], [3.0, -2.0]]))
    # Half of the dearer dish's 10 exceeds its 3 of utility: with two diners cheap is dominant.
    assert undominated(game.normal_form()) == ((0,), (0,))


def test_frames_of_polars_and_dictionaries_do_as_well():
    polars = pytest.importorskip("polars")
    expected = payoff_table(TABLE).matrix()
    columns = {name: TABLE[name].tolist() for name in TABLE.columns}
    assert (payoff_table(polars.DataFrame(columns)).matrix() == expected).all()
    assert (payoff_table(columns).matrix() == expected).all()


def test_three_seats_make_a_symmetric_normal_form():
    rows = []
    for profile, paid in {"aaa": 4, "aab": 3, "abb": 2, "bbb": 1}.items():
        rows.append([(name, paid + 10 * (name == "b")) for name in profile])
    game = payoff_table(seats(*rows)).normal_form()
    assert game.payoffs[0][0, 0, 1] == 3
    assert game.payoffs[2][0, 0, 1] == 13
    assert game.payoffs[1][1, 0, 1] == 2


def test_the_bootstrap_has_the_standard_error_of_a_mean():
    generator = np.random.default_rng(1)
    values = generator.normal(size=12)
    rows = [[("a", value), ("a", value)] for value in values]
    game = payoff_table(seats(*rows))
    found = bootstrap(game, lambda g: g.payoffs[0][0, 0], ["payoff"], draws=4000)
    expected = values.std(ddof=1) / np.sqrt(12)
    assert found.draws.std() == pytest.approx(expected, rel=0.05)
    assert found.estimates[0].value == pytest.approx(values.mean())


def test_clear_dominance_is_certain_in_the_bootstrap():
    generator = np.random.default_rng(2)
    rows = []
    for _ in range(10):
        noise = generator.normal(scale=0.1, size=4)
        rows += [
            [("c", 3 + noise[0]), ("c", 3 + noise[0])],
            [("c", noise[1]), ("d", 5 + noise[2])],
            [("d", 1 + noise[3]), ("d", 1 + noise[3])],
        ]
    game = payoff_table(seats(*rows))
    rank = bootstrap(game, lambda g: alpha_rank(g, 5.0).mass, ["c", "d"], draws=200)
    assert rank.estimates[1].low > 0.99
    nash = bootstrap(
        game, lambda g: float((1, 1) in pure_equilibria(g)), ["d, d is Nash"], draws=200
    )
    assert nash.draws.mean() == 1.0


def test_pure_equilibria_by_hand():
    assert pure_equilibria(BATTLE) == [(0, 0), (1, 1)]
    assert pure_equilibria(DILEMMA) == [(1, 1)]
    assert pure_equilibria(PENNIES) == []


def test_mixed_equilibria_by_hand():
    pytest.importorskip("pygambit")
    found = nash_equilibria(BATTLE)
    assert len(found.found) == 3
    mixed = next(e for e in found.found if 0.01 < e.mixed[0][0] < 0.99)
    assert mixed.mixed[0] == pytest.approx([0.6, 0.4])
    assert mixed.mixed[1] == pytest.approx([0.4, 0.6])
    assert mixed.payoffs == pytest.approx([1.2, 1.2])
    assert max(e.nash_conv for e in found.found) < 1e-9


def test_equilibria_of_three_players_leave_no_gain():
    pytest.importorskip("pygambit")
    generator = np.random.default_rng(4)
    game = NormalForm.of(*(generator.normal(size=(2, 2, 2)) for _ in range(3)))
    found = nash_equilibria(game)
    assert len(found.found) % 2 == 1, "generic games have an odd number (Wilson 1971)"
    assert max(e.nash_conv for e in found.found) < 1e-6
    assert not found.is_complete


def test_a_missing_gambit_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygambit", None)
    with pytest.raises(GambitMissingError, match="pip install pygambit"):
        nash_equilibria(DILEMMA)
    assert as_equilibria(DILEMMA).found[0].payoffs.tolist() == [1, 1]


def test_dominance_by_mixtures_is_told_from_dominance_by_strategies():
    # Half of each of the first two earns 1.5 everywhere, and neither alone beats 1.
    game = NormalForm.of([[3, 0], [0, 3], [1, 1]], np.zeros((3, 2)))
    assert dominated(game, 0) == [2]
    assert dominated(game, 0, mixed=False) == []


def test_weak_dominance_needs_one_better_cell():
    game = NormalForm.of([[1, 1], [1, 0], [1, 1]], np.zeros((3, 2)))
    assert dominated(game, 0) == []
    assert dominated(game, 0, strict=False) == [1]
    assert dominated(game, 0, strict=False, mixed=False) == [1]


def test_iterated_elimination_by_hand():
    # Column 2 goes first (below column 1), then row 1 (below row 0), then column 0.
    game = NormalForm.of([[1, 1, 0], [0, 0, 2]], [[0, 2, 1], [3, 1, 0]])
    assert dominated(game, 0) == []
    assert undominated(game) == ((0,), (1,))


def test_best_replies_cycle_in_matching_pennies():
    graph = best_response_graph(PENNIES)
    assert [len(sink) for sink in graph.sinks] == [4]
    assert len(graph.edges) == 4
    assert best_response_graph(DILEMMA).sinks == (((1, 1),),)


def test_results_draw_and_print():
    pytest.importorskip("matplotlib")
    game = payoff_table(TABLE)
    assert "a / b" in str(game)
    texts = [text.get_text() for text in game.figure().axes[0].texts]
    assert texts == ["3", "1", "4", "1.5"]
    assert "sinks: {1 / 1}" in str(best_response_graph(DILEMMA))
    assert len(best_response_graph(BATTLE).figure().axes) == 1
