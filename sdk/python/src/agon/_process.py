"""Runs the binary for long: with progress, one Ctrl-C at a time, and what it told at the end."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agon import _binary, errors

# What is kept of standard error: messages of the end are shorter, faults of a file included.
_KEPT_CHARACTERS = 200_000

_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Ended:
    """How the binary ended."""

    code: int
    printed: str
    told: str
    interrupted: bool


def has_terminal() -> bool:
    """Whether progress can be drawn: not in notebooks, nor into files."""
    try:
        return sys.stderr.isatty() and os.isatty(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return False


def run(
    command: Sequence[str],
    *,
    progress: bool,
    on_told: Callable[[str], None] = lambda told: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a command to its end. Ctrl-C is passed on and waited for; a second one hurries it.

    `on_told` gets all that was told on standard error, in another thread, whenever there is more.
    """
    told = _Told(on_told, shown=progress)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=told.writer,
        env=_binary.environment(),
        # A terminal sends Ctrl-C to its whole group, and the binary takes a second one for a
        # wish to hurry. So it gets the one that we send.
        start_new_session=True,
    )
    guard = _guard(process.pid)
    printed: list[bytes] = []
    assert process.stdout is not None
    reader = threading.Thread(
        target=lambda source: printed.append(source.read()), args=(process.stdout,), daemon=True
    )
    told.begin()
    reader.start()
    interrupted = _wait(process, should_stop)
    guard.communicate(b"released\n")
    reader.join()
    text = told.end()
    # Before the binary listens to Ctrl-C it dies of it.
    code = errors.INTERRUPTED if process.returncode == -signal.SIGINT else process.returncode
    return Ended(code, b"".join(printed).decode(errors="replace"), text, interrupted)


def _guard(pid: int) -> subprocess.Popen[bytes]:
    """Start a shell that interrupts a process if this one dies without having written a line.

    A notebook's kernel that is killed would leave a run that holds its data folder.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", 'read -r line || kill -INT "$0"', str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], should_stop: Callable[[], bool]) -> bool:
    """Wait for the end, and pass Ctrl-C on. Returns whether there was any."""
    # Ctrl-C interrupts this thread anywhere. Inside `Popen.wait` it may leave a lock behind that
    # hides the end of the process, so another thread waits there.
    threading.Thread(target=process.wait, daemon=True).start()
    interrupted = stopped = False
    while process.returncode is None:
        try:
            if not stopped and should_stop():
                stopped = True
                process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    return interrupted


class _Told:
    """Standard error of the binary: kept, and shown if wished. Its bar needs a terminal."""

    def __init__(self, on_told: Callable[[str], None], *, shown: bool) -> None:
        self._on_told = on_told
        self._shown = shown
        self._kept = ""
        if shown and has_terminal():
            self._reader, self.writer = os.openpty()
            _same_size(self.writer)
        else:
            self._reader, self.writer = os.pipe()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> None:
        os.close(self.writer)
        self._thread.start()

    def end(self) -> str:
        self._thread.join()
        os.close(self._reader)
        return _TERMINAL_CODES.sub("", self._kept).replace("\r\n", "\n")

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                some = os.read(self._reader, 65_536)
            except OSError:  # the end of a pseudo-terminal
                return
            if not some:
                return
            text = decoder.decode(some)
            self._kept = (self._kept + text)[-_KEPT_CHARACTERS:]
            if self._shown:
                sys.stderr.write(text)
                sys.stderr.flush()
            self._on_told(self._kept)


def _same_size(terminal: int) -> None:
    import fcntl
    import termios

    with contextlib.suppress(OSError, ValueError):
        size = fcntl.ioctl(sys.stderr.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
