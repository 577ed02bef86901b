"""The examples of docs/python.md run as they stand."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import agon

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def example(containing: str) -> str:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    [found] = [block for block in blocks if containing in block]
    return found


def test_the_player_of_the_page_plays():
    names: dict[str, object] = {}
    exec(example("class TwoThirds"), names)
    run = names["run"]
    assert isinstance(run, agon.Run)
    assert run.outcome == "complete"
    assert {record.game for record in run.records()} == {"guess_two_thirds"}
    report = run.players["subject"]
    assert report.asked == report.answered > 0
    assert (report.late, report.failed, report.errors) == (0, 0, [])


def test_the_results_of_the_page_are_read(quick_start, monkeypatch, capsys):
    monkeypatch.setenv("AGON_DATA", str(quick_start.folder.parents[3]))
    exec(example("agon.open("), {"agon": agon})
    assert capsys.readouterr().out.count("\n") == 24


def test_the_runs_of_the_page_run(model_server, folder):
    model_server.reply = "7"
    text = agon.preset("gamma-bench/leaderboard").replace("repeats = 5", "repeats = 1")
    games = text.index("[[games]]")
    (folder / "my.toml").write_text(text[:games] + '[[games]]\ngame = "divide_dollar"\n')
    names: dict[str, object] = {}
    exec(example("base_url=").replace("http://localhost:8000/v1", model_server.url), names)
    assert isinstance(names["run"], agon.Run)
    assert names["run"].outcome == "complete"
    assert model_server.requests == 10 * 5


def test_a_bot_that_poses_as_a_model_plays(folder, guessing):
    source = example("class Bot")
    body = source.split("\n\n", 1)[1]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15
    (folder / "bot.py").write_text(source)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    bot = subprocess.Popen(
        [sys.executable, "bot.py", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        run = agon.run(guessing(), players={"me": "bot"}, base_url=url)
        mine = [move for record in run.records() for move in record.moves if move.seat == 0]
        assert [move.action for move in mine] == [21] * 9
        assert all(move.fouls == () for move in mine)
        assert run.verify().sessions == 3
    finally:
        bot.kill()
        bot.wait()


def test_every_name_of_the_page_is_there():
    page = PAGE.read_text(encoding="utf-8")
    for name in set(re.findall(r"\bagon\.([A-Za-z]\w*)", page)) - {"adapters", "toml"}:
        assert hasattr(agon, name), name
    fields = set(agon.Ask.__dataclass_fields__) | set(dir(agon.Ask))
    section = page[page.index("`ask` has") : page.index("The answer is a value")]
    for name in re.findall(r"^- `(\w+)`", section, re.M):
        assert name in fields
    for exception in re.findall(r"^\| (?:\d|other) \| `(\w+)`", page, re.M):
        assert issubclass(getattr(agon, exception), agon.AgonError)


@pytest.mark.parametrize("extra", ["pandas", "polars", "notebook", "textarena", "openspiel"])
def test_every_extra_of_the_page_is_defined(extra):
    project = (PAGE.parents[1] / "sdk/python/pyproject.toml").read_text(encoding="utf-8")
    assert f"[{extra}]" in PAGE.read_text(encoding="utf-8")
    assert re.search(rf"^{extra} = \[", project, re.M)
