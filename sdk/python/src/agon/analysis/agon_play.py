"""Sessions of a tournament played by Agon."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import agon
from agon.analysis.ratings import Match
from agon.analysis.results import column, number_column
from agon.analysis.tournament import Pairing

Player = str | Mapping[str, Any]
"""The name of a model, or a player as in an experiment file: `{"kind": "rule", ...}`."""


class AgonPlay:
    """Plays pairings with `agon.run`: use it as `play` of a tournament.

    Each call is an experiment of its own, `NAME-1`, `NAME-2` and so on, with the seeds that follow
    `seed`, so that sessions are independent. Calling the same tournament again with the same
    options of `agon.run` (such as `data`) finds finished sessions and pays for none of them twice.

    A player's payoff of a session is that of its seats together. If scores and not payoffs count,
    give a play function of your own.
    """

    def __init__(
        self,
        game: str,
        players: Mapping[str, Player],
        params: Mapping[str, Any] | None = None,
        name: str = "tournament",
        seed: int = 1,
        **options: Any,
    ) -> None:
        self._game = game
        self._players = {
            key: {"kind": "model", "model": player} if isinstance(player, str) else dict(player)
            for key, player in players.items()
        }
        self._params = dict(params or {})
        self._name = name
        self._seed = seed
        self._options = options
        self._calls = 0

    def experiment(self, pairing: Pairing, repeats: int, call: int) -> dict[str, Any]:
        """The experiment of a call."""
        return {
            "name": f"{self._name}-{call}",
            "seed": self._seed + call - 1,
            "repeats": repeats,
            "players": {name: self._players[name] for name in dict.fromkeys(pairing)},
            "games": [{"game": self._game, "params": self._params, "seats": list(pairing)}],
        }

    def __call__(self, pairing: Pairing, repeats: int) -> Sequence[Match]:
        """Play a pairing some times."""
        self._calls += 1
        run = agon.run(self.experiment(pairing, repeats, self._calls), **self._options)
        return matches_of(run.seats(), run.sessions())


def matches_of(seats: Any, sessions: Any) -> list[Match]:
    """Matches from exported tables of sessions of one game.

    The cost of a session is unknown if a decision has no known price. Warns of sessions that say
    little about who plays well: the answers of a seat were mostly forfeited or a stand-in's, or a
    simulated model's. Sessions of a series are one independent unit.
    """
    costs = number_column(sessions, "cost_dollars")
    unpriced = number_column(sessions, "unpriced_decisions") > 0
    places, names = column(seats, "seat"), column(seats, "player")
    paid, owners = number_column(seats, "payoff"), column(seats, "session")
    for fault, table in (("forfeited", seats), ("simulated", sessions)):
        count = len(set(column(table, "session")[column(table, fault).astype(bool)]))
        if count > 0:
            warnings.warn(
                f"{count} of {len(costs)} sessions are {fault}, and count as they were paid",
                stacklevel=2,
            )
    matches = []
    played, units = column(sessions, "session"), column(sessions, "cluster")
    for session, unit, cost, unknown in zip(played, units, costs, unpriced, strict=True):
        rows = np.flatnonzero(owners == session)
        rows = rows[np.argsort(places[rows])]
        matches.append(
            Match(
                seats=tuple(str(names[row]) for row in rows),
                payoffs=tuple(float(paid[row]) for row in rows),
                dollars=None if unknown else float(np.nan_to_num(cost)),
                session=str(unit),
            )
        )
    return matches
