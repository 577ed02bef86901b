"""Strengths of players from results of sessions: Bradley-Terry and Plackett-Luce.

Player i beats j with probability `1 / (1 + exp(s_j - s_i))` (Bradley, Terry 1952), and finishes
first of some with probability `exp(s_i) / sum_j exp(s_j)` (Plackett 1975). Strengths are found by
maximum likelihood with a penalty as if they had a variance of 10, which keeps them finite when
somebody wins everything; `agon leaderboard` does the same. They are given in Elo points,
`400 / ln 10` per unit, relative to the mean of all players.

Sessions are the independent units. The error is the larger of the model's and the sandwich error
over sessions, intervals are Student's t.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import special, stats

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

ELO = 400.0 / float(np.log(10.0))
"""Elo points of a unit of strength."""

PRIOR_VARIANCE = 10.0
"""As in Agon's own strengths (docs/statistics.md)."""

Model = Literal["bradley_terry", "plackett_luce"]
_STEPS = 200
_SOLVED = 1e-10


@dataclass(frozen=True)
class Match:
    """A finished session: who sat where, what each seat was paid, and what it cost.

    `dollars` is `None` where the cost is unknown. `session` is the independent unit.
    """

    seats: tuple[str, ...]
    payoffs: tuple[float, ...]
    dollars: float | None = 0.0
    session: str = ""


@dataclass(frozen=True)
class Ratings(Result):
    """Strengths of players in Elo points around the mean of all."""

    strengths: tuple[Estimate, ...]
    covariance: FloatArray
    sessions: int
    model: Model

    def frame(self) -> pd.DataFrame:
        """One row per player, the strongest first, with the ranks that intervals allow."""
        frame = estimates_frame(self.strengths)
        frame["best_rank"] = [1 + int((frame["low"] > high).sum()) for high in frame["high"]]
        frame["worst_rank"] = [
            len(frame) - int((frame["high"] < low).sum()) for low in frame["low"]
        ]
        ordered: pd.DataFrame = frame.sort_values(
            "value", ascending=False, kind="stable", ignore_index=True
        )
        return ordered

    def heading(self) -> str:
        """Model and sessions."""
        name = "Bradley-Terry" if self.model == "bradley_terry" else "Plackett-Luce"
        return f"{name} strengths in Elo points, {self.sessions} sessions"

    def figure(self) -> Figure:
        """Strengths with intervals."""
        order = sorted(self.strengths, key=lambda strength: -strength.value)
        return estimates_figure(order, self.heading(), "Elo points")


