"""Logit quantal response equilibrium, traced from uniform play (McKelvey, Palfrey 1995).

In equilibrium player i plays strategy j with `p_ij = exp(lambda u_ij(p)) / sum_k exp(lambda
u_ik(p))` (equation 8). `u` is the expected payoff against the others' `p`; the precision lambda is
per unit of payoff: 0 is uniform play, and as lambda grows the principal branch tends to a Nash
equilibrium. The branch is followed by its length, in logarithms of probabilities, so that it may
turn back in lambda (Turocy 2005). At a bifurcation of a symmetric game it keeps its symmetry.

Lambda is fitted by maximum likelihood along the branch; intervals are profile likelihoods and
assume independent choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from agon.analysis.games import NormalForm
from agon.analysis.likelihood import profile_interval
from agon.analysis.optimise import minimize_scalar
from agon.analysis.results import LEVEL, Estimate, FloatArray, Result, new_figure
from agon.analysis.symmetric import SymmetricGame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIRST_STEP = 0.03
_LONGEST_STEP = 1.0
_SHORTEST_STEP = 1e-9
_FARTHEST = 0.2
"""A correction longer than this share of a step may lead to another branch."""
_SHARPEST_TURN = 0.97
"""So may a turn with a smaller cosine than this."""
_MOST_POINTS = 5000
_NEWTON_STEPS = 12
_SOLVED = 1e-11
_DIFFERENCE = 1e-6


@dataclass(frozen=True)
class Branch:
    """Points of the principal branch: precision, and probabilities of all players in a row."""

    precisions: FloatArray
    log_probabilities: FloatArray
    system: LogitSystem

    def at(self, precision: float) -> list[FloatArray]:
        """All equilibria of the branch at a precision, in the order of the branch."""
        before, after = self.precisions[:-1], self.precisions[1:]
        crossing = (before - precision) * (after - precision) <= 0.0
        found: list[FloatArray] = []
        for place in np.flatnonzero(crossing & (before != after)):
            share = (precision - before[place]) / (after[place] - before[place])
            logs = self.log_probabilities
            guess = (1.0 - share) * logs[place] + share * logs[place + 1]
            play = np.exp(self.system.solve(guess, precision))
            if not found or np.abs(found[-1] - play).max() > 1e-7:
                found.append(play)
        if not found:
            raise ValueError(f"the branch was not traced to a precision of {precision}")
        return found


class LogitSystem:
    """The equations of the equilibria of a game.

    `sizes`: strategies by player (or of one player of a symmetric game, for all).
    `utilities` and `slopes`: expected payoffs of all strategies, and their derivatives by all
    probabilities.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        utilities: Callable[[FloatArray], FloatArray],
        slopes: Callable[[FloatArray], FloatArray],
    ) -> None:
        self.sizes = tuple(sizes)
        self.utilities = utilities
        self._slopes = slopes
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        # Row 0 of a player says that probabilities sum to 1, the others compare with strategy 0.
        self._differences = np.eye(int(self._starts[-1]))
        for start, end in zip(self._starts[:-1], self._starts[1:], strict=True):
            self._differences[start:end, start] = -1.0
            self._differences[start] = 0.0

    @staticmethod
    def of(game: NormalForm | SymmetricGame) -> LogitSystem:
        """The system of a game."""
        if isinstance(game, SymmetricGame):
            slopes = game.slopes or _numeric_slopes(game.utilities)
            return LogitSystem([game.size], game.utilities, slopes)
        ends = np.cumsum(game.shape)[:-1]

        def utilities(play: FloatArray) -> FloatArray:
            return np.concatenate(game.responses(np.split(play, ends)))

        def derivatives(play: FloatArray) -> FloatArray:
            mixed = np.split(play, ends)
            rows = [
                [
                    np.zeros((size, size))
                    if player == other
                    else game.response_slopes(mixed, player, other)
                    for other in range(game.players)
                ]
                for player, size in enumerate(game.shape)
            ]
            return np.asarray(np.block(rows))

        return LogitSystem(game.shape, utilities, derivatives)

    def residual(self, logs: FloatArray, precision: float) -> FloatArray:
        """What is left of the equations; 0 at an equilibrium."""
        play = np.exp(logs)
        left = self._differences @ (logs - precision * self.utilities(play))
        for start, end in zip(self._starts[:-1], self._starts[1:], strict=True):
            left[start] = play[start:end].sum() - 1.0
        return np.asarray(left)

    def jacobian(self, logs: FloatArray, precision: float) -> FloatArray:
        """Derivatives of the residual by log-probabilities, and by the precision in the end."""
        play = np.exp(logs)
        inner = np.eye(play.size) - precision * self._slopes(play) * play
        rows = self._differences @ inner
        column = -(self._differences @ self.utilities(play))
        for start, end in zip(self._starts[:-1], self._starts[1:], strict=True):
            rows[start] = 0.0
            rows[start, start:end] = play[start:end]
            column[start] = 0.0
        return np.hstack([rows, column[:, None]])

    def solve(self, logs: FloatArray, precision: float) -> FloatArray:
        """The equilibrium near a guess, by Newton's method."""
        for _ in range(60):
            left = self.residual(logs, precision)
            if np.abs(left).max() < _SOLVED:
                break
            step = np.linalg.solve(self.jacobian(logs, precision)[:, :-1], -left)
            logs = logs + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        return logs

    def trace(self, most: float) -> Branch:
        """The principal branch from uniform play until the precision exceeds `most`."""
        logs = np.concatenate([np.full(size, -np.log(size)) for size in self.sizes])
        # Payoffs set the scale of the precision, so that steps do not depend on their unit.
        spread = float(np.ptp(self.utilities(np.exp(logs)))) or 1.0
        scale = 1.0 / spread
        point = np.append(logs, 0.0)
        direction = np.zeros(point.size)
        direction[-1] = 1.0
        direction = self._tangent(point, scale, direction)
        points, step = [point], _FIRST_STEP
        while point[-1] * scale < most and len(points) < _MOST_POINTS:
            moved = self._correct(point + step * direction, direction, scale, _FARTHEST * step)
            after = None if moved is None else self._tangent(moved[0], scale, direction)
            if moved is None or after is None or after @ direction < _SHARPEST_TURN:
                step /= 2.0
                if step < _SHORTEST_STEP:
                    raise ArithmeticError(
                        f"the branch is lost at precision {point[-1] * scale:.4g}"
                    )
                continue
            (point, steps), direction = moved, after
            points.append(point)
            if steps <= 3:
                step = min(1.3 * step, _LONGEST_STEP * max(1.0, 0.1 * float(point[-1])))
        found = np.array(points)
        return Branch(found[:, -1] * scale, found[:, :-1], self)

    def _tangent(self, point: FloatArray, scale: float, before: FloatArray) -> FloatArray:
        rows = self.jacobian(point[:-1], float(point[-1]) * scale)
        rows[:, -1] *= scale
        direction: FloatArray = np.linalg.svd(rows)[2][-1]
        return direction if float(direction @ before) > 0.0 else np.asarray(-direction)

    def _correct(
        self, point: FloatArray, direction: FloatArray, scale: float, farthest: float
    ) -> tuple[FloatArray, int] | None:
        """Back to the branch, across the direction, and the steps taken.

        Nothing if the branch is too far, since it may then be another one.
        """
        for taken in range(_NEWTON_STEPS):
            if point[:-1].max() > 1.0:
                return None
            left = self.residual(point[:-1], float(point[-1]) * scale)
            if np.abs(left).max() < _SOLVED * max(1.0, float(np.abs(point).max())):
                return point, taken
            rows = self.jacobian(point[:-1], float(point[-1]) * scale)
            rows[:, -1] *= scale
            try:
                step = np.linalg.solve(np.vstack([rows, direction]), np.append(-left, 0.0))
            except np.linalg.LinAlgError:
                return None
            if np.linalg.norm(step) > farthest:
                return None
            point = point + step
        return None


