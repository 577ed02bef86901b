"""Analyses of what sessions paid: regret of players, and welfare and equality of sessions.

`catalogue` lists them; numbers come from the other modules of `agon.analysis`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from agon.analysis import payoffs
from agon.analysis.regret import regret_table
from agon.analysis.report.figures import _sized, _welfare_figure
from agon.analysis.report.groups import Group
from agon.analysis.report.reading import Data
from agon.analysis.report.sections import Found
from agon.analysis.report.text import _first, _number
from agon.analysis.welfare import welfare_table

_MOST_EVALUATIONS = 1_000_000
"""Rounds that are paid again for regret: some seconds. More sessions are sampled evenly."""


def _regret(group: Group) -> Found:
    data = _sampled(group)
    table = regret_table(data)
    caveats = ["Effects of an action on later rounds are not counted."]
    if len(data) < len(group.data):
        caveats.append(
            f"Only {len(data)} of {len(group.data)} sessions, evenly taken, to save time."
        )
    rows = table.rows[table.rows["player"].isin(group.players)].reset_index(drop=True)
    shown = replace(table, rows=rows)
    return Found(
        rows, lambda: _sized(shown.figure(), len(rows)), tuple(caveats), results={"t": table}
    )


def _sampled(group: Group) -> list[Data]:
    """Sessions whose rounds can be paid again in some seconds."""
    work = 0
    for played in payoffs.rounds_of(group.data[0]):
        work += len(played.seats) ** 2 * len(played.options[0]) // 5
    most = max(_MOST_EVALUATIONS // max(work, 1), 2)
    if most >= len(group.data):
        return list(group.data)
    # Evenly of each line-up, so that nobody is missing.
    lineups: dict[tuple[str, ...], list[Data]] = {}
    for one in group.data:
        players = tuple(seat["name"] for seat in one["spec"]["seats"])
        lineups.setdefault(players, []).append(one)
    each = max(most // len(lineups), 2)
    taken = []
    for own in lineups.values():
        places = np.linspace(0, len(own) - 1, min(each, len(own))).astype(int)
        taken += [own[place] for place in places]
    return taken


def _welfare(group: Group) -> Found:
    seats, sessions = group.frames["seats"], group.frames["sessions"]
    bounds = _welfare_bounds(group)
    best, worst = bounds or (float("nan"), 0.0)
    lineups = dict.fromkeys(sessions["players"].astype(str))
    tables = {
        lineup: welfare_table(
            seats[seats["session"].isin(sessions["session"][sessions["players"] == lineup])],
            best,
            worst,
            sessions=sessions,
        )
        for lineup in lineups
    }
    rows = pd.concat([table.frame().assign(seats=lineup) for lineup, table in tables.items()])
    caveats = []
    if bounds is None:
        rows = rows[rows["measure"] != "efficiency"]
        caveats.append("No efficiency, because the highest welfare is not known or always reached.")
    if (rows["undefined"] > 0).any():
        caveats.append("A Gini coefficient is undefined where a payoff is negative or all are 0.")
    if rows["low"].isna().any():
        caveats.append("There is no interval of one session, nor of equal ones.")
    says = "Sum of payoffs of a session, and how unequal they are (Gini: 0 is equal)"
    if bounds is not None:
        says += f"; efficiency is 0 at a sum of {_number(worst)} and 1 at {_number(best)}"
    measure = "efficiency" if bounds else "welfare"
    return Found(
        _first(rows, "seats"),
        lambda: _welfare_figure(tables, measure),
        tuple(caveats),
        f"{says}.",
        tables,
    )


def _welfare_bounds(group: Group) -> tuple[float, float] | None:
    """Highest and lowest welfare of a session, where they are known and differ."""
    params, size = group.params, len(group.data[0]["spec"]["seats"])
    if group.game == "public_goods":
        paid = payoffs.public_goods(params)
        sums = [sum(paid([given] * size)) for given in (0, params["tokens"])]
    elif group.game == "divide_dollar":
        return float(params["golds"] * params["rounds"]), 0.0
    elif group.game in ("diners_dilemma", "el_farol"):
        dining = group.game == "diners_dilemma"
        paid = payoffs.diners_dilemma(params) if dining else payoffs.el_farol(params)
        one, other = ("cheap", "costly") if dining else ("go", "stay")
        sums = [sum(paid([one] * n + [other] * (size - n))) for n in range(size + 1)]
    else:
        return None
    return float(max(sums) * params["rounds"]), float(min(sums) * params["rounds"])
