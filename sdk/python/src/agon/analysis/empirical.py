"""Empirical games: payoffs of players against each other, measured in sessions (Wellman 2006).

A strategy of the empirical game is a player of the experiment (a model, a rule). In a symmetric
table a profile is who sat there, whatever the seat; in an asymmetric one every seat is a role of
its own. A cell's payoff is the mean over its sessions of the mean of the player's seats; its
standard error is over sessions, or series, which are the independent units. A profile that no
session played is a missing cell: it is shown, and analyses that need it say so.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from agon.analysis.games import NormalForm
from agon.analysis.likelihood import percentile_interval
from agon.analysis.results import (
    LEVEL,
    Columns,
    Estimate,
    FloatArray,
    Result,
    column,
    estimates_figure,
    estimates_frame,
    has_column,
    new_figure,
    number_column,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Names = tuple[str, ...]


class MissingCellsError(ValueError):
    """An analysis needs profiles that no session played."""

    def __init__(self, cells: Sequence[Names]) -> None:
        shown = "; ".join(" / ".join(cell) for cell in cells[:5])
        more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
        super().__init__(f"no session played {len(cells)} of the profiles: {shown}{more}")
        self.cells = list(cells)


@dataclass(frozen=True)
class EmpiricalGame(Result):
    """Measured payoffs of all profiles of players.

    `profiles`: of a symmetric game sorted names, of an asymmetric one names by seat. `samples` has
    for each profile an array with a row per independent unit (a session or series) and a column per
    seat of the profile, each with the mean payoff of that player there.
    """

    players: tuple[Names, ...]
    seats: int
    is_symmetric: bool
    samples: dict[Names, FloatArray]

    @property
    def profiles(self) -> list[Names]:
        """All profiles, played or not."""
        if self.is_symmetric:
            own = self.players[0]
            return list(itertools.combinations_with_replacement(own, self.seats))
        return list(itertools.product(*self.players))

    @property
    def missing(self) -> list[Names]:
        """Profiles that no session played."""
        return [profile for profile in self.profiles if profile not in self.samples]

    def payoff(self, profile: Names) -> FloatArray:
        """Mean payoffs by place of the profile; NaN for a missing one."""
        if profile not in self.samples:
            return np.full(self.seats, np.nan)
        return np.asarray(self.samples[profile].mean(axis=0))

    def standard_error(self, profile: Names) -> FloatArray:
        """Standard errors by place; NaN for fewer than two independent units."""
        values = self.samples.get(profile)
        if values is None or values.shape[0] < 2:
            return np.full(self.seats, np.nan)
        return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(values.shape[0]))

    def frame(self) -> pd.DataFrame:
        """A row per profile and player in it: independent units, payoff, standard error."""
        rows = []
        for profile in self.profiles:
            payoffs, errors = self.payoff(profile), self.standard_error(profile)
            count = len(self.samples.get(profile, ()))
            for place, name in enumerate(profile):
                if self.is_symmetric and name in profile[:place]:
                    continue
                rows.append(
                    {
                        "profile": " / ".join(profile),
                        "seat": None if self.is_symmetric else place,
                        "player": name,
                        "units": count,
                        "payoff": payoffs[place],
                        "se": errors[place],
                    }
                )
        frame: pd.DataFrame = pd.DataFrame(rows)
        if self.is_symmetric:
            del frame["seat"]
        return frame

    def heading(self) -> str:
        """Seats, kind, and how many cells are missing."""
        kind = "symmetric" if self.is_symmetric else "asymmetric"
        return (
            f"{kind} empirical game of {self.seats} seats, {len(self.profiles)} profiles, "
            f"{len(self.missing)} missing"
        )

    def normal_form(self) -> NormalForm:
        """The game of the mean payoffs; every profile must have been played."""
        if self.missing:
            raise MissingCellsError(self.missing)
        means = {profile: self.payoff(profile) for profile in self.samples}
        return self._normal_form(means)

    def resampled(self, generator: np.random.Generator) -> NormalForm:
        """A game whose cells are means of as many units drawn again from each cell.

        Deviations are scaled by `sqrt(n / (n - 1))`, without which the spread is too small; cells
        of one unit keep their payoff, so that their uncertainty is not shown.
        """
        if self.missing:
            raise MissingCellsError(self.missing)
        means = {}
        for profile, values in self.samples.items():
            count = values.shape[0]
            mean = values.mean(axis=0)
            drawn = values[generator.integers(count, size=count)].mean(axis=0)
            scale = math.sqrt(count / (count - 1)) if count > 1 else 0.0
            means[profile] = mean + scale * (drawn - mean)
        return self._normal_form(means)

    def _normal_form(self, means: dict[Names, FloatArray]) -> NormalForm:
        players = self.players * self.seats if self.is_symmetric else self.players
        shape = tuple(len(own) for own in players)
        arrays = [np.empty(shape) for _ in range(self.seats)]
        for places in itertools.product(*(range(size) for size in shape)):
            names = tuple(own[place] for own, place in zip(players, places, strict=True))
            profile = self._ordered(names)
            payoffs = means[profile]
            for seat, name in enumerate(names):
                place = profile.index(name) if self.is_symmetric else seat
                arrays[seat][places] = payoffs[place]
        return NormalForm.of(*arrays, strategies=players)

    def _ordered(self, names: Names) -> Names:
        if not self.is_symmetric:
            return names
        order = {name: place for place, name in enumerate(self.players[0])}
        return tuple(sorted(names, key=lambda name: order[name]))

    def matrix(self) -> FloatArray:
        """Payoffs of rows against columns in a symmetric game of two seats; NaN where missing."""
        if not self.is_symmetric or self.seats != 2:
            raise ValueError("a matrix is a symmetric game of two seats")
        own = self.players[0]
        result = np.full((len(own), len(own)), np.nan)
        for row, name in enumerate(own):
            for place, other in enumerate(own):
                profile = self._ordered((name, other))
                result[row, place] = self.payoff(profile)[profile.index(name)]
        return result

    def figure(self) -> Figure:
        """A heat table of a symmetric game of two seats; missing cells are hatched."""
        matrix, own = self.matrix(), self.players[0]
        figure, axes = new_figure("Payoff of row against column")
        image = axes.imshow(np.ma.masked_invalid(matrix), cmap="cividis")
        axes.set_facecolor("#dddddd")
        axes.set_xticks(range(len(own)), own, rotation=45, ha="right")
        axes.set_yticks(range(len(own)), own)
        middle = float(np.nanmean(matrix)) if np.isfinite(matrix).any() else 0.0
        for row, place in np.ndindex(*matrix.shape):
            value = matrix[row, place]
            text = "missing" if np.isnan(value) else f"{value:.3g}"
            colour = "white" if not np.isnan(value) and value < middle else "black"
            axes.text(place, row, text, ha="center", va="center", color=colour)
        figure.colorbar(image, ax=axes)
        return figure


def payoff_table(
    seats: Columns,
    sessions: Columns | None = None,
    symmetric: bool = True,
    players: Sequence[str] | None = None,
    keep_forfeited: bool = False,
    pool_settings: bool = False,
) -> EmpiricalGame:
    """The empirical game of exported sessions of one game and setting.

    `seats`: table with `session`, `seat`, `player` and `payoff`. `sessions`: table with `session`
    and `cluster`, so that sessions of a series count as one unit; with `setting`, several settings
    are refused unless `pool_settings`, apart from those that only seat other players. `players`:
    names in the order of the game; others are refused. Sessions with a seat that mostly forfeited
    are left out unless `keep_forfeited`.
    """
    frame = pd.DataFrame(
        {
            "session": column(seats, "session"),
            "seat": column(seats, "seat").astype(np.int64),
            "player": column(seats, "player").astype(str),
            "payoff": number_column(seats, "payoff"),
        }
    )
    if has_column(seats, "forfeited") and not keep_forfeited:
        forfeited = column(seats, "forfeited").astype(bool)
        frame = frame[~frame["session"].isin(frame.loc[forfeited, "session"])]
    if has_column(seats, "game") and len(set(column(seats, "game"))) > 1:
        raise ValueError("seats of several games are in the table: take one game and setting")
    clusters: dict[Any, Hashable] = {}
    if sessions is not None:
        names = column(sessions, "session"), column(sessions, "cluster")
        clusters = dict(zip(*names, strict=True))
        if not pool_settings:
            _check_setting(sessions, set(frame["session"]))
    found = sorted(set(frame["player"]))
    order = tuple(players) if players is not None else tuple(found)
    if not set(found) <= set(order):
        raise ValueError(f"there are other players: {sorted(set(found) - set(order))}")
    places = {name: place for place, name in enumerate(order)}
    units: dict[Names, dict[Hashable, list[FloatArray]]] = {}
    sizes = set()
    roles: list[set[str]] = []
    for session, rows in frame.groupby("session", sort=False):
        rows = rows.sort_values("seat")
        own, paid = list(rows["player"]), rows["payoff"].to_numpy(dtype=np.float64)
        sizes.add(len(own))
        profile = tuple(sorted(own, key=lambda name: places[name])) if symmetric else tuple(own)
        roles += [set() for _ in range(len(own) - len(roles))]
        for seat, name in enumerate(own):
            roles[seat].add(name)
        if symmetric:
            means = {name: float(paid[[one == name for one in own]].mean()) for name in set(own)}
            paid = np.array([means[name] for name in profile])
        cluster = clusters.get(session, session)
        units.setdefault(profile, {}).setdefault(cluster, []).append(paid)
    if len(sizes) != 1:
        raise ValueError(f"sessions must have the same number of seats, not {sorted(sizes)}")
    samples = {
        profile: np.array([np.mean(paid, axis=0) for paid in own.values()])
        for profile, own in units.items()
    }
    seated = (
        (order,)
        if symmetric
        else tuple(tuple(name for name in order if name in role) for role in roles)
    )
    return EmpiricalGame(seated, sizes.pop(), symmetric, samples)


def _check_setting(sessions: Columns, wanted: set[Any]) -> None:
    """Refuses sessions that differ in more than who sits where."""
    if not has_column(sessions, "setting"):
        return
    pairs = zip(column(sessions, "session"), column(sessions, "setting"), strict=True)
    settings = {_without_seats(setting) for session, setting in pairs if session in wanted}
    if len(settings) > 1:
        raise ValueError(
            f"sessions of {len(settings)} settings are in the table, such as "
            f"{' and '.join(sorted(settings)[:2])}: take one, or pool_settings=True"
        )


def _without_seats(setting: str) -> str:
    axes = json.loads(setting)
    return json.dumps({axis: axes[axis] for axis in sorted(axes) if not axis.startswith("seats")})


@dataclass(frozen=True)
class Bootstrapped(Result):
    """Numbers of an empirical game with intervals, over games with cells drawn again."""

    estimates: tuple[Estimate, ...]
    draws: FloatArray
    """One row per drawn game, one column per number."""
    title: str

    def frame(self) -> pd.DataFrame:
        """One row per number."""
        return estimates_frame(self.estimates)

    def heading(self) -> str:
        """What the numbers are, and how many games were drawn."""
        return f"{self.title}, {self.draws.shape[0]} games drawn"

    def figure(self) -> Figure:
        """Numbers with intervals."""
        return estimates_figure(self.estimates, self.title, "")


def bootstrap(
    game: EmpiricalGame,
    statistic: Callable[[NormalForm], npt.ArrayLike],
    names: Sequence[str],
    draws: int = 1000,
    seed: int = 1,
    level: float = LEVEL,
    title: str = "bootstrap over sessions",
) -> Bootstrapped:
    """A statistic of the measured game with percentile intervals over resampled sessions.

    Such as `lambda game: alpha_rank(game).mass`, or 1 where a profile is an equilibrium and 0
    elsewhere; the mean of the draws is then how often it is one.
    """
    generator = np.random.default_rng(seed)
    best = np.atleast_1d(np.asarray(statistic(game.normal_form()), dtype=np.float64))
    if best.size != len(names):
        raise ValueError(f"the statistic has {best.size} numbers and {len(names)} names")
    drawn = np.array([np.atleast_1d(statistic(game.resampled(generator))) for _ in range(draws)])
    estimates = tuple(
        Estimate(name, float(value), *percentile_interval(own, level))
        for name, value, own in zip(names, best, drawn.T, strict=True)
    )
    return Bootstrapped(estimates, drawn, title)
