"""Session records (docs/record.md) with typed access. `data` of each has the record's JSON."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Move:
    """One answered or forfeited ask."""

    turn: int
    seat: int
    ask: str
    action: Any
    forfeited: bool
    fouls: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Event:
    """Something that happened. `own` has a column per seat; `hidden` was seen by nobody."""

    event: str
    round: int
    to: tuple[int, ...] | None
    facts: Mapping[str, Any]
    own: Mapping[str, Any]
    hidden: Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """One answer from outside: of a model, a person or a player behind a door."""

    seat: int
    index: int
    purpose: str
    reply: str
    answered_by: str
    finish_reason: str
    simulated: bool
    data: Mapping[str, Any]


class Record:
    """One finished session."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<Record {self.session[:8]} of {self.game}, {len(self.seats)} seats>"

    @property
    def session(self) -> str:
        """The session's id."""
        return str(self.data["session"])

    @property
    def simulated(self) -> bool:
        """Whether any decision came from a simulated model."""
        return bool(self.data.get("simulated", False))

    @property
    def experiment(self) -> str:
        """The name of the experiment."""
        return str(self.data["spec"]["experiment"])

    @property
    def game(self) -> str:
        """The registered name of the game."""
        return str(self.data["spec"]["game"])

    @property
    def params(self) -> Mapping[str, Any]:
        """The game's parameters, with defaults."""
        return _mapping(self.data["spec"]["params"])

    @property
    def setting(self) -> Mapping[str, Any]:
        """The cell of the grid: axis to value."""
        return _mapping(self.data["spec"].get("setting"))

    @property
    def repeat(self) -> int:
        """The repeat of the setting, from 0."""
        return int(self.data["spec"]["luck"]["repeat"])

    @property
    def seats(self) -> tuple[Mapping[str, Any], ...]:
        """Who sits where: `name`, `kind` and `settings` per seat."""
        return tuple(self.data["spec"]["seats"])

    @property
    def payoffs(self) -> tuple[float, ...]:
        """What the game paid, per seat."""
        return tuple(self.data["outcome"]["payoffs"])

    @property
    def scores(self) -> Mapping[str, float]:
        """The session's scores, by scheme."""
        return _mapping(_mapping(self.data.get("measures")).get("scores"))

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every ask that was answered or forfeited, by turn, then seat."""
        return tuple(
            Move(
                turn=move["turn"],
                seat=move["seat"],
                ask=move["ask"],
                action=move.get("action"),
                forfeited=move.get("forfeited", False),
                fouls=tuple(move.get("fouls", ())),
            )
            for move in self.data.get("moves", ())
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(
            Event(
                event=event["event"],
                round=event["round"],
                to=tuple(event["to"]) if "to" in event else None,
                facts=_mapping(event.get("facts")),
                own=_mapping(event.get("own")),
                hidden=_mapping(event.get("hidden")),
            )
            for event in self.data.get("events", ())
        )

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Every answer from outside, by seat, then index."""
        return tuple(
            Decision(
                seat=decision["seat"],
                index=decision["index"],
                purpose=decision["purpose"],
                reply=decision["reply"],
                answered_by=decision["answered_by"],
                finish_reason=decision["finish_reason"],
                simulated=decision.get("simulated", False),
                data=decision,
            )
            for decision in self.data.get("decisions", ())
        )

    @property
    def notes(self) -> tuple[Mapping[str, Any], ...]:
        """What agents concluded: `seat`, `turn`, `note`, `body`."""
        return tuple(self.data.get("notes", ()))


def read(path: Path) -> Iterator[Record]:
    """Read a file of records, gzipped or not, one at a time."""
    with _opened(path) as lines:
        for line in lines:
            if line.strip():
                yield Record(json.loads(line))


def _opened(path: Path) -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if value is not None else {}
