"""Level-k and Poisson cognitive hierarchy models of games in normal form.

Level 0 plays every strategy with the same probability. Level k believes that all others are of
level k - 1 (level-k), or of levels below k in Poisson proportions (Camerer, Ho, Chong 2004,
equations 1 to 3). It replies with probabilities proportional to `exp(precision * payoff)`
(Stahl, Wilson 1995; Gambit's `levelk`), precision per unit of payoff; an infinite precision is the
best reply of the paper, with ties split evenly. Even then every strategy has a positive probability
through level 0, so that the likelihood of the hierarchy is proper.

Choices are taken as independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from agon.analysis.games import Mixed, NormalForm, best_replies
from agon.analysis.guessing import HierarchyFit, TwoParameters
from agon.analysis.mixture import MixtureProblem, mixture_log_likelihood, poisson_shares
from agon.analysis.quantal import Counts
from agon.analysis.results import (
    LEVEL,
    Estimate,
    FloatArray,
    Result,
    estimates_figure,
    estimates_frame,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEVELS = 13
"""Levels 0 to 12; replies of higher ones differ too little to matter at a mean of at most 6."""

_MOST_TAU = 6.0
_PRECISIONS = (1e-2, 1e3)
"""Precisions that are searched, times the largest range of payoffs."""

_TINY = 1e-300

_RARE = 1e-6
"""Levels that together are rarer than this are left out, which saves time."""


def reply(payoffs: FloatArray, precision: float) -> FloatArray:
    """Logit reply to expected payoffs; the best reply, ties split evenly, if infinite."""
    if np.isinf(precision):
        best = best_replies(payoffs).astype(np.float64)
        return np.asarray(best / best.sum())
    scaled = np.exp(precision * (payoffs - payoffs.max(axis=-1, keepdims=True)))
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class _Stack:
    """Games of two players with as many strategies: their fits compute all of them at once.

    Payoffs by game, own strategy and the other's; distributions by game and strategy.
    """

    payoffs: tuple[FloatArray, FloatArray]

    def uniform(self) -> list[FloatArray]:
        return [np.full(own.shape[:2], 1.0 / own.shape[1]) for own in self.payoffs]

    def responses(self, mixed: Mixed) -> list[FloatArray]:
        others = (mixed[1], mixed[0])
        return [
            (own @ other[:, :, None])[:, :, 0]
            for own, other in zip(self.payoffs, others, strict=True)
        ]


def _together(
    games: Sequence[NormalForm], precision: float | None
) -> Sequence[NormalForm | _Stack]:
    """All games as one stack, if they are alike; best replies look at one game at a time."""
    alike = {game.shape for game in games}
    if precision is not None or len(games) < 2 or len(alike) > 1 or games[0].players != 2:
        return games
    rows = np.array([game.payoffs[0] for game in games])
    columns = np.array([game.payoffs[1].T for game in games])
    return [_Stack((rows, columns))]


def level_play(game: NormalForm | _Stack, levels: int, precision: float = np.inf) -> list[Mixed]:
    """How levels 0 to `levels` play when each believes that all others are one level below."""
    play: list[Mixed] = [game.uniform()]
    for _ in range(levels):
        play.append([reply(payoffs, precision) for payoffs in game.responses(play[-1])])
    return play


def hierarchy_play(
    game: NormalForm | _Stack, tau: float, precision: float = np.inf, levels: int = _LEVELS
) -> list[Mixed]:
    """How levels 0 to `levels - 1` of the Poisson cognitive hierarchy play."""
    shares = poisson_shares(tau, levels)
    play: list[Mixed] = [game.uniform()]
    belief = [own * shares[0] for own in game.uniform()]
    for share in shares[1:]:
        others = [own / own.sum(axis=-1, keepdims=True) for own in belief]
        now = [reply(payoffs, precision) for payoffs in game.responses(others)]
        play.append(now)
        belief = [own + share * new for own, new in zip(belief, now, strict=True)]
    return play


def hierarchy_prediction(
    game: NormalForm, tau: float, precision: float = np.inf, levels: int = _LEVELS
) -> list[FloatArray]:
    """The mixture over all levels: what an observer sees, by player."""
    shares = poisson_shares(tau, levels)
    play = hierarchy_play(game, tau, precision, levels)
    return [
        np.asarray(sum(share * own[player] for share, own in zip(shares, play, strict=True)))
        for player in range(game.players)
    ]


@dataclass(frozen=True)
class LevelMixture(Result):
    """Level-k fitted to choices in normal-form games: shares of levels, and the precision."""

    shares: tuple[Estimate, ...]
    precision: Estimate
    log_likelihood: float
    observations: int

    def frame(self) -> pd.DataFrame:
        """One row per level and one for the precision."""
        return estimates_frame([*self.shares, self.precision])

    def heading(self) -> str:
        """The model, number of choices and log-likelihood."""
        return f"level-k, {self.observations} choices, log-likelihood {self.log_likelihood:.2f}"

    def figure(self) -> Figure:
        """Shares with intervals."""
        return estimates_figure(self.shares, "Levels of reasoning", "share of choices")


def fit_level_mixture(
    data: Counts | Sequence[Counts], levels: int = 2, level: float = LEVEL
) -> LevelMixture:
    """Shares of levels 0 to `levels` in one or several games, and their common precision.

    Intervals are profile likelihoods. Levels can be told apart only where they choose differently,
    which one game rarely allows.
    """
    games, counts, scale = _checked(data)
    together = _together(games, None)

    def components(precision: float) -> FloatArray:
        columns = [_cells(level_play(game, levels, precision)) for game in together]
        return np.asarray(np.log(np.maximum(np.vstack(columns), _TINY)))

    names = [f"level {k}" for k in range(levels + 1)]
    bounds = (_PRECISIONS[0] / scale, _PRECISIONS[1] / scale)
    problem = MixtureProblem(components, counts, levels + 1, bounds)
    best = problem.fit()
    shares, precision = problem.estimates(best, names, "precision", level)
    return LevelMixture(tuple(shares), precision, best.log_likelihood, int(counts.sum()))


def fit_poisson_hierarchy(
    data: Counts | Sequence[Counts], precision: float | None = None, level: float = LEVEL
) -> HierarchyFit:
    """Mean level tau in one or several games, and the precision unless it is given.

    With a given precision (infinite for the paper's best replies) the likelihood may jump in tau:
    it is then searched on a grid of 0 to 6 in steps of 0.01, and the interval is the range of the
    grid that a likelihood-ratio test does not refuse.
    """
    games, counts, scale = _checked(data)
    together = _together(games, precision)

    def log_likelihood(tau: float, log_precision: float) -> float:
        value = float(np.exp(log_precision))
        shares = poisson_shares(tau, _LEVELS)
        kept = max(int(np.searchsorted(np.cumsum(shares), 1.0 - _RARE)) + 1, 2)
        cells = [_cells(hierarchy_play(game, tau, value, kept)) for game in together]
        logs = np.log(np.maximum(np.vstack(cells), _TINY))
        return mixture_log_likelihood(logs, counts, poisson_shares(tau, kept))

    total = int(counts.sum())
    if precision is not None:
        log_precision = float(np.log(precision)) if np.isfinite(precision) else np.inf
        taus = np.linspace(0.0, _MOST_TAU, 601)
        values = np.array([log_likelihood(float(tau), log_precision) for tau in taus])
        kept = taus[values >= values.max() - stats.chi2.ppf(level, 1) / 2.0]
        tau = Estimate("tau", float(taus[values.argmax()]), float(kept[0]), float(kept[-1]))
        fixed = Estimate("precision", precision, precision, precision)
        return HierarchyFit(tau, fixed, float(values.max()), total)
    logs = (float(np.log(_PRECISIONS[0] / scale)), float(np.log(_PRECISIONS[1] / scale)))
    surface = TwoParameters(log_likelihood, (0.0, _MOST_TAU), logs, grid=(13, 12))
    tau, found, best = surface.fit(("tau", "precision"), level)
    return HierarchyFit(tau, found, best, total)


def _checked(data: Counts | Sequence[Counts]) -> tuple[list[NormalForm], FloatArray, float]:
    plays = [data] if isinstance(data, Counts) else list(data)
    games = []
    for play in plays:
        if not isinstance(play.game, NormalForm):
            raise TypeError("levels of reasoning are fitted to games in normal form")
        games.append(play.game)
    counts = np.concatenate([np.concatenate(play.counts) for play in plays])
    scale = max(float(np.ptp(array)) for game in games for array in game.payoffs)
    return games, counts, scale or 1.0


def _cells(play: Sequence[Mixed]) -> FloatArray:
    """Probabilities of all strategies of all players and games (rows) by level (columns)."""
    levels = [np.concatenate(list(level), axis=-1).ravel() for level in play]
    return np.asarray(np.array(levels).T)
