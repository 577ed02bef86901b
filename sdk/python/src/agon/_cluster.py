"""A cluster of one machine: gateway with doors over HTTP, coordinator and worker, as processes."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from agon import _binary, _toml
from agon._guard import Guard
from agon.errors import MissingDependency

_START_SECONDS = 60.0

# The gateway finishes calls under way, of models that think long.
_STOP_SECONDS = 120.0

_KEPT_LINES = 1000

_ANY_PORT = "127.0.0.1:0"


# What `agon run` calls the provider at --base-url.
_SERVER = "base-url"


@dataclass(frozen=True)
class Server:
    """An OpenAI-compatible server and the models to ask there."""

    base_url: str
    models: Collection[str]
    endpoint: str | None = None
    key_env: str | None = None


class Cluster:
    """Starts the services on free ports of this machine and stops them at the end.

    `data` is their data folder. `models` is the gateway's configuration file; or else a server and
    the models to ask there, beside which there is the model `sim`.
    """

    def __init__(
        self,
        data: _binary.PathLike,
        *,
        binary: _binary.PathLike | None = None,
        models: str | Server | None = None,
        workers: int = 1,
        places: int = 128,
    ) -> None:
        self._binary = _binary.find(binary)
        self._data = Path(data)
        self._data.mkdir(parents=True, exist_ok=True)
        self._processes: list[_Service] = []
        self._guard: Guard | None = None
        try:
            config = models if isinstance(models, str) else self._configured(models)
            gateway = self._start(
                "gateway", "--listen", _ANY_PORT, "--http-listen", _ANY_PORT,
                "--data", str(self._data), "--config", config,
            )  # fmt: skip
            self.gateway = gateway.address("agon gateway listening on ")
            self.http = gateway.address("agon gateway http listening on ")
            coordinator = self._start(
                "coordinator", "--listen", _ANY_PORT, "--gateway", self.gateway,
                "--data", str(self._data),
            )  # fmt: skip
            self.coordinator = coordinator.address("agon coordinator listening on ")
            for _ in range(workers):
                self._start(
                    "worker", "--coordinator", self.coordinator, "--gateway", self.gateway,
                    "--places", str(places),
                )  # fmt: skip
            self._guard = Guard([service.process.pid for service in self._processes])
        except BaseException:
            self.close()
            raise

    def fault(self) -> str | None:
        """Say which service has ended although nobody stopped it, with its last words."""
        for service in self._processes:
            if service.process.poll() is not None:
                return f"agon {service.role} ended: {service.last_words()}"
        return None

    def stop_workers(self) -> None:
        """Stop playing, at a safe point."""
        for service in self._processes:
            if service.role == "worker":
                service.stop()

    def close(self) -> None:
        """Stop everything, workers first."""
        interrupted = False
        for service in reversed(self._processes):
            try:
                service.stop()
            except KeyboardInterrupt:
                # Nothing may be left behind that holds the data folder.
                interrupted = True
                service.stop()
        if self._guard is not None:
            self._guard.release()
            self._guard = None
        if interrupted:
            raise KeyboardInterrupt

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _configured(self, server: Server | None) -> str:
        """Start the simulated model, and write the configuration that `agon run` would make."""
        url = self._start("sim-llm", "--listen", _ANY_PORT).address("agon sim-llm listening on ")
        simulated = {"kind": "openai", "base_url": f"{url}/v1", "endpoint": "this process"}
        free = {"input_per_million_dollars": "0", "output_per_million_dollars": "0"}
        providers: dict[str, Any] = {"simulated": simulated}
        models: dict[str, Any] = {"sim": {"provider": "simulated", "model": "sim", "price": free}}
        if server is not None:
            keys = [{"env": server.key_env}] if server.key_env else None
            providers[_SERVER] = {
                "kind": "openai",
                "base_url": server.base_url,
                "endpoint": server.endpoint,
                "keys": keys,
            }
            models |= {name: {"provider": _SERVER, "model": name} for name in server.models}
        file = self._data / "gateway.toml"
        file.write_text(_toml.document({"providers": providers, "models": models}), "utf-8")
        return str(file)

    def _start(self, role: str, *arguments: str) -> _Service:
        service = _Service(self._binary, role, arguments)
        self._processes.append(service)
        return service


class _Service:
    def __init__(self, binary: str, role: str, arguments: Sequence[str]) -> None:
        self.role = role
        self.process = subprocess.Popen(
            [binary, role, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"AGON_LOG": "warn", **_binary.environment(alone=True)},
            start_new_session=True,
        )
        self._told: list[str] = []
        self._has_ended = False
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def address(self, beginning: str) -> str:
        """Wait for the line that tells an address."""
        end = time.monotonic() + _START_SECONDS
        with self._news:
            while True:
                for line in self._told:
                    if line.startswith(beginning):
                        return "http://" + line.removeprefix(beginning).strip()
                if self._has_ended:
                    raise _binary.failure(self.process.wait(), "\n".join(self._told))
                if not self._news.wait(end - time.monotonic()):
                    told = self.last_words()
                    raise MissingDependency(f"agon {self.role} did not start in time: {told}")

    def last_words(self) -> str:
        return _binary.last_words("\n".join(self._told[-20:]))

    def stop(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(10)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            with self._news:
                self._told.append(raw.decode(errors="replace").rstrip("\r\n"))
                del self._told[:-_KEPT_LINES]
                self._news.notify_all()
        with self._news:
            self._has_ended = True
            self._news.notify_all()
