"""Divide the Dollar: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, Rounds, deviation, mean, present


class DivideDollar(Rounds):
    """Say how much you want; all get nothing when the sum is too high."""

    name = "python_divide_dollar"
    title = "Divide the Dollar"
    source = "gamma-Bench, arXiv 2403.11807, game 3"
    hidden_information = True
    golds = agon.parameter(100, "Gold to divide in each round.", min=1, max=LARGEST_AMOUNT)

    def play(self, table: Table) -> Play:
        table.brief(rounds=self.rounds, golds=self.golds)
        totals, means, deviations = [], [], []
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("bid", agon.whole(0, self.golds, role="bid"))
            bids = list(answers.values())
            said = present(bids)
            total = sum(said)
            exceeded = total > self.golds
            received = [0 if exceeded else bid or 0 for bid in bids]
            table.pay(received)
            table.tell(
                "round_result",
                total=total,
                exceeded=exceeded,
                own={"bid": bids, "received": received},
            )
            totals.append(total)
            if said:
                means.append(mean(said))
                deviations.append(deviation(said))
        self.measure(table, totals)
        table.series("mean", means)
        table.series("sd", deviations)

    def measure(self, table: Table, totals: list[int]) -> None:
        share = self.golds / self.players
        apart = mean(abs(total / self.players - share) for total in totals)
        apart_total = mean(abs(total - self.golds) for total in totals)
        new = max(0.0, (share - apart) / share * 100.0)
        self.score_both(table, new, (self.golds - apart_total) / self.golds * 100.0)
        table.part("S", apart)
        table.part("S_total", apart_total)
        table.series("total", totals)
