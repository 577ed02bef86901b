"""Chance of games that are written in Python: drawn from the session's luck, and recorded.

Every draw belongs to a named stream and an index, usually the round, and depends on nothing else
than those and the session's luck; it is the draw that a built-in game would make there. How often
one round draws cannot shift the next.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

_MASK32 = 0xFFFFFFFF
_MASK64 = 0xFFFFFFFFFFFFFFFF
_CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


class Chance:
    """The draws of one session."""

    def __init__(self, key: str) -> None:
        self._key = struct.unpack("<8I", bytes.fromhex(key))
        self.drawn: list[dict[str, Any]] = []
        self._places: set[tuple[str, int]] = set()

    def percent(self, stream: str, at: int, percent: int) -> bool:
        """Draw true in `percent` of 100 cases, a whole number."""
        if not (isinstance(percent, int) and 0 <= percent <= 100):
            raise ValueError(f"percent must be a whole number from 0 to 100, not {percent!r}")
        return bool(self._kept(stream, at, self.generator(stream, at).below(100) < percent))

    def happens(self, stream: str, at: int, probability: float) -> bool:
        """Draw true with a probability from 0 to 1."""
        if not 0.0 <= probability <= 1.0:
            raise ValueError(f"a probability is a number from 0 to 1, not {probability!r}")
        return bool(self._kept(stream, at, self.generator(stream, at).unit() < probability))

    def integer(self, stream: str, at: int, low: int, high: int) -> int:
        """Draw a whole number, both ends included."""
        return int(self._kept(stream, at, self.generator(stream, at).between(low, high)))

    def seat_among(self, stream: str, at: int, seats: Sequence[int]) -> int:
        """Draw one of several seats; with one seat nothing is drawn."""
        if len(seats) == 1:
            return seats[0]
        place = self.generator(stream, at).below(len(seats))
        return int(self._kept(stream, at, seats[place]))

    def distinct(
        self, stream: str, at: int, count: int, low: int, step: int, rungs: int
    ) -> list[int]:
        """Draw `count` different numbers of the `rungs` numbers low, low + step, ..."""
        places = self.generator(stream, at).sample(rungs, count)
        drawn = [low + step * place for place in places]
        self._kept(stream, at, drawn)
        return drawn

    def order(self, stream: str, at: int, count: int) -> list[int]:
        """Draw an order of `count` things: a permutation of 0, 1, ..."""
        return self.distinct(stream, at, count, 0, 1, count)

    def bell(
        self, stream: str, at: int, count: int, mean: float, deviation: float, most: int
    ) -> list[int]:
        """Draw `count` whole parts of normally distributed numbers from 1 to `most`."""
        generator = self.generator(stream, at)
        drawn: list[int] = []
        while len(drawn) < count:
            number = math.trunc(mean + deviation * generator.normal())
            if 1 <= number <= most:
                drawn.append(number)
        self._kept(stream, at, drawn)
        return drawn

    def generator(self, stream: str, at: int) -> Generator:
        """Return a generator for draws of your own. Record what comes out: `record`."""
        number = 0xCBF29CE484222325
        for byte in stream.encode() + struct.pack("<I", at):
            number = ((number ^ byte) * 0x00000100000001B3) & _MASK64
        return Generator(self._key, number)

    def record(self, stream: str, at: int, value: Any) -> None:
        """Keep a draw of your own in the record."""
        self._kept(stream, at, value)

    def _kept(self, stream: str, at: int, value: Any) -> Any:
        if (stream, at) in self._places:
            raise ValueError(
                f"{stream!r} was drawn at {at} before, and would come out the same again: take "
                "another stream or index for each draw"
            )
        self._places.add((stream, at))
        kept = list(value) if isinstance(value, list | tuple) else value
        self.drawn.append({"stream": stream, "at": at, "value": kept})
        return value


class Generator:
    """Random numbers of one stream: ChaCha with 8 rounds (Bernstein 2008), as Agon draws them."""

    def __init__(self, key: Sequence[int], stream: int) -> None:
        self._key = tuple(key)
        self._stream = (stream & _MASK32, stream >> 32)
        self._block = 0
        self._words: list[int] = []

    def next(self) -> int:
        """Return 64 random bits."""
        if not self._words:
            self._words = _block(self._key, self._block, self._stream)[::-1]
            self._block += 1
        low = self._words.pop()
        return low | self._words.pop() << 32

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound - 1`, without bias (Lemire 2019)."""
        product = self.next() * bound
        if product & _MASK64 < bound:
            threshold = (2**64 - bound) % bound
            while product & _MASK64 < threshold:
                product = self.next() * bound
        return product >> 64

    def between(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low + self.below(high - low + 1)

    def unit(self) -> float:
        """Return a number in [0, 1) with 53 random bits."""
        return (self.next() >> 11) / 2.0**53

    def normal(self) -> float:
        """Return a normally distributed number (Marsaglia and Bray 1964)."""
        while True:
            x, y = 2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0
            square = x * x + y * y
            if 0.0 < square < 1.0:
                return x * math.sqrt(-2.0 * math.log(square) / square)

    def sample(self, size: int, count: int) -> list[int]:
        """Return `count` different places of 0 to `size - 1`, in random order."""
        places = list(range(size))
        for position in range(count):
            other = position + self.below(size - position)
            places[position], places[other] = places[other], places[position]
        return places[:count]


def _block(key: tuple[int, ...], block: int, stream: tuple[int, int]) -> list[int]:
    start = [*_CONSTANTS, *key, block & _MASK32, block >> 32, *stream]
    words = list(start)
    for _ in range(4):
        for a, b, c, d in _QUARTERS:
            wa, wb, wc, wd = words[a], words[b], words[c], words[d]
            wa = (wa + wb) & _MASK32
            wd ^= wa
            wd = (wd << 16 | wd >> 16) & _MASK32
            wc = (wc + wd) & _MASK32
            wb ^= wc
            wb = (wb << 12 | wb >> 20) & _MASK32
            wa = (wa + wb) & _MASK32
            wd ^= wa
            wd = (wd << 8 | wd >> 24) & _MASK32
            wc = (wc + wd) & _MASK32
            wb ^= wc
            wb = (wb << 7 | wb >> 25) & _MASK32
            words[a], words[b], words[c], words[d] = wa, wb, wc, wd
    return [(word + begun) & _MASK32 for word, begun in zip(words, start, strict=True)]


_QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
