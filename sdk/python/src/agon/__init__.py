"""Run Agon from Python, read its results as frames, and write players.

    import agon

    run = agon.run("gamma-bench/quick-start")
    run.sessions()

docs/python.md is the guide.
"""

from agon._version import __version__
from agon.catalogue import (
    Checked,
    Game,
    Parameter,
    Plan,
    Preset,
    check,
    game,
    games,
    plan,
    preset,
    presets,
)
from agon.doors import Doors, Report, serve
from agon.errors import (
    AgonError,
    BadInput,
    BadNews,
    BinaryNotFound,
    Failed,
    GatewayRefused,
    Interrupted,
    MissingDependency,
    Paused,
    PlayerFailed,
)
from agon.players import Answer, Ask, PerSeat, Player, Playing
from agon.records import Record
from agon.results import Run, Verified, open
from agon.running import run

__all__ = [
    "AgonError",
    "Answer",
    "Ask",
    "BadInput",
    "BadNews",
    "BinaryNotFound",
    "Checked",
    "Doors",
    "Failed",
    "Game",
    "GatewayRefused",
    "Interrupted",
    "MissingDependency",
    "Parameter",
    "Paused",
    "PerSeat",
    "Plan",
    "Player",
    "PlayerFailed",
    "Playing",
    "Preset",
    "Record",
    "Report",
    "Run",
    "Verified",
    "__version__",
    "check",
    "game",
    "games",
    "open",
    "plan",
    "preset",
    "presets",
    "run",
    "serve",
]
