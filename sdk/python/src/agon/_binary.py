"""Finds the agon binary and calls it for short answers. Long runs are in `_process`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agon import errors

PathLike = str | os.PathLike[str]

VARIABLE = "AGON_BINARY"
INSIDE_THE_WHEEL = Path(__file__).parent / "_bin" / "agon"


def find(binary: PathLike | None = None) -> str:
    """Return the path of the binary: the argument, AGON_BINARY, PATH, or inside the wheel."""
    named = os.fspath(binary) if binary is not None else os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            origin = "the argument binary" if binary is not None else VARIABLE
            raise errors.BinaryNotFound(f"{origin} names {named}, which is not an executable file")
        return os.path.abspath(found)
    found = shutil.which("agon")
    if found is not None:
        return os.path.abspath(found)
    if os.access(INSIDE_THE_WHEEL, os.X_OK):
        return str(INSIDE_THE_WHEEL)
    raise errors.BinaryNotFound(
        "there is no agon binary: install it with `cargo install --path cli`, put it on PATH, "
        f"name it with {VARIABLE} or with the argument binary, or install a wheel that contains one"
    )


def call(binary: PathLike | None, arguments: Sequence[str]) -> str:
    """Call the binary and return what it printed, or raise what its exit code means."""
    process = subprocess.run(
        [find(binary), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment(),
    )
    told = process.stderr.decode(errors="replace")
    printed = process.stdout.decode(errors="replace")
    if process.returncode != 0:
        failed = failure(process.returncode, told)
        if isinstance(failed, errors.BadNews) and printed.strip():
            # The news itself is printed, and the message only counts it.
            raise errors.BadNews(f"{failed.message}\n{printed.rstrip()}")
        raise failed
    return printed


def environment() -> dict[str, str]:
    """Return the environment for the binary: ours, without what contradicts its arguments."""
    return {name: value for name, value in os.environ.items() if name not in _ADDRESSES}


def failure(code: int, told: str) -> errors.AgonError:
    """Make the exception for an exit code other than 0, with what was told on standard error."""
    kind = errors.BY_EXIT_CODE.get(code, errors.Failed)
    message = last_words(told)
    if code < 0:
        message = f"agon was killed by signal {-code}" + (f"\n{message}" if message else "")
    return kind(message or f"agon ended with exit code {code} and no message")


def last_words(told: str) -> str:
    """Cut the message of the end out of standard error, without `error: ` before it."""
    lines = told.strip().splitlines()
    for index in range(len(lines) - 1, -1, -1):
        for beginning in ("error: ", "stopped: ", "paused: "):
            if lines[index].startswith(beginning):
                return "\n".join([lines[index].removeprefix(beginning), *lines[index + 1 :]])
    return told.strip()


# Where a cluster is; a call from here says it by argument or means this machine.
_ADDRESSES = {"AGON_COORDINATOR", "AGON_GATEWAY", "AGON_LISTEN", "AGON_HTTP_LISTEN", "AGON_METRICS"}
