"""TextArena's agents as players: whatever maps an observation to an action, both as text."""

from __future__ import annotations

from agon.players import Ask, Player

try:
    from textarena import Agent
except ImportError as error:
    raise ImportError("this adapter needs TextArena: pip install 'agon[textarena]'") from error


class TextArenaPlayer(Player):
    """Tells an agent what a model would be told, as one text, and reads its answer like a model's.

    The whole conversation is in every observation, so one agent can sit at many seats. Say
    `concurrent=True` if it may be called from several threads at once, as TextArena's agents that
    call an API may.
    """

    def __init__(self, agent: Agent, *, name: str | None = None, concurrent: bool = False) -> None:
        self.name = name or type(agent).__name__
        self.concurrent = concurrent
        self._agent = agent

    def decide(self, ask: Ask) -> str:
        """Answer with what the agent says."""
        return str(self._agent(ask.text))
