"""Strategy frequency estimation in repeated games (Dal Bo, Frechette 2011, section IV).

Each player follows one strategy in all its matches. In every round it does what the strategy
prescribes with probability beta, and the other action otherwise (a tremble):
`beta = 1 / (1 + exp(-1 / gamma))`. Player i does what strategy k prescribes in m_ik of its n_i
rounds, so that

    log L = sum_i log sum_k phi_k beta^m_ik (1 - beta)^(n_i - m_ik)

is maximised over the shares phi and beta by expectation maximisation. beta is above 1/2: below it,
a strategy would mean its opposite.

Intervals are expanded percentiles of a bootstrap of whole sessions, since players of one session
meet and so depend on each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from agon.analysis.likelihood import (
    cluster_index,
    cluster_weights,
    expanded_level,
    percentile_interval,
)
from agon.analysis.repeated import LIBRARY, History, Strategy, histories_of
from agon.analysis.results import (
    LEVEL,
    Estimate,
    FloatArray,
    Result,
    estimates_figure,
    estimates_frame,
)
from agon.analysis.units import unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BETA = (0.5 + 1e-9, 1.0 - 1e-9)
_STARTS = (0.6, 0.8, 0.95)
_STEPS = 20_000
_CONVERGED = 1e-10
_TINY = 1e-300
_BATCH = 250
"""Bootstrap samples that are fitted together, to limit memory."""


@dataclass(frozen=True)
class Play:
    """Matches of one player. `cluster` says what is independent of other players: its session."""

    player: Hashable
    cluster: Hashable
    matches: tuple[History, ...]


@dataclass(frozen=True)
class StrategyFit(Result):
    """Shares of strategies, and the probability beta of doing what one's strategy prescribes."""

    shares: tuple[Estimate, ...]
    beta: Estimate
    log_likelihood: float
    players: int
    clusters: int
    posterior: pd.DataFrame
    """How likely each player (row) follows each strategy (column), given the fit."""

    def frame(self) -> pd.DataFrame:
        """One row per strategy and one for beta."""
        return estimates_frame([*self.shares, self.beta])

    def heading(self) -> str:
        """Players, sessions and log-likelihood."""
        return (
            f"strategy frequencies, {self.players} players in {self.clusters} sessions, "
            f"log-likelihood {self.log_likelihood:.2f}"
        )

    def figure(self) -> Figure:
        """Shares with intervals."""
        return estimates_figure(self.shares, "Strategy frequencies", "share of players")


def plays_of(records: Sequence[Any], player: str | None = None) -> list[Play]:
    """Plays from session records of a repeated game: one per seat, of one match.

    `player`: only seats of this name. Sessions of a series are one cluster.
    """
    plays = []
    for record in records:
        data: Mapping[str, Any] = getattr(record, "data", record)
        cluster = unit_of(record)
        for seat, history in histories_of(record).items():
            if player is None or data["spec"]["seats"][seat]["name"] == player:
                plays.append(Play((data["session"], seat), cluster, (history,)))
    return plays


def fit_strategies(
    plays: Sequence[Play],
    strategies: Mapping[str, Strategy] | None = None,
    draws: int = 1000,
    seed: int = 1,
    level: float = LEVEL,
) -> StrategyFit:
    """Shares of strategies among players.

    `draws`: bootstrap samples; 0 for estimates without intervals.
    """
    library = dict(strategies or LIBRARY)
    if not plays:
        raise ValueError("there is no play")
    matches, rounds = prescribed(plays, library)
    clusters = cluster_index([play.cluster for play in plays])
    everybody = np.ones((1, len(plays)))
    shares, beta, value = estimate(matches, rounds, everybody)
    count = int(clusters.max()) + 1
    ends = [(float("nan"), float("nan"))] * (len(library) + 1)
    if draws > 0 and count > 1:
        generator = np.random.default_rng(seed)
        weights = cluster_weights(clusters, draws, generator)
        drawn = [
            estimate(matches, rounds, weights[start : start + _BATCH], (shares[0], float(beta[0])))
            for start in range(0, draws, _BATCH)
        ]
        everything = np.hstack(
            [
                np.vstack([one[0] for one in drawn]),
                np.concatenate([one[1] for one in drawn])[:, None],
            ]
        )
        expanded = expanded_level(count, level)
        ends = [percentile_interval(column, expanded) for column in everything.T]
    names = list(library)
    estimates = [
        Estimate(name, float(share), *end)
        for name, share, end in zip(names, shares[0], ends, strict=False)
    ]
    posterior = _posterior(_logs(matches, rounds, beta), shares)[0]
    return StrategyFit(
        shares=tuple(estimates),
        beta=Estimate("beta", float(beta[0]), *ends[-1]),
        log_likelihood=float(value[0]),
        players=len(plays),
        clusters=count,
        posterior=pd.DataFrame(posterior, columns=names),
    )


