"""Regret and exploitability: what a player could have gained by choosing otherwise.

For a round, the best-response gap of a player is `max_a u_i(a, a_-i) - u_i(a)` with the others'
actions held fixed, by trying all options. Over several rounds, its hindsight regret is the same for
one fixed action in all of them, `max_a sum_t [u_i(a, a_-i,t) - u_i(a_t)]` (external regret, Hannan
1957). NashConv of a profile is the sum of gaps, exploitability its mean over players (Lanctot et
al. 2017): both are 0 exactly at a Nash equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from agon.analysis.games import Mixed, NormalForm
from agon.analysis.payoffs import Action, PayoffFunction, Round, rounds_of
from agon.analysis.results import (
    LEVEL,
    Estimate,
    FloatArray,
    Result,
    estimates_figure,
)
from agon.analysis.units import unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EQUAL = 1e-9


@dataclass(frozen=True)
class Gap:
    """What a player could have gained in a round: the gap, and an action that gains it."""

    gap: float
    payoff: float
    best_payoff: float
    best_action: Action


def best_response_gaps(
    payoff: PayoffFunction, actions: Sequence[Action], options: Sequence[Sequence[Action]]
) -> list[Gap]:
    """The gap of every player, others held fixed, over all its options."""
    paid = payoff(actions)
    gaps = []
    for player, own in enumerate(options):
        best, best_action = paid[player], actions[player]
        for option in own:
            changed = [*actions[:player], option, *actions[player + 1 :]]
            gained = payoff(changed)[player]
            if gained > best:
                best, best_action = gained, option
        gaps.append(Gap(best - paid[player], paid[player], best, best_action))
    return gaps


def hindsight_regrets(
    rounds: Sequence[tuple[PayoffFunction, Sequence[Action]]],
    options: Sequence[Sequence[Action]],
) -> FloatArray:
    """What each player could have gained in all rounds together by one fixed action.

    Negative where no fixed action does as well as what was played.
    """
    paid = np.sum([payoff(actions) for payoff, actions in rounds], axis=0)
    regrets = []
    for player, own in enumerate(options):
        totals = [
            sum(
                payoff([*actions[:player], option, *actions[player + 1 :]])[player]
                for payoff, actions in rounds
            )
            for option in own
        ]
        regrets.append(max(totals) - paid[player])
    return np.array(regrets, dtype=np.float64)


def regrets(game: NormalForm, mixed: Mixed) -> FloatArray:
    """What each player gains by its best reply to the others' mixtures."""
    replies = game.responses(mixed)
    return np.array(
        [float(reply.max() - own @ reply) for own, reply in zip(mixed, replies, strict=True)]
    )


def nash_conv(game: NormalForm, mixed: Mixed) -> float:
    """The sum of all players' regrets."""
    return float(regrets(game, mixed).sum())


def exploitability(game: NormalForm, mixed: Mixed) -> float:
    """NashConv divided by the number of players."""
    return nash_conv(game, mixed) / game.players


@dataclass(frozen=True)
class RegretTable(Result):
    """Best-response gaps of players over the rounds of sessions."""

    rows: pd.DataFrame
    rounds: pd.DataFrame
    """One row per round and seat: `session`, `unit`, `round`, `seat`, `player`, `payoff`, `gap`."""

    def frame(self) -> pd.DataFrame:
        """A row per player.

        `payoff` and `gap` are means of a round, `low` and `high` the interval of the gap over
        sessions or series (`units`), `best_replies` the share of rounds without a gap.
        """
        return self.rows

    def heading(self) -> str:
        """What the numbers are."""
        return "best-response gap of a round, others held fixed"

    def figure(self) -> Figure:
        """Gaps with intervals."""
        columns = [self.rows[name].tolist() for name in ("player", "gap", "low", "high")]
        estimates = [Estimate(*row) for row in zip(*columns, strict=True)]
        return estimates_figure(estimates, "Best-response gap", "payoff per round")


def regret_table(records: Iterable[Any], level: float = LEVEL) -> RegretTable:
    """Gaps of every round of session records, by player.

    Sessions, or series, are the independent units: intervals are Student's t over their means.
    """
    rows = [
        row
        for record in records
        for played in rounds_of(record)
        for row in _gaps(played, unit_of(record))
    ]
    rounds = pd.DataFrame(rows)
    table = []
    for player, own in rounds.groupby("player", sort=True):
        means = own.groupby("unit")["gap"].mean().to_numpy(dtype=np.float64)
        low, high = mean_interval(means, level)
        table.append(
            {
                "player": player,
                "units": means.size,
                "rounds": len(own),
                "payoff": own["payoff"].mean(),
                "gap": means.mean(),
                "low": low,
                "high": high,
                "best_replies": (own["gap"] <= _EQUAL).mean(),
            }
        )
    return RegretTable(pd.DataFrame(table), rounds)


def mean_interval(values: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """Student's interval of a mean; NaN for fewer than two values or none that differ."""
    if values.size < 2 or float(np.ptp(values)) == 0.0:
        return float("nan"), float("nan")
    half = stats.t.ppf((1.0 + level) / 2.0, values.size - 1) * values.std(ddof=1)
    half = float(half) / float(np.sqrt(values.size))
    return float(values.mean()) - half, float(values.mean()) + half


def _gaps(played: Round, unit: str) -> list[dict[str, object]]:
    gaps = best_response_gaps(played.payoff, played.actions, played.options)
    return [
        {
            "session": played.session,
            "unit": unit,
            "round": played.number,
            "seat": seat,
            "player": player,
            "payoff": paid,
            "gap": gap.gap,
        }
        for seat, player, paid, gap in zip(
            played.seats, played.players, played.payoffs, gaps, strict=True
        )
    ]
