"""Processes that are killed or interrupted: players, runs and whoever started them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import agon
from agon import _binary
from conftest import eventually
from services import address

THRESHOLD = Path(__file__).parent / "players" / "threshold.py"


def experiment(**player):
    me = {"kind": "model", "model": "human/alice", "agent": "person", **player}
    return {
        "name": "killed",
        "repeats": 240,
        "players": {"me": me, "other": {"kind": "rule", "strategy": "level_k"}},
        "games": [
            {
                "game": "guess_two_thirds",
                "params": {"rounds": 8},
                "seats": ["me", {"player": "other", "count": 3}],
            }
        ],
    }


def start_player(gateway):
    process = subprocess.Popen(
        [sys.executable, str(THRESHOLD), gateway, "alice"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "1\n"
    return process


class Background:
    """A run with doors that is not waited for."""

    def __init__(self, binary, document):
        from agon import _toml

        Path("experiment.toml").write_text(_toml.document(document))
        self.process = subprocess.Popen(
            [binary, "run", "experiment.toml", "--data", "data", "--quiet", "--http-listen"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_binary.environment(),
        )  # fmt: skip
        self.http = address(self.process.stderr, "agon run http listening on ")

    def result(self):
        _, told = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, told
        return agon.open("killed", data="data")


def test_a_player_process_is_killed_and_started_again(binary, folder):
    run = Background(binary, experiment())
    player = start_player(run.http)
    assert player.stdout.readline() == "300\n"
    player.kill()
    player.wait()
    assert run.process.poll() is None, "the run ended before the player was killed"
    player = start_player(run.http)
    done = run.result()
    player.send_signal(signal.SIGINT)
    report, _ = player.communicate(timeout=30)
    assert player.returncode == 0
    counts = {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", report)}
    assert 0 < counts["answered"] < 240 * 8
    assert counts == {
        "asked": counts["answered"],
        "answered": counts["answered"],
        "late": 0,
        "failed": 0,
    }
    assert (done.outcome, done.sessions_done) == ("complete", 240)
    decisions = [decision for record in done.records() for decision in record.decisions]
    assert Counter(decision.answered_by for decision in decisions) == {"threshold-1": 240 * 8}
    assert done.verify().sessions == 240


def test_stand_ins_answer_for_a_player_process_that_was_killed(binary, folder):
    rule = {"deadline": "500ms", "stand_in": "equilibrium"}
    run = Background(binary, experiment(**rule))
    player = start_player(run.http)
    assert player.stdout.readline() == "300\n"
    player.kill()
    player.wait()
    assert run.process.poll() is None, "the run ended before the player was killed"
    done = run.result()
    assert (done.outcome, done.sessions_done) == ("complete", 240)
    decisions = [decision for record in done.records() for decision in record.decisions]
    by = Counter(decision.answered_by for decision in decisions)
    assert set(by) == {"threshold-1", "equilibrium for alice"}
    # How many of its answers were in time depends on the machine.
    assert by["threshold-1"] > 0
    assert by["equilibrium for alice"] > 100
    assert sum(done.seats().by_stand_in) == by["equilibrium for alice"]
    assert done.verify().sessions == 240


# Makes standard input the terminal that controls this process, so that Ctrl-C there is sent to it.
LEADER = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
"""

MODEL_RUN = """
import sys
import agon
try:
    agon.run("gamma-bench/leaderboard", model="m", base_url=sys.argv[1], repeats=1,
             progress=True)
except agon.Interrupted as stopped:
    print("kept:", stopped.run.outcome, stopped)
    raise
"""

PLAYER_RUN = """
import sys
import threading
import agon
experiment = {
    "name": "long", "repeats": 50,
    "players": {"me": {"kind": "rule", "strategy": "equilibrium"}},
    "games": [{"game": "guess_two_thirds", "params": {"rounds": 3}, "seats": ["me", "me"]}],
}
count = 0
lock = threading.Lock()
def player(ask):
    global count
    with lock:
        count += 1
        now = count
    if now == int(sys.argv[1]):
        print("held", flush=True)
    if now >= int(sys.argv[1]):
        threading.Event().wait(0.5 if sys.argv[2] == "soon" else 3600)
    return 10
try:
    run = agon.run(experiment, players={"me": player})
    print("done", run.outcome, run.sessions_done, count, run.verify().sessions)
except agon.Interrupted as stopped:
    print("answered:", stopped.run.players["me"].answered)
    print("kept:", stopped.run.outcome, stopped)
    raise
"""


def program(text, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", text, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # As in a terminal: Ctrl-C reaches the group, in which the binary is not.
        start_new_session=True,
    )  # fmt: skip