def rate(
    matches: Sequence[Match],
    players: Sequence[str],
    model: Model = "bradley_terry",
    level: float = LEVEL,
) -> Ratings:
    """Strengths of players.

    `bradley_terry` compares every two seats of a session by their payoffs and counts a tie as half
    a win; with more than two seats this is a composite likelihood, for which the sandwich error
    holds. `plackett_luce` needs sessions without ties.
    """
    places = {name: place for place, name in enumerate(players)}
    if len(places) < 2:
        raise ValueError("there must be at least two players")
    if not matches:
        raise ValueError("there is no session")
    if model == "bradley_terry":
        slopes = _bradley_terry(matches, places)
    else:
        slopes = _plackett_luce(matches, places)
    strengths, information, scores = _solve(slopes, len(places))
    covariance = _covariance(information, scores, [match.session for match in matches])
    units = len({match.session for match in matches if match.session}) or len(matches)
    is_alone = units == len(matches)
    degrees = max(units - len(places) + 1, 1) if is_alone else units - 1
    quantile = float(stats.t.ppf((1.0 + level) / 2.0, degrees)) if degrees else float("nan")
    centred = (strengths - strengths.mean()) * ELO
    errors = np.sqrt(np.diag(covariance)) * ELO
    estimates = tuple(
        Estimate(name, float(value), float(value - quantile * e), float(value + quantile * e))
        for name, value, e in zip(players, centred, errors, strict=True)
    )
    return Ratings(estimates, covariance * ELO**2, len(matches), model)


Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Scores by session (rows) and the information matrix, at some strengths."""


def _bradley_terry(matches: Sequence[Match], places: dict[str, int]) -> Slopes:
    rows, first, second, outcome = [], [], [], []
    for number, match in enumerate(matches):
        seats = [places[name] for name in match.seats]
        for a, b in itertools.combinations(range(len(seats)), 2):
            if seats[a] == seats[b]:
                continue
            rows.append(number)
            first.append(seats[a])
            second.append(seats[b])
            difference = match.payoffs[a] - match.payoffs[b]
            outcome.append(0.5 if difference == 0.0 else float(difference > 0.0))
    row, one, other = (np.array(part, dtype=np.int64) for part in (rows, first, second))
    won = np.array(outcome)
    shape = (len(matches), len(places))

    def slopes(strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance = special.expit(strengths[one] - strengths[other])
        scores, information = np.zeros(shape), np.zeros((shape[1], shape[1]))
        np.add.at(scores, (row, one), won - chance)
        np.add.at(scores, (row, other), chance - won)
        weight = chance * (1.0 - chance)
        np.add.at(information, (one, one), weight)
        np.add.at(information, (other, other), weight)
        np.add.at(information, (one, other), -weight)
        np.add.at(information, (other, one), -weight)
        return scores, information

    return slopes


def _plackett_luce(matches: Sequence[Match], places: dict[str, int]) -> Slopes:
    orders = []
    for match in matches:
        if len(set(match.payoffs)) < len(match.payoffs):
            raise ValueError(
                f"seats of session {match.session!r} are tied, which Plackett-Luce does not know; "
                "bradley_terry counts ties as half a win"
            )
        if len(set(match.seats)) < len(match.seats):
            raise ValueError(f"a player sits twice in session {match.session!r}")
        order = np.argsort(-np.asarray(match.payoffs))
        orders.append(np.array([places[match.seats[seat]] for seat in order]))

    def slopes(strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        scores = np.zeros((len(orders), strengths.size))
        information = np.zeros((strengths.size, strengths.size))
        for number, order in enumerate(orders):
            for place in range(order.size - 1):
                left = order[place:]
                chances = special.softmax(strengths[left])
                scores[number, left[0]] += 1.0
                scores[number, left] -= chances
                part = np.diag(chances) - np.outer(chances, chances)
                information[np.ix_(left, left)] += part
        return scores, information

    return slopes


def _solve(slopes: Slopes, players: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The penalised maximum by Newton's method, with damping; its information and scores."""
    strengths = np.zeros(players)
    for _ in range(_STEPS):
        scores, information = slopes(strengths)
        gradient = scores.sum(axis=0) - strengths / PRIOR_VARIANCE
        penalised = information + np.eye(players) / PRIOR_VARIANCE
        step = np.linalg.solve(penalised, gradient)
        strengths = strengths + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < _SOLVED:
            break
    scores, information = slopes(strengths)
    return strengths, information + np.eye(players) / PRIOR_VARIANCE, scores


def _covariance(information: FloatArray, scores: FloatArray, sessions: Iterable[str]) -> FloatArray:
    """Of centred strengths: model or sandwich, whichever has the larger variance, by player."""
    names = {name: place for place, name in enumerate(dict.fromkeys(sessions))}
    summed = scores
    if len(names) == scores.shape[0] or (len(names) == 1 and "" in names):
        count = scores.shape[0]
    else:
        count = len(names)
        summed = np.zeros((count, scores.shape[1]))
        np.add.at(summed, [names[name] for name in sessions], scores)
    inverse = np.linalg.inv(information)
    middle = summed.T @ summed * (count / max(count - 1, 1))
    size = information.shape[0]
    centre = np.eye(size) - 1.0 / size
    model, sandwich = centre @ inverse @ centre, centre @ inverse @ middle @ inverse @ centre
    scale = np.sqrt(np.maximum(np.diag(sandwich) / np.diag(model), 1.0))
    return np.asarray(np.outer(scale, scale) * model)
