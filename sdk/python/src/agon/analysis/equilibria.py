"""Nash equilibria, dominance and best replies of games in normal form."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from agon.analysis.games import NormalForm, Profile, best_replies, deviations
from agon.analysis.optimise import linprog
from agon.analysis.regret import nash_conv
from agon.analysis.results import FloatArray, Result, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EQUAL = 1e-9


class GambitMissingError(ImportError):
    """Mixed equilibria need Gambit, which is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "mixed equilibria need Gambit: pip install pygambit. Pure ones need nothing: "
            "pure_equilibria(game)"
        )


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium: a mixture by player, its payoffs, and its NashConv as a check."""

    mixed: tuple[FloatArray, ...]
    payoffs: FloatArray
    nash_conv: float


@dataclass(frozen=True)
class Equilibria(Result):
    """Equilibria of a game, and the method that found them."""

    game: NormalForm
    found: tuple[Equilibrium, ...]
    method: str
    is_complete: bool
    """Whether the method finds all extreme equilibria, as it does for two players."""

    def frame(self) -> pd.DataFrame:
        """A row per equilibrium, player and strategy of positive probability."""
        rows = [
            {
                "equilibrium": number,
                "player": player,
                "strategy": self.game.strategies[player][place],
                "probability": probability,
                "payoff": equilibrium.payoffs[player],
            }
            for number, equilibrium in enumerate(self.found)
            for player, own in enumerate(equilibrium.mixed)
            for place, probability in enumerate(own)
            if probability > _EQUAL
        ]
        names = ["equilibrium", "player", "strategy", "probability", "payoff"]
        frame: pd.DataFrame = pd.DataFrame(rows, columns=names)
        return frame

    def heading(self) -> str:
        """How many, and by which method."""
        which = "all" if self.is_complete else "some"
        return f"{len(self.found)} Nash equilibria ({self.method}; {which} of them)"


def pure_equilibria(game: NormalForm) -> list[Profile]:
    """Profiles from which no player gains by another strategy."""
    return [
        profile
        for profile in game.profiles
        if all(
            game.payoffs[player][other] <= game.payoffs[player][profile] + _slack(game)
            for player, other in deviations(game, profile)
        )
    ]


def nash_equilibria(game: NormalForm) -> Equilibria:
    """Nash equilibria by Gambit.

    Of two players all extreme ones, by enumeration of vertices (Mangasarian 1964; Gambit's
    `enummixed`); equilibria in between are missing where there is a continuum. Of more players
    those that Gambit finds by the support of polynomial systems (`enumpoly`).
    """
    try:
        pygambit: Any = importlib.import_module("pygambit")
    except ImportError as error:
        raise GambitMissingError from error
    # Gambit 17 renamed the class that makes games of arrays.
    maker = getattr(pygambit, "StrategicGame", pygambit.Game)
    other = maker.from_arrays(*game.payoffs)
    if game.players == 2:
        outcome = pygambit.nash.enummixed_solve(other, rational=False)
        method = "Gambit, vertices"
    else:
        outcome = pygambit.nash.enumpoly_solve(other)
        method = "Gambit, polynomial systems"
    found: list[Equilibrium] = []
    for profile in outcome.equilibria:
        mixed = _from_gambit(other, profile)
        if not any(_same(mixed, one.mixed) for one in found):
            found.append(Equilibrium(mixed, game.expected(mixed), nash_conv(game, mixed)))
    return Equilibria(game, tuple(found), method, game.players == 2)


def as_equilibria(game: NormalForm) -> Equilibria:
    """Pure equilibria in the form of `nash_equilibria`, without Gambit."""
    found = tuple(
        Equilibrium(
            tuple(game.pure(profile)),
            np.array([array[profile] for array in game.payoffs]),
            nash_conv(game, game.pure(profile)),
        )
        for profile in pure_equilibria(game)
    )
    return Equilibria(game, found, "pure profiles only", False)


def dominated(game: NormalForm, player: int, strict: bool = True, mixed: bool = True) -> list[int]:
    """Strategies of a player that another one, or a mixture if `mixed`, dominates.

    Strictly: worse against everything the others do. Weakly: never better and somewhere worse.
    """
    table = np.moveaxis(game.payoffs[player], player, 0).reshape(game.shape[player], -1)
    return [place for place in range(table.shape[0]) if _is_dominated(table, place, strict, mixed)]


def undominated(game: NormalForm) -> tuple[tuple[int, ...], ...]:
    """Strategies by player that survive iterated elimination of strictly dominated ones.

    Mixtures dominate too; the order of elimination does not matter (Osborne, Rubinstein 1994,
    proposition 61.2).
    """
    kept = [list(range(size)) for size in game.shape]
    while True:
        small = NormalForm.of(*(array[np.ix_(*kept)] for array in game.payoffs))
        gone = [dominated(small, player) for player in range(game.players)]
        if not any(gone):
            return tuple(tuple(own) for own in kept)
        kept = [
            [strategy for place, strategy in enumerate(own) if place not in out]
            for own, out in zip(kept, gone, strict=True)
        ]


@dataclass(frozen=True)
class BestResponseGraph(Result):
    """From every pure profile to those that one player prefers most; sinks are where it ends.

    A sink component is a set of profiles that replies do not leave; one of a single profile is a
    pure equilibrium.
    """

    game: NormalForm
    edges: tuple[tuple[Profile, Profile, int], ...]
    sinks: tuple[tuple[Profile, ...], ...]

    def frame(self) -> pd.DataFrame:
        """A row per edge: from, to, and the player who moves."""
        rows = [
            {
                "from": " / ".join(self.game.name_of(start)),
                "to": " / ".join(self.game.name_of(end)),
                "player": player,
            }
            for start, end, player in self.edges
        ]
        frame: pd.DataFrame = pd.DataFrame(rows, columns=["from", "to", "player"])
        return frame

    def heading(self) -> str:
        """The sinks."""
        shown = "; ".join(
            "{" + ", ".join(" / ".join(self.game.name_of(p)) for p in sink) + "}"
            for sink in self.sinks
        )
        return f"best-response graph, sinks: {shown}"

    def figure(self) -> Figure:
        """Profiles on a circle with arrows; sinks are filled."""
        figure, axes = new_figure("Best-response graph")
        profiles = self.game.profiles
        turns = np.linspace(0.0, 2.0 * np.pi, len(profiles), endpoint=False)
        spots = {p: (np.cos(t), np.sin(t)) for p, t in zip(profiles, turns, strict=True)}
        for start, end, _ in self.edges:
            axes.annotate(
                "",
                spots[end],
                spots[start],
                arrowprops={"arrowstyle": "->", "color": "#999999", "shrinkA": 8, "shrinkB": 8},
            )
        settled = {profile for sink in self.sinks for profile in sink}
        for profile, (x, y) in spots.items():
            fill = "#0072B2" if profile in settled else "white"
            axes.plot(x, y, "o", color="#0072B2", markerfacecolor=fill)
            axes.text(1.15 * x, 1.15 * y, " / ".join(self.game.name_of(profile)), ha="center")
        axes.set_xlim(-1.6, 1.6)
        axes.set_ylim(-1.4, 1.4)
        axes.set_axis_off()
        return figure


def best_response_graph(game: NormalForm) -> BestResponseGraph:
    """The graph of best replies between pure profiles."""
    edges = []
    for profile in game.profiles:
        for player in range(game.players):
            row = tuple(
                slice(None) if other == player else place for other, place in enumerate(profile)
            )
            best = best_replies(game.payoffs[player][row])
            if best[profile[player]]:
                continue
            for place in np.flatnonzero(best):
                end = (*profile[:player], int(place), *profile[player + 1 :])
                edges.append((profile, end, player))
    return BestResponseGraph(game, tuple(edges), _sinks(game, edges))


def _sinks(
    game: NormalForm, edges: list[tuple[Profile, Profile, int]]
) -> tuple[tuple[Profile, ...], ...]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places = {profile: place for place, profile in enumerate(game.profiles)}
    starts = [places[start] for start, _, _ in edges]
    ends = [places[end] for _, end, _ in edges]
    size = len(places)
    graph = coo_array((np.ones(len(edges)), (starts, ends)), shape=(size, size))
    count, labels = connected_components(graph, connection="strong")
    left = {int(labels[s]) for s, e in zip(starts, ends, strict=True) if labels[s] != labels[e]}
    return tuple(
        tuple(profile for profile, place in places.items() if labels[place] == label)
        for label in range(count)
        if label not in left
    )


def _is_dominated(table: FloatArray, place: int, strict: bool, mixed: bool) -> bool:
    own, others = table[place], np.delete(table, place, axis=0)
    slack = _EQUAL * max(1.0, float(np.abs(table).max()))
    if others.size == 0:
        return False
    if not mixed:
        better = others - own
        if strict:
            return bool((better > slack).all(axis=1).any())
        return bool(((better >= -slack).all(axis=1) & (better > slack).any(axis=1)).any())
    count, cells = others.shape
    if strict:
        # The largest margin by which a mixture is better everywhere.
        bound = np.hstack([-others.T, np.ones((cells, 1))])
        goal = np.append(np.zeros(count), -1.0)
        equal = np.append(np.ones(count), 0.0)[None, :]
        limits = [(0.0, None)] * count + [(None, None)]
    else:
        # The largest total by which a mixture that is never worse is better.
        bound, goal = -others.T, -others.sum(axis=1)
        equal, limits = np.ones((1, count)), [(0.0, None)] * count
    outcome = linprog(goal, A_ub=bound, b_ub=-own, A_eq=equal, b_eq=[1.0], bounds=limits)
    if outcome.status != 0:
        return False
    gain = -float(outcome.fun) - (0.0 if strict else float(own.sum()))
    return gain > slack * (1 if strict else cells)


def _from_gambit(game: Any, profile: Any) -> tuple[FloatArray, ...]:
    mixed = []
    for player in game.players:
        strategies = game.get_strategies(player) if hasattr(game, "get_strategies") else None
        own = profile[player]
        names = strategies if strategies is not None else player.strategies
        mixed.append(np.array([float(own[name]) for name in names]))
    return tuple(mixed)


def _same(one: tuple[FloatArray, ...], other: tuple[FloatArray, ...]) -> bool:
    return all(np.allclose(a, b, atol=1e-7) for a, b in itertools.zip_longest(one, other))


def _slack(game: NormalForm) -> float:
    return _EQUAL * max(1.0, max(float(np.abs(array).max()) for array in game.payoffs))
