"""Public goods: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, LARGEST_RATIO, Rounds, deviation, mean


class PublicGoods(Rounds):
    """Put tokens into a pot that is multiplied and shared evenly."""

    name = "python_public_goods"
    title = "Public Goods"
    source = "gamma-Bench, arXiv 2403.11807, game 4"
    tokens = agon.parameter(
        20, "Tokens that each player gets in each round.", min=1, max=LARGEST_AMOUNT
    )
    ratio = agon.parameter(2.0, "The pot is multiplied by this.", min=0.0, max=LARGEST_RATIO)

    def play(self, table: Table) -> Play:
        table.brief(rounds=self.rounds, tokens=self.tokens, ratio=self.ratio)
        means, deviations = [], []
        form = agon.whole(0, self.tokens, role="contribution")
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("contribution", form)
            given = [contribution or 0 for contribution in answers.values()]
            pot = self.ratio * sum(given)
            returned = pot / self.players
            kept = [self.tokens - own for own in given]
            held = [self.hundredths(own + returned) for own in kept]
            table.pay(held)
            table.tell(
                "round_result",
                contributions=given,
                pot=pot,
                tokens_after=held,
                own={
                    "contribution": list(answers.values()),
                    "gain": [self.hundredths(returned - own) for own in given],
                },
                hidden={"kept": kept},
            )
            means.append(mean(given))
            deviations.append(deviation(given))
        self.measure(table, means)
        table.series("sd", deviations)

    @staticmethod
    def hundredths(number: float) -> float:
        """The number with two decimals; 0 has no sign."""
        return round(number, 2) + 0.0

    def measure(self, table: Table, means: list[float]) -> None:
        average = mean(means)
        new = (self.tokens - average) / self.tokens * 100.0
        old = new if self.ratio <= 1.0 else average / self.tokens * 100.0
        self.score_both(table, new, old)
        table.part("S", average)
        table.series("returns", [self.ratio * given for given in means])
        table.series("mean", means)