def _numeric_slopes(
    utilities: Callable[[FloatArray], FloatArray],
) -> Callable[[FloatArray], FloatArray]:
    """Derivatives by central differences; expected payoffs are polynomials of probabilities."""

    def slopes(play: FloatArray) -> FloatArray:
        columns = []
        for place in range(play.size):
            move = np.zeros(play.size)
            move[place] = _DIFFERENCE
            difference = utilities(play + move) - utilities(play - move)
            columns.append(difference / (2.0 * _DIFFERENCE))
        return np.asarray(np.array(columns).T)

    return slopes


@dataclass(frozen=True)
class QuantalFit(Result):
    """A quantal response equilibrium fitted to counts of strategies."""

    precision: Estimate
    log_likelihood: float
    observations: int
    rows: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """A row per game, player and strategy: the observed share and the fitted probability."""
        return self.rows

    def heading(self) -> str:
        """The precision with its interval, choices and log-likelihood."""
        return (
            f"logit quantal response, {self.precision}, {self.observations} choices, "
            f"log-likelihood {self.log_likelihood:.2f}"
        )

    def figure(self) -> Figure:
        """Observed shares over fitted probabilities."""
        figure, axes = new_figure(f"Quantal response, {self.precision}")
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        axes.plot(self.rows["fitted"], self.rows["observed"], "o", color="#0072B2")
        axes.set_xlabel("fitted probability")
        axes.set_ylabel("observed share")
        return figure


