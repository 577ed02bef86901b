"""Forms of questions: what may be answered. Made for the games of `agon.rules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """The legal answers to a question. Made by `whole`, `number`, `choice` and the like."""

    role: str
    written: Mapping[str, Any]

    @property
    def pass_word(self) -> str | None:
        """The word for a pass, where that is legal."""
        word = self.written.get("pass")
        return word if isinstance(word, str) else None


def whole(
    min: int | None = None, max: int | None = None, *, pass_word: str | None = None,
    role: str = "guess",
) -> Form:  # fmt: skip
    """Ask for a whole number, both ends included; None is open. A pass may be said instead."""
    return Form(role, {"form": "integer", "min": min, "max": max, "pass": pass_word})


def number(min: float, max: float, *, role: str = "guess") -> Form:
    """Ask for a real number, both ends included."""
    return Form(role, {"form": "number", "min": min, "max": max})


def amount(min: int, max: int | None = None, *, role: str = "bid") -> Form:
    """Ask for an amount of money with at most two decimals, both ends in whole dollars."""
    return Form(role, {"form": "amount", "min": min, "max": max})


def choice(*options: str, role: str = "choice") -> Form:
    """Ask for one of several words in lower case."""
    return Form(role, {"form": "choice", "options": list(options)})


def target(seats: Iterable[int], *, pass_word: str | None = None, role: str = "target") -> Form:
    """Ask for one of several seats; a pass may be said instead."""
    return Form(role, {"form": "target", "seats": list(seats), "pass": pass_word})


def division(parts: int, total: int, *, role: str = "proposal") -> Form:
    """Ask for whole numbers, one per part, none negative, that add up to a total."""
    return Form(role, {"form": "division", "parts": parts, "total": total})
