"""A gateway, a coordinator and a worker as processes, as somebody else would have started them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Services:
    gateway: str
    http: str
    coordinator: str


@contextmanager
def services(binary: str, data: str) -> Iterator[Services]:
    def start(role: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [binary, role, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        stack.callback(process.wait, 60)
        stack.callback(process.send_signal, signal.SIGINT)
        return process

    any_port = ("--listen", "127.0.0.1:0")
    with ExitStack() as stack:
        process = start("gateway", *any_port, "--http-listen", "127.0.0.1:0", "--data", data)
        gateway = address(process.stdout, "agon gateway listening on ")
        http = address(process.stdout, "agon gateway http listening on ")
        process = start("coordinator", *any_port, "--gateway", gateway, "--data", data)
        coordinator = address(process.stdout, "agon coordinator listening on ")
        start("worker", "--coordinator", coordinator, "--gateway", gateway)
        yield Services(gateway, http, coordinator)


def address(lines: Iterator[str], beginning: str) -> str:
    """Read until the line that tells an address."""
    told = []
    for line in lines:
        if line.startswith(beginning):
            return "http://" + line.removeprefix(beginning).strip()
        told.append(line)
    raise AssertionError(f"{beginning!r} was not told: {told}")
