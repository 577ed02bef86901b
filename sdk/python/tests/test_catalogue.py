from __future__ import annotations

import pytest

import agon


def test_games_are_listed():
    games = {game.name: game for game in agon.games()}
    assert games["guess_two_thirds"].seats == (2, 1000)
    assert games["judging"].about.startswith("read what a player did")


@pytest.mark.parametrize("name", [game.name for game in agon.games()])
def test_every_game_has_parameters_and_strategies(name):
    game = agon.game(name)
    assert {"equilibrium", "random", "specified"} <= set(game.strategies)
    assert game.parameters["players"].about.startswith("Number of players")
    assert game.parameters["foul_allowance"].default.isdigit()
    assert game.title
    assert all(parameter.about.endswith(".") for parameter in game.parameters.values())


def test_an_unknown_game_is_refused():
    with pytest.raises(agon.BadInput, match="chess"):
        agon.game("chess")


def test_every_preset_that_is_listed_is_good():
    presets = agon.presets()
    assert len(presets) > 30
    for preset in presets:
        if preset.name == "alympics/judging":  # needs games that it judges
            continue
        checked = agon.check(preset.name, repeats=1)
        assert checked.sessions >= checked.settings >= 1


def test_a_preset_is_printed_to_start_from():
    text = agon.preset("gamma-bench/leaderboard")
    assert agon.check(text) == agon.check("gamma-bench/leaderboard")


def test_check_counts_and_refuses(guessing):
    assert agon.check(guessing()) == agon.Checked(name="guessing", settings=1, sessions=3)
    with pytest.raises(agon.BadInput, match="ratio"):
        agon.check(guessing(), set={"params.ratio": -1})
    with pytest.raises(TypeError, match="no option colour"):
        agon.check(guessing(), colour="red")


def test_plan_tells_dollars_where_prices_are_known(guessing):
    plan = agon.plan("gamma-bench/leaderboard", model="openai/gpt-4o-mini")
    assert (plan.settings, plan.sessions) == (8, 40)
    assert plan.expected_dollars is not None
    assert plan.at_most_dollars is not None
    assert 0 < plan.expected_dollars < plan.at_most_dollars
    assert "input tokens" in str(plan)
    assert agon.plan(guessing()).expected_dollars is None