@dataclass(frozen=True)
class Counts:
    """How often each strategy of a game was chosen, one array per player.

    A symmetric game has one array for all players.
    """

    game: NormalForm | SymmetricGame
    counts: tuple[FloatArray, ...]

    @staticmethod
    def of(game: NormalForm | SymmetricGame, *counts: Sequence[float] | FloatArray) -> Counts:
        """Checked counts."""
        arrays = tuple(np.asarray(own, dtype=np.float64) for own in counts)
        sizes = (game.size,) if isinstance(game, SymmetricGame) else game.shape
        if tuple(own.size for own in arrays) != tuple(sizes):
            raise ValueError(f"there must be counts of {sizes} strategies")
        if sum(float(own.sum()) for own in arrays) <= 0.0:
            raise ValueError("there is no choice")
        return Counts(game, arrays)

    @staticmethod
    def of_numbers(game: SymmetricGame, choices: Sequence[float] | FloatArray) -> Counts:
        """Counts of numbers, each taken for the nearest action of a game of few numbers."""
        actions = np.array([float(name) for name in game.names])
        said = np.asarray(choices, dtype=np.float64)
        nearest = np.abs(said[:, None] - actions).argmin(axis=1)
        return Counts.of(game, np.bincount(nearest, minlength=game.size).astype(np.float64))


def quantal_response(game: NormalForm | SymmetricGame, precision: float) -> list[FloatArray]:
    """The equilibrium of the principal branch at a precision (per unit of payoff).

    Probabilities of each player's strategies; one array for a symmetric game. The first one if
    the branch has several there.
    """
    branch = LogitSystem.of(game).trace(precision + 1e-9)
    play = branch.at(precision)[0]
    return np.split(play, np.cumsum(branch.system.sizes)[:-1])


def trace_branch(game: NormalForm | SymmetricGame, most: float) -> Branch:
    """The principal branch up to a precision, for use with several fits of one game."""
    return LogitSystem.of(game).trace(most)


def fit_quantal(
    data: Counts | Sequence[Counts],
    most: float | None = None,
    branches: Sequence[Branch] | None = None,
    level: float = LEVEL,
) -> QuantalFit:
    """The precision that makes counts most likely; one for all games if there are several.

    `most`: highest precision to look at, by default 200 divided by the range of payoffs; the
    interval ends there if the data do not bound it. `branches`: those of `trace_branch`, to save
    time.
    """
    plays = [data] if isinstance(data, Counts) else list(data)
    if branches is None:
        top = most or 200.0 / max(_payoff_range(play.game) for play in plays)
        branches = [trace_branch(play.game, top) for play in plays]
    top = most or min(float(branch.precisions.max()) for branch in branches)
    said = [np.concatenate(play.counts) for play in plays]

    def log_likelihood(precision: float) -> float:
        total = 0.0
        for counts, branch in zip(said, branches, strict=True):
            points = branch.at(precision)
            total += max(_log_likelihood(counts, play) for play in points)
        return total

    grid = _grid(branches, top)
    values = np.array([log_likelihood(float(precision)) for precision in grid])
    place = int(values.argmax())
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)]
    outcome = minimize_scalar(
        lambda precision: -log_likelihood(float(precision)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10 + 1e-8 * high},
    )
    best, maximum = float(outcome.x), -float(outcome.fun)
    if values[place] > maximum:
        best, maximum = float(grid[place]), float(values[place])
    step = max(0.02 * best, float(grid[1]))
    ends = profile_interval(log_likelihood, best, maximum, (0.0, top), step, level)
    estimate = Estimate("lambda", best, *ends)
    rows = [
        row
        for number, (play, branch) in enumerate(zip(plays, branches, strict=True))
        for row in _rows(number, play, branch, best)
    ]
    total = int(sum(counts.sum() for counts in said))
    return QuantalFit(estimate, maximum, total, pd.DataFrame(rows))


def _grid(branches: Sequence[Branch], top: float) -> FloatArray:
    precisions = np.concatenate([branch.precisions for branch in branches])
    inside: FloatArray = np.unique(np.clip(precisions, 0.0, top))
    if inside.size <= 400:
        return inside
    return np.asarray(np.quantile(inside, np.linspace(0.0, 1.0, 400)))


def _log_likelihood(counts: FloatArray, play: FloatArray) -> float:
    return float(counts @ np.log(np.maximum(play, 1e-300)))


def _payoff_range(game: NormalForm | SymmetricGame) -> float:
    if isinstance(game, SymmetricGame):
        ends = [game.utilities(np.eye(game.size)[place]) for place in range(game.size)]
        return float(np.ptp(np.concatenate(ends))) or 1.0
    return float(max(np.ptp(array) for array in game.payoffs)) or 1.0


def _rows(number: int, play: Counts, branch: Branch, precision: float) -> list[dict[str, object]]:
    said = np.concatenate(play.counts)
    points = branch.at(precision)
    fitted = max(points, key=lambda point: _log_likelihood(said, point))
    game = play.game
    names = (game.names,) if isinstance(game, SymmetricGame) else game.strategies
    rows: list[dict[str, object]] = []
    blocks = np.split(fitted, np.cumsum(branch.system.sizes)[:-1])
    for player, (own, counts, block) in enumerate(zip(names, play.counts, blocks, strict=True)):
        for name, count, probability in zip(own, counts, block, strict=True):
            observed = count / counts.sum() if counts.sum() > 0 else np.nan
            rows.append(
                {
                    "game": number,
                    "player": player,
                    "strategy": name,
                    "count": count,
                    "observed": observed,
                    "fitted": probability,
                }
            )
    return rows
