"""Alpha-rank: how often evolution visits each strategy or profile (Omidshafiei et al. 2019).

A finite population of m players all play one profile. A mutant of one strategy appears and takes
over with the fixation probability of the Fermi process,
`rho = (1 - exp(-u)) / (1 - exp(-m u))`, `u = alpha (f(mutant) - f(resident))`
(equations 8 and 9; 1 / m for u = 0). The stationary distribution of the chain of takeovers ranks
the profiles. With alpha infinite, takeovers follow strict improvements, and others happen with a
small probability epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from agon.analysis.games import NormalForm, Profile, deviations
from agon.analysis.results import FloatArray, Result, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EQUAL = 1e-14
_SAME_SHARE = 1e-9
"""Payoffs that differ by less than this share of the largest are equal."""


@dataclass(frozen=True)
class AlphaRank(Result):
    """Mass of the stationary distribution, by profile (or by strategy of a single population)."""

    names: tuple[str, ...]
    mass: FloatArray
    transitions: FloatArray

    def frame(self) -> pd.DataFrame:
        """One row per profile, the most visited first."""
        frame = pd.DataFrame({"profile": self.names, "mass": self.mass})
        ordered: pd.DataFrame = frame.sort_values(
            "mass", ascending=False, kind="stable", ignore_index=True
        )
        return ordered

    def heading(self) -> str:
        """What the numbers are."""
        return "alpha-rank: share of time in each profile"

    def figure(self) -> Figure:
        """Bars, the most visited profile first."""
        figure, axes = new_figure("Alpha-rank")
        frame = self.frame()
        axes.barh(frame["profile"][::-1], frame["mass"][::-1], color="#0072B2")
        axes.set_xlabel("stationary mass")
        return figure


def alpha_rank(
    game: NormalForm,
    alpha: float = 100.0,
    population: int = 50,
    single_population: bool | None = None,
    epsilon: float = 0.01,
) -> AlphaRank:
    """Alpha-rank of a game.

    `alpha`: strength of selection, per unit of payoff; `numpy.inf` for the limit, in which
    `epsilon` is the probability of a takeover without an improvement. `single_population`: rank
    strategies of a symmetric game of two players instead of profiles; by default if it is one.
    """
    if single_population is None:
        single_population = game.is_symmetric
    if single_population:
        if not game.is_symmetric:
            raise ValueError("a single population needs a symmetric game of two players")
        names = game.strategies[0]
        transitions = _single(game.payoffs[0], alpha, population, epsilon)
    else:
        names = tuple(" / ".join(game.name_of(profile)) for profile in game.profiles)
        transitions = _several(game, alpha, population, epsilon)
    return AlphaRank(names, stationary(transitions), transitions)


def stationary(transitions: FloatArray) -> FloatArray:
    """The stationary distribution of a Markov chain with one recurrent class.

    Transitions too rare for a floating-point number count as impossible. By state reduction
    (Grassmann, Taksar, Heyman 1985), which subtracts nothing and so keeps small probabilities
    exact.
    """
    _, labels = connected_components(transitions > 0.0, connection="strong")
    leaves = (transitions > 0.0) & (labels[:, None] != labels)
    closed = sorted(set(labels.tolist()) - set(labels[leaves.any(axis=1)].tolist()))
    if len(closed) != 1:
        raise ValueError("the chain has more than one stationary distribution")
    recurrent = np.flatnonzero(labels == closed[0])
    result = np.zeros(transitions.shape[0])
    result[recurrent] = _reduced(transitions[np.ix_(recurrent, recurrent)])
    return result


def _reduced(transitions: FloatArray) -> FloatArray:
    chain = transitions.astype(np.float64).copy()
    size = chain.shape[0]
    for last in range(size - 1, 0, -1):
        chain[:last, last] /= chain[last, :last].sum()
        chain[:last, :last] += np.outer(chain[:last, last], chain[last, :last])
    mass = np.ones(size)
    for state in range(1, size):
        mass[state] = mass[:state] @ chain[:state, state]
    return np.asarray(mass / mass.sum())


def _single(matrix: FloatArray, alpha: float, population: int, epsilon: float) -> FloatArray:
    size = matrix.shape[0]
    if size < 2:
        raise ValueError("there must be at least two strategies")
    gains = matrix.T - matrix
    # gains[s, r]: what a mutant r earns against resident s, less what s earns against r.
    takeovers = _takeover(gains, alpha, population, epsilon) / (size - 1)
    return _chain(takeovers)


def _several(game: NormalForm, alpha: float, population: int, epsilon: float) -> FloatArray:
    places: dict[Profile, int] = {profile: place for place, profile in enumerate(game.profiles)}
    size = len(places)
    gains, reached = np.zeros((size, size)), np.zeros((size, size), dtype=bool)
    for profile, place in places.items():
        for player, other in deviations(game, profile):
            gains[place, places[other]] = (
                game.payoffs[player][other] - game.payoffs[player][profile]
            )
            reached[place, places[other]] = True
    choices = sum(strategies - 1 for strategies in game.shape)
    # Means of equal payoffs differ by their rounding.
    largest = max(float(np.abs(own).max()) for own in game.payoffs)
    gains[np.abs(gains) <= _SAME_SHARE * largest] = 0.0
    takeovers = _takeover(gains, alpha, population, epsilon) / choices
    return _chain(np.where(reached, takeovers, 0.0))


def _takeover(gains: FloatArray, alpha: float, population: int, epsilon: float) -> FloatArray:
    if np.isinf(alpha):
        better = np.where(gains > 0.0, 1.0 - epsilon, epsilon)
        return np.where(np.abs(gains) < _EQUAL, 0.5, better)
    return fixation(alpha * gains, population)


def fixation(selection: FloatArray, population: int) -> FloatArray:
    """`(1 - exp(-u)) / (1 - exp(-m u))`, and 1 / m where u is 0."""
    near = np.abs(selection) < _EQUAL
    u = np.where(near, 1.0, selection)
    # For negative u both terms are scaled by exp(m u), which cannot overflow.
    size = np.abs(u)
    up = -np.expm1(-size) / -np.expm1(-population * size)
    down = np.exp(-(population - 1) * size) * up
    chances: FloatArray = np.where(near, 1.0 / population, np.where(u > 0.0, up, down))
    return chances


def _chain(takeovers: FloatArray) -> FloatArray:
    chain = np.array(takeovers)
    np.fill_diagonal(chain, 0.0)
    np.fill_diagonal(chain, 1.0 - chain.sum(axis=1))
    return chain
