"""Payoffs of one round of Agon's simultaneous games, as a function of everybody's actions.

The functions repeat the games' rules (docs in `engine/src/games`), so that a round can be played
again with one action changed. `rounds_of` reads the rounds of a session record with their actions,
private values and payoffs. A forfeited ask is the action `None`.

What a choice does to later rounds is not in these payoffs. `guess_to_survive` pays 1 for a won
round; the health that a lost one costs is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Action = Any
Payoffs = tuple[float, ...]
PayoffFunction = Callable[[Sequence[Action]], Payoffs]

_SAME_NUMBER = 1e-9
_SAME_SHARE = 1e-12
"""Distances of `closest`, as a share of the largest number."""

_GRID = 1001
"""Real numbers are tried on a grid of so many; between its points a gap may be missed."""

_MOST_ACTIONS = 20_001


@dataclass(frozen=True)
class Round:
    """A round that was played.

    `seats`: who was asked, in order; `actions`, `payoffs` and what `payoff` takes and gives are of
    these. `options`: what each of them could have done (numbers between the options are left out
    where there are too many).
    """

    session: str
    game: str
    number: int
    seats: tuple[int, ...]
    players: tuple[str, ...]
    actions: tuple[Action, ...]
    payoffs: Payoffs
    payoff: PayoffFunction = field(repr=False)
    options: tuple[tuple[Action, ...], ...] = field(repr=False)


def guess_two_thirds(params: Mapping[str, Any]) -> PayoffFunction:
    """1 split among all who said a number closest to `ratio` times the mean."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        said = [action for action in actions if action is not None]
        target = _mean(said) * params["ratio"]
        closest, winning = np.inf, list[Action]()
        for number in said:
            distance = abs(number - target)
            if distance < closest - _SAME_NUMBER:
                closest, winning = distance, [number]
            elif params["tie"] == "all" and distance <= closest + _SAME_NUMBER:
                winning.append(number)
        won = [action is not None and action in winning for action in actions]
        return tuple(1.0 / sum(won) if own else 0.0 for own in won)

    return payoff


def el_farol(params: Mapping[str, Any]) -> PayoffFunction:
    """`max` or `min` for going, as at most `ratio` of all players go or not; `home` for staying."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        goers = sum(action == "go" for action in actions)
        evening = params["max"] if goers / len(actions) <= params["ratio"] else params["min"]
        return tuple(float(evening if action == "go" else params["home"]) for action in actions)

    return payoff


def divide_dollar(params: Mapping[str, Any]) -> PayoffFunction:
    """One's own bid if all bids together are at most `golds`, otherwise 0."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        exceeded = sum(action or 0 for action in actions) > params["golds"]
        return tuple(0.0 if exceeded else float(action or 0) for action in actions)

    return payoff


def public_goods(params: Mapping[str, Any]) -> PayoffFunction:
    """Tokens kept, plus an even share of the pot times `ratio`; rounded to hundredths."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        given = [action or 0 for action in actions]
        returned = params["ratio"] * sum(given) / len(actions)
        return tuple(round(params["tokens"] - own + returned, 2) + 0.0 for own in given)

    return payoff


def diners_dilemma(params: Mapping[str, Any]) -> PayoffFunction:
    """Utility of one's own dish less an even share of the bill."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        cheap = [action is None or action == "cheap" for action in actions]
        count = sum(cheap)
        bill = count * params["cheap_cost"] + (len(cheap) - count) * params["costly_cost"]
        dishes = (params["cheap_utility"] if own else params["costly_utility"] for own in cheap)
        return tuple(dish - bill / len(cheap) for dish in dishes)

    return payoff


def sealed_bid_auction(
    params: Mapping[str, Any], valuations: Sequence[float], winner: int | None = None
) -> PayoffFunction:
    """Valuation less price for the highest bid, 0 for others.

    Equal highest bids get what each gets on average. Where `winner` is among them, it wins: the
    draw of a record.
    """

    def payoff(actions: Sequence[Action]) -> Payoffs:
        bids = sorted((action for action in actions if action is not None), reverse=True)
        if not bids:
            return (0.0,) * len(actions)
        second = bids[1] if len(bids) > 1 else 0
        price = bids[0] if params["price"] == "first" else second
        tied = [seat for seat, action in enumerate(actions) if action == bids[0]]
        if winner in tied:
            tied = [winner]
        return tuple(
            (valuations[seat] - price) / len(tied) if seat in tied else 0.0
            for seat in range(len(actions))
        )

    return payoff


