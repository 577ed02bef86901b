"""The games of gamma-Bench in Python (games/) leave the same records as the built-in ones."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

import agon
from games.battle_royale import BattleRoyale
from games.diners_dilemma import DinersDilemma
from games.divide_dollar import DivideDollar
from games.el_farol import ElFarol
from games.guess_two_thirds import GuessTwoThirds
from games.pirate import Pirate
from games.public_goods import PublicGoods
from games.sealed_bid_auction import SealedBidAuction

LARGEST = 1_000_000_000

# Seats and parameters in which random players play; the defaults come first.
SETTINGS = {
    GuessTwoThirds: [
        (10, {}),
        (3, {"ratio": 0.5, "rounds": 5}),
        (4, {"ratio": 1.0, "min": 10, "max": 15, "tie": "first"}),
        (4, {"ratio": 1.0, "min": 10, "max": 15, "tie": "all"}),
        (7, {"ratio": 4.0 / 3.0, "min": 3, "max": LARGEST}),
        (2, {"ratio": 0.0, "rounds": 1}),
    ],
    ElFarol: [
        (10, {}),
        (3, {"mode": "explicit", "ratio": 0.5}),
        (5, {"min": -7, "max": -1, "home": -3, "ratio": 0.0}),
        (4, {"ratio": 1.0, "rounds": 3}),
        (23, {"ratio": 13 / 23}),  # 13 / 23 * 23 is less than 13, yet the bar holds 13.
    ],
    DivideDollar: [
        (10, {}),
        (3, {"golds": 200}),
        (2, {"golds": 1, "rounds": 6}),
        (7, {"golds": LARGEST}),
    ],
    PublicGoods: [
        (10, {}),
        (3, {"ratio": 0.5}),
        (8, {"ratio": 1.0}),  # Returns in eighths: halves of hundredths must be rounded alike.
        (2, {"ratio": 1.499, "tokens": 3}),  # Gains of -0.002 must not become -0.0.
        (3, {"ratio": 4.0, "tokens": 7}),
        (7, {"ratio": 4.0 / 3.0, "tokens": LARGEST}),
        (3, {"ratio": 1000.0, "tokens": LARGEST, "rounds": 3}),
    ],
    DinersDilemma: [
        (10, {}),
        (3, {"cheap_cost": 0, "costly_cost": 1, "rounds": 5}),
        (7, {"cheap_utility": -20, "costly_utility": LARGEST, "costly_cost": LARGEST}),
    ],
    SealedBidAuction: [
        (10, {}),
        (3, {"price": "second"}),
        (5, {"valuation_min": 95, "valuation_max": 99, "interval": 1, "price": "second"}),
        (4, {"valuation_max": 99_999, "interval": 1, "rounds": 2}),
        (2, {"valuation_min": 7, "valuation_max": 400, "bid_max": 401, "interval": 13}),
        (60, {"valuation_max": 1000, "foul_allowance": 0, "rounds": 4}),
    ],
    BattleRoyale: [
        (10, {}),
        (3, {"base_hit_rate": 60, "interval": 20, "max_turns": 200}),
        (2, {"base_hit_rate": 0, "interval": 0, "max_turns": 7}),
        (5, {"base_hit_rate": 100, "interval": 0}),
        (3, {"max_turns": 1}),
    ],
    Pirate: [
        (10, {}),
        (2, {"gold": 1}),
        (3, {"gold": 7}),
        (20, {"gold": 3}),
        (6, {"gold": LARGEST}),
    ],
}  # fmt: skip
GAMES = tuple(SETTINGS)

# What two fixed players say in turn; illegal answers of theirs are forfeits.
ANSWERS = {
    GuessTwoThirds: ([50, 101, "much"], [-1, 33, 7.5]),
    ElFarol: (["go", "nowhere", 1], [2, "stay", "go"]),
    DivideDollar: ([30, 101, "all"], [-1, 71, 7.5]),
    PublicGoods: ([20, 21, "none"], [-1, 3, 7.5]),
    DinersDilemma: (["cheap", "nothing", 1], [2, "costly", "cheap"]),
    SealedBidAuction: ([90, 2001, 2000, "much"], [90, -1, 2000, 5000]),
    BattleRoyale: ([9, "player_2", 0, "nobody"], [1, "miss", 3]),
    Pirate: (["accept", [50, 50]], ["maybe", [30, 30, 30, 10], "reject", [1, 99]]),
}


@pytest.fixture(scope="module")
def served():
    """Serve all eight games, and return where they are."""
    with ExitStack() as stack:
        hosted = [stack.enter_context(agon.host(game)) for game in GAMES]
        yield [one.argument for one in hosted]
        assert [error for one in hosted for error in one.errors] == []


def built_in(game):
    return game.name.removeprefix("python_")


def of_rule(strategy, **settings):
    return {"kind": "rule", "strategy": strategy, **settings}


def experiment(names, settings, players, repeats):
    """Play each game in each of the settings: seats and parameters."""
    games = [
        {"game": name, "label": f"setting-{place}", "seats": seats, "params": params}
        for name in names
        for place, (seats, params) in enumerate(settings)
    ]
    return {"name": "games", "repeats": repeats, "seed": 7, "players": players, "games": games}


def same_records(game, served, settings, players, *, repeats, doors=None):
    """Play the built-in game and the Python one, compare, and return the former's records."""
    names = (built_in(game), game.name)
    run = agon.run(experiment(names, settings, players, repeats), players=doors, games=served)
    assert run.verify().sessions == run.sessions_done
    records = list(run.records())
    count = len(settings) * repeats
    rust, python = records[:count], records[count:]
    assert [record.game for record in records] == [built_in(game)] * count + [game.name] * count
    for one, other in zip(rust, python, strict=True):
        assert (one.setting, one.repeat) == (other.setting, other.repeat)
        assert compared(one) == compared(other)
    return rust


