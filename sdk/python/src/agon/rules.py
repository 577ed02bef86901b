"""Games written in Python: their rules, what seats are asked, what happens.

    class Ultimatum(agon.Game):
        '''One proposes how to divide a pot, the other accepts or rejects.'''

        seats = 2
        pot = agon.parameter(100, min=1)

        def play(self, table):
            table.brief(pot=self.pot)
            offer = (yield table.ask(0, "offer", agon.whole(0, self.pot)))[0]
            table.tell("proposal", offer=offer)
            answer = (yield table.ask(1, "answer", agon.choice("accept", "reject")))[1]
            ...

docs/outside-games.md is the guide.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from agon.chance import Chance
from agon.forms import Form

CONTRACT = 1
"""Version of the contract between Agon and the process that holds a game's rules."""

Action: TypeAlias = "int | float | str | list[int] | None"
"""What a seat answered: a number, a word, a division, the seat that it chose or the word for a
pass; None where it forfeited the question."""


@dataclass(frozen=True)
class GameParameter:
    """A parameter of a game. Made by `parameter`."""

    default: Any
    meaning: str
    kind: Mapping[str, Any]

    def described(self) -> dict[str, Any]:
        """Return it as a description has it."""
        optional = {"optional": True} if self.default is None else {}
        return {"default": self.default, "meaning": self.meaning, **optional, **self.kind}

    def __get__(self, instance: object, owner: object) -> Any:
        return self if instance is None else self.default


def parameter(
    default: Any, meaning: str = "", *, min: float | None = None, max: float | None = None,
    options: Sequence[str] | None = None, like: Any = None,
) -> Any:  # fmt: skip
    """Declare what can be set: `rounds = agon.parameter(10, "Number of rounds.", min=1)`.

    What it may be follows from the default: a flag, a whole number, a number, a text, one of
    `options`, or a list of those. A parameter that is None by default may be left open; `like` is
    then a value of the kind that it has otherwise.
    """
    kind = dict({} if options is not None else _kind(default if like is None else like))
    if options is not None:
        kind = {"type": "choice", "options": list(options)}
    if (min is not None or max is not None) and kind["type"] not in ("integer", "number"):
        raise TypeError("min and max are for numbers")
    if min is not None:
        kind["min"] = min
    if max is not None:
        kind["max"] = max
    return GameParameter(default, meaning, kind)


def _kind(default: Any) -> Mapping[str, Any]:
    if isinstance(default, bool):
        return {"type": "flag"}
    if isinstance(default, int):
        return {"type": "integer"}
    if isinstance(default, float):
        return {"type": "number"}
    if isinstance(default, str):
        return {"type": "text"}
    if isinstance(default, list | tuple) and default:
        return {"type": "list", "of": _kind(default[0])}
    raise TypeError(
        f"a parameter's default must be a flag, a number, a text or a list of some, not {default!r}"
    )


@dataclass(frozen=True)
class Question:
    """The same question to one or several seats. Made by `Table.ask`."""

    seats: tuple[int, ...]
    kind: str
    form: Form
    role: str
    foul_allowance: int


Asking: TypeAlias = "Question | Sequence[Question]"
"""What a game yields: who is asked what at the same time."""

Answers: TypeAlias = "dict[int, Action]"
"""What it gets for it: the answer of every seat that was asked."""

Play: TypeAlias = "Generator[Asking, Answers, None]"
"""What `Game.play` is."""


