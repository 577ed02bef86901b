"""How well groups do: efficiency, price of anarchy and stability, inequality.

Welfare is the sum of payoffs. Ratios of welfare need a scale with a meaningful zero: where welfare
can be negative or zero they are undefined (NaN), never a misleading number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from agon.analysis.equilibria import Equilibria
from agon.analysis.games import NormalForm
from agon.analysis.regret import mean_interval
from agon.analysis.results import (
    LEVEL,
    Columns,
    FloatArray,
    Result,
    column,
    number_column,
)


def efficiency(welfare: float, optimum: float, worst: float = 0.0) -> float:
    """Share of what can be gained that was gained: `(W - worst) / (optimum - worst)`.

    `worst` is the welfare that counts as nothing gained, such as that of an equilibrium. NaN
    unless the optimum is above it. Negative where welfare is below `worst`.
    """
    if not optimum > worst:
        return float("nan")
    return (welfare - worst) / (optimum - worst)


def best_welfare(game: NormalForm) -> float:
    """The highest sum of payoffs of any profile; mixtures cannot exceed pure profiles."""
    return float(np.sum(game.payoffs, axis=0).max())


@dataclass(frozen=True)
class Anarchy(Result):
    """Optimal welfare against that of the worst and of the best equilibrium."""

    optimum: float
    worst_equilibrium: float
    best_equilibrium: float
    price_of_anarchy: float
    price_of_stability: float
    equilibria: int
    is_complete: bool

    def frame(self) -> pd.DataFrame:
        """One row."""
        row = {
            "optimum": self.optimum,
            "worst_equilibrium": self.worst_equilibrium,
            "best_equilibrium": self.best_equilibrium,
            "price_of_anarchy": self.price_of_anarchy,
            "price_of_stability": self.price_of_stability,
            "equilibria": self.equilibria,
        }
        frame: pd.DataFrame = pd.DataFrame([row])
        return frame

    def heading(self) -> str:
        """How much the ratios can be trusted."""
        known = "all equilibria known" if self.is_complete else "of the equilibria that are known"
        return f"price of anarchy and stability ({known})"


def anarchy(game: NormalForm, equilibria: Equilibria) -> Anarchy:
    """Price of anarchy and of stability over some equilibria of a game.

    Optimum / welfare of the worst equilibrium (Koutsoupias, Papadimitriou 1999), and of the best
    one (Anshelevich et al. 2008): at least 1, and 1 if nothing is lost. NaN without an equilibrium
    and where the equilibrium's welfare is not above 0.
    """
    optimum = best_welfare(game)
    sums = [float(one.payoffs.sum()) for one in equilibria.found]
    worst, best = (min(sums), max(sums)) if sums else (float("nan"), float("nan"))
    return Anarchy(
        optimum=optimum,
        worst_equilibrium=worst,
        best_equilibrium=best,
        price_of_anarchy=_ratio(optimum, worst),
        price_of_stability=_ratio(optimum, best),
        equilibria=len(sums),
        is_complete=equilibria.is_complete,
    )


def gini(payoffs: npt.ArrayLike) -> float:
    """Gini coefficient, `sum_ij |x_i - x_j| / (2 n^2 mean)`: 0 if all are equal, up to 1 - 1 / n.

    NaN where a payoff is negative, since it could then exceed 1, and where all are 0.
    """
    values = np.sort(np.asarray(payoffs, dtype=np.float64))
    if values.size == 0 or np.isnan(values).any() or values[0] < 0.0 or values.sum() == 0.0:
        return float("nan")
    ranks = np.arange(1, values.size + 1)
    count = values.size
    return float((2.0 * ranks - count - 1.0) @ values / (count * values.sum()))


@dataclass(frozen=True)
class WelfareTable(Result):
    """Welfare of sessions, and its mean."""

    sessions: pd.DataFrame
    """One row per session: `session`, `cluster`, `welfare`, `efficiency`, `gini`."""
    rows: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Mean, interval, sessions and independent units of each measure where it is defined."""
        return self.rows

    def heading(self) -> str:
        """What the numbers are."""
        return "welfare of a session, mean over sessions, or over series of sessions"


def welfare_table(
    seats: Columns,
    optimum: float,
    worst: float = 0.0,
    level: float = LEVEL,
    sessions: Columns | None = None,
) -> WelfareTable:
    """Welfare, efficiency and Gini coefficient of exported sessions of one game and setting.

    `seats`: table with `session` and `payoff`. `optimum`, `worst`: welfare of a session, over all
    its rounds. Intervals are Student's t over sessions; with `cluster` of the table `sessions` over
    the means of clusters, so that the sessions of a series count as one.
    """
    frame = pd.DataFrame(
        {"session": column(seats, "session"), "payoff": number_column(seats, "payoff")}
    )
    clusters: dict[Any, Any] = {}
    if sessions is not None:
        clusters = dict(zip(column(sessions, "session"), column(sessions, "cluster"), strict=True))
    rows = []
    for session, own in frame.groupby("session", sort=False):
        paid = own["payoff"].to_numpy(dtype=np.float64)
        total = float(paid.sum())
        rows.append(
            {
                "session": session,
                "cluster": clusters.get(session, session),
                "welfare": total,
                "efficiency": efficiency(total, optimum, worst),
                "gini": gini(paid),
            }
        )
    table: pd.DataFrame = pd.DataFrame(rows)
    return WelfareTable(table, _means(table, ["welfare", "efficiency", "gini"], level))


def _means(sessions: pd.DataFrame, measures: Sequence[str], level: float) -> pd.DataFrame:
    rows = []
    for measure in measures:
        defined = sessions.dropna(subset=[measure])
        values: FloatArray = defined[measure].to_numpy(dtype=np.float64)
        units = defined.groupby("cluster", sort=False)[measure].mean()
        low, high = mean_interval(units.to_numpy(dtype=np.float64), level)
        rows.append(
            {
                "measure": measure,
                "mean": float(units.mean()) if values.size else float("nan"),
                "low": low,
                "high": high,
                "sessions": values.size,
                "units": len(units),
                "undefined": len(sessions) - values.size,
            }
        )
    frame: pd.DataFrame = pd.DataFrame(rows)
    return frame


def _ratio(optimum: float, welfare: float) -> float:
    return optimum / welfare if welfare > 0.0 else float("nan")
