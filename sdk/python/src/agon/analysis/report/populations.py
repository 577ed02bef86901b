"""Analyses of populations of players: alpha-rank, replicator dynamics and the Moran process.

`catalogue` lists them; numbers come from the other modules of `agon.analysis`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from agon.analysis.alpharank import alpha_rank
from agon.analysis.dynamics import is_symmetric, moran_ranking, replicator
from agon.analysis.empirical import bootstrap
from agon.analysis.games import NormalForm
from agon.analysis.report.figures import _paths_figure, _sized
from agon.analysis.report.groups import Group, _can_draw
from agon.analysis.report.sections import Found, LeftOut

_MOST_MORAN_SEATS = 6
"""Checking symmetry takes time that grows with the factorial of the seats."""

_POPULATION = 50


def _alpha_rank(group: Group) -> Found:
    game = group.normal_form
    if math.prod(game.shape) < 2:
        raise LeftOut("there is one profile")
    ranked = alpha_rank(game, alpha=np.inf)
    caveats = ["Selection is as strong as can be (alpha infinite, epsilon 0.01)."]
    results: dict[str, Any] = {"rank": ranked}
    frame = ranked.frame()
    if _can_draw(group, caveats):
        drawn = bootstrap(
            group.table,
            lambda one: alpha_rank(one, np.inf, single_population=game.is_symmetric).mass,
            ranked.names,
            draws=group.draws,
            seed=group.seed,
            title="Alpha-rank",
        )
        results["bootstrap"] = drawn
        intervals = drawn.frame().rename(columns={"name": "profile"}).drop(columns="value")
        frame = frame.merge(intervals, on="profile")
    return Found(frame, lambda: _sized(ranked.figure(), len(frame)), tuple(caveats), "", results)


def _replicator(group: Group) -> Found:
    game = group.normal_form
    spread = max(float(np.ptp(array)) for array in game.payoffs)
    if spread == 0.0:
        raise LeftOut("all payoffs are equal, so nothing moves")
    until = 100.0 / spread
    paths = [path for path in replicator(game, until=until) if len(path.names) > 1]
    says = (
        "Where shares of players move if those who earn more than average grow. All start alike; "
        f"time is in units of 1 / payoff, up to {until:.4g} (100 divided by the payoffs' range)."
    )
    if len(paths) == 1 and is_symmetric(game):
        return Found(paths[0].frame(), paths[0].figure, (), says, {"paths": paths})
    rows = pd.concat(
        [
            path.frame().melt("time", var_name="player", value_name="share").assign(population=name)
            for name, path in zip(_populations(game), paths, strict=True)
        ]
    )
    rows = rows[["population", "time", "player", "share"]].reset_index(drop=True)
    names = _populations(game)
    return Found(rows, lambda: _paths_figure(names, paths), (), says, {"paths": paths})


def _populations(game: NormalForm) -> list[str]:
    """Names of the populations with more than one player."""
    if is_symmetric(game):
        return ["all seats"]
    return [f"seat {seat}" for seat, names in enumerate(game.strategies) if len(names) > 1]


def _moran(group: Group) -> Found:
    game = group.normal_form
    if game.players > _MOST_MORAN_SEATS:
        raise LeftOut(f"{game.players} seats are more than the {_MOST_MORAN_SEATS} it takes")
    if not is_symmetric(game):
        raise LeftOut("one population needs a game whose seats are alike")
    spread = float(np.ptp(game.payoffs[0])) or 1.0
    ranked = moran_ranking(game, _POPULATION, 1.0 / spread)
    says = (
        f"How long a population of {_POPULATION} stays with each player when mutations are rare, "
        f"and how easily it takes over from others (1: as by chance); fitness is exp(payoff / "
        f"{spread:.4g}), the payoffs' range."
    )
    figure = lambda: _sized(ranked.figure(), len(ranked.names))  # noqa: E731
    return Found(ranked.frame(), figure, (), says, {"rank": ranked})
