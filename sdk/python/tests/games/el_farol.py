"""El Farol bar: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, Rounds, mean, share_deviation


class ElFarol(Rounds):
    """Go to the bar or stay home; going pays unless too many go."""

    name = "python_el_farol"
    title = "El Farol Bar"
    source = "gamma-Bench, arXiv 2403.11807, game 2"
    hidden_information = True
    ratio = agon.parameter(
        0.6, "Largest share of the players that the bar holds.", min=0.0, max=1.0
    )
    max = agon.parameter(
        10, "What going pays when the bar is good.", min=-LARGEST_AMOUNT, max=LARGEST_AMOUNT
    )
    min = agon.parameter(
        0, "What going pays when the bar is crowded.", min=-LARGEST_AMOUNT, max=LARGEST_AMOUNT
    )
    home = agon.parameter(5, "What staying home pays.")
    mode = agon.parameter(
        "implicit", "Who is told how many went.", options=("implicit", "explicit")
    )

    def settle(self):
        if self.min >= self.max:
            raise ValueError("max must be greater than min")
        if not self.min <= self.home <= self.max:
            raise ValueError(f"home must be from {self.min} to {self.max}, not {self.home}")

    def play(self, table: Table) -> Play:
        table.brief(
            rounds=self.rounds, ratio=self.ratio, max=self.max, min=self.min, home=self.home,
            mode=self.mode,
        )  # fmt: skip
        shares = []
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("choice", agon.choice("go", "stay"))
            guests = [seat for seat, choice in answers.items() if choice == "go"]
            goers = len(guests)
            share = goers / self.players
            good = share <= self.ratio
            evening = self.max if good else self.min
            paid = [evening if choice == "go" else self.home for choice in answers.values()]
            table.pay(paid)
            table.tell(
                "round_result",
                own={"choice": list(answers.values()), "payoff": paid},
                hidden={"goers": goers, "share": share, "good": good},
            )
            if guests or self.mode == "explicit":
                table.tell(
                    "bar_report",
                    to=None if self.mode == "explicit" else guests,
                    goers=goers,
                    stayers=self.players - goers,
                    share=share,
                    good=good,
                )
            shares.append(share)
        self.measure(table, shares)

    def measure(self, table: Table, shares: list[float]) -> None:
        distance = mean(abs(share - self.ratio) for share in shares)
        widest = max(self.ratio, 1.0 - self.ratio)
        score = (widest - distance) / widest * 100.0
        self.score_both(table, score, score)
        table.part("S", distance)
        table.series("sd", [share_deviation(share) for share in shares])
        table.series("mean", shares)
