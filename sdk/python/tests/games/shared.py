"""What the games of gamma-Bench have in common: parameters, and the arithmetic of their measures.

The games of this folder leave the same records as the built-in ones. Their rules: Huang et al.,
arXiv 2403.11807, section 3.1; the scores `arxiv2024` are those of its version 1, appendix C.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import agon
from agon import Table

LARGEST_AMOUNT = 1_000_000_000
LARGEST_RATIO = 1000.0
MOST_ROUNDS = 10_000


class GammaBench(agon.Game):
    """A game of gamma-Bench."""

    seats = (2, 1000)
    players = agon.parameter(
        10, "Number of players; taken from the seats of the experiment.", min=2, max=1000
    )
    foul_allowance = agon.parameter(
        3, "Fouls forgiven per ask before it is forfeited.", min=0, max=100
    )

    def told(self):
        """Templates tell models the title and the rules of the built-in games."""
        return {}

    def score_both(self, table: Table, iclr2025: float, arxiv2024: float) -> None:
        table.score("iclr2025", iclr2025)
        table.score("arxiv2024", arxiv2024)


class Rounds(GammaBench):
    """A game of rounds, in each of which everybody is asked the same thing at the same time."""

    rounds = agon.parameter(20, "Number of rounds.", min=1, max=MOST_ROUNDS)


def present(answers: Iterable[int | None]) -> list[int]:
    """The answers of seats that did not forfeit."""
    return [answer for answer in answers if answer is not None]


def mean(numbers: Iterable[float]) -> float:
    """The mean; 0 for no numbers. `sum` would round differently from Python 3.12 on."""
    total, count = 0.0, 0
    for number in numbers:
        total += number
        count += 1
    return total / count if count else 0.0


def deviation(numbers: Sequence[float]) -> float:
    """The standard deviation of all the numbers there are, not of a sample."""
    middle = mean(numbers)
    return math.sqrt(mean((number - middle) * (number - middle) for number in numbers))


def share_deviation(share: float) -> float:
    """The standard deviation of as many ones and zeros as make up a share."""
    return math.sqrt(max(0.0, share * (1.0 - share)))
