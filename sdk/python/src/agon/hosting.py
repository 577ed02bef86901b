"""Serves games that are written in Python to Agon.

`agon.host(MyGame)` does it inside a program; from a shell:

    python -m agon my_game.py:MyGame --listen 127.0.0.1:9000
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import logging
import socket
import sys
import threading
import traceback
from collections import OrderedDict, deque
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from agon.rules import Game, Session, as_json

_LOG = logging.getLogger("agon")

MOST_SESSIONS = 100_000
"""Sessions that are remembered; of others Agon tells the whole history again."""


MOST_ERRORS = 100
"""Tracebacks that are kept."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of a message; Agon sends 8 MB, unless one session has more."""

_LOOK_EVERY = 0.02
"""Seconds between two looks whether to stop."""


class Referee:
    """Says what answers lead to. Remembers sessions, but need not."""

    def __init__(self, game: type[Game], remember: int = MOST_SESSIONS) -> None:
        self.game = game
        self.errors: deque[str] = deque(maxlen=MOST_ERRORS)
        self._remember = remember
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, request: dict[str, Any]) -> str:
        """Answer a request for several sessions."""
        replies = []
        with self._lock:
            for step in request["steps"]:
                replies.append(self._one(step))
        return '{"replies":[' + ",".join(replies) + "]}"

    def _one(self, step: dict[str, Any]) -> str:
        try:
            if step["rules_version"] != self.game.rules_version:
                return '{"other_rules":true}'
            reply = self._step(step)
            return '{"unknown":true}' if reply is None else f'{{"reply":{as_json(reply)}}}'
        # Whatever it is: a game that ends the thread would leave half a session behind.
        except BaseException as error:
            self._sessions.pop(str(step.get("play")), None)
            told = self._told(error)
            if isinstance(error, ValueError) and not step.get("answers"):
                # Parameters that make no game: whoever asked is told, and nothing is wrong here.
                return as_json({"error": f"{type(error).__name__}: {error}"[:2000]})
            _LOG.error("session %s, turn %s:\n%s", step.get("session"), step.get("turn"), told)
            self.errors.append(told)
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}, line {last.lineno}"
            return as_json({"error": f"{type(error).__name__}: {error} ({where})"[:2000]})

    def _step(self, step: dict[str, Any]) -> dict[str, Any] | None:
        play, turn, answers = step["play"], step["turn"], step["answers"]
        start = step.get("start")
        if start is not None:
            session = Session.of(self.game, start)
            self._keep(play, session)
            reply = session.begin()
            for earlier in answers:
                if "refused" in reply:
                    raise ValueError(f"answers of turn {session.turn + 1} are refused now")
                reply = session.move(earlier)
            if session.turn + ("refused" in reply) != turn:
                raise ValueError(f"answers of {len(answers)} turns came for turn {turn}")
        else:
            known = self._sessions.get(play)
            if known is None or known.turn != turn - 1:
                return None
            session = known
            self._sessions.move_to_end(play)
            reply = session.move(answers[0])
        if session.has_ended:
            self._sessions.pop(play, None)
        return reply

    def _keep(self, play: str, session: Session) -> None:
        self._sessions[play] = session
        while len(self._sessions) > self._remember:
            self._sessions.popitem(last=False)

    @staticmethod
    def _told(error: BaseException) -> str:
        return "".join(traceback.format_exception(error)).rstrip()


class Hosted:
    """A game that is served, until `close` or the end of a `with` block.

    `address` is what `--game-at` is told, `errors` are the tracebacks of what the game raised.
    """

    def __init__(self, game: type[Game], listen: str = "127.0.0.1:0") -> None:
        host, _, port = listen.rpartition(":")
        self.game = game
        self._description = as_json(game.description()).encode()
        self.referee = Referee(game)
        self._server = _Server((host or "127.0.0.1", int(port)), _Handler)
        self._server.hosted = self
        shown = self._server.server_address
        self.address = f"http://{shown[0]!s}:{shown[1]}"
        self.argument = f"{game.game_name()}={self.address}"
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(_LOOK_EVERY,), daemon=True)
        self._thread.start()

    @property
    def errors(self) -> list[str]:
        """What the game raised last, as tracebacks."""
        return list(self.referee.errors)

    @property
    def described(self) -> bytes:
        """The description, as JSON."""
        return self._description

    def wait(self) -> None:
        """Serve until the process is stopped."""
        self._thread.join()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        self._thread.join()

    def __enter__(self) -> Hosted:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()


def host(game: type[Game], listen: str = "127.0.0.1:0") -> Hosted:
    """Serve a game: `with agon.host(MyGame) as hosted: ...`, on any free port by default."""
    return Hosted(game, listen)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hosted: Hosted

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections: set[socket.socket] = set()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.discard(request)

    def hang_up(self) -> None:
        """End the connections that are kept open."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave callers alone that went away."""
        _LOG.debug("a connection broke", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 300  # of a slow or silent caller, in seconds
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/":
            self._send(HTTPStatus.OK, self.server.hosted.described)
        else:
            self._send(HTTPStatus.NOT_FOUND, b"GET / describes the game, POST /steps plays it\n")

    def do_POST(self) -> None:
        length = self.headers.get("content-length") or ""
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self.close_connection = True
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"say how long it is\n")
            return
        body = self.rfile.read(int(length))
        # Pages of other sites can send anything but this.
        if self.headers.get_content_type() != "application/json":
            self._send(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, b"send application/json\n")
            return
        if self.path != "/steps":
            self._send(HTTPStatus.NOT_FOUND, b"POST /steps plays the game\n")
            return
        try:
            answer = self.server.hosted.referee.answer(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._send(HTTPStatus.BAD_REQUEST, f"not a request for steps: {error!r}\n".encode())
            return
        self._send(HTTPStatus.OK, answer.encode())

    def _send(self, status: HTTPStatus, body: bytes) -> None:
        kind = "application/json" if status is HTTPStatus.OK else "text/plain; charset=utf-8"
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {kind}\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        # In one piece: two would wait for each other.
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *arguments: Any) -> None:
        _LOG.debug(format, *arguments)


def _find(named: str) -> type[Game]:
    source, _, name = named.rpartition(":")
    if not source:
        raise SystemExit(f"{named}: write FILE.py:GAME or MODULE:GAME")
    if source.endswith(".py"):
        path = Path(source)
        # What stands beside the file can be imported, as if the file was run.
        sys.path.insert(0, str(path.resolve().parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.exists():
            raise SystemExit(f"{source}: no such file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(source)
    game = getattr(module, name, None)
    if not (isinstance(game, type) and issubclass(game, Game)):
        raise SystemExit(f"{source} has no game {name}")
    return game


def main(arguments: list[str] | None = None) -> None:
    """Serve a game until the process is stopped."""
    parser = argparse.ArgumentParser(
        prog="python -m agon", description="Serves a game that is written in Python."
    )
    parser.add_argument("game", metavar="FILE.py:GAME", help="the game's class")
    parser.add_argument("--listen", metavar="ADDRESS", default="127.0.0.1:9000")
    given = parser.parse_args(arguments)
    game = _find(given.game)
    try:
        hosted = Hosted(game, given.listen)
    except OSError as error:
        raise SystemExit(f"cannot listen on {given.listen}: {error.strerror}") from None
    print(f"serving {hosted.argument}", flush=True)
    try:
        hosted.wait()
    except KeyboardInterrupt:
        hosted.close()
