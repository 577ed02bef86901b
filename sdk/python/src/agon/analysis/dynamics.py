"""Populations of players: replicator and Moran dynamics over a measured table.

Fitness is the expected payoff of a player against a random group of the population. In a symmetric
game of n seats the other n - 1 are drawn independently (replicator) or without replacement (Moran).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from agon.analysis.alpharank import stationary
from agon.analysis.games import NormalForm
from agon.analysis.optimise import solve_ivp
from agon.analysis.results import FloatArray, IntArray, Result, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
_SYMMETRY = 1e-9


@dataclass(frozen=True)
class Trajectory(Result):
    """Shares of strategies of one population over time."""

    names: tuple[str, ...]
    times: FloatArray
    shares: FloatArray
    """One row per time, one column per strategy."""
    title: str

    def frame(self) -> pd.DataFrame:
        """A row per time: `time`, and a column per strategy."""
        frame: pd.DataFrame = pd.DataFrame(self.shares, columns=list(self.names))
        frame.insert(0, "time", self.times)
        return frame

    def heading(self) -> str:
        """What moves."""
        return self.title

    def figure(self) -> Figure:
        """Shares over time, a line per strategy."""
        figure, axes = new_figure(self.title)
        for place, name in enumerate(self.names):
            colour = _COLOURS[place % len(_COLOURS)]
            axes.plot(self.times, self.shares[:, place], color=colour, label=name)
        axes.set_xlabel("time")
        axes.set_ylabel("share of the population")
        axes.set_ylim(0.0, 1.0)
        axes.legend()
        return figure


def replicator(
    game: NormalForm,
    start: Sequence[float] | FloatArray | Sequence[Sequence[float]] | None = None,
    until: float = 100.0,
    points: int = 201,
) -> list[Trajectory]:
    """The replicator equation, `dx_i / dt = x_i (u_i(x) - sum_j x_j u_j(x))`.

    Taylor, Jonker 1978; several populations as Taylor 1979. A symmetric game has one population and
    one trajectory; any other game one per player, with `start` a distribution for each. By default
    all strategies start alike. Time is in units of 1 / payoff.
    """
    single = is_symmetric(game)
    sizes = (game.shape[0],) if single else game.shape
    if start is None:
        blocks = [np.full(size, 1.0 / size) for size in sizes]
    else:
        given = [start] if single else start
        blocks = [np.asarray(own, dtype=np.float64) for own in given]
    if any(own.size != size for own, size in zip(blocks, sizes, strict=True)):
        raise ValueError(f"there must be a share for each of {sizes} strategies")
    if any(abs(own.sum() - 1.0) > 1e-9 or own.min() < 0.0 for own in blocks):
        raise ValueError("shares must not be negative, and must sum to 1")
    ends = np.cumsum(sizes)[:-1]

    def velocity(_: float, state: FloatArray) -> FloatArray:
        mixed = np.split(state, ends)
        replies = game.responses(mixed * game.players if single else mixed)
        moves = [own * (reply - own @ reply) for own, reply in zip(mixed, replies, strict=False)]
        return np.concatenate(moves)

    times = np.linspace(0.0, until, points)
    outcome = solve_ivp(
        velocity,
        (0.0, until),
        np.concatenate(blocks),
        t_eval=times,
        method="LSODA",
        rtol=1e-9,
        atol=1e-12,
    )
    if not outcome.success:
        raise ArithmeticError(f"the equation was not solved: {outcome.message}")
    states = np.clip(outcome.y.T, 0.0, 1.0)
    trajectories = []
    for player, own in enumerate(np.split(states, ends, axis=1)):
        title = "Replicator dynamics" if single else f"Replicator dynamics, player {player}"
        trajectories.append(Trajectory(game.strategies[player], times, own, title))
    return trajectories


def is_symmetric(game: NormalForm) -> bool:
    """Whether all players have the same strategies, and swapping seats swaps payoffs."""
    if len(set(game.strategies)) != 1:
        return False
    first = game.payoffs[0]
    for player in range(game.players):
        axes = list(range(game.players))
        axes[0], axes[player] = axes[player], axes[0]
        if not np.allclose(first, np.transpose(game.payoffs[player], axes), atol=_SYMMETRY):
            return False
    others = itertools.permutations(range(1, game.players))
    return all(np.allclose(first, np.transpose(first, (0, *o)), atol=_SYMMETRY) for o in others)


def moran_payoffs(game: NormalForm, counts: IntArray) -> FloatArray:
    """Expected payoff of each strategy in a population with these counts.

    The other seats are filled from the rest of the population without replacement; NaN for a
    strategy that nobody plays.
    """
    _check(game, int(counts.sum()))
    payoffs = np.full(counts.size, np.nan)
    for place in np.flatnonzero(counts):
        rest = counts.copy()
        rest[place] -= 1
        payoffs[place] = _against(game.payoffs[0][place], rest, game.players - 1)
    return payoffs


def fixation_probability(
    game: NormalForm, mutant: int, resident: int, population: int, selection: float = 1.0
) -> float:
    """The chance that one mutant takes over a population of residents in a Moran process.

    Fitness is `exp(selection * payoff)`; an individual reproduces with a probability proportional
    to its fitness and replaces one drawn at random, so that
    `rho = 1 / (1 + sum_k prod_{i<=k} exp(-selection (pi_M(i) - pi_R(i))))` (Traulsen, Hauert 2009,
    equation 1.6, with exponential fitness). 1 / population without selection.
    """
    exponents = []
    for mutants in range(1, population):
        counts = np.zeros(game.shape[0], dtype=np.int64)
        counts[mutant], counts[resident] = mutants, population - mutants
        payoffs = moran_payoffs(game, counts)
        exponents.append(-selection * (payoffs[mutant] - payoffs[resident]))
    sums = np.concatenate([[0.0], np.cumsum(exponents)])
    largest = sums.max()
    return float(np.exp(-largest) / np.exp(sums - largest).sum())


@dataclass(frozen=True)
class MoranRanking(Result):
    """The limit of rare mutations: time in each uniform population, and chances of takeover."""

    names: tuple[str, ...]
    shares: FloatArray
    fixation: FloatArray
    """Row: resident; column: mutant."""
    population: int

    def frame(self) -> pd.DataFrame:
        """A row per strategy: its share of time, and how easily it takes over each other one.

        The latter is the fixation probability times the population: 1 for a neutral mutant.
        """
        frame: pd.DataFrame = pd.DataFrame({"strategy": self.names, "share": self.shares})
        for place, name in enumerate(self.names):
            frame[f"takes over {name}"] = self.fixation[place] * self.population
        return frame

    def heading(self) -> str:
        """What the numbers are."""
        return f"Moran process of {self.population}, rare mutations"

    def figure(self) -> Figure:
        """Bars of the share of time."""
        figure, axes = new_figure(self.heading())
        axes.barh(self.names[::-1], self.shares[::-1], color="#0072B2")
        axes.set_xlabel("share of time")
        return figure


def moran_ranking(game: NormalForm, population: int = 50, selection: float = 1.0) -> MoranRanking:
    """How long a population stays with each strategy when mutations are rare.

    The stationary distribution of the chain of takeovers (Fudenberg, Imhof 2006, theorem 1).
    """
    size = game.shape[0]
    chances = np.full((size, size), np.nan)
    for resident, mutant in itertools.permutations(range(size), 2):
        chances[resident, mutant] = fixation_probability(
            game, mutant, resident, population, selection
        )
    chain = np.nan_to_num(chances) / max(size - 1, 1)
    np.fill_diagonal(chain, 1.0 - chain.sum(axis=1))
    return MoranRanking(game.strategies[0], stationary(chain), chances, population)


def moran(
    game: NormalForm,
    counts: Sequence[int],
    steps: int = 10_000,
    mutation: float = 0.0,
    selection: float = 1.0,
    seed: int = 1,
    every: int = 10,
) -> Trajectory:
    """One path of a Moran process with mutation; time is births.

    At each step one individual reproduces with a probability proportional to
    `exp(selection * payoff)`, its child is of a random other strategy with probability `mutation`,
    and replaces an individual drawn at random.
    """
    now = np.asarray(counts, dtype=np.int64).copy()
    if now.size != game.shape[0]:
        raise ValueError(f"there must be a count for each of {game.shape[0]} strategies")
    _check(game, int(now.sum()))
    generator = np.random.default_rng(seed)
    population, size = int(now.sum()), now.size
    known: dict[bytes, FloatArray] = {}
    path, times = [now.copy()], [0]
    for step in range(1, steps + 1):
        key = now.tobytes()
        if key not in known:
            payoffs = moran_payoffs(game, now)
            fitness = np.exp(selection * (payoffs - np.nanmax(payoffs)))
            births = np.nan_to_num(fitness) * now
            known[key] = births / births.sum()
        child = int(generator.choice(size, p=known[key]))
        if mutation > 0.0 and generator.random() < mutation:
            child = (child + int(generator.integers(1, size))) % size
        dead = int(generator.choice(size, p=now / population))
        now[child] += 1
        now[dead] -= 1
        if step % every == 0:
            path.append(now.copy())
            times.append(step)
    shares = np.array(path) / population
    title = f"Moran process of {population}"
    return Trajectory(game.strategies[0], np.array(times, dtype=np.float64), shares, title)


def _check(game: NormalForm, population: int) -> None:
    if not is_symmetric(game):
        raise ValueError("a Moran process of one population needs a symmetric game")
    if population < game.players:
        raise ValueError(f"a population of {population} cannot fill {game.players} seats")


def _against(payoffs: FloatArray, rest: IntArray, seats: int) -> float:
    """Mean payoff over the seats of others, drawn without replacement from the rest."""
    groups = math.comb(int(rest.sum()), seats)
    total = 0.0
    for group in itertools.combinations_with_replacement(np.flatnonzero(rest).tolist(), seats):
        ways = 1
        for strategy in set(group):
            ways *= math.comb(int(rest[strategy]), group.count(strategy))
        total += ways * float(payoffs[group])
    return total / groups
