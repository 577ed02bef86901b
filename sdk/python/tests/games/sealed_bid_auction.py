"""Sealed-bid auction: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, Rounds, deviation, mean, present


class SealedBidAuction(Rounds):
    """Bid once for an item that is worth a different amount to each bidder."""

    name = "python_sealed_bid_auction"
    title = "Sealed-Bid Auction"
    source = "gamma-Bench, arXiv 2403.11807, game 6"
    chance = True
    hidden_information = True
    price = agon.parameter("first", "What the winner pays.", options=("first", "second"))
    bid_max = agon.parameter(
        None, "Largest legal bid; ten times the largest valuation unless it is set.",
        like=0, min=0, max=LARGEST_AMOUNT,
    )  # fmt: skip
    valuation_min = agon.parameter(0, "Smallest valuation.", min=0, max=LARGEST_AMOUNT)
    valuation_max = agon.parameter(200, "Largest valuation.", min=0, max=LARGEST_AMOUNT)
    interval = agon.parameter(
        10, "Distance between neighbouring valuations.", min=1, max=LARGEST_AMOUNT
    )

    MOST_RUNGS = 100_000
    COMMON_SCALE = 200.0

    def settle(self):
        if self.valuation_max < self.valuation_min:
            raise ValueError("valuation_max must not be less than valuation_min")
        self.rungs = (self.valuation_max - self.valuation_min) // self.interval + 1
        if not self.players <= self.rungs <= self.MOST_RUNGS:
            raise ValueError(f"there are {self.rungs} valuations for {self.players} players")
        if self.bid_max is None:
            self.bid_max = min(self.valuation_max * 10, LARGEST_AMOUNT)
        if self.bid_max < self.valuation_max:
            raise ValueError("bid_max must not be less than valuation_max")

    def check(self, table, seat, kind, answer):
        if answer > self.bid_max:
            return f"{answer} is far more than the item can be worth to anybody"
        return None

    def play(self, table: Table) -> Play:
        names = ("bid_max", "valuation_min", "valuation_max", "interval")
        hidden = {name: getattr(self, name) for name in names}
        table.brief(rounds=self.rounds, price=self.price, hidden=hidden)
        # One list for each round: what every bid gave away.
        relative, absolute = [], []
        for table.round in range(1, self.rounds + 1):
            valuations = table.chance.distinct(
                "valuations", table.round, self.players, low=self.valuation_min, step=self.interval,
                rungs=self.rungs,
            )  # fmt: skip
            table.tell("valuation", own={"valuation": valuations})
            answers = yield table.ask_all("bid", agon.whole(0, None, role="bid"))
            self.sell(table, valuations, list(answers.values()))
            given_away = [
                (valuation, valuation - bid)
                for valuation, bid in zip(valuations, answers.values(), strict=True)
                if bid is not None
            ]
            if given_away:
                relative.append([max(0.0, less / (worth or 1)) for worth, less in given_away])
                absolute.append([less for _, less in given_away])
        if relative:
            self.measure(table, relative, absolute)

    def sell(self, table: Table, valuations: list[int], bids: list[int | None]) -> None:
        """Sell to the highest bid; chance decides between equal ones."""
        highest = sorted(present(bids), reverse=True)
        winning_bid = price = winner = None
        tied = []
        won = [False] * len(bids)
        utilities = [0] * len(bids)
        if highest:
            winning_bid = highest[0]
            best = [seat for seat, bid in enumerate(bids) if bid == winning_bid]
            tied = best if len(best) > 1 else []
            winner = table.chance.seat_among("ties", table.round, best)
            second = highest[1] if len(highest) > 1 else 0
            price = winning_bid if self.price == "first" else second
            won[winner] = True
            utilities[winner] = valuations[winner] - price
        table.pay(utilities)
        table.tell(
            "round_result",
            winning_bid=winning_bid,
            price=price,
            own={"valuation": valuations, "bid": bids, "won": won, "utility": utilities},
            hidden={"winner": winner, "tied": tied},
        )

    def measure(self, table: Table, relative: list[list[float]], absolute: list[list[int]]) -> None:
        shaded = mean(number for of_round in relative for number in of_round)
        difference = mean(number for of_round in absolute for number in of_round)
        self.score_both(table, shaded * 100.0, 100.0 - difference)
        table.part("S", shaded)
        table.part("S_diff", difference)
        table.part("S_diff_200", difference * (self.COMMON_SCALE / self.valuation_max))
        table.series("mean", [mean(of_round) for of_round in relative])
        table.series("sd", [deviation(of_round) for of_round in relative])
