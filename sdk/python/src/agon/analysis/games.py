"""Games in normal form: payoffs of every player for every profile of strategies.

`payoffs[i]` is the array of player i's payoffs with one axis per player. A symmetric game of two
players is its row player's matrix: `NormalForm.symmetric(A)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agon.analysis.results import FloatArray

Profile = tuple[int, ...]
Mixed = Sequence[FloatArray]
"""One distribution over strategies per player."""

_EQUAL = 1e-9
"""Payoffs closer than this share of the largest are equal."""


@dataclass(frozen=True)
class NormalForm:
    """A game in normal form, with names of strategies by player."""

    payoffs: tuple[FloatArray, ...]
    strategies: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(
        *payoffs: npt.ArrayLike, strategies: Sequence[Sequence[str]] | None = None
    ) -> NormalForm:
        """A game from one array of payoffs per player."""
        arrays = tuple(np.asarray(array, dtype=np.float64) for array in payoffs)
        shape = arrays[0].shape
        if len(shape) != len(arrays) or any(array.shape != shape for array in arrays):
            raise ValueError(f"{len(arrays)} players need arrays of one shape with as many axes")
        if strategies is None:
            strategies = [[str(place) for place in range(size)] for size in shape]
        names = tuple(tuple(own) for own in strategies)
        if tuple(len(own) for own in names) != shape:
            raise ValueError("there must be one name per strategy")
        return NormalForm(arrays, names)

    @staticmethod
    def symmetric(matrix: npt.ArrayLike, names: Sequence[str] | None = None) -> NormalForm:
        """The symmetric game of two players with this matrix of the row player."""
        rows = np.asarray(matrix, dtype=np.float64)
        names = names or [str(place) for place in range(rows.shape[0])]
        return NormalForm.of(rows, rows.T, strategies=[names, names])

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.payoffs)

    @property
    def shape(self) -> Profile:
        """Number of strategies of each player."""
        return tuple(self.payoffs[0].shape)

    @cached_property
    def profiles(self) -> list[Profile]:
        """All pure profiles, the last player's strategy changing fastest."""
        return list(itertools.product(*(range(size) for size in self.shape)))

    def name_of(self, profile: Profile) -> tuple[str, ...]:
        """Names of the strategies of a pure profile."""
        return tuple(own[place] for own, place in zip(self.strategies, profile, strict=True))

    def pure(self, profile: Profile) -> list[FloatArray]:
        """A pure profile as a mixed one."""
        return [np.eye(size)[place] for size, place in zip(self.shape, profile, strict=True)]

    def uniform(self) -> list[FloatArray]:
        """Every strategy with the same probability."""
        return [np.full(size, 1.0 / size) for size in self.shape]

    def responses(self, mixed: Mixed) -> list[FloatArray]:
        """Expected payoff of each pure strategy of each player against the others' mixture."""
        return [
            self._without(self.payoffs[player], mixed, (player,)) for player in range(self.players)
        ]

    def expected(self, mixed: Mixed) -> FloatArray:
        """Expected payoff of each player."""
        return np.array(
            [own @ reply for own, reply in zip(mixed, self.responses(mixed), strict=True)]
        )

    def response_slopes(self, mixed: Mixed, player: int, other: int) -> FloatArray:
        """Derivatives of `responses(mixed)[player]` by the probabilities of another player."""
        slopes = self._without(self.payoffs[player], mixed, (player, other))
        return slopes if player < other else slopes.T

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping players changes nothing but who is paid what (two players)."""
        if self.players != 2 or self.shape[0] != self.shape[1]:
            return False
        return bool(np.allclose(self.payoffs[0], self.payoffs[1].T, rtol=0.0, atol=1e-12))

    @staticmethod
    def _without(array: FloatArray, mixed: Mixed, kept: tuple[int, ...]) -> FloatArray:
        for axis in reversed(range(array.ndim)):
            if axis in kept:
                continue
            # The plain product is several times faster for the many small games of a fit.
            if axis == array.ndim - 1:
                array = array @ mixed[axis]
            elif axis == 0:
                array = (
                    np.tensordot(mixed[0], array, axes=1) if array.ndim > 2 else mixed[0] @ array
                )
            else:
                array = np.tensordot(array, mixed[axis], axes=(axis, 0))
        return array


def best_replies(payoffs: FloatArray) -> npt.NDArray[np.bool_]:
    """Which strategies earn the most, with ties."""
    slack = _EQUAL * max(1.0, float(np.abs(payoffs).max()))
    return np.asarray(payoffs >= payoffs.max() - slack)


def deviations(game: NormalForm, profile: Profile) -> Iterator[tuple[int, Profile]]:
    """Every profile that one player can reach by another strategy, with that player."""
    for player, size in enumerate(game.shape):
        for place in range(size):
            if place != profile[player]:
                yield player, (*profile[:player], place, *profile[player + 1 :])
