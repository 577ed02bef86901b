"""Analyses of measured payoffs: the table, its equilibria, dominance, anarchy and best replies.

`catalogue` lists them; numbers come from the other modules of `agon.analysis`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from agon.analysis.empirical import EmpiricalGame, Names, bootstrap
from agon.analysis.equilibria import (
    GambitMissingError,
    as_equilibria,
    best_response_graph,
    nash_equilibria,
    pure_equilibria,
    undominated,
)
from agon.analysis.games import NormalForm
from agon.analysis.report.figures import (
    _anarchy_figure,
    _equilibrium_figure,
    _graph_figure,
    _mixed_figure,
    _payoff_figure,
    _survivor_figure,
)
from agon.analysis.report.groups import Group, _can_draw, _profile_count
from agon.analysis.report.sections import Found, LeftOut
from agon.analysis.welfare import anarchy

_MOST_SHOWN_PROFILES = 12
"""Profiles that are shown although nobody played them."""

_MOST_GRAPH_PROFILES = 32
"""Profiles of a game that is shown as a graph."""


def _payoffs(group: Group) -> Found:
    table, count = group.table, _profile_count(group.table)
    missing = count - len(table.samples)
    profiles = sorted(table.samples)
    caveats = []
    if missing:
        shown = count <= _MOST_SHOWN_PROFILES
        profiles = table.profiles if shown else profiles
        which = "shown without a payoff" if shown else "not shown"
        caveats.append(f"No session played {missing:,} of {count:,} profiles: they are {which}.")
    frame = _payoff_rows(table, profiles)
    if group.single:
        caveats.append("A profile of one session or series has no standard error.")
    if not group.alike:
        caveats.append("By seat, because seats of this game may differ.")
    is_matrix = table.is_symmetric and table.seats == 2
    return Found(
        frame,
        table.figure if is_matrix else (lambda: _payoff_figure(frame)),
        tuple(caveats),
        results={"table": table},
    )


def _payoff_rows(table: EmpiricalGame, profiles: Sequence[Names]) -> pd.DataFrame:
    """Rows of some profiles as `table.frame()` has them, which may be far too many for all."""
    rows = []
    for profile in profiles:
        paid, errors = table.payoff(profile), table.standard_error(profile)
        for place, name in enumerate(profile):
            if table.is_symmetric and name in profile[:place]:
                continue
            row: dict[str, Any] = {"profile": _lineup(profile)}
            row |= {} if table.is_symmetric else {"seat": place}
            row |= {"player": name, "units": len(table.samples.get(profile, ()))}
            rows.append({**row, "payoff": paid[place], "se": errors[place]})
    frame: pd.DataFrame = pd.DataFrame(rows)
    return frame


def _lineup(profile: Sequence[str]) -> str:
    """Names with their numbers, where neighbours are the same: `2 x a / b`."""
    if len(profile) < 4:
        return " / ".join(profile)
    runs = [(name, len(list(own))) for name, own in itertools.groupby(profile)]
    return " / ".join(f"{count} x {name}" if count > 1 else name for name, count in runs)


def _equilibria(group: Group) -> Found:
    game = group.normal_form
    profiles = game.profiles
    own = set(pure_equilibria(game))
    names = [" / ".join(game.name_of(profile)) for profile in profiles]
    rows = pd.DataFrame(
        {
            "profile": names,
            "equilibrium": [profile in own for profile in profiles],
            **{
                f"payoff of seat {seat}": [array[profile] for profile in profiles]
                for seat, array in enumerate(game.payoffs)
            },
        }
    )
    caveats = [] if own else ["No pure profile is an equilibrium."]
    results: dict[str, Any] = {"equilibria": as_equilibria(game)}
    if _can_draw(group, caveats):

        def is_one(drawn: NormalForm) -> list[float]:
            found = set(pure_equilibria(drawn))
            return [float(profile in found) for profile in profiles]

        drawn = bootstrap(group.table, is_one, names, draws=group.draws, seed=group.seed)
        results["bootstrap"] = drawn
        rows["share of draws"] = drawn.draws.mean(axis=0)
    if group.alike:
        ordered = [group.table._ordered(game.name_of(p)) == game.name_of(p) for p in profiles]
        rows = rows[ordered].reset_index(drop=True)
    said = "\n".join(rows["profile"][rows["equilibrium"]])
    says = f"No player gains by being replaced by another in: {said}." if said else ""
    return Found(
        rows,
        lambda: _equilibrium_figure(rows),
        tuple(caveats),
        says.replace("\n", "; "),
        results,
    )


def _mixed(group: Group) -> Found:
    found = nash_equilibria(group.normal_form)
    caveats = [] if found.is_complete else ["Gambit finds some equilibria of several players."]
    frame = found.frame().rename(columns={"player": "seat", "strategy": "player"})
    return Found(frame, lambda: _mixed_figure(frame), tuple(caveats), results={"found": found})


def _dominance(group: Group) -> Found:
    game = group.normal_form
    kept = undominated(game)
    # Seats of a symmetric game are alike.
    shown = list(enumerate(kept))[: 1 if group.alike else None]
    rows = pd.DataFrame(
        [
            {
                "seat": "any" if group.alike else seat,
                "player": name,
                "survives": place in own,
            }
            for seat, own in shown
            for place, name in enumerate(game.strategies[seat])
        ]
    )
    return Found(rows, lambda: _survivor_figure(rows), results={"undominated": kept})


def _anarchy(group: Group) -> Found:
    game = group.normal_form
    caveats = []
    try:
        known = nash_equilibria(game)
    except GambitMissingError:
        known = as_equilibria(game)
        caveats.append("Only pure equilibria: mixed ones need pygambit, which is not installed.")
    if not known.found:
        raise LeftOut("no equilibrium is known")
    if not known.is_complete:
        caveats.append("Only over the equilibria that are known.")
    price = anarchy(game, known)
    if math.isnan(price.price_of_anarchy):
        caveats.append("Prices are undefined where the welfare of an equilibrium is not above 0.")
    return Found(
        price.frame(), lambda: _anarchy_figure(price), tuple(caveats), results={"p": price}
    )


def _graph(group: Group) -> Found:
    graph = best_response_graph(group.normal_form)
    count = len(graph.game.profiles)
    says = graph.heading().replace("best-response graph, sinks:", "Replies end in")
    if count > _MOST_GRAPH_PROFILES:
        few = f"No figure of {count} profiles: {_MOST_GRAPH_PROFILES} are the most."
        return Found(graph.frame(), None, (few,), f"{says}.", {"graph": graph})
    return Found(graph.frame(), lambda: _graph_figure(graph), (), f"{says}.", {"graph": graph})
