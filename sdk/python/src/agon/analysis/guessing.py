"""Level-k and Poisson cognitive hierarchy models of guessing games ("p times the average").

Level 0 chooses every number with the same probability. Level k chooses its target with an error:

- level-k (Nagel 1995): `b_k = p b_{k-1}`, since all others are believed to be of level k - 1;
- cognitive hierarchy (Camerer, Ho, Chong 2004, equations 1 to 3): `b_k = p sum_{h<k} g_k(h) b_h`
  with `g_k(h) = f(h) / sum_{l<k} f(l)` and `f` Poisson of mean tau;

with `b_0` the middle of the range, and targets limited to the range. With `players = n` a player
knows that its own number is in the mean: `p` becomes `p (n - 1) / (n - p)`.

Noise. The papers' levels choose exactly, so that one other number would have probability 0. Here
the number of a level above 0 is normally distributed around the target with standard deviation
sigma (in the unit of the numbers), limited to the range and rounded to its grid. Probabilities of
the numbers sum to 1, also where sigma is small, so the likelihood is proper and bounded.

Choices are taken as independent: use first rounds, or one round; for later rounds resample
sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import special

from agon.analysis.likelihood import profile_interval
from agon.analysis.mixture import MixtureProblem, mixture_log_likelihood, poisson_shares
from agon.analysis.optimise import minimize, minimize_scalar
from agon.analysis.results import (
    LEVEL,
    Columns,
    Estimate,
    FloatArray,
    Result,
    column,
    estimates_figure,
    estimates_frame,
    number_column,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REAL_STEPS = 1000
"""Real numbers are rounded to this many steps of the range."""

_LEVELS = 21
"""Levels 0 to 20 of a hierarchy; a Poisson law of mean 8 has one part in ten thousand beyond."""

_RARE = 1e-9
"""Levels that together are rarer than this are left out, which saves time."""

_MOST_TAU = 10.0

_LEAST_PROBABILITY = 1e-300
"""A number this far from a target counts as this likely, so that logarithms stay finite."""

LogLikelihood = Callable[[float, float], float]
OneParameter = Callable[[float], float]


@dataclass(frozen=True)
class GuessingGame:
    """A guessing game.

    `ratio`: the target is this times the mean. `low`, `high`: the range of numbers. `step`: the
    distance between numbers; `None` for real numbers, which are rounded to a thousandth of the
    range. `players`: how many play, if a player takes its own influence on the mean into account.
    """

    ratio: float = 2.0 / 3.0
    low: float = 0.0
    high: float = 100.0
    step: float | None = 1.0
    players: int | None = None

    @staticmethod
    def of(params: Mapping[str, Any], own_influence: bool = True) -> GuessingGame:
        """The game of a record's parameters: `guess_two_thirds` or `guess_to_survive`.

        `own_influence`: whether players take their own number's influence on the mean into account.
        """
        players = int(params["players"]) if own_influence else None
        return GuessingGame(params["ratio"], params["min"], params["max"], 1.0, players)

    def __post_init__(self) -> None:
        if not self.high > self.low:
            raise ValueError(f"high must be above low, not {self.high} and {self.low}")
        if self.players is not None and self.players < 2:
            raise ValueError(f"players must be at least 2, not {self.players}")

    @property
    def grid(self) -> FloatArray:
        """The numbers that can be chosen, from low to high."""
        step = self.step or (self.high - self.low) / _REAL_STEPS
        return np.asarray(self.low + step * np.arange(round((self.high - self.low) / step) + 1))

    def response(self, mean: float) -> float:
        """The best reply to others whose mean is `mean`, limited to the range."""
        ratio = self.ratio
        if self.players is not None:
            ratio = ratio * (self.players - 1) / (self.players - ratio)
        return min(max(ratio * mean, self.low), self.high)

    def level_targets(self, levels: int) -> FloatArray:
        """Targets of levels 0 to `levels` when all others are believed one level below."""
        targets = [(self.low + self.high) / 2.0]
        for _ in range(levels):
            targets.append(self.response(targets[-1]))
        return np.array(targets)

    def hierarchy_targets(self, tau: float, levels: int = _LEVELS) -> FloatArray:
        """Targets of levels 0 to `levels - 1` of the Poisson cognitive hierarchy."""
        shares = poisson_shares(tau, levels).tolist()
        targets = [(self.low + self.high) / 2.0]
        weight, weighted = shares[0], shares[0] * targets[0]
        for share in shares[1:]:
            target = self.response(weighted / weight)
            targets.append(target)
            weight, weighted = weight + share, weighted + share * target
        return np.array(targets)

    def hierarchy_mean(self, tau: float) -> float:
        """The mean number that the hierarchy predicts, without noise."""
        return float(poisson_shares(tau, _LEVELS) @ self.hierarchy_targets(tau))

    def equilibrium(self) -> float:
        """Where iterated best replies from the middle lead."""
        return float(self.level_targets(500)[-1])

    def cell(self, choices: Sequence[float] | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Numbers on the grid that were chosen, and how often; choices are rounded to it."""
        said = np.asarray(choices, dtype=np.float64)
        if said.size == 0:
            raise ValueError("there is no choice")
        if np.isnan(said).any() or said.min() < self.low or said.max() > self.high:
            raise ValueError(f"choices must be numbers from {self.low} to {self.high}")
        grid = self.grid
        places = np.rint((said - self.low) / (grid[1] - grid[0])).astype(np.int64)
        found, counts = np.unique(places, return_counts=True)
        return grid[found], counts.astype(np.float64)

    def log_probabilities(
        self, numbers: FloatArray, targets: FloatArray, sigma: float
    ) -> FloatArray:
        """Log-probability of each number (rows) for level 0 and the levels of these targets.

        Column 0 is level 0; `targets` are those of the other columns.
        """
        grid = self.grid
        half = (grid[1] - grid[0]) / 2.0
        uniform = np.full((numbers.size, 1), -np.log(grid.size))
        above = (numbers[:, None] + half - targets) / sigma
        below = (numbers[:, None] - half - targets) / sigma
        # Both tails are measured from the side where they are small.
        flip = below > 0.0
        upper = np.where(flip, -below, above)
        lower = np.where(flip, -above, below)
        inside = special.ndtr(upper) - special.ndtr(lower)
        ends = special.ndtr((self.high + half - targets) / sigma)
        ends = ends - special.ndtr((self.low - half - targets) / sigma)
        inside = np.maximum(inside / ends, _LEAST_PROBABILITY)
        return np.hstack([uniform, np.log(inside)])

    def _sigmas(self) -> tuple[float, float]:
        grid = self.grid
        return float(grid[1] - grid[0]) / 50.0, (self.high - self.low) / 2.0


