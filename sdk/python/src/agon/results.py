"""The results of a run: tables, records, ranking, verification."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from agon import _binary, _frames, records
from agon._tables import Tables
from agon.errors import BadInput

if TYPE_CHECKING:
    import pandas
    import polars

    from agon.doors import Report


def data_folder(named: _binary.PathLike | None) -> Path:
    """Return the data folder: the one named, AGON_DATA, or that of the working folder."""
    return Path(named or os.environ.get("AGON_DATA") or "agon-data")


@dataclass(frozen=True)
class Verified:
    """How many records were played again and are the same, byte for byte."""

    sessions: int


class Run:
    """A run, or a file of records.

    `folder` is the run's entry, which no later run changes, or the file. `account` is its
    `run.json` (docs/runs.md), empty for a file. `players` has a report per Python player, by its
    name in the experiment, if this call played the run.
    """

    def __init__(
        self,
        folder: _binary.PathLike,
        *,
        binary: _binary.PathLike | None = None,
        players: Mapping[str, Report] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.players: Mapping[str, Report] = players or {}
        self._binary = _binary.find(binary)
        self._exported: _frames.Exported | None = None

    def __repr__(self) -> str:
        return f"<Run {self._title()}: {self.folder}>"

    def _repr_html_(self) -> str:
        title = html.escape(self._title())
        summary = html.escape(self.summary())
        return f"<b>{title}</b><pre>{summary}</pre>"

    @property
    def account(self) -> Mapping[str, Any]:
        """What was run and how it ended, as `run.json` has it."""
        path = self.folder / "run.json"
        if not path.is_file():
            return {}
        account: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return account

    @property
    def name(self) -> str:
        """The name of the experiment."""
        named = self.account.get("experiment")
        return str(named) if named is not None else self.folder.name

    @property
    def outcome(self) -> str:
        """How the run ended: complete, bad_news, paused, interrupted, failed, ..."""
        return str(self.account.get("outcome", "unknown"))

    @property
    def sessions_done(self) -> int:
        """How many sessions have a record."""
        done = self.account.get("sessions", {}).get("done")
        return int(done) if done is not None else sum(1 for _ in self.records())

    def summary(self) -> str:
        """Return the tables that `agon run` printed."""
        path = self.folder / "summary.txt"
        return path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""

    def leaderboard(self, *, by: Literal["suite", "game", "overall"] = "suite") -> Tables:
        """Rank the models of this run, among the published ones where there are any."""
        return Tables(self._binary, ["leaderboard", str(self.folder), "--by", by])

    def report(self) -> Tables:
        """Return every table that can be made of this run."""
        return Tables(self._binary, ["report", str(self.folder)])

    def verify(self) -> Verified:
        """Play every record again and compare bytes; raise `BadNews` if one differs."""
        printed = _binary.call(self._binary, ["verify", str(self.folder)])
        counted = re.search(r"^([\d,]+) of [\d,]+ records? verified", printed, re.MULTILINE)
        if counted is None:
            raise AssertionError(f"agon verify printed what this package cannot read: {printed}")
        return Verified(int(counted[1].replace(",", "")))

    def records(self) -> Iterator[records.Record]:
        """Read the session records, one at a time."""
        path = self.folder if self.folder.is_file() else self.folder / "records.jsonl"
        return records.read(path) if path.is_file() else iter(())

    def columns(self) -> list[_frames.Column]:
        """Say what the columns of all tables are."""
        return self._tables().columns()

    @overload
    def table(self, name: str, *, frames: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def table(self, name: str, *, frames: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def table(self, name: str, *, frames: None = None) -> Any: ...
    def table(self, name: str, *, frames: _frames.Frames | None = None) -> Any:
        """Return a table of `agon export` (docs/exports.md) as a frame.

        Without `frames` it is a pandas frame if pandas is installed, otherwise a polars one.
        """
        return self._tables().frame(name, frames)

    def sessions(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per session."""
        return self.table("sessions", frames=frames)

    def seats(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per seat of a session."""
        return self.table("seats", frames=frames)

    def rounds(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per observation that belongs to a round."""
        return self.table("rounds", frames=frames)

    def actions(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per ask that was answered or forfeited."""
        return self.table("actions", frames=frames)

    def decisions(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per answer from outside."""
        return self.table("decisions", frames=frames)

    def observations(self, *, frames: _frames.Frames | None = None) -> Any:
        """Return one row per number that is measured."""
        return self.table("observations", frames=frames)

    def _tables(self) -> _frames.Exported:
        if self._exported is None:
            self._exported = _frames.Exported(self._binary, self.folder)
        return self._exported

    def _title(self) -> str:
        account = self.account
        if not account:
            return self.name
        sessions = account.get("sessions", {})
        done, planned = sessions.get("done", 0), sessions.get("all", 0)
        return f"{self.name}, run {account['run']}, {self.outcome}, {done} of {planned} sessions"


def open(  # the name that users expect after `import agon`
    path: _binary.PathLike,
    *,
    run: int | None = None,
    data: _binary.PathLike | None = None,
    binary: _binary.PathLike | None = None,
) -> Run:
    """Open a finished run.

    `path` is an experiment's name in the data folder, the folder of its results, the entry of
    one run in its `history`, or a file of records. `run` is the number of a run; without it,
    the one that the folder shows.
    """
    given = Path(path)
    named = data_folder(data) / "runs" / given
    for folder in (given, named):
        if (folder / "run.json").is_file() or folder.is_file():
            return Run(folder, binary=binary)
        entries = entries_of(folder)
        number = run if run is not None else _shown(folder)
        if number in entries:
            return Run(entries[number], binary=binary)
        if entries:
            have = ", ".join(str(entry) for entry in entries)
            raise BadInput(f"{folder} has no run {number} with results; its runs are {have}")
    raise BadInput(f"there are no results in {given}, nor in {named}")


def entries_of(folder: Path) -> dict[int, Path]:
    """Return the runs that a folder of results keeps, by number."""
    found = {}
    for entry in sorted((folder / "history").glob("*")):
        number = entry.name.split("-", 1)[0]
        if number.isdigit() and (entry / "run.json").is_file():
            found[int(number)] = entry
    return found


def _shown(folder: Path) -> int | None:
    path = folder / "agon-results.json"
    if not path.is_file():
        return None
    shown = json.loads(path.read_text(encoding="utf-8")).get("shown")
    return int(shown) if shown is not None else None
