"""Players at real doors: those of a run, and of a gateway that somebody else started."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import agon
from agon._http import Client, Unreachable
from services import services


class TwoThirds(agon.Player):
    """Guesses what won the last time."""

    def decide(self, ask):
        last = ask.latest("round_result")
        return 33 if last is None or last["target"] is None else round(last["target"])


def actions(run, seat=0):
    return [move.action for record in run.records() for move in record.moves if move.seat == seat]


def test_a_player_plays_every_session(guessing):
    run = agon.run(guessing(repeats=40), players={"me": TwoThirds})
    assert (run.outcome, run.sessions_done) == ("complete", 40)
    assert run.players == {"me": agon.Report(asked=120, answered=120)}
    for record in run.records():
        targets = [event.facts["target"] for event in record.events
                   if event.event == "round_result"]  # fmt: skip
        mine = [move.action for move in record.moves if move.seat == 0]
        assert mine == [33, *(round(target) for target in targets[:-1])]
        assert {decision.answered_by for decision in record.decisions} == {"TwoThirds"}
    assert run.verify().sessions == 40


def test_a_question_says_everything(guessing):
    asks = []

    def look(ask):
        asks.append(ask)
        return 10

    agon.run(guessing(repeats=1, rounds=2), players={"me": look},
             deadline="60s", stand_in="random")  # fmt: skip
    first, second = asks
    assert (first.game, first.seat, first.seats, first.kind) == ("guess_two_thirds", 0, 3, "guess")
    assert (first.experiment, first.door) == ("guessing-human-look", "look")
    assert (first.index, second.index) == (0, 1)
    assert first.form == {"type": "integer", "minimum": 0, "maximum": 100}
    assert first.game_facts["ratio"] == pytest.approx(2 / 3)
    assert first.latest("round_result") is None
    assert second.latest("round_result")["number"] == 10
    assert (first.round, second.round) == (0, 1)
    assert "Pick the number" in first.text
    assert first.messages[0]["role"] == "system"
    assert first.stand_in == "random"
    assert 50 < first._due - time.monotonic() < 60
    assert 0 < second.time_left < 60
    assert first.refused is None


@pytest.mark.parametrize(
    ("answer", "counts"),
    [(7, 7), ("I say 7.", 7), ('{"guess": 7}', 7), ({"guess": 7}, 7)],
)
def test_answers_may_have_several_forms(guessing, answer, counts):
    run = agon.run(guessing(repeats=1, rounds=1), players={"me": lambda ask: answer})
    assert actions(run) == [counts]


def test_numbers_of_numpy_are_answers(guessing):
    numpy = pytest.importorskip("numpy")
    run = agon.run(guessing(repeats=1, rounds=1), players={"me": lambda ask: numpy.int64(7)})
    assert actions(run) == [7]


def test_a_refused_answer_is_asked_again_with_the_reason(guessing):
    reasons = []

    def learner(ask):
        if ask.refused is None:
            return 101
        reasons.append(ask.refused["reason"])
        return 50

    run = agon.run(guessing(repeats=1, rounds=1), players={"me": learner})
    assert actions(run) == [50]
    assert len(reasons) == 1
    assert "101 is not a whole number from 0 to 100" in reasons[0]
    assert next(run.records()).moves[0].fouls[0]["kind"] == "out_of_range"


def test_choices_targets_and_divisions_are_answered():
    """Every form of answer that a game asks for, through the schema alone."""
    forms = set()

    def by_schema(ask):
        form = ask.form
        if "enum" in form:
            forms.add("words")
            return {ask.kind: form["enum"][0]}
        if form["type"] == "array":
            forms.add("division")
            return [form["items"]["maximum"]] + [0] * (form["minItems"] - 1)
        forms.add(form["type"])
        return form["minimum"]

    run = agon.run("gamma-bench/leaderboard", players={"subject": by_schema}, repeats=1)
    assert (run.outcome, run.sessions_done) == ("complete", 8)
    assert forms == {"words", "division", "integer"}
    assert sum(run.seats().fouls) == 0
    assert run.verify().sessions == 8


def test_a_class_is_seated_anew_at_every_seat(guessing):
    made, closed = [], []

    class Counting(agon.Player):
        def __init__(self):
            made.append(self)
            self.seats = set()

        def decide(self, ask):
            self.seats.add((ask.session, ask.seat))
            return 1

        def close(self):
            closed.append(self)

    players = {"me": Counting}
    agon.run(guessing(repeats=20), players=players)
    assert [len(player.seats) for player in made] == [1] * 20
    assert sorted(map(id, closed)) == sorted(map(id, made))


def test_per_seat_passes_arguments_on(guessing):
    class Fixed(agon.Player):
        def __init__(self, number, *, plus):
            self.number = number + plus

        def decide(self, ask):
            return self.number

    run = agon.run(guessing(repeats=2), players={"me": agon.PerSeat(Fixed, 20, plus=2)})
    assert set(actions(run)) == {22}
    assert set(run.players) == {"me"}


class Watched(agon.Player):
    """Counts how many questions it answers at once."""

    def __init__(self, *, concurrent):
        self.concurrent = concurrent
        self.now = self.most = 0
        self.lock = threading.Lock()

    def decide(self, ask):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return 1


@pytest.mark.parametrize("concurrent", [False, True])
def test_a_player_is_asked_one_by_one_unless_it_is_concurrent(guessing, concurrent):
    player = Watched(concurrent=concurrent)
    agon.run(guessing(repeats=30, rounds=1), players={"me": player})
    assert (player.most > 1) is concurrent


def test_players_models_and_rules_sit_together(guessing):
    experiment = guessing()
    experiment["players"]["third"] = {"kind": "rule", "strategy": "random"}
    experiment["games"][0]["seats"] += ["third", "third"]
    players = {"me": TwoThirds, "other": "sim", "third": lambda ask: 0}
    run = agon.run(experiment, players=players)
    assert set(run.players) == {"me", "third"}
    assert run.players["third"].answered == 2 * 9
    kinds = Counter(run.seats().model.fillna("rule"))
    assert kinds == {"human/TwoThirds": 3, "sim": 6, "human/third": 6}


def test_the_simulated_model_is_the_same_beside_a_player(guessing):
    players = {"other": "sim"}
    alone = agon.run(guessing(), players=players)
    with_player = agon.run(guessing(), players={**players, "me": lambda ask: 0})
    origins = [next(run.records()).data["spec"]["origins"]["sim"] for run in (alone, with_player)]
    assert origins[0] == origins[1]
    assert all(record.simulated for record in with_player.records())


def test_two_players_of_one_name_are_refused(guessing):
    experiment = guessing()
    players = {"me": TwoThirds(), "other": TwoThirds()}
    with pytest.raises(agon.BadInput, match="called TwoThirds"):
        agon.run(experiment, players=players)
    shared = TwoThirds()
    run = agon.run(experiment, players={"me": shared, "other": shared})
    assert run.players["me"] == run.players["other"]
    assert run.players["me"].answered == 3 * 9


def test_a_player_that_raises_ends_the_run_and_the_same_call_continues(guessing):
    asked = []

    def mine(ask):
        asked.append(ask)
        if len(asked) == 20:
            raise ZeroDivisionError("of mine")
        return 10

    with pytest.raises(agon.PlayerFailed, match="mine raised ZeroDivisionError: of mine") as caught:
        agon.run(guessing(repeats=50), players={"me": mine})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    kept = caught.value.run.players["me"].answered
    run = agon.run(guessing(repeats=50), players={"me": mine})
    assert (run.outcome, run.sessions_done) == ("complete", 50)
    # Every answer that stood before stands after, and is not asked for again.
    assert kept > 0
    assert kept + run.players["me"].answered == 150
    assert run.verify().sessions == 50


def test_a_stand_in_answers_for_a_player_that_raises(guessing, caplog):
    def mine(ask):
        if ask.round == 1:
            raise RuntimeError("not today")
        return 10

    run = agon.run(guessing(), players={"me": mine}, deadline="2s", stand_in="equilibrium")
    report = run.players["me"]
    assert (report.asked, report.answered, report.failed) == (9, 6, 3)
    assert "RuntimeError: not today" in report.errors[0]
    first, last = caplog.messages
    assert "player mine raised when asked for a guess at seat 0" in first
    assert "RuntimeError: not today" in caplog.text
    assert last.endswith("asked 9 times, answered 6, 0 too late, raised 3")
    assert actions(run) == [10, 0, 10] * 3
    assert list(run.seats().query("player == 'me'").by_stand_in) == [1, 1, 1]
    assert run.verify().sessions == 3


def test_a_stand_in_answers_for_a_player_that_is_slow(guessing):
    both_are_over = threading.Barrier(4)  # two late answers and two questions after them

    def slow(ask):
        if ask.round >= 1:
            both_are_over.wait(20)
        return 10

    stand_in = {"strategy": "specified", "answers": [77]}
    run = agon.run(guessing(repeats=2), players={"me": slow}, deadline="2s", stand_in=stand_in)
    assert actions(run) == [10, 77, 10] * 2
    assert run.players["me"].late == 2
    decisions = [decision for record in run.records() for decision in record.decisions]
    assert Counter(decision.finish_reason for decision in decisions) == {"stop": 4, "deadline": 2}


def test_an_answer_after_the_end_of_the_run_is_late(guessing):
    def slow(ask):
        if ask.round == 2:
            time.sleep(3)
        return 10

    run = agon.run(guessing(repeats=1), players={"me": slow}, deadline="1s", stand_in="equilibrium")
    assert actions(run) == [10, 10, 0]
    report = run.players["me"]
    assert (report.asked, report.answered, report.late) == (3, 2, 1)


def test_returning_nothing_is_a_failure_that_explains_itself(guessing):
    with pytest.raises(agon.PlayerFailed, match="decide returned None for a guess"):
        agon.run(guessing(), players={"me": lambda ask: None})


def test_a_player_that_exits_or_cannot_be_closed_takes_nothing_else_along(guessing, caplog):
    def leaving(ask):
        sys.exit("no key")

    with pytest.raises(agon.PlayerFailed, match="leaving raised SystemExit: no key"):
        agon.run(guessing(), players={"me": leaving})

    class Clinging(TwoThirds):
        def close(self):
            raise RuntimeError("not now")

    run = agon.run(guessing(), players={"me": Clinging()})
    assert (run.outcome, run.sessions_done) == ("complete", 3)
    assert "player Clinging raised when closed" in caplog.text


def test_a_player_without_decide_fails(guessing):
    class Nothing(agon.Player):
        pass

    with pytest.raises(agon.PlayerFailed, match="NotImplementedError"):
        agon.run(guessing(), players={"me": Nothing})


def test_finished_sessions_are_kept_unless_played_under_another_name(guessing):
    class Fixed(agon.Player):
        number = 10

        def decide(self, ask):
            return self.number

    first = agon.run(guessing(), players={"me": Fixed})
    Fixed.number = 20
    second = agon.run(guessing(), players={"me": Fixed})
    assert second.players["me"].asked == 0
    assert set(actions(second)) == {10}
    experiment_renamed = agon.run(guessing(), players={"me": Fixed}, name="again")
    Fixed.name = "second"
    player_renamed = agon.run(guessing(), players={"me": Fixed})
    for third in (experiment_renamed, player_renamed):
        assert third.players["me"].asked == 9
        assert set(actions(third)) == {20}
    assert set(actions(first)) == {10}
    runs = (first, second, experiment_renamed, player_renamed)
    assert len({run.folder for run in runs}) == 4
    assert {decision.answered_by for record in player_renamed.records()
            for decision in record.decisions} == {"second"}  # fmt: skip


def test_what_is_for_python_players_is_refused_without_one(guessing):
    with pytest.raises(agon.BadInput, match="deadline and stand_in"):
        agon.run(guessing(), deadline="1s")
    with pytest.raises(agon.BadInput, match="stand_in"):
        agon.run(guessing(), players={"me": TwoThirds}, deadline="1s")


def test_an_experiment_with_a_player_is_checked_and_planned(guessing):
    players = {"me": TwoThirds}
    checked = agon.check(guessing(), players=players)
    assert (checked.name, checked.sessions) == ("guessing-human-TwoThirds", 3)
    assert agon.plan(guessing(), players=players).at_most_dollars == 0


def test_workers_and_places_are_those_asked_for(guessing):
    player = Watched(concurrent=True)
    agon.run(guessing(repeats=12, rounds=1), players={"me": player}, workers=1, places=2)
    assert player.most <= 2


def test_a_gateway_that_is_not_there_is_asked_again_until_close():
    doors = agon.serve({"alice": TwoThirds()}, "http://127.0.0.1:9")
    assert doors.refusal is None
    doors.close()
    assert doors.reports == {"alice": agon.Report()}
    with pytest.raises(Unreachable):
        Client("http://127.0.0.1:9", None).asks("alice", wait="0s", after=None)
    with pytest.raises(agon.BadInput, match="like http://"):
        agon.serve({"alice": TwoThirds()}, "127.0.0.1:7711")


def test_what_the_environment_says_of_other_clusters_is_not_meant(guessing, monkeypatch):
    monkeypatch.setenv("AGON_TOKEN", "of-another-cluster")
    monkeypatch.setenv("AGON_HTTP_LISTEN", "127.0.0.1:9")
    monkeypatch.setenv("AGON_COORDINATOR", "http://127.0.0.1:9")
    monkeypatch.setenv("AGON_IDENTITY", "nowhere.toml")
    monkeypatch.setenv("AGON_DATA", "elsewhere")
    run = agon.run(guessing(), players={"me": TwoThirds})
    assert run.outcome == "complete"
    assert run.folder.parts[0] == "elsewhere"


def test_models_of_a_configuration_play_beside_a_player(guessing, folder, model_server):
    (folder / "agon.toml").write_text(f"""