class Table:
    """One session of a game: who sits there, what happened, what is drawn and paid."""

    def __init__(self, game: Game, seats: int, key: str) -> None:
        self.seats = seats
        self.chance = Chance(key)
        """Draws that follow from the session's luck."""
        self.payoffs = [0.0] * seats
        """Each seat's payoff so far."""
        self.round = 0
        """The round that events belong to, from 1."""
        self._game = game
        self._events: list[dict[str, Any]] = []
        self._scores: dict[str, float] = {}
        self._parts: dict[str, float] = {}
        self._series: dict[str, list[float]] = {}

    def brief(
        self, *, own: Mapping[str, Sequence[Any]] | None = None,
        hidden: Mapping[str, Any] | None = None, **facts: Any,
    ) -> None:  # fmt: skip
        """Tell everybody the beginning: the number of players, and what else there is to know."""
        told = {"players": self.seats, **self._game.told(), **facts}
        self.tell("briefing", round=0, own=own, hidden=hidden, facts=told)

    def tell(
        self, kind: str, *, round: int | None = None, to: Sequence[int] | None = None,
        own: Mapping[str, Sequence[Any]] | None = None,
        hidden: Mapping[str, Any] | None = None, facts: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:  # fmt: skip
        """Let something happen that everybody sees, or the seats `to`.

        `own` holds columns with one entry per seat, of which each seat sees its own; `hidden`
        stays in the record. Facts that are called like an argument go into `facts`.
        """
        # Copies: what a game changes later has not happened yet.
        event: dict[str, Any] = {"event": kind, "round": self.round if round is None else round}
        if to is not None:
            event["to"] = list(to)
        seen = {**(facts or {}), **more}
        for section, values in (("facts", seen), ("own", own), ("hidden", hidden)):
            if values:
                event[section] = {name: _copied(value) for name, value in values.items()}
        self._events.append(event)

    def ask(
        self, seats: int | Iterable[int], kind: str, form: Form, *, role: str | None = None,
        foul_allowance: int | None = None,
    ) -> Question:  # fmt: skip
        """Ask one seat, or several at the same time. `kind` is what is asked, as one word."""
        asked = (seats,) if isinstance(seats, int) else tuple(seats)
        allowed = self._game.foul_allowance if foul_allowance is None else foul_allowance
        in_order = tuple(sorted(asked))
        return Question(in_order, kind, form, role or form.role, allowed)

    def ask_all(self, kind: str, form: Form, **more: Any) -> Question:
        """Ask every seat at the same time."""
        return self.ask(range(self.seats), kind, form, **more)

    def pay(self, gains: Sequence[float] | Mapping[int, float]) -> None:
        """Add to payoffs."""
        pairs = gains.items() if isinstance(gains, Mapping) else enumerate(gains)
        for seat, gain in pairs:
            self.payoffs[seat] += gain

    def score(self, name: str, value: float) -> None:
        """Say a score of the session."""
        self._scores[name] = float(value)

    def part(self, name: str, value: float) -> None:
        """Say a quantity behind the scores."""
        self._parts[name] = float(value)

    def series(self, name: str, values: Iterable[float]) -> None:
        """Say one number per round or turn, for figures."""
        self._series[name] = [float(value) for value in values]

    def _reply(self, questions: Sequence[Question]) -> dict[str, Any]:
        """What happened since the last reply."""
        reply: dict[str, Any] = {"payoffs": [float(payoff) for payoff in self.payoffs]}
        if self._events:
            reply["events"], self._events = self._events, []
        if self.chance.drawn:
            reply["draws"], self.chance.drawn = self.chance.drawn, []
        if questions:
            reply["asks"] = [
                {
                    "seats": question.seats,
                    "kind": question.kind,
                    "role": question.role,
                    "form": question.form.written,
                    "foul_allowance": question.foul_allowance,
                }
                for question in questions
            ]
        else:
            reply["measures"] = {
                "scores": self._scores,
                "parts": self._parts,
                "series": self._series,
            }
        return reply


class Game:
    """A game. Write `play`; the docstring tells models the rules, everything else is optional.

    `play` is a generator: it yields who is asked what, gets the answers, and returns when the game
    has ended. It must be a function of its parameters, the answers and `table.chance`: a session
    is played again from its beginning after a crash, and must go the same way.
    """

    name: ClassVar[str | None] = None
    """Name in experiment files; without it, the class's name in lower case."""
    title: ClassVar[str | None] = None
    """Name for people; without it, the class's name in words."""
    rules_version: ClassVar[int] = 1
    """Raise it whenever the same answers could lead to another record: sessions that were played
    by other rules are other sessions."""
    seats: ClassVar[int | tuple[int, int]] = 2
    """How many seats, or the fewest and the most; `self.players` is how many there are."""
    timing: ClassVar[str] = "simultaneous"
    """Whether seats are asked at the same time, or one after another ("sequential")."""
    chance: ClassVar[bool] = False
    """Whether it draws (`table.chance`)."""
    hidden_information: ClassVar[bool] = False
    """Whether a seat may know something that another may not."""
    asks_per_seat: ClassVar[int | str | tuple[str, int] | None] = None
    """Most questions to one seat: a number, the name of a parameter, or that and how many for each
    unit. Without it, one for each of the parameter `rounds`, or one."""
    foul_allowance: int = 3
    """Illegal answers that are forgiven by asking again; one more forfeits the question."""
    source: ClassVar[str] = ""
    """Where the rules come from."""
    payoff_bounds: ClassVar[tuple[float, float] | None] = None
    """Smallest and largest payoff of a seat, if that is promised."""
    facts: ClassVar[Mapping[str, Any]] = {}
    """Names of facts that mean the same in every game (docs/outside-games.md)."""
    templates: ClassVar[Mapping[str, str]] = {}
    """Templates for models by name (`system.j2`); without any, common words are used."""

    players: int

    def play(self, table: Table) -> Play:
        """Play one session."""
        raise NotImplementedError

    def check(self, table: Table, seat: int, kind: str, answer: Action) -> str | None:
        """Say why an answer that its form allows is illegal all the same; None if it is not."""
        return None

    def settle(self) -> None:
        """Check parameters that depend on each other, before the game begins.

        Raise `ValueError` where no game can be played with them.
        """

    def told(self) -> Mapping[str, Any]:
        """Return what every briefing tells: title and rules, in the words for models."""
        words = {"title": self._title(), "rules": inspect.cleandoc(type(self).__doc__ or "")}
        return {name: text for name, text in words.items() if text}

    @classmethod
    def parameters(cls) -> dict[str, GameParameter]:
        """Return what can be set."""
        declared = {
            name: value
            for one in reversed(cls.__mro__)
            for name, value in vars(one).items()
            if isinstance(value, GameParameter)
        }
        taken = [name for name in declared if hasattr(Game, name) and name != "foul_allowance"]
        if taken:
            raise TypeError(f"a parameter cannot be called {taken[0]}: agon.Game has that name")
        fewest, most = cls._seats()
        if fewest != most and "players" not in declared:
            kind = {"type": "integer", "min": fewest, "max": most}
            meaning = "Number of players; taken from the seats of the experiment."
            declared["players"] = GameParameter(fewest, meaning, kind)
        if "foul_allowance" not in declared:
            kind = {"type": "integer", "min": 0, "max": 100}
            meaning = "Fouls forgiven per ask before it is forfeited."
            declared["foul_allowance"] = GameParameter(cls.foul_allowance, meaning, kind)
        return declared

    @classmethod
    def description(cls) -> dict[str, Any]:
        """Return what Agon is told of the game, as docs/outside-games.md says."""
        parameters = cls.parameters()
        summary = inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0].rstrip(".")
        described = {
            "agon_game": CONTRACT,
            "name": cls.game_name(),
            "title": cls._title(),
            "summary": summary[:1].lower() + summary[1:],
            "source": cls.source,
            "rules_version": cls.rules_version,
            "seats": list(cls._seats()),
            "timing": cls.timing,
            "chance": cls.chance,
            "hidden_information": cls.hidden_information,
            "facts": dict(cls.facts),
            "parameters": {name: one.described() for name, one in parameters.items()},
            "asks_per_seat": cls._asks_per_seat(parameters),
            "templates": dict(cls.templates),
        }
        if cls.payoff_bounds is not None:
            described["payoff_bounds"] = list(cls.payoff_bounds)
        return described

    @classmethod
    def game_name(cls) -> str:
        """Return the name in experiment files."""
        return cls.name or "_".join(_words(cls.__name__)).lower()

    @classmethod
    def _title(cls) -> str:
        return cls.title or " ".join(_words(cls.__name__))

    @classmethod
    def _seats(cls) -> tuple[int, int]:
        return (cls.seats, cls.seats) if isinstance(cls.seats, int) else cls.seats

    @classmethod
    def _asks_per_seat(cls, parameters: Mapping[str, GameParameter]) -> dict[str, Any]:
        asks = cls.asks_per_seat
        if asks is None:
            asks = "rounds" if "rounds" in parameters else 1
        if isinstance(asks, int):
            return {"times": asks}
        named, times = (asks, 1) if isinstance(asks, str) else asks
        return {"times": times, "parameter": named}


