"""Players of other frameworks, where these are installed; and what is said where they are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agon


def test_a_textarena_agent_plays(guessing):
    textarena = pytest.importorskip("textarena")
    from agon.adapters.textarena import TextArenaPlayer

    class Always(textarena.Agent):
        def __init__(self):
            self.observations = []

        def __call__(self, observation):
            self.observations.append(observation)
            return "My pick is 12."

    agent = Always()
    run = agon.run(guessing(), players={"me": TextArenaPlayer(agent)})
    mine = [move.action for record in run.records() for move in record.moves if move.seat == 0]
    assert mine == [12] * 9
    assert set(run.seats().query("player == 'me'").model) == {"human/Always"}
    assert "Rules of every round" in agent.observations[-1]
    assert "Type a whole number from 0 to 100." in agent.observations[-1]
    assert run.verify().sessions == 3


def test_an_openspiel_bot_plays_a_matrix_game():
    pyspiel = pytest.importorskip("pyspiel")
    from agon.adapters.openspiel import OpenSpielPlayer

    dishes = ("cheap", "costly")

    def state(ask):
        facts = ask.game_facts
        cost = {dish: facts[f"{dish}_cost"] for dish in dishes}
        value = {dish: facts[f"{dish}_utility"] for dish in dishes}
        mine = [[value[own] - (cost[own] + cost[other]) / 2 for other in dishes] for own in dishes]
        theirs = [list(row) for row in zip(*mine, strict=True)]
        game = pyspiel.create_matrix_game("diners", "Diners", dishes, dishes, mine, theirs)
        return game.new_initial_state()

    class Dominant(pyspiel.Bot):
        def __init__(self):
            super().__init__()

        def step(self, state):
            def worst(action):
                after = [state.clone() for _ in dishes]
                for other, child in enumerate(after):
                    child.apply_actions([action, other])
                return min(child.returns()[0] for child in after)

            return max(state.legal_actions(0), key=worst)

    experiment = {
        "name": "diners",
        "repeats": 4,
        "players": {
            "bot": {"kind": "rule", "strategy": "equilibrium"},
            "rule": {"kind": "rule", "strategy": "equilibrium"},
        },
        "games": [
            {"game": "diners_dilemma", "params": {"rounds": 3}, "seats": ["bot", "rule"]},
        ],
    }
    run = agon.run(experiment, players={"bot": OpenSpielPlayer(Dominant(), state)})
    for record in run.records():
        by_seat = [[move.action for move in record.moves if move.seat == seat] for seat in (0, 1)]
        # The rule player's equilibrium is the dominant dish, too.
        assert by_seat[0] == by_seat[1]
    assert set(run.seats().query("player == 'bot'").model) == {"human/Dominant"}
    assert run.verify().sessions == 4


def test_a_random_bot_of_openspiel_plays():
    pyspiel = pytest.importorskip("pyspiel")
    from agon.adapters.openspiel import OpenSpielPlayer

    tokens = [str(number) for number in range(21)]
    zeros = [[0.0] * len(tokens)] * len(tokens)
    game = pyspiel.create_matrix_game("goods", "Goods", tokens, tokens, zeros, zeros)
    bot = pyspiel.make_uniform_random_bot(0, 7)
    player = OpenSpielPlayer(bot, lambda ask: game.new_initial_state(), name="uniform")
    experiment = {
        "name": "goods",
        "players": {"bot": {"kind": "rule", "strategy": "equilibrium"}},
        "games": [{"game": "public_goods", "seats": ["bot", "bot"]}],
    }
    run = agon.run(experiment, players={"bot": player})
    actions = [move.action for record in run.records() for move in record.moves]
    assert len(actions) == 40
    assert len(set(actions)) > 5
    assert sum(run.seats().fouls) == 0


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("textarena", "textarena", "textarena"), ("openspiel", "pyspiel", "openspiel")],
)
def test_a_missing_framework_is_explained(module, package, extra):
    program = f"import sys; sys.modules[{package!r}] = None; import agon.adapters.{module}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"pip install 'agon[{extra}]'" in ended.stderr
