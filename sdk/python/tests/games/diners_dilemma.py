"""Diner's dilemma: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, Rounds, mean, share_deviation


class DinersDilemma(Rounds):
    """Order a cheap or a costly dish; the bill is split evenly."""

    name = "python_diners_dilemma"
    title = "Diner's Dilemma"
    source = "gamma-Bench, arXiv 2403.11807, game 5"
    hidden_information = True
    cheap_cost = agon.parameter(10, "What the cheap dish costs.", min=0, max=LARGEST_AMOUNT)
    cheap_utility = agon.parameter(
        15, "What the cheap dish is worth to who eats it.", min=-LARGEST_AMOUNT, max=LARGEST_AMOUNT
    )
    costly_cost = agon.parameter(20, "What the costly dish costs.", min=0, max=LARGEST_AMOUNT)
    costly_utility = agon.parameter(
        20, "What the costly dish is worth to who eats it.", min=-LARGEST_AMOUNT, max=LARGEST_AMOUNT
    )

    def settle(self):
        if self.costly_cost <= self.cheap_cost:
            raise ValueError("costly_cost must be greater than cheap_cost")

    def play(self, table: Table) -> Play:
        table.brief(
            rounds=self.rounds, cheap_cost=self.cheap_cost, cheap_utility=self.cheap_utility,
            costly_cost=self.costly_cost, costly_utility=self.costly_utility,
        )  # fmt: skip
        shares = []
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("dish", agon.choice("cheap", "costly"))
            dishes = list(answers.values())
            costly = dishes.count("costly")
            cheap = self.players - costly
            total_cost = cheap * self.cheap_cost + costly * self.costly_cost
            average_cost = total_cost / self.players
            worth = [
                self.costly_utility if dish == "costly" else self.cheap_utility for dish in dishes
            ]
            utilities = [utility - average_cost for utility in worth]
            table.pay(utilities)
            table.tell(
                "round_result",
                cheap=cheap,
                costly=costly,
                total_cost=total_cost,
                average_cost=average_cost,
                own={"dish": dishes, "utility": utilities},
            )
            shares.append(cheap / self.players)
        self.measure(table, shares)

    def measure(self, table: Table, shares: list[float]) -> None:
        cheap = mean(shares)
        self.score_both(table, (1.0 - cheap) * 100.0, cheap * 100.0)
        table.part("S", cheap)
        table.part("S_costly", 1.0 - cheap)
        table.series("sd", [share_deviation(share) for share in shares])
        table.series("mean", shares)
