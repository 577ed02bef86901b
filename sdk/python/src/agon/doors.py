"""Serves players at doors of a gateway: many sessions at once, errors counted, clean shutdown."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any

from agon._http import Client, Unreachable
from agon.errors import GatewayRefused
from agon.players import Answer, Ask, PerSeat, Player, Playing, name_of, read_ask, reply_of

DEFAULT_THREADS = 32

# A look at a door tells all that is open; more looks than this would tell the same again.
_BETWEEN_LOOKS_SECONDS = 0.005
_LONGEST_LOOK = "20s"
_AGAIN_SECONDS = 0.2
_LONGEST_AGAIN_SECONDS = 5.0

# Seats that are remembered for players of their own: more than workers play at once.
_SEATED = 65_536

_KEPT_ERRORS = 20

# An answer under way may have been paid for.
_FINISH_SECONDS = 10.0

_LOG = logging.getLogger("agon")

_Key = tuple[str, int, int, str]


@dataclass
class Report:
    """What a player did at its door.

    `asked` counts questions, `answered` answers that stand, `late` those that came after a
    stand-in's or another's, `failed` questions at which the player raised. `errors` has the
    first tracebacks.
    """

    asked: int = 0
    answered: int = 0
    late: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list, repr=False)

    def in_words(self) -> str:
        """Return the counts as a sentence's end."""
        return (
            f"asked {self.asked:,} times, answered {self.answered:,}, "
            f"{self.late:,} too late, raised {self.failed:,}"
        )


class Doors:
    """Players at doors of one gateway, until `close`. Use `agon.serve` or `agon.run`.

    When a player raises, the question stays open, for a stand-in if there is one. `on_failure`
    is called with it; unless that returns true, the log "agon" has the first traceback.
    """

    def __init__(
        self,
        players: Mapping[str, Playing],
        gateway: str,
        *,
        token: str | None = None,
        threads: int = DEFAULT_THREADS,
        on_failure: Callable[[Ask, BaseException], bool] | None = None,
    ) -> None:
        self._pool = _Pool(threads)
        self._stopping = threading.Event()
        self._served = [
            _Door(door, player, Client(gateway, token), self, on_failure)
            for door, player in players.items()
        ]
        self._gateway, self._token = gateway, token
        self._local = threading.local()
        for door in self._served:
            door.thread.start()

    @property
    def reports(self) -> dict[str, Report]:
        """What each player did so far, by door."""
        return {door.name: door.report for door in self._served}

    @property
    def refusal(self) -> GatewayRefused | None:
        """Why the gateway refused to serve a door, if it did."""
        return next((door.refusal for door in self._served if door.refusal is not None), None)

    def wait(self) -> None:
        """Serve until `close` is called, Ctrl-C, or the gateway refuses; then raise that."""
        while not self._stopping.wait(0.2):
            if self.refusal is not None:
                raise self.refusal

    def close(self) -> None:
        """Take no more questions, finish those that are being answered, and let players go.

        A player that takes longer than some seconds to finish is left to itself.
        """
        if self._stopping.is_set():
            return
        self._stopping.set()
        for door in self._served:
            door.stop()
        self._pool.close(_FINISH_SECONDS)
        for door in self._served:
            door.seating.close()
            if door.report.failed > 1 or door.report.late:
                _LOG.warning("player %s at its end: %s", door.name, door.report.in_words())

    def __enter__(self) -> Doors:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _client(self) -> Client:
        """Return this thread's own connection."""
        client: Client | None = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = Client(self._gateway, self._token)
        return client


