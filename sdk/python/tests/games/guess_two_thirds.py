"""Guess 2/3 of the average: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

from collections.abc import Sequence

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, LARGEST_RATIO, Rounds, deviation, mean, present


class GuessTwoThirds(Rounds):
    """Say a number; closest to a ratio of the mean wins."""

    name = "python_guess_two_thirds"
    title = "Guess 2/3 of the Average"
    source = "gamma-Bench, arXiv 2403.11807, game 1"
    hidden_information = True
    min = agon.parameter(
        0, "Smallest number that may be said. Below 0 a ratio would pull away from it.",
        min=0, max=LARGEST_AMOUNT,
    )  # fmt: skip
    max = agon.parameter(100, "Largest number that may be said.", min=0, max=LARGEST_AMOUNT)
    ratio = agon.parameter(2 / 3, "The target is this times the mean.", min=0.0, max=LARGEST_RATIO)
    tie = agon.parameter(
        "all", "Who wins when two different numbers are equally close.", options=("all", "first")
    )

    SAME_DISTANCE = 1e-9

    def settle(self):
        if self.min >= self.max:
            raise ValueError("max must be greater than min")

    def play(self, table: Table) -> Play:
        table.brief(rounds=self.rounds, min=self.min, max=self.max, ratio=self.ratio)
        means, deviations = [], []
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("guess", agon.whole(self.min, self.max, role="guess"))
            guesses = list(answers.values())
            said = present(guesses)
            average = mean(said)
            target = average * self.ratio
            winning = self.winning_numbers(said, target)
            won = [guess in winning for guess in guesses]
            winners = won.count(True)
            table.pay([1.0 / winners if has_won else 0.0 for has_won in won])
            table.tell(
                "round_result",
                mean=average if said else None,
                target=target if said else None,
                winning_numbers=winning,
                winners=winners,
                own={"number": guesses, "won": won},
            )
            if said:
                means.append(average)
                deviations.append(deviation(said))
        if means:
            self.measure(table, means, deviations)

    def winning_numbers(self, said: Sequence[int], target: float) -> list[int]:
        """The different numbers closest to the target, in seat order."""
        least = min((abs(number - target) for number in said), default=0.0)
        closest = [number for number in said if abs(number - target) <= least + self.SAME_DISTANCE]
        different = list(dict.fromkeys(closest))
        return different[:1] if self.tie == "first" else different

    def measure(self, table: Table, means: list[float], deviations: list[float]) -> None:
        offset = mean(average - self.min for average in means)
        plain = mean(means)
        width = float(self.max - self.min)
        if self.ratio < 1.0:
            new, old = (self.max - offset) / width, (self.max - plain) / width
        elif self.ratio > 1.0:
            new, old = offset / width, plain / width
        else:
            new = 1.0 - abs(2.0 * offset - width) / width
            old = abs(2.0 * plain - width) / width
        self.score_both(table, new * 100.0, old * 100.0)
        table.part("S", offset)
        table.part("S_mean", plain)
        table.series("mean", means)
        table.series("sd", deviations)