def prescribed(
    plays: Sequence[Play], strategies: Mapping[str, Strategy]
) -> tuple[FloatArray, FloatArray]:
    """Rounds in which each player (row) did what each strategy (column) prescribes; all rounds."""
    matches = np.array(
        [
            [
                sum(int((strategy(match) == match.own).sum()) for match in play.matches)
                for strategy in strategies.values()
            ]
            for play in plays
        ],
        dtype=np.float64,
    )
    rounds = np.array([sum(m.own.size for m in play.matches) for play in plays], dtype=np.float64)
    return matches, rounds


def estimate(
    matches: FloatArray,
    rounds: FloatArray,
    weights: FloatArray,
    start: tuple[FloatArray, float] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares (a row per sample), beta and log-likelihood for samples of weighted players.

    Without `start` the best of several starting values is taken.
    """
    types = matches.shape[1]
    even = np.full(types, 1.0 / types)
    starts = [start] if start else [(even, beta) for beta in _STARTS]
    fits = [_climb(matches, rounds, weights, shares, beta) for shares, beta in starts]
    values = np.array([fit[2] for fit in fits])
    best = values.argmax(axis=0)
    samples = np.arange(weights.shape[0])
    shares, betas, found = (
        np.array([fit[part] for fit in fits])[best, samples] for part in (0, 1, 2)
    )
    return shares, betas, found


def _climb(
    matches: FloatArray, rounds: FloatArray, weights: FloatArray, first: FloatArray, beta: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expectation maximisation of all samples at once, until none gains any more."""
    samples = weights.shape[0]
    # A share that starts at 0 could never grow.
    shares = np.tile(0.99 * first + 0.01 / first.size, (samples, 1))
    betas = np.full(samples, beta)
    values = np.full(samples, -np.inf)
    going = np.arange(samples)
    total = weights @ rounds
    for _ in range(_STEPS):
        logs = _logs(matches, rounds, betas[going])
        largest = logs.max(axis=2, keepdims=True)
        joint = np.exp(logs - largest) * shares[going, None, :]
        # A player that no sample has may have none of the strategies that are left.
        mixed = np.maximum(joint.sum(axis=2), _TINY)
        now = (weights[going] * (np.log(mixed) + largest[:, :, 0])).sum(axis=1)
        posterior = joint / mixed[:, :, None] * weights[going, :, None]
        counts = posterior.sum(axis=1)
        shares[going] = counts / counts.sum(axis=1, keepdims=True)
        right = (posterior * matches).sum(axis=(1, 2))
        betas[going] = np.clip(right / total[going], *_BETA)
        gained = now - values[going]
        values[going] = now
        going = going[~(gained < _CONVERGED * np.abs(now) + _CONVERGED)]
        if going.size == 0:
            break
    return shares, betas, values


def _logs(matches: FloatArray, rounds: FloatArray, betas: FloatArray) -> FloatArray:
    """Log-likelihood by sample, player and strategy."""
    right, wrong = np.log(betas)[:, None, None], np.log1p(-betas)[:, None, None]
    return np.asarray(matches * right + (rounds[:, None] - matches) * wrong)


def _posterior(logs: FloatArray, shares: FloatArray) -> FloatArray:
    joint = np.exp(logs - logs.max(axis=2, keepdims=True)) * shares[:, None, :]
    return np.asarray(joint / joint.sum(axis=2, keepdims=True))
