"""What there is to play, and what an experiment would take: games, presets, check, plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agon import _binary
from agon.experiments import Experiment, Options, experiment_arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Parameter:
    """A parameter of a game; the default as text."""

    name: str
    default: str
    about: str


@dataclass(frozen=True)
class GameInfo:
    """A game: `strategies` are its built-in rule players, by name."""

    name: str
    about: str
    seats: tuple[int, int]
    title: str = ""
    source: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    strategies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """An experiment that comes with Agon."""

    name: str
    about: str


@dataclass(frozen=True)
class Checked:
    """An experiment without faults."""

    name: str
    settings: int
    sessions: int


@dataclass(frozen=True)
class Plan:
    """What an experiment would take. `text` is what `agon plan` prints, with tokens per model.

    Dollars are None where a price is unknown or no model is asked.
    """

    name: str
    settings: int
    sessions: int
    expected_dollars: float | None
    at_most_dollars: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def games(*, binary: _binary.PathLike | None = None) -> list[GameInfo]:
    """List the games. `agon.game(name)` has parameters and strategies of one."""
    rows = _tables(_binary.call(binary, ["games"]))[0]
    return [GameInfo(name, about, _range(seats)) for name, seats, about in rows]


def game(name: str, *, binary: _binary.PathLike | None = None) -> GameInfo:
    """Return a game with its parameters and strategies."""
    printed = _binary.call(binary, ["games", name])
    title, about = printed.splitlines()[:2]
    seats, source = _after("Seats: ", printed), _after("Source: ", printed)
    parameters, strategies = _tables(printed)
    return GameInfo(
        name=name,
        about=about,
        seats=_range(seats.replace(" to ", "-")),
        title=title.rsplit(" (", 1)[0],
        source=source,
        parameters={row[0]: Parameter(*row) for row in parameters},
        strategies={row[0]: row[1] for row in strategies},
    )


def presets(*, binary: _binary.PathLike | None = None) -> list[Preset]:
    """List the experiments that come with Agon."""
    rows = _tables(_binary.call(binary, ["presets"]))[0]
    return [Preset(name, about) for name, about in rows]


def preset(name: str, *, binary: _binary.PathLike | None = None) -> str:
    """Return the file of a preset, to start your own from."""
    return _binary.call(binary, ["presets", name])


def check(
    experiment: Experiment, *, binary: _binary.PathLike | None = None, **options: Unpack[Options]
) -> Checked:
    """Check an experiment; raise `BadInput` that tells every fault with its place.

    Takes the options of `agon.run`.
    """
    with experiment_arguments(experiment, options) as arguments:
        printed = _binary.call(binary, ["check", *arguments])
    return Checked(*_head(r" is valid: ([\d,]+) settings?, ([\d,]+) sessions?", printed))


def plan(
    experiment: Experiment, *, binary: _binary.PathLike | None = None, **options: Unpack[Options]
) -> Plan:
    """Estimate an experiment's sessions, decisions, tokens and dollars.

    Takes the options of `agon.run`.
    """
    with experiment_arguments(experiment, options) as arguments:
        printed = _binary.call(binary, ["plan", *arguments])
    name, settings, sessions = _head(r": ([\d,]+) settings?, ([\d,]+) sessions?", printed)
    dollars = re.search(r"^dollars: \$([\d,.]+) expected, \$([\d,.]+) at most", printed, re.M)
    return Plan(
        name=name,
        settings=settings,
        sessions=sessions,
        expected_dollars=_amount(dollars[1]) if dollars else None,
        at_most_dollars=_amount(dollars[2]) if dollars else None,
        text=printed.rstrip(),
    )


def _tables(printed: str) -> list[list[tuple[str, ...]]]:
    """Cut printed tables into cells: headings are indented by one blank and end with two."""
    tables: list[list[tuple[str, ...]]] = []
    columns: list[int] = []
    for line in printed.splitlines():
        if not line.startswith(" "):
            columns = []
        elif not columns:
            columns = [found.start() for found in re.finditer(r"(?<=\s\s)\S|(?<=^\s)\S", line)]
            tables.append([])
        else:
            ends = [*columns[1:], len(line)]
            cells = (line[start:end].strip() for start, end in zip(columns, ends, strict=True))
            tables[-1].append(tuple(cells))
    if not tables or not all(tables):
        raise AssertionError(f"agon printed what this package cannot read:\n{printed}")
    return tables


def _head(pattern: str, printed: str) -> tuple[str, int, int]:
    found = re.search(r"^(\S+?)" + pattern, printed, re.MULTILINE)
    if found is None:
        raise AssertionError(f"agon printed what this package cannot read:\n{printed}")
    return found[1], int(found[2].replace(",", "")), int(found[3].replace(",", ""))


def _after(beginning: str, printed: str) -> str:
    for line in printed.splitlines():
        if line.startswith(beginning):
            return line.removeprefix(beginning)
    return ""


def _range(seats: str) -> tuple[int, int]:
    fewest, _, most = seats.partition("-")
    return int(fewest), int(most or fewest)


def _amount(text: str) -> float:
    return float(text.replace(",", ""))