def ours(folder, binary):
    """Processes of the binary that work in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                same_program = os.path.samefile(entry / "exe", binary)
                if same_program and os.readlink(entry / "cwd") == str(folder):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_ctrl_c_stops_the_binary_and_says_what_is_kept(binary, folder, model_server):
    model_server.open.clear()
    process = program(MODEL_RUN, model_server.url)
    eventually(lambda: model_server.requests > 3)
    assert len(ours(folder, binary)) == 1
    os.killpg(process.pid, signal.SIGINT)
    # Calls under way are paid for, and waited for.
    assert any(line.startswith("stopping: recording") for line in process.stderr)
    assert process.poll() is None
    model_server.open.set()
    printed, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "kept: interrupted" in printed
    assert "Run the same command again to continue" in printed
    assert "agon.errors.Interrupted" in told
    assert ours(folder, binary) == []


def test_ctrl_c_stops_a_run_with_players_which_then_continues(binary, folder):
    process = program(PLAYER_RUN, "80", "soon")
    assert process.stdout.readline() == "held\n"
    assert len(ours(folder, binary)) == 1
    os.killpg(process.pid, signal.SIGINT)
    printed, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "kept: interrupted" in printed
    assert "are kept in agon-data. Run the same command again to continue" in printed
    assert ours(folder, binary) == []
    answered = int(re.search(r"^answered: (\d+)$", printed, re.MULTILINE)[1])
    # Each of the 32 threads may have held an answer that nobody had accepted yet.
    assert answered > 80 - 32
    again = program(PLAYER_RUN, "1000", "soon")
    printed, told = again.communicate(timeout=60)
    outcome = printed.split()
    assert outcome[:3] == ["done", "complete", "50"], (printed, told)
    assert int(outcome[3]) <= 300 - answered, "answers were asked for twice"
    assert outcome[4] == "50"


def test_nothing_is_left_behind_by_a_process_that_is_killed(binary, folder):
    process = program(PLAYER_RUN, "80", "never")
    assert process.stdout.readline() == "held\n"
    assert len(ours(folder, binary)) == 1
    process.kill()
    process.communicate()
    eventually(lambda: not ours(folder, binary))


def test_a_binary_that_is_killed_ends_a_run_with_players(binary, folder, guessing):
    asked = threading.Event()
    release = threading.Event()

    def player(ask):
        asked.set()
        release.wait(60)
        return 1

    def kill():
        asked.wait(60)
        for pid in ours(folder, binary):
            os.kill(pid, signal.SIGKILL)
        release.set()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(agon.Failed, match=r"killed by signal 9$"):
        agon.run(guessing(), players={"me": player})
    killer.join()
    assert ours(folder, binary) == []


def test_interrupting_a_kernel_stops_the_binary(binary, folder, model_server):
    from jupyter_client.manager import start_new_kernel

    model_server.open.clear()
    manager, client = start_new_kernel(cwd=str(folder))
    try:
        # Should it ever hang, the report of this test says where.
        executed = client.execute(f"""
import agon, faulthandler, sys
faulthandler.dump_traceback_later(50, file=sys.__stderr__)
agon.run("gamma-bench/leaderboard", model="m", base_url={model_server.url!r}, repeats=1,
         progress=True)
""")
        eventually(lambda: model_server.requests > 3)
        manager.interrupt_kernel()
        told = ""
        while "stopping: recording" not in told:
            told += client.get_iopub_msg(timeout=60)["content"].get("text", "")
        model_server.open.set()
        replies = iter(lambda: client.get_shell_msg(timeout=60), None)
        # On a busy machine replies to questions before the first one are still to come.
        mine = (each for each in replies if each["parent_header"]["msg_id"] == executed)
        reply = next(mine)["content"]
        assert (reply["status"], reply["ename"]) == ("error", "Interrupted")
        assert "Run the same command again to continue" in reply["evalue"]
        assert ours(folder, binary) == []
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_terminal_shows_the_bar_and_ctrl_c_there_counts_once(binary, folder, model_server):
    model_server.open.clear()
    text = MODEL_RUN.replace("progress=True", "progress=None")
    terminal, end = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", LEADER + text, model_server.url],
        stdin=end, stdout=end, stderr=end, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    shown = ""

    def read_until(wanted):
        nonlocal shown
        while wanted not in shown:
            try:
                some = os.read(terminal, 65_536).decode(errors="replace")
            except OSError:
                some = ""
            assert some, f"{wanted!r} was not shown: {shown}"
            shown += some

    read_until("░░░")
    eventually(lambda: model_server.requests > 3)
    os.write(terminal, b"\x03")
    read_until("stopping: recording")
    model_server.open.set()
    read_until("kept: interrupted")
    read_until("agon.errors.Interrupted")
    assert process.wait(20) != 0
    os.close(terminal)
    assert "Ctrl-C again stops at once" in shown
    assert ours(folder, binary) == []


def test_a_second_ctrl_c_stops_at_once(binary, folder, model_server):
    model_server.open.clear()
    process = program(MODEL_RUN, model_server.url)
    eventually(lambda: model_server.requests > 3)
    os.killpg(process.pid, signal.SIGINT)
    assert any(line.startswith("stopping: recording") for line in process.stderr)
    os.killpg(process.pid, signal.SIGINT)
    try:
        printed, _ = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        # The binary says it a moment before it listens again.
        os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "kept: " in printed
    assert ours(folder, binary) == []
    assert not model_server.open.is_set()


def test_of_two_runs_of_one_experiment_the_second_waits_and_keeps_what_was_played(guessing):
    experiment = guessing(repeats=2, rounds=1)
    asked, release = threading.Event(), threading.Event()

    def mine(ask):
        asked.set()
        release.wait(60)
        return 4

    def play():
        runs.append(agon.run(experiment, players={"me": mine}))

    runs = []
    threads = [threading.Thread(target=play) for _ in range(2)]
    threads[0].start()
    assert asked.wait(60)
    threads[1].start()
    threads[1].join(3)
    assert threads[1].is_alive()
    release.set()
    for thread in threads:
        thread.join(60)
    assert [(run.outcome, run.sessions_done) for run in runs] == [("complete", 2)] * 2
    assert [run.players["me"].asked for run in runs] == [2, 0]