@dataclass(frozen=True)
class LevelFit(Result):
    """Level-k fitted to choices: the share of each level, and the noise sigma."""

    shares: tuple[Estimate, ...]
    noise: Estimate
    targets: FloatArray
    log_likelihood: float
    observations: int

    def frame(self) -> pd.DataFrame:
        """One row per level and one for the noise; `target` is the number that a level aims at."""
        frame = estimates_frame([*self.shares, self.noise])
        frame.insert(1, "target", [*self.targets, np.nan])
        return frame

    def heading(self) -> str:
        """The model, number of choices and log-likelihood."""
        return f"level-k, {self.observations} choices, log-likelihood {self.log_likelihood:.2f}"

    def figure(self) -> Figure:
        """Shares with intervals."""
        return estimates_figure(self.shares, "Levels of reasoning", "share of choices")


@dataclass(frozen=True)
class HierarchyFit(Result):
    """A Poisson cognitive hierarchy fitted to choices: mean level tau, and noise."""

    tau: Estimate
    noise: Estimate
    log_likelihood: float
    observations: int

    def frame(self) -> pd.DataFrame:
        """One row per parameter."""
        return estimates_frame([self.tau, self.noise])

    def heading(self) -> str:
        """The model, number of choices and log-likelihood."""
        return (
            f"Poisson cognitive hierarchy, {self.observations} choices, "
            f"log-likelihood {self.log_likelihood:.2f}"
        )

    def figure(self) -> Figure:
        """The mean level with its interval."""
        return estimates_figure([self.tau], "Poisson cognitive hierarchy", "mean level")


def fit_levels(
    choices: Sequence[float] | FloatArray,
    game: GuessingGame | None = None,
    levels: int = 3,
    equilibrium: bool = False,
    level: float = LEVEL,
) -> LevelFit:
    """Shares of levels 0 to `levels`, and of players of the equilibrium if asked for.

    Intervals are profile likelihoods.
    """
    game = game or GuessingGame()
    numbers, counts = game.cell(choices)
    targets = game.level_targets(levels)
    names = [f"level {k}" for k in range(levels + 1)]
    if equilibrium:
        targets = np.append(targets, game.equilibrium())
        names.append("equilibrium")

    def components(sigma: float) -> FloatArray:
        return game.log_probabilities(numbers, targets[1:], sigma)

    problem = MixtureProblem(components, counts, len(names), game._sigmas())
    best = problem.fit()
    shares, noise = problem.estimates(best, names, "sigma", level)
    return LevelFit(tuple(shares), noise, targets, best.log_likelihood, int(counts.sum()))


