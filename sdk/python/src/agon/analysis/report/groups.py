"""A group of sessions and its payoff table, which is what every analysis gets.

`making` makes groups of what `reading` found; the modules of analyses read them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agon.analysis.empirical import EmpiricalGame, payoff_table
from agon.analysis.games import NormalForm
from agon.analysis.report.reading import Data, Frames
from agon.analysis.report.sections import LeftOut
from agon.analysis.units import unit_of

_MOST_PROFILES = 256
"""Profiles of a game that is analysed."""

_MOST_DRAWN_PROFILES = 100
"""Profiles of a game that is drawn again for intervals."""


@dataclass(frozen=True)
class Group:
    """Sessions of one game, with the same parameters and players of the same definitions."""

    game: str
    setting: str
    data: tuple[Data, ...]
    """Records with what analyses need."""
    frames: Frames = field(repr=False)
    simulated: tuple[str, ...]
    forfeited: int
    """Sessions left out, because a player mostly forfeited."""
    wanted: tuple[str, ...]
    """Players to report on; all if empty."""
    alike: bool
    """Whether seats differ in nothing but who sits there."""
    seed: int
    draws: int

    @property
    def params(self) -> Mapping[str, Any]:
        """The game's parameters."""
        return dict(self.data[0]["spec"]["params"])

    @property
    def players(self) -> list[str]:
        """Names of the players to report on."""
        names = dict.fromkeys(s["name"] for one in self.data for s in one["spec"]["seats"])
        return [name for name in names if not self.wanted or name in self.wanted]

    @property
    def units(self) -> int:
        """Number of independent units: sessions, or series."""
        return len({unit_of(one) for one in self.data})

    @property
    def repeats(self) -> int:
        """Number of repeats with luck of their own; settings of seats share it."""
        luck = ("seed", "repeat")
        return len({tuple(one["spec"]["luck"][key] for key in luck) for one in self.data})

    @cached_property
    def table(self) -> EmpiricalGame:
        """Measured payoffs of players; by seat unless seats are alike."""
        seats, sessions = self.frames["seats"], self.frames["sessions"]
        # Groups have one setting already, apart from labels and seats.
        return payoff_table(seats, sessions, self.alike, pool_settings=True)

    @cached_property
    def normal_form(self) -> NormalForm:
        """The complete table as a game; raises `LeftOut` where it is none."""
        table, names = self.table, _profile_count(self.table)
        if max(len(own) for own in table.players) < 2:
            where = "" if self.alike else " in every seat"
            raise LeftOut(
                f"all sessions have the same player{where}, so nothing says what another would get"
            )
        if len(table.samples) < names:
            raise LeftOut(
                f"the payoff table is not complete: sessions played {len(table.samples)} of "
                f"{names} profiles of players. Let players meet in all of them (an axis `seats`)"
            )
        size = math.prod(len(own) for own in table.players) ** (table.seats if self.alike else 1)
        if size > _MOST_PROFILES:
            raise LeftOut(f"{size} profiles of seats are more than the {_MOST_PROFILES} it takes")
        return table.normal_form()

    @property
    def single(self) -> bool:
        """Whether some cell of the table has one independent unit only."""
        return any(len(values) < 2 for values in self.table.samples.values())


def _profile_count(table: EmpiricalGame) -> int:
    if table.is_symmetric:
        return math.comb(len(table.players[0]) + table.seats - 1, table.seats)
    return math.prod(len(own) for own in table.players)


def _can_draw(group: Group, caveats: list[str]) -> bool:
    """Whether sessions can be drawn again; says why not."""
    count = len(group.normal_form.profiles)
    if group.draws < 1:
        return False
    if count > _MOST_DRAWN_PROFILES:
        caveats.append(f"Not drawn again: {count} profiles of seats are too many.")
        return False
    if all(len(values) < 2 for values in group.table.samples.values()):
        caveats.append("No interval: every profile has one session or series.")
        return False
    if group.single:
        caveats.append("Profiles of one session or series keep their payoff in all draws.")
    return True