[providers.mine]
kind = "openai"
base_url = "{model_server.url}"
[models.fixed]
provider = "mine"
model = "fixed"
""")
    run = agon.run(guessing(), players={"me": TwoThirds, "other": "fixed"})
    assert (run.outcome, run.players["me"].answered) == ("complete", 9)
    assert set(actions(run, seat=1)) == {5}


def test_a_base_url_is_for_the_models_beside_a_player(guessing, model_server):
    players = {"me": TwoThirds, "other": "any-name"}
    run = agon.run(guessing(), players=players, base_url=model_server.url)
    assert set(actions(run, seat=1)) == {5}
    alone = agon.run(guessing(), players={"other": "any-name"}, base_url=model_server.url)
    origins = [next(each.records()).data["spec"]["origins"]["any-name"] for each in (run, alone)]
    assert origins[0] == origins[1]
    Path("agon.toml").write_text("")
    beside_a_file = agon.run(guessing(), players=players, base_url=model_server.url, name="beside")
    assert (beside_a_file.outcome, beside_a_file.players["me"].answered) == ("complete", 9)
    assert set(actions(beside_a_file, seat=1)) == {5}


def test_an_experiment_is_handed_to_a_coordinator_and_its_player_served(guessing, binary):
    experiment = guessing()
    experiment["players"]["me"] = {"kind": "model", "model": "human/alice", "agent": "person"}
    with (
        services(binary, "cluster") as cluster,
        agon.serve({"alice": TwoThirds}, cluster.http) as doors,
    ):
        run = agon.run(experiment, coordinator=cluster.coordinator, gateway=cluster.gateway)
        assert (run.outcome, run.sessions_done) == ("complete", 3)
        assert doors.reports["alice"].answered == 9
        with pytest.raises(agon.BadInput, match=r"agon\.serve"):
            agon.run(guessing(), players={"me": TwoThirds}, coordinator=cluster.coordinator)


def test_a_gateway_with_tokens_lets_in_only_who_shows_one(guessing, binary):
    def token(*arguments):
        command = [binary, "token", "create", *arguments, "--data", "cluster"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    create = [binary, "team", "create", "red", "--data", "cluster"]
    subprocess.run(create, check=True, capture_output=True)
    allowed, reads = (token("--team", "red", "--scope", scope) for scope in ("play", "read"))
    gateway = subprocess.Popen(
        [binary, "gateway", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
         "--data", "cluster"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        lines = (line.split(" http listening on ") for line in gateway.stdout)
        url = next(f"http://{parts[1].strip()}" for parts in lines if len(parts) == 2)
        for wrong in (None, "wrong", reads):
            with (
                agon.serve({"alice": TwoThirds}, url, token=wrong) as doors,
                pytest.raises(agon.GatewayRefused, match=r"answered 40[13]"),
            ):
                doors.wait()
        client = Client(url, allowed)
        assert client.asks("alice", wait="0s", after=None)["asks"] == []
    finally:
        gateway.terminate()
        gateway.wait()


def test_a_player_that_never_returns_does_not_hold_the_process(guessing, monkeypatch):
    monkeypatch.setattr("agon.doors._FINISH_SECONDS", 0.2)

    def never(ask):
        if ask.round == 1:
            threading.Event().wait()
        return 10

    run = agon.run(guessing(), players={"me": never}, deadline="1s", stand_in="equilibrium")
    assert (run.outcome, run.players["me"].answered) == ("complete", 6)
    assert run.verify().sessions == 3
