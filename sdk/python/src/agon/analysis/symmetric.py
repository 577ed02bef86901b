"""One round of Agon's simultaneous games as a symmetric game with few actions.

All players choose alike and independently, with probabilities `p`. `utilities(p)` is the expected
payoff of each action of one player against the others, exact for any number of players (apart from
the rounding to hundredths of public goods). Rules are those of the games' default tie rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from agon.analysis.results import FloatArray

_SAME_DISTANCE = 1e-9
"""As in the game's rules."""


@dataclass(frozen=True)
class SymmetricGame:
    """A symmetric game: names of actions, players, and expected payoffs against a mixture."""

    names: tuple[str, ...]
    players: int
    utilities: Callable[[FloatArray], FloatArray]
    slopes: Callable[[FloatArray], FloatArray] | None = None
    """Derivatives of the utilities by the probabilities; by differences without it."""

    @property
    def size(self) -> int:
        """Number of actions."""
        return len(self.names)


def public_goods(
    contributions: Sequence[int], players: int = 10, tokens: int = 20, ratio: float = 2.0
) -> SymmetricGame:
    """Public goods with some contributions: `tokens - c + ratio * sum / players`."""
    given = np.asarray(contributions, dtype=np.float64)

    def utilities(play: FloatArray) -> FloatArray:
        others = (players - 1) * float(play @ given)
        return np.asarray(tokens - given + ratio * (given + others) / players)

    return SymmetricGame(tuple(str(one) for one in contributions), players, utilities)


def diners_dilemma(
    players: int = 10,
    cheap: tuple[float, float] = (10.0, 15.0),
    costly: tuple[float, float] = (20.0, 20.0),
) -> SymmetricGame:
    """Diner's Dilemma; a dish is its cost and its utility."""
    costs, values = np.array([cheap[0], costly[0]]), np.array([cheap[1], costly[1]])

    def utilities(play: FloatArray) -> FloatArray:
        others = (players - 1) * float(play @ costs)
        return np.asarray(values - (costs + others) / players)

    return SymmetricGame(("cheap", "costly"), players, utilities)


def el_farol(
    players: int = 10, ratio: float = 0.6, good: float = 10.0, bad: float = 0.0, home: float = 5.0
) -> SymmetricGame:
    """El Farol bar: going pays `good` if at most `ratio` of all players go, otherwise `bad`."""
    goers = np.arange(players) + 1
    pays = np.where(goers / players <= ratio, good, bad)

    def utilities(play: FloatArray) -> FloatArray:
        # Written as a polynomial, so that derivatives may step outside of the simplex.
        others = np.arange(players)
        ways = stats.binom(players - 1, 0.5).pmf(others) * 2.0 ** (players - 1)
        chances = ways * play[0] ** others * play[1] ** (players - 1 - others)
        return np.array([chances @ pays, home * chances.sum()])

    return SymmetricGame(("go", "stay"), players, utilities)


def divide_dollar(bids: Sequence[int], players: int = 10, golds: int = 100) -> SymmetricGame:
    """Divide the dollar with some bids: one's bid if all bids are at most `golds`, otherwise 0."""
    amounts = np.asarray(bids, dtype=np.int64)

    def utilities(play: FloatArray) -> FloatArray:
        law = np.zeros(int(amounts.max()) + 1)
        np.add.at(law, amounts, play)
        sums = np.ones(1)
        for _ in range(players - 1):
            sums = np.convolve(sums, law)[: golds + 1]
        below = np.cumsum(sums)
        room = np.minimum(golds - amounts, below.size - 1)
        return np.where(room >= 0, amounts * below[np.maximum(room, 0)], 0.0)

    return SymmetricGame(tuple(str(bid) for bid in bids), players, utilities)


def guess(numbers: Sequence[int], players: int = 10, ratio: float = 2.0 / 3.0) -> SymmetricGame:
    """A guessing game with some whole numbers: 1 split among all closest to `ratio` * mean.

    For each number and sum of all, the others must be as far from the target or farther. How
    likely a sum is, if none is closer, follows from the power of a polynomial in the frequency
    domain.
    """
    values = np.asarray(numbers, dtype=np.int64)
    low = int(values.min())
    unit = max(int(np.gcd.reduce(values - low)), 1)
    offsets = (values - low) // unit
    others = players - 1
    length = int(offsets.max()) * others + 1
    frequencies = np.arange(length)
    waves = np.exp(-2j * np.pi * np.outer(frequencies, offsets) / length)
    # Splitting a prize with k others is the integral of v^k over v: exact with so many points.
    nodes, weights = np.polynomial.legendre.leggauss(others // 2 + 1)
    nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0

    sums: dict[tuple[int, bytes, bytes], list[int]] = {}
    for place, value in enumerate(values):
        for total in range(length):
            target = ratio * (value + total * unit + low * others) / players
            distance = np.abs(values - target)
            tied = np.abs(distance - distance[place]) <= _SAME_DISTANCE
            farther = (distance > distance[place]) & ~tied
            key = (place, tied.tobytes(), farther.tobytes())
            sums.setdefault(key, []).append(total)
    places = np.array([key[0] for key in sums])
    ties = np.array([np.frombuffer(key[1], dtype=bool) for key in sums])
    aparts = np.array([np.frombuffer(key[2], dtype=bool) for key in sums])
    # Column k picks the sums of case k out of a spectrum.
    picks = np.array(
        [
            np.exp(2j * np.pi * np.outer(frequencies, own) / length).sum(axis=1) / length
            for own in sums.values()
        ]
    ).T

    def spectra(play: FloatArray) -> npt.NDArray[np.complex128]:
        equal, apart = waves @ (play * ties).T, waves @ (play * aparts).T
        return np.asarray(apart[:, :, None] + equal[:, :, None] * nodes)

    def utilities(play: FloatArray) -> FloatArray:
        chances = (picks * (spectra(play) ** others @ weights)).sum(axis=0).real
        gains = np.zeros(values.size)
        np.add.at(gains, places, chances)
        return gains

    def slopes(play: FloatArray) -> FloatArray:
        rest = others * spectra(play) ** (others - 1)
        by_apart = ((picks * (rest @ weights)).T @ waves).real * aparts
        by_tied = ((picks * (rest @ (weights * nodes))).T @ waves).real * ties
        result = np.zeros((values.size, values.size))
        np.add.at(result, places, by_apart + by_tied)
        return result

    return SymmetricGame(tuple(str(number) for number in numbers), players, utilities, slopes)
