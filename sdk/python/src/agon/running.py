"""Runs an experiment: in one process of the binary, or with Python players in a small cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agon import _binary, _process, catalogue, errors
from agon._cluster import Cluster
from agon.doors import DEFAULT_THREADS, Doors, Report
from agon.experiments import (
    Experiment,
    Options,
    experiment_arguments,
    models_of_cluster,
    python_players,
)
from agon.players import Ask, Playing, door_names
from agon.results import Run, data_folder, entries_of

if TYPE_CHECKING:
    from agon._binary import PathLike


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
    fresh: bool = False,
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
    answered at once. Sessions that a player of the same name finished are kept; `fresh` plays
    them anew and keeps the earlier results as earlier runs.

    Progress is shown in a terminal, unless `progress` says otherwise. Ctrl-C stops cleanly and
    raises `Interrupted`; the same call continues. Other failures raise an `AgonError`.
    """
    options = Options(
        model=model, models=models, base_url=base_url, endpoint=endpoint, key_env=key_env,
        config=config, players=players, deadline=deadline, stand_in=stand_in, set=set,
        repeats=repeats, seed=seed, name=name, max_cost=max_cost, templates=templates,
        records=records, judged=judged, data=data, out=out, workers=workers, places=places,
        new=new, coordinator=coordinator, gateway=gateway,
    )  # fmt: skip
    call = _Call(experiment, options, _binary.find(binary), _shows(progress))
    if python_players(options):
        return call.with_players(threads, fresh=fresh)
    if fresh:
        raise errors.BadInput("fresh is for players written in Python, and none is given")
    return call.alone()


class _Call:
    def __init__(
        self, experiment: Experiment, options: Options, binary: str, progress: bool
    ) -> None:
        self.experiment = experiment
        self.options = options
        self.binary = binary
        self.progress = progress
        checked = catalogue.check(experiment, binary=binary, **options)
        self.name = checked.name
        self.data = data_folder(options.get("data"))
        out = options.get("out")
        self.folder = Path(out) if out is not None else self.data / "runs" / self.name
        self.last_entry = max(entries_of(self.folder), default=0)

    def alone(self) -> Run:
        with experiment_arguments(self.experiment, self.options) as arguments:
            ended = _process.run(self._command(arguments), progress=self.progress)
        return self._concluded(ended, {})

    def with_players(self, threads: int, *, fresh: bool) -> Run:
        playing = python_players(self.options)
        names = door_names(playing)
        doors = {door: playing[name] for name, door in names.items()}
        state = self.data / "players" / self.name
        if fresh:
            _put_away(state)
        failures: list[tuple[Ask, Exception]] = []

        def on_failure(ask: Ask, error: Exception) -> bool:
            if ask.stand_in is None:
                failures.append((ask, error))
            return ask.stand_in is None

        cluster = Cluster(
            state,
            binary=self.binary,
            models=models_of_cluster(self.options),
            workers=self.options.get("workers") or 1,
            places=self.options.get("places") or 128,
        )
        with cluster, Doors(doors, cluster.http, threads=threads, on_failure=on_failure) as served:
            where = ["--coordinator", cluster.coordinator, "--gateway", cluster.gateway]
            if self.options.get("data") is None:
                where += ["--data", str(self.data)]
            with experiment_arguments(self.experiment, self.options, in_cluster=True) as arguments:
                ended = _process.run(
                    self._command([*arguments, *where]),
                    progress=self.progress,
                    alone=True,
                    should_stop=lambda: bool(failures or served.refusal or cluster.fault()),
                )
            served.close()
            reports = {name: served.reports[door] for name, door in names.items()}
            if ended.code != errors.INTERRUPTED:
                return self._concluded(ended, reports)
            fault = cluster.fault()
            cluster.stop_workers()
            kept = self._pulled(cluster, reports)
            if not ended.interrupted:
                again = self._how_to_continue(fresh)
                self._raise_what_stopped(failures, served, fault, kept, again)
            raise errors.Interrupted(
                f"{_done(kept)}; every answer is kept in {state}. {self._how_to_continue(fresh)}",
                run=kept,
            )

    def _raise_what_stopped(
        self,
        failures: Sequence[tuple[Ask, Exception]],
        served: Doors,
        fault: str | None,
        kept: Run | None,
        again: str,
    ) -> None:
        if failures:
            ask, error = failures[0]
            raise errors.PlayerFailed(
                f"{ask.door} raised {type(error).__name__}: {error} when asked for a {ask.kind} at "
                f"seat {ask.seat} of session {ask.session[:8]} ({ask.game}); without a stand_in "
                f"nobody else can answer. {_done(kept)}. {again}",
                run=kept,
            ) from error
        if served.refusal is not None:
            raise served.refusal
        if fault is not None:
            raise errors.Failed(f"{fault}; {_done(kept)}", run=kept)

    def _how_to_continue(self, fresh: bool) -> str:
        return f"The same call{' without fresh' if fresh else ''} continues"

    def _command(self, arguments: Sequence[str]) -> list[str]:
        quiet = [] if self.progress else ["--quiet"]
        return [self.binary, "run", *arguments, *quiet]

    def _pulled(self, cluster: Cluster, reports: Mapping[str, Report]) -> Run | None:
        """Fetch what is finished: a run in a cluster that is stopped leaves it there."""
        where = ["--coordinator", cluster.coordinator, "--data", str(self.data)]
        if self.options.get("out") is not None:
            where += ["--out", str(self.folder)]
        try:
            _binary.call(self.binary, ["results", "pull", self.name, *where], alone=True)
        except errors.AgonError:
            return None
        return self._newest(reports)

    def _concluded(self, ended: _process.Ended, reports: Mapping[str, Report]) -> Run:
        played = self._newest(reports)
        if ended.code == 0 and played is not None:
            return played
        if ended.code == errors.INTERRUPTED:
            message = _binary.last_words(ended.told) or "stopped before anything was played"
            raise errors.Interrupted(message, run=played)
        failure = _binary.failure(ended.code, ended.told)
        failure.run = played
        raise failure

    def _newest(self, reports: Mapping[str, Report]) -> Run | None:
        entries = entries_of(self.folder)
        newest = max(entries, default=0)
        if newest <= self.last_entry:
            return None
        return Run(entries[newest], binary=self.binary, players=reports)


def _shows(progress: bool | None) -> bool:
    return _process.has_terminal() if progress is None else progress


def _done(kept: Run | None) -> str:
    sessions = kept.account.get("sessions", {}) if kept is not None else {}
    if kept is None or not sessions:
        return "no session is done"
    done, planned = sessions.get("done", 0), sessions.get("all", 0)
    return f"{done:,} of {planned:,} sessions are done, with results in {kept.folder}"


def _put_away(state: Path) -> None:
    """Rename the folder of earlier sessions, so that nothing is lost."""
    if state.exists():
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        target = state.with_name(f"{state.name}.{stamp}")
        number = 1
        while target.exists():
            number += 1
            target = state.with_name(f"{state.name}.{stamp}-{number}")
        state.rename(target)
