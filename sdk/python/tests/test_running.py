from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import agon


def test_a_preset_is_played_and_verifies(quick_start):
    assert quick_start.outcome == "complete"
    assert quick_start.sessions_done == 24
    assert quick_start.verify() == agon.Verified(sessions=24)
    assert "guess_two_thirds" in quick_start.summary()


def test_dict_text_and_file_are_the_same_experiment(guessing, folder):
    text = """
name = "guessing"
repeats = 3
[players.me]
kind = "rule"
strategy = "equilibrium"
[players.other]
kind = "rule"
strategy = "random"
[[games]]
game = "guess_two_thirds"
params = { rounds = 3 }
seats = ["me", { player = "other", count = 2 }]
"""
    Path("file.toml").write_text(text)
    ids = [
        sorted(record.session for record in agon.run(experiment, out=f"out-{place}").records())
        for place, experiment in enumerate((guessing(), text, "file.toml", Path("file.toml")))
    ]
    assert len(ids[0]) == 3
    assert ids[1:] == [ids[0]] * 3


def test_options_change_the_experiment(guessing):
    run = agon.run(guessing(), set={"params.rounds": 7}, repeats=2, seed=99, name="other")
    assert (run.name, run.sessions_done) == ("other", 2)
    records = list(run.records())
    assert {record.params["rounds"] for record in records} == {7}
    assert {record.data["spec"]["luck"]["seed"] for record in records} == {99}


def test_texts_and_tables_are_set_as_such(guessing):
    settings = {
        "players.me.strategy": "specified",
        "players.me.answers": [1, 2, 3],
        "players.other": {"kind": "rule", "strategy": "level_k", "k": 2},
    }
    record = next(agon.run(guessing(), set=settings).records())
    assert [move.action for move in record.moves if move.seat == 0] == [1, 2, 3]
    assert record.seats[1]["settings"] == {"strategy": "level_k", "k": 2}


@pytest.mark.parametrize("text", ['a "quoted" one', "back\\slash", "tab\tand ü 😀", "\x7f del"])
def test_any_text_arrives_as_it_is(guessing, text):
    experiment = guessing() | {"description": text}
    run = agon.run(experiment)
    assert json.loads((run.folder / "document.json").read_text())["description"] == text


def test_what_toml_cannot_hold_is_refused(guessing):
    for value in (math.nan, math.inf, object()):
        with pytest.raises(agon.BadInput, match="cannot hold"):
            agon.run(guessing(), set={"params.ratio": value})


def test_the_simulated_model_is_marked(guessing):
    run = agon.run(guessing(), players={"me": "sim"})
    assert all(record.simulated for record in run.records())
    decisions = [decision for record in run.records() for decision in record.decisions]
    assert {(decision.answered_by, decision.simulated) for decision in decisions} == {("sim", True)}


def test_several_models_are_ranked_together(guessing):
    run = agon.run("gamma-bench/leaderboard", models=["sim", "simulated/other"], repeats=2,
                   set={"params.rounds": 2})  # fmt: skip
    # A long name stands above the words that tell whose it is.
    assert re.search(r"simulated/other .*\n +\(yours\)", str(run.leaderboard()))
    assert "<table>" in run.leaderboard()._repr_html_()
    assert "| rank" in run.leaderboard().markdown
    assert "toprule" in run.leaderboard().latex


def test_a_run_is_shown_in_a_notebook(quick_start):
    shown = quick_start._repr_html_()
    assert "gamma-bench-quick-start, run 1, complete, 24 of 24 sessions" in shown
    assert "guess_two_thirds" in shown


def test_runs_are_kept_and_opened(guessing, folder):
    first = agon.run(guessing())
    second = agon.run(guessing(), repeats=5)
    assert (first.sessions_done, second.sessions_done) == (3, 5)
    assert agon.open("guessing").folder.name == second.folder.name
    assert agon.open("guessing", run=1).sessions_done == 3
    assert agon.open(first.folder).sessions_done == 3
    assert agon.open("agon-data/runs/guessing").sessions_done == 5
    records = agon.open("agon-data/runs/guessing/records.jsonl")
    assert (records.sessions_done, records.outcome) == (5, "unknown")
    assert len(records.seats()) == 15


def test_what_is_not_there_is_not_opened(guessing):
    agon.run(guessing())
    Path("guessing").mkdir()  # of the same name, and without results
    assert agon.open("guessing").sessions_done == 3
    with pytest.raises(agon.BadInput, match="no results"):
        agon.open("nothing")
    with pytest.raises(agon.BadInput, match=r"no run 9 with results; its runs are 1"):
        agon.open("guessing", run=9)


def test_the_variable_names_the_data_folder(guessing, monkeypatch):
    monkeypatch.setenv("AGON_DATA", "elsewhere")
    run = agon.run(guessing())
    assert run.folder.parts[0] == "elsewhere"
    assert agon.open("guessing").sessions_done == 3


def test_a_cluster_in_the_environment_is_not_meant(guessing, monkeypatch):
    monkeypatch.setenv("AGON_COORDINATOR", "http://127.0.0.1:9")
    assert agon.run(guessing()).outcome == "complete"


def test_progress_is_shown_when_asked_for(guessing, capfd):
    agon.run(guessing(), players={"me": "sim"}, progress=True)
    assert "model sim: simulated in this process" in capfd.readouterr().err
    agon.run(guessing(name="quiet"), players={"me": "sim"})
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_records_have_types(quick_start):
    record = next(record for record in quick_start.records() if record.game == "guess_two_thirds")
    assert record.experiment == "gamma-bench-quick-start"
    assert len(record.payoffs) == len(record.seats) == 10
    assert record.scores["iclr2025"] > 0
    assert record.events[0].event == "briefing"
    assert record.events[0].facts["players"] == 10
    result = next(event for event in record.events if event.event == "round_result")
    assert len(result.own["number"]) == 10
    move = record.moves[0]
    assert (move.turn, move.seat, move.ask, move.forfeited) == (1, 0, "guess", False)
    assert record.decisions == ()


def test_files_of_records_may_be_gzipped(quick_start, folder):
    import gzip

    packed = folder / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress((quick_start.folder / "records.jsonl").read_bytes()))
    same = [record.session for record in agon.open(packed).records()]
    assert same == [record.session for record in quick_start.records()]
