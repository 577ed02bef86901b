"""OpenSpiel's bots as players.

A bot decides in a state of an OpenSpiel game, so it can sit where one describes what the seat
faces, such as a matrix game for one round with two players, or `first_sealed_auction`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agon.players import Answer, Ask, Player

try:
    import pyspiel
except ImportError as error:
    raise ImportError("this adapter needs OpenSpiel: pip install 'agon[openspiel]'") from error


class OpenSpielPlayer(Player):
    """Asks a bot in the state that `state` makes of an ask.

    `answer` turns the bot's action into an answer; without it, the action is a place in the list
    of options, or a number itself.
    """

    def __init__(
        self,
        bot: pyspiel.Bot,
        state: Callable[[Ask], pyspiel.State],
        *,
        answer: Callable[[Ask, int], Answer] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name or type(bot).__name__
        self._bot = bot
        self._state = state
        self._answer = answer or _plain

    def decide(self, ask: Ask) -> Answer:
        """Answer with the bot's action."""
        return self._answer(ask, self._bot.step(self._state(ask)))


def _plain(ask: Ask, action: int) -> Any:
    options = ask.form.get("enum")
    return options[action] if options is not None else action
