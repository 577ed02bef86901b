"""Players written in Python: what they are asked, what they may answer, how they are seated."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agon.errors import BadInput

Answer: TypeAlias = "int | float | str | Sequence[int] | Mapping[str, Any]"
"""A value is the answer itself, text is read like a model's reply, a mapping is sent as JSON."""

_DOOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Ask:
    """One question to one seat.

    `kind` is what is asked, such as "bid". `seen` holds everything that the seat has seen, as
    events of a record whose `own` facts are the seat's alone. `messages` say the same in words,
    as a model would be told it. `schema` is the JSON Schema of the answer. `refused` says why
    the last answer was refused, if the same is asked again.
    """

    door: str
    experiment: str
    session: str
    seat: int
    index: int
    game: str
    seats: int
    kind: str
    purpose: str
    schema: Mapping[str, Any]
    seen: Sequence[Mapping[str, Any]]
    messages: Sequence[Mapping[str, str]]
    refused: Mapping[str, Any] | None
    stand_in: str | None
    data: Mapping[str, Any] = field(repr=False)
    _due: float | None = field(default=None, repr=False)

    @property
    def time_left(self) -> float | None:
        """Seconds until the stand-in answers; None without a deadline."""
        return None if self._due is None else self._due - time.monotonic()

    @property
    def form(self) -> Mapping[str, Any]:
        """The schema of the answer itself: `minimum` and `maximum`, `enum`, ..."""
        form: Mapping[str, Any] = self.schema.get("properties", {}).get(self.kind, {})
        return form

    @property
    def game_facts(self) -> Mapping[str, Any]:
        """What the seat was told at the start: parameters, and what is its own."""
        return self.latest("briefing") or {}

    @property
    def round(self) -> int:
        """The round of the newest event, 0 before the first."""
        return int(self.seen[-1]["round"]) if self.seen else 0

    def events(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the facts of every event of a kind, oldest first, with the seat's own."""
        events = (event for event in self.seen if event["event"] == kind)
        return [{**event.get("facts", {}), **event.get("own", {})} for event in events]

    def latest(self, kind: str) -> Mapping[str, Any] | None:
        """Return the facts of the newest event of a kind, or None."""
        events = self.events(kind)
        return events[-1] if events else None

    @property
    def text(self) -> str:
        """The messages as one text, without a conversation's roles."""
        return "\n\n".join(message["content"] for message in self.messages)


class Player:
    """A player. Write `decide`; everything else is optional.

    `name` is how the player is called in records and tables; without it, the class's name.
    Sessions that a player of this name finished are kept, so give another version another name.
    `concurrent` says whether one player may be asked from several threads at once.
    """

    name: str | None = None
    concurrent: bool = False

    def decide(self, ask: Ask) -> Answer:
        """Answer. An exception leaves the question to the stand-in, or ends the run."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what the player holds. Called once, when no more questions will come."""


class PerSeat:
    """Seats a new player at every seat of every session: `PerSeat(MyPlayer, depth=2)`."""

    def __init__(self, make: Callable[..., Player], *arguments: Any, **named: Any) -> None:
        self._make = make
        self._arguments = arguments
        self._named = named
        name = getattr(make, "name", None)
        self.name: str = name if isinstance(name, str) else getattr(make, "__name__", "player")

    def __call__(self) -> Player:
        """Make one."""
        return self._make(*self._arguments, **self._named)


Playing: TypeAlias = "Player | type[Player] | PerSeat | Callable[[Ask], Answer]"
"""What can be seated.

A class of players, or `PerSeat`: a new player at every seat of every session, several of them
deciding at once. A player: the same at all seats, one question at a time unless it is
`concurrent`. A function: called for every question, several at once.
"""


def name_of(player: Playing) -> str | None:
    """Return what a player is called, None for functions without a usable name."""
    named = getattr(player, "name", None)
    if not isinstance(named, str):
        named = getattr(player, "__name__", None)
    if named is None and isinstance(player, Player):
        named = type(player).__name__
    return named if named is not None and _DOOR.fullmatch(named) else None


def door_names(players: Mapping[str, Playing]) -> dict[str, str]:
    """Return the door of each player: its own name, or the one in the experiment."""
    doors: dict[str, str] = {}
    behind: dict[str, Playing] = {}
    for name, player in players.items():
        door = name_of(player) or name
        if behind.setdefault(door, player) is not player:
            raise BadInput(
                f"two different players are called {door}: set the attribute name of one"
            )
        doors[name] = door
    return doors


def read_ask(door: str, data: Mapping[str, Any], *, received: float) -> Ask:
    """Read an ask as the gateway tells it. `received` is a time of `time.monotonic`."""
    address, seen = data["address"], data.get("seen") or {}
    stand_in, reply_format = data.get("stand_in"), data.get("reply_format") or {}
    due = None
    if stand_in is not None:
        due = received + (stand_in["after_ms"] - data["waiting_ms"]) / 1000
    return Ask(
        door=door,
        experiment=data["experiment_id"],
        session=address["session_id"],
        seat=address["seat"],
        index=address["index"],
        game=seen.get("game", ""),
        seats=seen.get("seats", 0),
        kind=reply_format.get("name", ""),
        purpose=data["purpose"],
        schema=reply_format.get("json_schema", {}),
        seen=seen.get("seen", ()),
        messages=data["messages"],
        refused=seen.get("refused"),
        stand_in=stand_in["name"] if stand_in is not None else None,
        data=data,
        _due=due,
    )


def reply_of(ask: Ask, answer: Any) -> str:
    """Write an answer as the reply that is sent."""
    if isinstance(answer, str):
        return answer
    if answer is None:
        raise TypeError(f"decide returned None for a {ask.kind}: it must return an answer")
    if hasattr(answer, "tolist"):  # numbers and arrays of numpy
        answer = answer.tolist()
    value = answer if isinstance(answer, Mapping) else {ask.kind: answer}
    return json.dumps(value)
