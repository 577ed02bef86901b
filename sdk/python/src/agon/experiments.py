"""An experiment and its options as arguments of the binary."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from agon import _toml
from agon._binary import PathLike
from agon.errors import BadInput
from agon.hosting import host
from agon.players import Playing, door_names
from agon.rules import Game

Experiment: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""A preset's name, a path, the text of an experiment file, or the same as a dict."""


class Options(TypedDict, total=False):
    """What `run`, `check` and `plan` take beside the experiment. `agon run --help` says more."""

    model: str | None
    models: str | Sequence[str] | None
    base_url: str | None
    endpoint: str | None
    key_env: str | None
    config: PathLike | None
    players: Mapping[str, str | Playing] | None
    deadline: str | None
    stand_in: str | Mapping[str, Any] | None
    games: Sequence[str | type[Game]] | None
    set: Mapping[str, Any] | None
    repeats: int | None
    seed: int | None
    name: str | None
    max_cost: float | str | None
    templates: PathLike | None
    records: PathLike | None
    judged: int | None
    data: PathLike | None
    out: PathLike | None
    workers: int | None
    places: int | None
    new: bool
    coordinator: str | None
    gateway: str | None


_PLAIN = {
    "model": "--model",
    "repeats": "--repeats",
    "seed": "--seed",
    "name": "--name",
    "max_cost": "--max-cost",
    "templates": "--templates",
    "records": "--records",
    "judged": "--judged",
    "data": "--data",
    "out": "--out",
    "coordinator": "--coordinator",
    "gateway": "--gateway",
    "base_url": "--base-url",
    "endpoint": "--endpoint",
    "key_env": "--key-env",
    "config": "--config",
    "workers": "--workers",
    "places": "--places",
}


@contextmanager
def experiment_arguments(experiment: Experiment, options: Options) -> Iterator[list[str]]:
    """Give the arguments for an experiment.

    For as long a document lies in a file and games that are written in Python are served.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"there is no option {', '.join(unknown)}")
    arguments = list(_arguments(options))
    with ExitStack() as stack:
        for game in options.get("games") or ():
            arguments += ["--game-at", _place(game, options, stack)]
        if isinstance(experiment, Mapping):
            text = _toml.document(experiment)
        elif isinstance(experiment, str) and "\n" in experiment:
            text = experiment
        else:
            yield [os.fspath(experiment), *arguments]
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="agon-experiment-"))
        file = Path(folder) / "experiment.toml"
        file.write_text(text, encoding="utf-8")
        yield [str(file), *arguments]


def python_players(options: Options) -> dict[str, Playing]:
    """Return the players that are not models, by their names in the experiment."""
    players = options.get("players") or {}
    return {name: player for name, player in players.items() if not isinstance(player, str)}


def _arguments(options: Options) -> Iterator[str]:
    for name, flag in _PLAIN.items():
        value = options.get(name)
        if value is not None:
            yield from (flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    models = options.get("models")
    if models is not None:
        yield from ("--models", models if isinstance(models, str) else ",".join(models))
    if options.get("new"):
        yield "--new"
    for name, player in (options.get("players") or {}).items():
        if isinstance(player, str):
            yield from ("--player", f"{name}={player}")
    doors = door_names(python_players(options))
    if doors and options.get("coordinator"):
        raise BadInput(
            "players written in Python are served to a cluster by agon.serve; the experiment names "
            'them with model = "human/NAME" and agent = "person"'
        )
    for name, door in doors.items():
        yield from ("--player", f"{name}=human/{door}")
        yield from _set(f"players.{name}.agent", "person")
        for key in ("deadline", "stand_in"):
            value = options.get(key)
            if value is not None:
                yield from _set(f"players.{name}.{key}", value)
    if not doors and (options.get("deadline") or options.get("stand_in")):
        raise BadInput("deadline and stand_in are for players written in Python, and none is given")
    for path, value in (options.get("set") or {}).items():
        yield from _set(path, value)


def _place(game: str | type[Game], options: Options, stack: ExitStack) -> str:
    """Return where a game is, and serve it if it is a class."""
    if isinstance(game, str):
        return game
    if options.get("coordinator"):
        raise BadInput(
            f"the workers of a cluster must reach {game.game_name()}: serve it with agon.host or "
            "python -m agon, start the workers with --game-at NAME=URL, and give the same "
            "NAME=URL here"
        )
    return stack.enter_context(host(game)).argument


def _set(path: str, value: Any) -> tuple[str, str]:
    return "--set", f"{path}={_toml.inline(value)}"