def compared(record):
    """What must be the same, as text: there 1 is not 1.0, and facts have an order."""
    sections = ("events", "draws", "moves", "outcome", "measures")
    return {section: json.dumps(record.data.get(section)) for section in sections}


def fouls(record):
    return [foul for move in record.moves for foul in move.fouls]


@pytest.mark.parametrize("game", GAMES, ids=built_in)
def test_games_are_described_like_the_built_in_ones(game):
    known, described = agon.game(built_in(game)), game.description()
    assert (known.title, known.about) == (described["title"], described["summary"])
    assert (known.source, list(known.seats)) == (described["source"], described["seats"])
    parameters = {
        name: (one.default, one.about)
        for name, one in known.parameters.items()
        if name not in ("lenient", "bid_max")
    }
    assert parameters == {
        name: (json.dumps(one["default"]), one["meaning"])
        for name, one in described["parameters"].items()
        if name != "bid_max"
    }


@pytest.mark.parametrize("game", GAMES, ids=built_in)
def test_random_players_leave_the_same_records(game, served):
    settings = [([{"player": "p", "count": seats}], params) for seats, params in SETTINGS[game]]
    records = same_records(game, served, settings, {"p": of_rule("random")}, repeats=3)
    assert all(record.scores for record in records)


@pytest.mark.parametrize("game", GAMES, ids=built_in)
def test_forfeits_leave_the_same_records(game, served):
    one, other = ANSWERS[game]
    players = {
        "one": of_rule("specified", answers=one),
        "other": of_rule("specified", answers=other),
        "silent": of_rule("specified", answers=["nothing at all"]),
        "p": of_rule("random"),
    }
    settings = [
        (["one", "p", "other", "silent"], {}),
        (["p", "one", "other", "one", "other"], {}),
        (["one", "other"], {}),
        (["silent", "one"], {}),
        (["silent", "silent", "silent"], {}),
    ]
    records = same_records(game, served, settings, players, repeats=1)
    assert any(move.forfeited for record in records for move in record.moves)


def test_forfeits_leave_the_same_records_at_second_price_and_in_full_sight(served):
    players = {
        "one": of_rule("specified", answers=[90, 2001, 2000, 90]),
        "guest": of_rule("specified", answers=["go", "nowhere"]),
        "silent": of_rule("specified", answers=["nothing at all"]),
    }
    prices = [(["one", *seats], {"price": "second"}) for seats in (["one", "one"], ["silent"])]
    same_records(SealedBidAuction, served, prices, players, repeats=1)
    modes = [(seats, {"mode": "explicit"}) for seats in (["guest", "silent"], ["silent"] * 2)]
    same_records(ElFarol, served, modes, players, repeats=1)


class Learner(agon.Player):
    """Bids half of its valuation, after 0 to 3 bids that it must not make."""

    wrong = (LARGEST, -1, 2001)

    def decide(self, ask):
        self.tried = 0 if ask.refused is None else self.tried + 1
        if self.tried < ask.round % 4:
            return self.wrong[self.tried]
        return ask.latest("valuation")["valuation"] // 2


def test_refused_bids_leave_the_same_records(served):
    settings = [
        (["learner", "stubborn", "p", "learner"], {"rounds": 8}),
        (["stubborn", "learner", "fixed"], {"foul_allowance": 1, "price": "second", "rounds": 5}),
        (["learner", "stubborn", "p"], {"foul_allowance": 0, "bid_max": 300, "rounds": 5}),
    ]
    # Where there is a player at a door, what the file says of it does not count.
    players = {name: of_rule("random") for name in ("learner", "stubborn", "p")}
    players["fixed"] = of_rule("specified", answers=[50, 5000])
    doors = {"learner": Learner, "stubborn": lambda ask: LARGEST}
    records = same_records(SealedBidAuction, served, settings, players, repeats=1, doors=doors)
    reason = f"{LARGEST} is far more than the item can be worth to anybody"
    assert all({"kind": "out_of_range", "reason": reason} in fouls(record) for record in records)
    first = records[0]
    assert [len(move.fouls) for move in first.moves if move.seat == 0] == [1, 2, 3, 0] * 2
    assert first.data["outcome"]["forfeits"] == [0, 8, 0, 0]


def test_results_verify_when_the_games_are_gone():
    players = {"p": of_rule("random"), "learner": of_rule("random")}
    settings = [(["learner", "p", "p"], {})]
    document = experiment([SealedBidAuction.name], settings, players, 3)
    with agon.host(SealedBidAuction) as hosted:
        run = agon.run(document, players={"learner": Learner}, games=[hosted.argument])
    assert all(fouls(record) for record in run.records())
    assert run.verify().sessions == 3
