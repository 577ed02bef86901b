"""Runs an experiment in one process of the binary, with Python players at its doors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agon import _binary, _process, catalogue, errors
from agon.doors import DEFAULT_THREADS, Doors, Report
from agon.experiments import Experiment, Options, experiment_arguments, python_players
from agon.players import Ask, Playing, door_names
from agon.results import Run, data_folder, entries_of
from agon.rules import Game

if TYPE_CHECKING:
    from agon._binary import PathLike

MOST_REASONS = 5
"""Reasons that are told of sessions that were set aside."""

_ADDRESS = re.compile(r"^agon run http listening on (\S+)\r?\n", re.MULTILINE)


def run(
    experiment: Experiment,
    *,
    model: str | None = None,
    models: str | Sequence[str] | None = None,
    base_url: str | None = None,
    endpoint: str | None = None,
    key_env: str | None = None,
    config: PathLike | None = None,
    players: Mapping[str, str | Playing] | None = None,
    deadline: str | None = None,
    stand_in: str | Mapping[str, Any] | None = None,
    threads: int = DEFAULT_THREADS,
    games: Sequence[str | type[Game]] | None = None,
    set: Mapping[str, Any] | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    name: str | None = None,
    max_cost: float | str | None = None,
    templates: PathLike | None = None,
    records: PathLike | None = None,
    judged: int | None = None,
    data: PathLike | None = None,
    out: PathLike | None = None,
    workers: int | None = None,
    places: int | None = None,
    new: bool = False,
    coordinator: str | None = None,
    gateway: str | None = None,
    progress: bool | None = None,
    binary: PathLike | None = None,
) -> Run:
    """Run an experiment, or continue it, and return its results.

    `experiment` is the name of a preset, the path of an experiment file, its text, or the same
    as a dict. Options are those of `agon run` (`agon run --help`); `set` maps paths to values.

    `players` maps names of players in the experiment to models or to Python players (see
    `agon.Player`). For the latter `deadline` ("2s") is the time for each answer and `stand_in`
    the built-in strategy that answers when it is over; `threads` is how many questions are
    answered at once. Sessions that a player of the same name finished are not played again; a
    changed player needs another name, or the experiment does (`name`).

    `games` are games that are written in Python (`agon.Game`), or where others are, as NAME=URL.

    Progress is shown in a terminal, unless `progress` says otherwise. Ctrl-C stops cleanly and
    raises `Interrupted`; the same call continues. Other failures raise an `AgonError`.
    """
    options = Options(
        model=model, models=models, base_url=base_url, endpoint=endpoint, key_env=key_env,
        config=config, players=players, deadline=deadline, stand_in=stand_in, games=games, set=set,
        repeats=repeats, seed=seed, name=name, max_cost=max_cost, templates=templates,
        records=records, judged=judged, data=data, out=out, workers=workers, places=places,
        new=new, coordinator=coordinator, gateway=gateway,
    )  # fmt: skip
    return _Call(experiment, options, _binary.find(binary), _shows(progress)).played(threads)


class _Call:
    def __init__(
        self, experiment: Experiment, options: Options, binary: str, progress: bool
    ) -> None:
        self.experiment = experiment
        self.options = options
        self.binary = binary
        self.progress = progress
        checked = catalogue.check(experiment, binary=binary, **options)
        data = data_folder(options.get("data"))
        out = options.get("out")
        self.folder = Path(out) if out is not None else data / "runs" / checked.name
        self.last_entry = max(entries_of(self.folder), default=0)

    def played(self, threads: int) -> Run:
        playing = python_players(self.options)
        names = door_names(playing)
        serving = _Serving({door: playing[name] for name, door in names.items()}, threads)
        with serving, experiment_arguments(self.experiment, self.options) as arguments:
            ended = _process.run(
                self._command([*arguments, "--http-listen"] if playing else arguments),
                progress=self.progress,
                on_told=serving.on_told,
                should_stop=serving.should_stop,
            )
        reports = {name: serving.report(door) for name, door in names.items()}
        try:
            return self._concluded(ended, reports)
        except errors.Interrupted as stopped:
            if not ended.interrupted:
                serving.raise_what_stopped(stopped.run)
            raise

    def _command(self, arguments: Sequence[str]) -> list[str]:
        quiet = [] if self.progress else ["--quiet"]
        return [self.binary, "run", *arguments, *quiet]

    def _concluded(self, ended: _process.Ended, reports: Mapping[str, Report]) -> Run:
        played = self._newest(reports)
        if ended.code == 0 and played is not None:
            return played
        told = _ADDRESS.sub("", ended.told)
        if ended.code == errors.INTERRUPTED:
            message = _binary.last_words(told) or "stopped before anything was played"
            raise errors.Interrupted(message, run=played)
        failure = _binary.failure(ended.code, told)
        if isinstance(failure, errors.BadNews) and played is not None:
            failure = errors.BadNews("\n".join([failure.message, *_reasons(played)]))
        failure.run = played
        raise failure

    def _newest(self, reports: Mapping[str, Report]) -> Run | None:
        entries = entries_of(self.folder)
        newest = max(entries, default=0)
        if newest <= self.last_entry:
            return None
        return Run(entries[newest], binary=self.binary, players=reports)


class _Serving:
    """Players at the doors of a run, from when it tells their address until its end."""

    def __init__(self, players: Mapping[str, Playing], threads: int) -> None:
        self._players = players
        self._threads = threads
        self._doors: Doors | None = None
        self._failures: list[tuple[Ask, BaseException]] = []

    def on_told(self, told: str) -> None:
        if self._doors is None and self._players and (found := _ADDRESS.search(told)):
            self._doors = Doors(
                self._players,
                f"http://{found[1]}",
                threads=self._threads,
                on_failure=self._on_failure,
            )

    def should_stop(self) -> bool:
        return bool(self._failures or (self._doors and self._doors.refusal))

    def report(self, door: str) -> Report:
        return self._doors.reports[door] if self._doors else Report()

    def raise_what_stopped(self, kept: Run | None) -> None:
        if self._failures:
            ask, error = self._failures[0]
            raise errors.PlayerFailed(
                f"{ask.door} raised {type(error).__name__}: {error} when asked for a {ask.kind} at "
                f"seat {ask.seat} of session {ask.session[:8]} ({ask.game}); without a stand_in "
                f"nobody else can answer. {_done(kept)}. The same call continues",
                run=kept,
            ) from error
        if self._doors is not None and self._doors.refusal is not None:
            raise self._doors.refusal from None

    def __enter__(self) -> _Serving:
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._doors is not None:
            self._doors.close()

    def _on_failure(self, ask: Ask, error: BaseException) -> bool:
        if ask.stand_in is None:
            self._failures.append((ask, error))
        return ask.stand_in is None


def _shows(progress: bool | None) -> bool:
    return _process.has_terminal() if progress is None else progress


def _reasons(played: Run) -> list[str]:
    """Return why sessions were set aside, most frequent reasons first."""
    set_aside = played.account.get("sessions", {}).get("set_aside", {})
    counted = Counter(set_aside.values()).most_common(MOST_REASONS)
    return [f"{count:,} x {reason}" for reason, count in counted]


def _done(kept: Run | None) -> str:
    sessions = kept.account.get("sessions", {}) if kept is not None else {}
    if kept is None or not sessions:
        return "no session is done"
    done, planned = sessions.get("done", 0), sessions.get("all", 0)
    return f"{done:,} of {planned:,} sessions are done, with results in {kept.folder}"
