"""The binary under test, folders of its own for every test, and small servers and experiments."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agon
from agon._binary import find
from model_server import ModelServer


@pytest.fixture(scope="session")
def binary() -> str:
    return find()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, so that no other run or configuration is found."""
    monkeypatch.chdir(tmp_path)
    for variable in [name for name in os.environ if name.startswith("AGON_")]:
        if variable != "AGON_BINARY":
            monkeypatch.delenv(variable)
    return tmp_path


@pytest.fixture(scope="session")
def quick_start(tmp_path_factory: pytest.TempPathFactory) -> agon.Run:
    """Play a preset once for all tests that only read results."""
    data = tmp_path_factory.mktemp("quick-start")
    return agon.run("gamma-bench/quick-start", data=data)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def guessing() -> Callable[..., dict[str, Any]]:
    """Make experiments of Guess 2/3: the player `me` among rule players."""

    def make(name: str = "guessing", repeats: int = 3, rounds: int = 3) -> dict[str, Any]:
        return {
            "name": name,
            "repeats": repeats,
            "players": {
                "me": {"kind": "rule", "strategy": "equilibrium"},
                "other": {"kind": "rule", "strategy": "random"},
            },
            "games": [
                {
                    "game": "guess_two_thirds",
                    "params": {"rounds": rounds},
                    "seats": ["me", {"player": "other", "count": 2}],
                }
            ],
        }

    return make


def eventually(condition: Callable[[], Any], within_seconds: float = 30.0) -> Any:
    """Wait for a condition; fail where it does not come true."""
    end = time.monotonic() + within_seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"did not happen within {within_seconds} s"
        time.sleep(0.02)
