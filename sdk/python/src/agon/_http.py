"""A door of the gateway over HTTP (docs/gateway-http.md), for one thread at a time."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from agon.errors import BadInput, GatewayRefused

# The gateway waits 50 s at most.
_PATIENCE_SECONDS = 70.0


class Unreachable(Exception):  # noqa: N818
    """The gateway is not there now, or stops; whoever asks again later may be answered."""


class Client:
    """Calls a gateway. A connection is kept, and made again when it was closed."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"the gateway's address is like http://127.0.0.1:7711, not {url!r}")
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port
        self._base = parts.path.rstrip("/").removesuffix("/v1")
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._connection: http.client.HTTPConnection | None = None
        self._interrupted = False

    def asks(self, door: str, *, wait: str, after: str | None) -> Any:
        """Return what is asked at a door, once that is not what `after` names."""
        query = {"wait": wait, **({"after": after} if after else {})}
        status, answer = self._call("GET", f"/v1/doors/{quote(door)}/asks?{urlencode(query)}", None)
        if status != 200:
            raise _refusal(status, answer)
        return answer

    def answer(self, door: str, sent: Mapping[str, Any]) -> bool:
        """Hand an answer in. Returns whether it stands: false if another came first."""
        status, answer = self._call("POST", f"/v1/doors/{quote(door)}/answers", json.dumps(sent))
        if status in (404, 409):
            return False
        if status != 200:
            raise _refusal(status, answer)
        return True

    def interrupt(self) -> None:
        """End the call of another thread and make no further ones: they raise `Unreachable`."""
        self._interrupted = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _call(self, method: str, path: str, body: str | None) -> tuple[int, Any]:
        # A kept connection may have been closed meanwhile. Both calls are safe to repeat.
        for attempt in range(2):
            fresh = self._connection is None
            if self._interrupted:
                raise Unreachable("interrupted")
            try:
                return self._once(method, path, body)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.close()
                if fresh or attempt == 1:
                    raise Unreachable(f"{self._host}:{self._port}: {error}") from error
        raise AssertionError("the second attempt returns or raises")

    def _once(self, method: str, path: str, body: str | None) -> tuple[int, Any]:
        if self._connection is None:
            self._connection = self._connect()
        headers = dict(self._headers)
        if body is not None:
            headers["content-type"] = "application/json"
        self._connection.request(
            method, self._base + path, body.encode() if body is not None else None, headers
        )
        response = self._connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content else {}

    def _connect(self) -> http.client.HTTPConnection:
        if self._scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=_PATIENCE_SECONDS, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=_PATIENCE_SECONDS)


def _refusal(status: int, answer: Any) -> Exception:
    told = answer.get("error") if isinstance(answer, Mapping) else None
    message = told.get("message", answer) if isinstance(told, Mapping) else answer
    message = f"the gateway answered {status}: {message}"
    if status in (429, 500, 502, 503, 504):
        return Unreachable(message)
    return GatewayRefused(message)
