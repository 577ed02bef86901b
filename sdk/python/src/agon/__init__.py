"""Run Agon from Python, read its results as frames, and write players and games.

    import agon

    run = agon.run("gamma-bench/quick-start")
    run.sessions()

docs/python.md is the guide.
"""

from agon._version import __version__
from agon.catalogue import (
    Checked,
    GameInfo,
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
from agon.forms import Form, amount, choice, division, number, target, whole
from agon.hosting import Hosted, host
from agon.players import Answer, Ask, PerSeat, Player, Playing
from agon.records import Record
from agon.results import Run, Verified, open
from agon.rules import Game, Play, Question, Table, parameter
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
    "Form",
    "Game",
    "GameInfo",
    "GatewayRefused",
    "Hosted",
    "Interrupted",
    "MissingDependency",
    "Parameter",
    "Paused",
    "PerSeat",
    "Plan",
    "Play",
    "Player",
    "PlayerFailed",
    "Playing",
    "Preset",
    "Question",
    "Record",
    "Report",
    "Run",
    "Table",
    "Verified",
    "__version__",
    "amount",
    "check",
    "choice",
    "division",
    "game",
    "games",
    "host",
    "number",
    "open",
    "parameter",
    "plan",
    "preset",
    "presets",
    "run",
    "serve",
    "target",
    "whole",
]