def fit_hierarchy(
    choices: Sequence[float] | FloatArray,
    game: GuessingGame | None = None,
    level: float = LEVEL,
) -> HierarchyFit:
    """Mean level tau of the Poisson cognitive hierarchy, and the noise sigma.

    Intervals are profile likelihoods. Tau is searched from 0 to 10.
    """
    game = game or GuessingGame()
    numbers, counts = game.cell(choices)

    def log_likelihood(tau: float, log_sigma: float) -> float:
        shares = poisson_shares(tau, _LEVELS)
        kept = max(int(np.searchsorted(np.cumsum(shares), 1.0 - _RARE)) + 1, 2)
        targets = game.hierarchy_targets(tau, kept)
        logs = game.log_probabilities(numbers, targets[1:], float(np.exp(log_sigma)))
        return mixture_log_likelihood(logs, counts, poisson_shares(tau, kept))

    sigmas = game._sigmas()
    log_sigmas = (float(np.log(sigmas[0])), float(np.log(sigmas[1])))
    surface = TwoParameters(log_likelihood, (0.0, _MOST_TAU), log_sigmas)
    tau, noise, best = surface.fit(("tau", "sigma"), level)
    return HierarchyFit(tau, noise, best, int(counts.sum()))


def choices_of(actions: Columns, player: str | None = None, turn: int = 1) -> FloatArray:
    """Numbers that were chosen in a round, from the exported table `actions` of one game.

    `turn`: the round; first rounds of different sessions are independent. `player`: only those of
    seats of this name. Forfeited asks are left out.
    """
    wanted = (column(actions, "turn") == turn) & ~column(actions, "forfeited").astype(bool)
    if player is not None:
        wanted &= column(actions, "player") == player
    return np.asarray(number_column(actions, "number")[wanted])


class TwoParameters:
    """The likelihood of a hierarchy: a mean level, and a scale searched as a logarithm."""

    def __init__(
        self,
        log_likelihood: LogLikelihood,
        taus: tuple[float, float],
        log_scales: tuple[float, float],
        grid: tuple[int, int] = (26, 12),
    ) -> None:
        self._grid = grid
        self._log_likelihood = log_likelihood
        self._taus = taus
        self._log_scales = log_scales

    def fit(self, names: tuple[str, str], level: float) -> tuple[Estimate, Estimate, float]:
        """Both estimates with their profile intervals, and the log-likelihood."""
        taus = np.linspace(*self._taus, self._grid[0])
        scales = np.linspace(*self._log_scales, self._grid[1])
        surface = np.array([[self._log_likelihood(t, s) for s in scales] for t in taus])
        place = np.unravel_index(int(surface.argmax()), surface.shape)
        outcome = minimize(
            lambda point: -self._log_likelihood(float(point[0]), float(point[1])),
            np.array([taus[place[0]], scales[place[1]]]),
            method="L-BFGS-B",
            bounds=[self._taus, self._log_scales],
            options={"ftol": 1e-13, "gtol": 1e-7},
        )
        tau, log_scale = float(outcome.x[0]), float(outcome.x[1])
        best = -float(outcome.fun)
        low, high = profile_interval(
            lambda value: self._along_scale(value, log_scale), tau, best, self._taus, 0.1, level
        )
        ends = profile_interval(
            lambda value: self._along_tau(value, tau),
            log_scale,
            best,
            self._log_scales,
            0.05,
            level,
        )
        scale = Estimate(names[1], *(float(np.exp(x)) for x in (log_scale, *ends)))
        return Estimate(names[0], tau, low, high), scale, best

    def _along_scale(self, tau: float, near: float) -> float:
        return _highest(lambda scale: self._log_likelihood(tau, scale), self._log_scales, near)

    def _along_tau(self, log_scale: float, near: float) -> float:
        return _highest(lambda tau: self._log_likelihood(tau, log_scale), self._taus, near)


def _highest(function: OneParameter, bounds: tuple[float, float], near: float) -> float:
    """The highest value between bounds: by a grid, then between the neighbours of its best."""
    points = np.unique(np.append(np.linspace(*bounds, 7), near))
    values = [function(float(point)) for point in points]
    place = int(np.argmax(values))
    low, high = points[max(place - 1, 0)], points[min(place + 1, points.size - 1)]
    outcome = minimize_scalar(
        lambda point: -function(float(point)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 5e-4 * (bounds[1] - bounds[0])},
    )
    return max(-float(outcome.fun), values[place])