def beauty_contest(params: Mapping[str, Any], bound: float) -> PayoffFunction:
    """The prize, split among all closest to `ratio` times the mean."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        winners = _closest(actions, params["ratio"], bound)
        share = params["prize"] / len(winners) if winners else 0.0
        return tuple(share if seat in winners else 0.0 for seat in range(len(actions)))

    return payoff


def second_price_auction(params: Mapping[str, Any], values: Sequence[float]) -> PayoffFunction:
    """Assets; for the highest bid (the lowest seat of equal ones) less the second, plus its value.

    A forfeited ask pays the entrance fee. With fewer than two bids nothing is sold.
    """
    assets = float(params["assets"])

    def payoff(actions: Sequence[Action]) -> Payoffs:
        left = [assets - params["entrance_fee"] if a is None else assets for a in actions]
        bids = sorted((action for action in actions if action is not None), reverse=True)
        if len(bids) > 1:
            winner = list(actions).index(bids[0])
            left[winner] = assets - bids[1] + values[winner]
        return tuple(left)

    return payoff


def guess_to_survive(params: Mapping[str, Any]) -> PayoffFunction:
    """1 for all closest to `ratio` times the mean, unless several numbers are all the same."""

    def payoff(actions: Sequence[Action]) -> Payoffs:
        said = [action for action in actions if action is not None]
        if len(said) > 1 and len(set(said)) == 1:
            return (0.0,) * len(actions)
        winners = _closest(actions, params["ratio"], params["max"])
        return tuple(float(seat in winners) for seat in range(len(actions)))

    return payoff


def rounds_of(record: Any) -> Iterator[Round]:
    """The rounds of a session record of a game of this module.

    `record`: an `agon` record, or a line of `records.jsonl` as a dictionary. Equal highest bids of
    sealed-bid auctions are counted with their average in `payoff`, and as drawn in `payoffs`.
    """
    data: Mapping[str, Any] = getattr(record, "data", record)
    spec = data["spec"]
    if spec["game"] not in GAMES:
        raise ValueError(f"there is no payoff function for a round of {spec['game']!r}")
    events = [event for event in data["events"] if event["event"] == "round_result"]
    asked: dict[int, list[Mapping[str, Any]]] = {}
    for move in data["moves"]:
        asked.setdefault(move["turn"], []).append(move)
    for event in events:
        moves = sorted(asked[event["round"]], key=lambda move: int(move["seat"]))
        seats = tuple(int(move["seat"]) for move in moves)
        payoff, payoffs, options = _situation(data, event)
        yield Round(
            session=data["session"],
            game=spec["game"],
            number=event["round"],
            seats=seats,
            players=tuple(spec["seats"][seat]["name"] for seat in seats),
            actions=tuple(move.get("action") for move in moves),
            payoffs=tuple(float(payoffs[seat]) for seat in seats),
            payoff=payoff,
            options=tuple(options for _ in seats),
        )


def drawn_payoff(record: Any, number: int) -> PayoffFunction:
    """The payoff function of a round with the draw among equal bids as it was recorded."""
    data: Mapping[str, Any] = getattr(record, "data", record)
    for event in data["events"]:
        if event["event"] == "round_result" and event["round"] == number:
            return _situation(data, event, drawn=True)[0]
    raise ValueError(f"the session has no round {number}")


def _situation(
    data: Mapping[str, Any], event: Mapping[str, Any], drawn: bool = False
) -> tuple[PayoffFunction, Sequence[float], tuple[Action, ...]]:
    """Payoff function, recorded payoffs by seat, and options of a round."""
    game, params = data["spec"]["game"], data["spec"]["params"]
    own, facts, hidden = event.get("own", {}), event.get("facts", {}), event.get("hidden", {})
    if game == "guess_two_thirds":
        winners = max(facts["winners"], 1)
        shares = [1.0 / winners if won else 0.0 for won in own["won"]]
        return guess_two_thirds(params), shares, _whole(params["min"], params["max"])
    if game == "el_farol":
        return el_farol(params), own["payoff"], ("go", "stay")
    if game == "divide_dollar":
        return divide_dollar(params), own["received"], _whole(0, params["golds"])
    if game == "public_goods":
        return public_goods(params), facts["tokens_after"], _whole(0, params["tokens"])
    if game == "diners_dilemma":
        return diners_dilemma(params), own["utility"], ("cheap", "costly")
    if game == "sealed_bid_auction":
        winner = hidden.get("winner") if drawn else None
        function = sealed_bid_auction(params, own["valuation"], winner)
        return function, own["utility"], _whole(0, params["bid_max"])
    briefing = next(one for one in data["events"] if one["event"] == "briefing")
    if game == "beauty_contest":
        bound = float(briefing["facts"]["bound"])
        paid = facts.get("payoffs") or hidden["payoffs"]
        return beauty_contest(params, bound), paid, _reals(bound)
    if game == "second_price_auction":
        values = [float(value) for value in briefing["own"]["private_value"]]
        paid = own.get("payoff") or hidden["payoff"]
        return second_price_auction(params, values), paid, _reals(float(params["assets"]))
    won = [float(bool(one)) for one in own["won"]]
    return guess_to_survive(params), won, _whole(params["min"], params["max"])


GAMES = (
    "guess_two_thirds",
    "el_farol",
    "divide_dollar",
    "public_goods",
    "diners_dilemma",
    "sealed_bid_auction",
    "beauty_contest",
    "second_price_auction",
    "guess_to_survive",
)
"""Games with a payoff function for a round."""


def _mean(numbers: Sequence[float]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total / len(numbers) if numbers else 0.0


def _closest(actions: Sequence[Action], ratio: float, largest: float) -> list[int]:
    said = [action for action in actions if action is not None]
    target = _mean(said) * ratio
    away = [None if action is None else abs(action - target) for action in actions]
    known = [distance for distance in away if distance is not None]
    if not known:
        return []
    slack = min(known) + largest * _SAME_SHARE
    return [seat for seat, far in enumerate(away) if far is not None and far <= slack]


def _whole(low: int, high: int) -> tuple[int, ...]:
    if high - low < _MOST_ACTIONS:
        return tuple(range(low, high + 1))
    return tuple(int(x) for x in np.unique(np.linspace(low, high, _MOST_ACTIONS).astype(np.int64)))


def _reals(high: float) -> tuple[float, ...]:
    return tuple(float(x) for x in np.linspace(0.0, high, _GRID))
