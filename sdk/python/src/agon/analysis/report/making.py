"""Makes the report of runs: applies every analysis that fits to every group of sessions.

Users and `python -m agon.analysis` call `report`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agon.analysis import payoffs
from agon.analysis.empirical import MissingCellsError
from agon.analysis.equilibria import GambitMissingError
from agon.analysis.report.catalogue import ANALYSES, Analysis
from agon.analysis.report.groups import Group
from agon.analysis.report.pages import Report
from agon.analysis.report.reading import Source, _grouped, _read
from agon.analysis.report.sections import LeftOut, Section
from agon.analysis.report.text import _count
from agon.analysis.results import LEVEL
from agon.results import Run
from agon.results import open as open_run

DRAWS = 500
"""Samples of bootstraps, unless the caller says otherwise."""

_FEW_SESSIONS = 10
"""Below this number a section says that its data are few (docs/statistics.md has coverage)."""

_FORFEITED = "in which a player forfeited more than half of its answers or a stand-in gave them"


def report(
    runs: Source | Iterable[Source],
    *,
    players: str | Iterable[str] | None = None,
    seed: int = 1,
    draws: int = DRAWS,
    symmetric_games: Iterable[str] = (),
) -> Report:
    """Apply every analysis that fits to the sessions of runs.

    `runs`: runs, or what `agon.open` takes. `players`: names to report on, where an analysis is by
    player; payoff tables always have everybody. `seed`, `draws`: of bootstraps. `symmetric_games`:
    games of your own whose seats differ in nothing but who sits there; without it their payoff
    tables are by seat.
    """
    given = [runs] if isinstance(runs, Run | str | os.PathLike) else list(runs)
    opened = [one if isinstance(one, Run) else open_run(one) for one in given]
    wanted = (players,) if isinstance(players, str) else tuple(players or ())
    frames, data = _read(opened)
    known = sorted({seat["name"] for one in data for seat in one["spec"]["seats"]})
    unknown = [name for name in wanted if name not in known]
    if unknown:
        there = ", ".join(known) or "none"
        raise ValueError(f"no player is called {', '.join(unknown)}; there are {there}")
    seats = frames["seats"]
    forfeited = set(seats.loc[seats["forfeited"].astype(bool), "session"])
    alike = {*payoffs.GAMES, *symmetric_games}
    sections: list[Section] = []
    for (game, setting), own in _grouped(data).items():
        kept = [one for one in own if one["session"] not in forfeited]
        names = {one["session"] for one in kept}
        group = Group(
            game,
            setting,
            tuple(kept),
            {key: frame[frame["session"].isin(names)] for key, frame in frames.items()},
            tuple(sorted({name for one in kept for name in one["simulated_players"]})),
            len(own) - len(kept),
            wanted,
            game in alike,
            seed,
            draws,
        )
        if not kept:
            sections.append(_nothing(group, f"{_count(len(own), 'session')} {_FORFEITED}"))
        elif game == "judging":
            sections.append(_nothing(group, "judging pays nothing: agon report shows its marks"))
        else:
            sections += [_applied(one, group) for one in ANALYSES if one.fits(group)]
    title = f"Analysis of {', '.join(dict.fromkeys(run.name for run in opened))}"
    sessions = {one["session"] for one in data}
    return Report(title, sections, _notes(opened, len(data), sections), sessions)


def _nothing(group: Group, why: str) -> Section:
    return Section(group.game, group.setting, "All analyses", "", "", len(group.data), left_out=why)


def _applied(analysis: Analysis, group: Group) -> Section:
    section = Section(
        game=group.game,
        setting=group.setting,
        title=analysis.title,
        says=analysis.says,
        source=analysis.source,
        sessions=len(group.data),
        simulated=group.simulated,
    )
    if analysis.pools and not group.players:
        return replace(section, left_out="none of the players to report on is in these sessions")
    try:
        found = analysis.find(group)
    except (LeftOut, MissingCellsError, GambitMissingError, ValueError, ArithmeticError) as error:
        return replace(section, left_out=str(error))
    caveats = [*found.caveats]
    if analysis.pools and group.repeats < group.units:
        caveats.append(
            f"{group.units} sessions or series of different seats share the luck of "
            f"{_count(group.repeats, 'repeat')}: where luck matters, intervals are too narrow."
        )
    if group.forfeited:
        caveats.append(f"Left out: {_count(group.forfeited, 'session')} {_FORFEITED}.")
    if min(group.units, group.repeats) < _FEW_SESSIONS:
        caveats.append(
            f"Small data: {_count(len(group.data), 'session')}, {_count(group.units, 'unit')} "
            f"(sessions or series), {_count(group.repeats, 'repeat')}."
        )
    rows = found.rows
    if group.simulated:
        rows = rows.assign(simulated=True)
        names = ", ".join(group.simulated)
        caveats.insert(
            0, f"Rests on simulated models ({names}), so it says nothing about any model."
        )
    return replace(
        section,
        says=found.says or analysis.says,
        rows=rows,
        draw=found.draw,
        caveats=tuple(caveats),
        results=found.results,
    )


def _notes(runs: Sequence[Run], sessions: int, sections: Sequence[Section]) -> list[str]:
    notes = [
        f"{_count(sessions, 'session')} in {_count(len(runs), 'run')}. Sessions of different "
        "parameters or players are apart.",
        f"low and high are the ends of {LEVEL:.0%} intervals; - is undefined or unknown.",
    ]
    for run in runs:
        if run.outcome not in ("complete", "unknown"):
            notes.append(f"The run {run.name} is not complete: it ended as {run.outcome}.")
    simulated = sorted({name for section in sections for name in section.simulated})
    if simulated:
        notes.append(
            f"SIMULATED: {', '.join(simulated)}. What rests on simulated models is marked, and "
            "says nothing about any model."
        )
    return notes
