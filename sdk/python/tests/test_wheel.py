"""Wheels: one for every platform without a binary, and one that brings it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


def build(folder: Path, **environment: str) -> Path:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AGON_")}
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), PROJECT],
        check=True, capture_output=True, env={**kept, **environment},
    )  # fmt: skip
    [wheel] = folder.glob("*.whl")
    return wheel


def test_a_wheel_without_a_binary_suits_every_platform(folder):
    wheel = build(folder / "dist")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "agon/py.typed" in names
    assert not [name for name in names if "/_bin/" in name or name.startswith("tests")]


def test_a_wheel_with_the_binary_needs_nothing_else(binary, folder):
    wheel = build(folder / "dist", AGON_BINARY_FOR_WHEEL=binary)
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    venv.create(folder / "fresh", with_pip=True)
    python = folder / "fresh/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", wheel]
    subprocess.run(install, check=True)
    program = """
import agon, agon._binary
run = agon.run("gamma-bench/quick-start", players={"subject": lambda ask: ask.form.get(
    "minimum", ask.form.get("enum", [0])[0])}, set={"games": [{"game": "el_farol"}]}, repeats=2)
print(agon._binary.find(), run.outcome, run.verify().sessions, run.players["subject"].failed)
"""
    ended = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert ended.returncode == 0, ended.stderr
    found, outcome, sessions, failed = ended.stdout.split()
    assert Path(found).is_relative_to(folder / "fresh")
    assert (outcome, sessions, failed) == ("complete", "2", "0")


def test_a_file_that_is_no_program_is_not_built_in(folder):
    (folder / "text").write_text("no program")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        build(folder / "dist", AGON_BINARY_FOR_WHEEL=str(folder / "text"))
    assert b"is not an executable file" in failed.value.stdout + failed.value.stderr
