"""Strategies of repeated games with two actions, and what they prescribe in observed histories.

A strategy sees what it and the others did in earlier rounds of a match. With several others, they
cooperated in a round if more than half of them did, or exactly half (as Agon's `tit_for_tat`
counts in the Diner's Dilemma); "somebody defected" is any of them. Cooperation is `True`.

Names are those of Dal Bo, Frechette 2011 (table 7) and Fudenberg, Rand, Dreber 2012 (table 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class History:
    """A match from one player's view, by round: its own cooperation, and the share of the others'.

    With one other player the share is 0 or 1.
    """

    own: BoolArray
    others: npt.NDArray[np.float64]

    @staticmethod
    def of(own: Sequence[bool], others: Sequence[float]) -> History:
        """A history from lists of one length."""
        history = History(np.asarray(own, dtype=bool), np.asarray(others, dtype=np.float64))
        if history.own.shape != history.others.shape:
            raise ValueError("there must be as many rounds of the others as of the player")
        return history

    @property
    def mostly(self) -> BoolArray:
        """Whether at least half of the others cooperated."""
        return np.asarray(self.others >= 0.5)

    @property
    def all_cooperated(self) -> BoolArray:
        """Whether everybody cooperated, the player itself included."""
        return np.asarray(self.own & (self.others >= 1.0))


Strategy = Callable[[History], BoolArray]
"""What is prescribed in each round of a match, given the rounds before."""


def always_cooperate(history: History) -> BoolArray:
    """AC: cooperates."""
    return np.ones(history.own.size, dtype=bool)


def always_defect(history: History) -> BoolArray:
    """AD: defects."""
    return np.zeros(history.own.size, dtype=bool)


def tit_for_tat(history: History) -> BoolArray:
    """TFT: cooperates, then does what the others did."""
    return _after(True, history.mostly)


def suspicious_tit_for_tat(history: History) -> BoolArray:
    """D-TFT: defects, then does what the others did."""
    return _after(False, history.mostly)


def grim(history: History) -> BoolArray:
    """G: cooperates until anybody, itself included, has defected."""
    return _lenient_grim(history, 1)


def grim_two(history: History) -> BoolArray:
    """G2: cooperates until somebody has defected in two rounds in a row."""
    return _lenient_grim(history, 2)


def grim_three(history: History) -> BoolArray:
    """G3: cooperates until somebody has defected in three rounds in a row."""
    return _lenient_grim(history, 3)


def win_stay_lose_shift(history: History) -> BoolArray:
    """WSLS (PTFT): cooperates, then if it and the others did the same in the last round."""
    return _after(True, history.own == history.mostly)


def tit_for_two_tats(history: History) -> BoolArray:
    """TF2T: cooperates unless the others defected in both of the last two rounds."""
    return _unless_all_of_last(history, 2)


def tit_for_three_tats(history: History) -> BoolArray:
    """TF3T: cooperates unless the others defected in all of the last three rounds."""
    return _unless_all_of_last(history, 3)


def two_tits_for_tat(history: History) -> BoolArray:
    """2TFT: cooperates unless the others defected in either of the last two rounds."""
    defected = ~history.mostly
    play = np.ones(history.own.size, dtype=bool)
    for back in (1, 2):
        play[back:] &= ~defected[:-back]
    return play


def trigger_two(history: History) -> BoolArray:
    """T2: cooperates until anybody defects, then defects twice and begins again."""
    play = np.ones(history.own.size, dtype=bool)
    left = 0
    for now in range(1, play.size):
        if left == 0 and not history.all_cooperated[now - 1]:
            left = 2
        elif left > 0:
            left -= 1
            if left == 0:
                continue
        play[now] = left == 0
    return play


def _after(first: bool, shown: BoolArray) -> BoolArray:
    return np.concatenate([[first], shown[:-1]]).astype(bool)


def _lenient_grim(history: History, rounds: int) -> BoolArray:
    defected = ~history.all_cooperated
    streak, triggered = 0, False
    play = np.ones(history.own.size, dtype=bool)
    for now in range(play.size):
        play[now] = not triggered
        streak = streak + 1 if defected[now] else 0
        triggered = triggered or streak >= rounds
    return play


def _unless_all_of_last(history: History, rounds: int) -> BoolArray:
    defected = ~history.mostly
    play = np.ones(history.own.size, dtype=bool)
    for now in range(rounds, play.size):
        play[now] = not defected[now - rounds : now].all()
    return play


DAL_BO_FRECHETTE: Mapping[str, Strategy] = {
    "AD": always_defect,
    "AC": always_cooperate,
    "G": grim,
    "TFT": tit_for_tat,
    "WSLS": win_stay_lose_shift,
    "T2": trigger_two,
}
"""The six strategies of Dal Bo, Frechette 2011, table 7."""

LIBRARY: Mapping[str, Strategy] = {
    **DAL_BO_FRECHETTE,
    "D-TFT": suspicious_tit_for_tat,
    "TF2T": tit_for_two_tats,
    "TF3T": tit_for_three_tats,
    "2TFT": two_tits_for_tat,
    "G2": grim_two,
    "G3": grim_three,
}
"""All strategies of this module."""

COOPERATION: Mapping[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "diners_dilemma": lambda action, params: action is None or action == "cheap",
    "public_goods": lambda action, params: 2 * (action or 0) >= params["tokens"],
    "el_farol": lambda action, params: action != "go",
}
"""What counts as cooperation in Agon's games.

The cheap dish; at least half of the tokens; staying home. Forfeits count as the game's rules act.
"""


def histories_of(record: Any) -> dict[int, History]:
    """Histories by seat of a session record of a game with `COOPERATION`."""
    data: Mapping[str, Any] = getattr(record, "data", record)
    spec = data["spec"]
    if spec["game"] not in COOPERATION:
        raise ValueError(f"nothing counts as cooperation in {spec['game']!r}")
    cooperates = COOPERATION[spec["game"]]
    rounds: dict[int, dict[int, bool]] = {}
    for move in data["moves"]:
        action = move.get("action")
        rounds.setdefault(move["turn"], {})[move["seat"]] = cooperates(action, spec["params"])
    table = np.array(
        [[rounds[turn][seat] for seat in sorted(rounds[turn])] for turn in sorted(rounds)]
    )
    others = (table.sum(axis=1, keepdims=True) - table) / (table.shape[1] - 1)
    return {seat: History(table[:, seat], others[:, seat]) for seat in range(table.shape[1])}
