from __future__ import annotations

import json
import os
import signal
import threading

import pytest

import agon
from agon._binary import find
from conftest import eventually


def test_faults_of_a_file_are_told_with_their_place(folder):
    (folder / "x.toml").write_text('name="a b"\n')
    with pytest.raises(agon.BadInput) as caught:
        agon.run("x.toml")
    assert "x.toml:1:6: name: must be 1 to 100 letters" in caught.value.message
    assert not caught.value.message.startswith("error:")
    assert caught.value.run is None
    assert isinstance(caught.value, ValueError)


def test_what_is_missing_outside_is_told(guessing):
    with pytest.raises(agon.MissingDependency, match="cannot"):
        agon.run(guessing(), out="/proc/nowhere")


def test_a_spent_budget_pauses_and_the_same_call_continues(guessing, model_server, folder):
    (folder / "agon.toml").write_text(f"""
[providers.priced]
kind = "openai"
base_url = "{model_server.url}"

[models.fixed]
provider = "priced"
model = "fixed"
price = {{ input_per_million_dollars = "1", output_per_million_dollars = "1" }}
""")
    experiment = guessing(repeats=10)
    with pytest.raises(agon.Paused, match=r"\$0\.0") as caught:
        agon.run(experiment, players={"me": "fixed"}, max_cost=0.02)
    assert caught.value.run.outcome == "paused"
    asked = model_server.requests
    assert 0 < asked < 30
    run = agon.run(experiment, players={"me": "fixed"}, max_cost=1)
    assert (run.outcome, run.sessions_done) == ("complete", 10)
    assert model_server.requests == 30


def test_a_changed_record_is_bad_news(quick_start, folder):
    lines = (quick_start.folder / "records.jsonl").read_text().splitlines()
    record = json.loads(lines[0])
    record["moves"][0]["action"] += 1
    lines[0] = json.dumps(record, separators=(",", ":"))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(agon.BadNews, match=record["session"][:8]):
        agon.open("records.jsonl").verify()


def test_a_binary_that_is_killed_is_a_failure(guessing, model_server):
    model_server.open.clear()

    def kill() -> None:
        eventually(lambda: model_server.requests)
        for pid in children():
            if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(find()):
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(agon.Failed, match="killed by signal 9"):
        agon.run(guessing(), players={"me": "m"}, base_url=model_server.url)
    killer.join()


def children() -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == os.getpid():
                found.append(int(name))
    return found


def test_a_binary_that_is_not_there_is_told(monkeypatch, tmp_path):
    with pytest.raises(agon.BinaryNotFound, match="argument binary names"):
        agon.games(binary=tmp_path / "agon")
    monkeypatch.setenv("AGON_BINARY", str(tmp_path / "agon"))
    with pytest.raises(agon.BinaryNotFound, match="AGON_BINARY names"):
        agon.games()
    monkeypatch.delenv("AGON_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("agon._binary.INSIDE_THE_WHEEL", tmp_path / "agon")
    with pytest.raises(agon.BinaryNotFound, match="cargo install"):
        agon.games()


def test_the_binary_is_found_in_its_order(binary, monkeypatch, tmp_path):
    places = {}
    for name in ("argument", "variable", "path", "wheel"):
        (tmp_path / name).mkdir()
        places[name] = str(tmp_path / name / "agon")
        os.symlink(binary, places[name])
    monkeypatch.setattr("agon._binary.INSIDE_THE_WHEEL", tmp_path / "wheel" / "agon")
    monkeypatch.setenv("AGON_BINARY", places["variable"])
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find(places["argument"]) == places["argument"]
    assert find() == places["variable"]
    monkeypatch.delenv("AGON_BINARY")
    assert find() == places["path"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find() == places["wheel"]
    assert len(agon.games()) > 10
