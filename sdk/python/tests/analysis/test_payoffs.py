"""Payoff functions against session records, which the engine wrote (data/payoffs.toml)."""

import gzip
import json
from pathlib import Path

import pytest

from agon.analysis.payoffs import (
    GAMES,
    drawn_payoff,
    guess_two_thirds,
    rounds_of,
    sealed_bid_auction,
)

RECORDS = [
    json.loads(line)
    for line in gzip.decompress(
        (Path(__file__).parent / "data" / "payoffs.jsonl.gz").read_bytes()
    ).splitlines()
]


@pytest.mark.parametrize("game", GAMES)
def test_every_recorded_round_is_paid_exactly(game):
    records = [record for record in RECORDS if record["spec"]["game"] == game]
    assert len(records) >= 4
    for record in records:
        totals = [0.0] * len(record["spec"]["seats"])
        for played in rounds_of(record):
            paid = drawn_payoff(record, played.number)(played.actions)
            assert paid == played.payoffs
            for seat, one in zip(played.seats, paid, strict=True):
                totals[seat] += one
        assert totals == record["outcome"]["payoffs"]


def test_records_have_forfeits_ties_and_eliminations():
    rounds = [played for record in RECORDS for played in rounds_of(record)]
    assert {played.game for played in rounds if None in played.actions} == set(GAMES)
    sizes = {len(played.seats) for played in rounds if played.game == "guess_to_survive"}
    assert len(sizes) > 1
    ties = [
        played
        for played in rounds
        if played.game == "sealed_bid_auction" and played.payoff(played.actions) != played.payoffs
    ]
    assert ties, "equal highest bids are averaged, and drawn in the record"


def test_equal_bids_are_worth_their_average():
    params = {"price": "first"}
    assert sealed_bid_auction(params, [50, 70, 90])([40, 40, 30]) == (5.0, 15.0, 0.0)
    assert sealed_bid_auction(params, [50, 70, 90], winner=1)([40, 40, 30]) == (0.0, 30.0, 0.0)


def test_the_first_of_two_numbers_wins_alone_under_that_tie_rule():
    # The mean of 0 and 6 is 3 and the target 3: both are as close.
    actions = [0, 6]
    assert guess_two_thirds({"ratio": 1.0, "tie": "all"})(actions) == (0.5, 0.5)
    assert guess_two_thirds({"ratio": 1.0, "tie": "first"})(actions) == (1.0, 0.0)


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="pirate"):
        list(rounds_of({"spec": {"game": "pirate"}}))
