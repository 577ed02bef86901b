"""Stops processes of ours when this process dies without having stopped them.

A notebook's kernel that is killed would leave services that hold a data folder. Run as a
script: reads the ids of processes, then waits for the end of its standard input.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

_RELEASED = b"released"


class Guard:
    """Interrupts these processes if this one dies; until `release`."""

    def __init__(self, pids: Sequence[int]) -> None:
        command = [sys.executable, "-I", "-S", __file__, *(str(pid) for pid in pids)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, start_new_session=True, close_fds=True
        )

    def release(self) -> None:
        """Let the processes be: they have ended."""
        try:
            self._process.communicate(_RELEASED, timeout=10)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()


def _watch(pids: Sequence[int]) -> None:
    if sys.stdin.buffer.read() == _RELEASED:
        return
    for pid in pids:
        try:
            os.kill(pid, signal.SIGINT)
        except OSError:
            continue


if __name__ == "__main__":
    _watch([int(pid) for pid in sys.argv[1:]])