class _Door:
    """One door: a thread that looks what is asked, and answers in the pool."""

    def __init__(
        self,
        name: str,
        player: Playing,
        client: Client,
        doors: Doors,
        on_failure: Callable[[Ask, BaseException], bool] | None,
    ) -> None:
        self.name = name
        self.report = Report()
        self.refusal: GatewayRefused | None = None
        self.seating = _Seating(player)
        self._answered_by = name_of(player) or name
        self._client = client
        self._doors = doors
        self._on_failure = on_failure
        self._lock = threading.Lock()
        # Being answered; answered, at which time; failed, until nobody asks it any more.
        self._taken: set[_Key] = set()
        self._done: dict[_Key, float] = {}
        self._failed: set[_Key] = set()
        self.thread = threading.Thread(target=self._look, name=f"agon-door-{name}", daemon=True)

    def stop(self) -> None:
        while self.thread.is_alive():
            self._client.interrupt()
            self.thread.join(0.05)
        self._client.close()

    def _look(self) -> None:
        stopping = self._doors._stopping
        version: str | None = None
        pause = _AGAIN_SECONDS
        while not stopping.is_set():
            looked = time.monotonic()
            try:
                listing = self._client.asks(self.name, wait=_LONGEST_LOOK, after=version)
            except Unreachable:
                version = None
                stopping.wait(pause)
                pause = min(pause * 2, _LONGEST_AGAIN_SECONDS)
                continue
            except GatewayRefused as refusal:
                self.refusal = refusal
                return
            except Exception as error:  # Whatever it is, nobody looks at this door any more.
                self.refusal = GatewayRefused(f"door {self.name}: {type(error).__name__}: {error}")
                return
            pause = _AGAIN_SECONDS
            version = listing["version"]
            self._take(listing["asks"], looked)
            stopping.wait(max(0.0, looked + _BETWEEN_LOOKS_SECONDS - time.monotonic()))

    def _take(self, asks: list[Mapping[str, Any]], looked: float) -> None:
        received = time.monotonic()
        listed = {_key(data): data for data in asks}
        with self._lock:
            self._failed &= listed.keys()
            # A question that is asked although it was answered before we looked was lost on the
            # way, such as with a gateway that died, and is answered again.
            self._done = {key: at for key, at in self._done.items() if at > looked}
            known = self._taken | self._failed | self._done.keys()
            fresh = [(key, data) for key, data in listed.items() if key not in known]
            self._taken.update(key for key, _ in fresh)
            self.report.asked += len(fresh)
        for key, data in fresh:
            ask = read_ask(self.name, data, received=received)
            self._doors._pool.submit(partial(self._answer, key, ask))

    def _answer(self, key: _Key, ask: Ask) -> None:
        left = ask.time_left
        if left is not None and left <= 0:
            self._end(key, late=1)
            return
        try:
            reply = reply_of(ask, self.seating.decide(ask))
        except BaseException as error:  # sys.exit, too, must not leave the question open for ever.
            self._fail(key, ask, error)
            return
        is_late = ask.time_left is not None and ask.time_left <= 0
        sent = {
            "address": ask.data["address"],
            "request_digest": ask.data["request_digest"],
            "reply": reply,
            "answered_by": self._answered_by,
        }
        pause = _AGAIN_SECONDS
        while True:
            try:
                stands = self._doors._client().answer(self.name, sent)
            except Unreachable:
                # Whoever comes back asks again, and the same answer is accepted twice.
                if self._doors._stopping.wait(pause):
                    self._end(key, late=int(is_late))
                    return
                pause = min(pause * 2, _LONGEST_AGAIN_SECONDS)
                continue
            except GatewayRefused as refusal:
                self._fail(key, ask, refusal)
                return
            self._end(key, answered=int(stands), late=int(not stands))
            return

    def _end(self, key: _Key, *, answered: int = 0, late: int = 0) -> None:
        with self._lock:
            self._taken.discard(key)
            self._done[key] = time.monotonic()
            self.report.answered += answered
            self.report.late += late

    def _fail(self, key: _Key, ask: Ask, error: BaseException) -> None:
        with self._lock:
            self._taken.discard(key)
            self._failed.add(key)
            self.report.failed += 1
            is_first = self.report.failed == 1
            if len(self.report.errors) < _KEPT_ERRORS:
                self.report.errors.append("".join(traceback.format_exception(error)))
        is_told = self._on_failure is not None and self._on_failure(ask, error)
        if is_first and not is_told:
            _LOG.warning(
                "player %s raised when asked for a %s at seat %d of session %s; further errors are "
                "counted", self.name, ask.kind, ask.seat, ask.session[:8], exc_info=error,
            )  # fmt: skip


class _Pool:
    """Threads that answer: daemons, so that a player that never returns cannot hold the process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, work: Callable[[], None]) -> None:
        """Do it as soon as a thread is free; after `close`, never."""
        with self._lock:
            if self._closed:
                return
            if len(self._threads) < self._most:
                name = f"agon-player-{len(self._threads)}"
                thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._work.put(work)

    def close(self, patience_seconds: float) -> None:
        """Begin nothing more, and wait for what has begun."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._work.put(None)
        end = time.monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while True:
            work = self._work.get()
            if work is None:
                return
            if not self._closed:
                work()


class _Seating:
    """Finds the player for an ask, by the rules of `Playing`."""

    def __init__(self, player: Playing) -> None:
        self._player = player
        self._lock = threading.Lock()
        self._seated: OrderedDict[tuple[str, int], Player] = OrderedDict()

    def decide(self, ask: Ask) -> Answer:
        player = self._player
        if isinstance(player, Player):
            if player.concurrent:
                return player.decide(ask)
            with self._lock:
                return player.decide(ask)
        if isinstance(player, PerSeat | type):
            return self._at_seat(player, ask).decide(ask)
        return player(ask)

    def close(self) -> None:
        held = list(self._seated.values())
        if isinstance(self._player, Player):
            held.append(self._player)
        for player in held:
            _close(player)

    def _at_seat(self, make: Callable[[], Player], ask: Ask) -> Player:
        seat = (ask.session, ask.seat)
        leaving: Player | None = None
        with self._lock:
            if seat not in self._seated:
                self._seated[seat] = make()
            self._seated.move_to_end(seat)
            if len(self._seated) > _SEATED:
                _, leaving = self._seated.popitem(last=False)
            player = self._seated[seat]
        if leaving is not None:
            _close(leaving)
        return player


def _close(player: Player) -> None:
    """Close a player; one that raises takes nothing from the others and from what was played."""
    try:
        player.close()
    except Exception as error:
        _LOG.warning("player %s raised when closed", name_of(player), exc_info=error)


def _key(data: Mapping[str, Any]) -> _Key:
    address = data["address"]
    return address["session_id"], address["seat"], address["index"], data["request_digest"]


def serve(
    players: Mapping[str, Playing],
    gateway: str,
    *,
    token: str | None = None,
    threads: int = DEFAULT_THREADS,
) -> Doors:
    """Serve players at a gateway's doors, by the names of the doors.

    `gateway` is the address of `agon gateway --http-listen`. The token is that of a team with the
    scope `play`, from AGON_TOKEN if not given; on one machine none is needed. Returns at once:

        with agon.serve({"alice": MyPlayer}, "http://127.0.0.1:7711") as doors:
            doors.wait()
    """
    token = token or os.environ.get("AGON_TOKEN") or None
    return Doors(players, gateway, token=token, threads=threads)