def _copied(value: Any) -> Any:
    """Copy what a game may change later: lists, dictionaries, arrays."""
    if isinstance(value, _CONSTANTS):
        return value
    if type(value) is list and all(isinstance(entry, _CONSTANTS) for entry in value):
        return value.copy()
    return copy.deepcopy(value)


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name) or [name]


@dataclass
class Session:
    """One session, as far as it was played: what answers lead to is asked turn by turn."""

    table: Table
    play: Play
    questions: Sequence[Question] = ()
    turn: int = -1
    forms: dict[int, tuple[str, Form]] = field(default_factory=dict)
    takes_all: bool = False
    """Whether the game refuses nothing that its forms allow."""

    @classmethod
    def of(cls, kind: type[Game], start: Mapping[str, Any]) -> Session:
        """Begin one."""
        game = kind()
        declared = kind.parameters()
        for name, value in start["params"].items():
            if name not in declared:
                raise ValueError(f"{kind.game_name()} has no parameter {name!r}")
            setattr(game, name, value)
        game.players = start["seats"]
        game.settle()
        table = Table(game, start["seats"], start["luck"]["key"])
        play = game.play(table)
        begun: object = play
        if not inspect.isgenerator(begun):
            raise TypeError(f"{kind.__name__}.play must yield its questions, not return them")
        return cls(table, play, takes_all=kind.check is Game.check)

    @property
    def has_ended(self) -> bool:
        """Whether nobody is asked any more."""
        return self.turn >= 0 and not self.questions

    def begin(self) -> dict[str, Any]:
        """Return what the game begins with."""
        return self._go_on(None)

    def move(self, answers: Sequence[Any]) -> dict[str, Any]:
        """Return what answers lead to, in the order of seats; or which are refused."""
        if len(answers) != len(self.forms):
            raise ValueError(f"{len(answers)} answers to {len(self.forms)} questions")
        pairs = zip(self.forms.items(), answers, strict=True)
        given = {seat: _read(form, answer) for (seat, (_, form)), answer in pairs}
        refused = [] if self.takes_all else self._refused(given)
        return {"refused": refused} if refused else self._go_on(given)

    def _refused(self, given: Answers) -> list[dict[str, Any]]:
        table, refused = self.table, []
        for seat, answer in given.items():
            kind = self.forms[seat][0]
            if answer is not None and (why := table._game.check(table, seat, kind, answer)):
                refused.append({"seat": seat, "kind": "out_of_range", "reason": why})
        return refused

    def _go_on(self, answers: Answers | None) -> dict[str, Any]:
        if inspect.getgeneratorstate(self.play) == inspect.GEN_CLOSED:
            raise RuntimeError("the game has ended already, or raised before")
        try:
            asking = next(self.play) if answers is None else self.play.send(answers)
        except StopIteration:
            questions: list[Question] = []
        else:
            questions = [asking] if isinstance(asking, Question) else list(asking)
            if wrong := [question for question in questions if not isinstance(question, Question)]:
                raise TypeError(f"play yields {wrong[0]!r}; yield what table.ask returns")
            if not questions or not all(question.seats for question in questions):
                raise ValueError("a game that goes on must ask somebody; return when it has ended")
        self.questions = questions
        asked = {seat: (one.kind, one.form) for one in questions for seat in one.seats}
        self.forms = asked if len(questions) == 1 else dict(sorted(asked.items(), key=_seat))
        self.turn += 1
        return self.table._reply(questions)


def _seat(pair: tuple[int, Any]) -> int:
    return pair[0]


def _read(form: Form, answer: Any) -> Action:
    if answer is None:
        return form.pass_word
    return None if type(answer) is dict else answer


def as_json(value: Any) -> str:
    """Return JSON; numbers and arrays of numpy are written as Python's."""
    return _ENCODER.encode(value)


def _plain(value: Any) -> Any:
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is nothing that a record can hold")


# Values that nobody can change.
_CONSTANTS = (bool, int, float, str, type(None))

_ENCODER = json.JSONEncoder(default=_plain, allow_nan=False, separators=(",", ":"))
