"""Games that are written in Python: how they are described, played, hosted and killed."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import agon
from agon import _binary, _toml
from agon.chance import Chance
from agon.rules import Session, as_json

PAGE = Path(__file__).parents[3] / "docs" / "outside-games.md"
KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    return found


def ultimatum() -> str:
    [source] = [block for block in blocks("python") if "class Ultimatum" in block]
    return source


class Numbers(agon.Game):
    """Say numbers that nobody has said before.

    The sum is paid to all.
    """

    name = "numbers"
    seats = (2, 5)
    rounds = agon.parameter(2, "Number of rounds.", min=1, max=50)
    factor = agon.parameter(1.5)
    told_to = agon.parameter("all", options=["all", "nobody"])
    steps = agon.parameter([1, 2])

    def settle(self):
        if self.factor == 0:
            raise ValueError("factor must not be 0")

    def play(self, table):
        table.brief(rounds=self.rounds, hidden={"factor": self.factor})
        self.said = set()
        for table.round in range(1, self.rounds + 1):
            bonus = table.chance.integer("bonus", table.round, 1, 6)
            table.tell("bonus", bonus=bonus, to=[0])
            answers = yield table.ask_all("number", agon.whole(0, 99))
            self.said |= set(answers.values())
            total = self.factor * sum(answer or 0 for answer in answers.values())
            table.tell("round_result", own={"number": [answers[s] for s in range(table.seats)]})
            table.pay([total + bonus] * table.seats)
        table.score("kept", 1)
        table.series("rounds", [1, 2])

    def check(self, table, seat, kind, answer):
        return f"{answer} was said before" if answer in self.said else None


def start(**params):
    defaults = {name: one.default for name, one in Numbers.parameters().items()}
    luck = {"seed": 1, "repeat": 0, "place": 0, "key": KEY}
    return {"params": {**defaults, **params}, "seats": 2, "luck": luck}


def experiment(name="numbers", **params):
    return {
        "name": name,
        "repeats": 4,
        "players": {"anybody": {"kind": "rule", "strategy": "random"}},
        "games": [
            {
                "game": "numbers",
                "seats": [{"player": "anybody", "count": 3}],
                "params": params,
            }
        ],
    }


def lines_of(folder: Path) -> list[str]:
    return sorted((folder / "records.jsonl").read_text().splitlines())


def test_the_description_follows_from_the_class():
    description = Numbers.description()
    assert description["name"] == "numbers"
    assert description["summary"] == "say numbers that nobody has said before"
    assert description["seats"] == [2, 5]
    assert description["asks_per_seat"] == {"times": 1, "parameter": "rounds"}
    parameters = description["parameters"]
    assert parameters["rounds"] == {
        "type": "integer", "min": 1, "max": 50, "default": 2, "meaning": "Number of rounds.",
    }  # fmt: skip
    assert parameters["factor"]["type"] == "number"
    assert parameters["told_to"] == {
        "type": "choice", "options": ["all", "nobody"], "default": "all", "meaning": "",
    }  # fmt: skip
    assert parameters["steps"] == {
        "type": "list", "of": {"type": "integer"}, "default": [1, 2], "meaning": "",
    }  # fmt: skip
    assert parameters["players"]["max"] == 5
    assert agon.Game.description()["title"] == "Game"

    class TwoWords3(agon.Game):
        asks_per_seat = ("players", 2)

    assert (TwoWords3.game_name(), TwoWords3.description()["title"]) == (
        "two_words_3",
        "Two Words 3",
    )
    assert TwoWords3.description()["asks_per_seat"] == {"times": 2, "parameter": "players"}


def test_a_session_goes_turn_by_turn():
    session = Session.of(Numbers, start())
    begun = session.begin()
    assert begun["events"][0] == {
        "event": "briefing", "round": 0,
        "facts": {
            "players": 2, "title": "Numbers", "rounds": 2,
            "rules": "Say numbers that nobody has said before.\n\nThe sum is paid to all.",
        },
        "hidden": {"factor": 1.5},
    }  # fmt: skip
    [draw] = begun["draws"]
    assert begun["events"][1]["to"] == [0]
    assert [ask["seats"] for ask in begun["asks"]] == [(0, 1)]
    after = session.move([7, {"forfeited": True}])
    assert after["payoffs"] == [10.5 + draw["value"]] * 2
    refused = session.move([7, 8])
    assert refused == {
        "refused": [{"seat": 0, "kind": "out_of_range", "reason": "7 was said before"}]
    }
    end = session.move([9, 8])
    assert session.has_ended
    assert "asks" not in end
    assert end["measures"] == {
        "scores": {"kept": 1.0}, "parts": {}, "series": {"rounds": [1.0, 2.0]},
    }  # fmt: skip


def test_a_pass_is_its_word_and_a_forfeit_none():
    class Passing(agon.Game):
        def play(self, table):
            table.brief()
            answers = yield [
                table.ask(1, "bid", agon.whole(0, 9, pass_word="out")),
                table.ask(0, "shot", agon.target([1], pass_word="miss")),
            ]
            table.tell("end", round=1, answers=[answers[0], answers[1]])

    session = Session.of(Passing, {"params": {}, "seats": 2, "luck": {"key": KEY}})
    session.begin()
    # In the order of seats, whatever the order of the questions.
    assert session.move([1, None])["events"][0]["facts"] == {"answers": [1, "out"]}


def test_draws_are_those_that_a_built_in_game_would_make(quick_start):
    """Each draw depends on its stream and index alone, and spreads as it should."""
    chance = Chance(KEY)
    first = [chance.integer("deck", at, 1, 6) for at in range(600)]
    again = Chance(KEY)
    assert [again.integer("deck", at, 1, 6) for at in reversed(range(600))][::-1] == first
    assert all(60 < first.count(face) < 140 for face in range(1, 7))
    assert [chance.integer("dice", at, 1, 6) for at in range(600)] != first
    order = chance.order("order", 0, 10)
    assert sorted(order) == list(range(10))
    assert chance.seat_among("ties", 0, [3]) == 3
    assert chance.drawn[-1]["stream"] == "order", "of one seat nothing is drawn"
    bell = chance.bell("supplies", 0, 500, 50.0, 10.0, 100)
    assert 45 < sum(bell) / 500 < 55


def test_a_game_plays_and_its_records_verify_without_it():
    run = agon.run(experiment(), games=[Numbers])
    assert (run.outcome, run.sessions_done) == ("complete", 4)
    assert run.verify().sessions == 4
    sessions = run.sessions()
    assert set(sessions.game) == {"numbers"}
    record = next(iter(run.records()))
    assert record.payoffs == (record.payoffs[0],) * 3
    assert record.data["spec"]["outside"]["title"] == "Numbers"
    assert record.data["draws"][0]["stream"] == "bonus"


def test_the_process_is_asked_again_where_verify_is_told_where_it_is(binary):
    run = agon.run(experiment(), games=[Numbers])

    class Changed(Numbers):
        def play(self, table):
            self.factor += 1
            return super().play(table)

    def verify(game):
        with agon.host(game) as hosted:
            command = [binary, "verify", str(run.folder), "--game-at", hosted.argument]
            return subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert verify(Numbers).stdout == "4 of 4 records verified\n"
    changed = verify(Changed)
    assert changed.returncode == 1
    assert "differs at byte" in changed.stdout


def test_parameters_are_checked_before_anything_is_played():
    faults = [
        ({"rounds": 0}, r"params\.rounds: is 0; must be from 1 to 50"),
        ({"rounds": "two"}, 'must be a whole number, not "two"'),
        ({"told_to": "some"}, 'cannot be "some"'),
        ({"steps": [1, "b"]}, r"params\.steps\[1\]: must be a whole number"),
        ({"round": 2}, 'no parameter "round"; did you mean "rounds"'),
        ({"players": 3}, "is taken from the seats"),
    ]
    for params, why in faults:
        with pytest.raises(agon.BadInput, match=why):
            agon.check(experiment(**params), games=[Numbers])
    many = experiment()
    many["games"][0]["seats"][0]["count"] = 6
    with pytest.raises(agon.BadInput, match="numbers needs 2 to 5 seats"):
        agon.check(many, games=[Numbers])
    with pytest.raises(agon.BadInput, match="--game-at numbers=URL"):
        agon.check(experiment())


def test_what_a_game_raises_is_said_with_its_place(caplog):
    class Raising(Numbers):
        def check(self, table, seat, kind, answer):
            raise KeyError("of mine")

    with (
        caplog.at_level(logging.ERROR, "agon"),
        pytest.raises(agon.BadNews, match=r"KeyError: 'of mine' \(test_games\.py, line \d+\)"),
    ):
        agon.run(experiment(), games=[Raising])
    assert "Traceback" in caplog.text


def test_parameters_that_do_not_fit_each_other_are_refused_before_anything_is_played():
    with pytest.raises(agon.BadInput, match=r"params: numbers, turn 0: ValueError: factor must"):
        agon.check(experiment(factor=0.0), games=[Numbers])


def test_a_game_that_says_what_no_game_may_say_goes_no_further():
    class Short(Numbers):
        def play(self, table):
            table.brief()
            table.tell("deal", round=1, own={"card": [1]})
            yield table.ask_all("number", agon.whole(0, 9))

    with pytest.raises(agon.BadInput, match="column card has 1 entries, not 3"):
        agon.check(experiment(), games=[Short])

    class Endless(Numbers):
        def play(self, table):
            table.brief()
            while True:
                yield table.ask_all("number", agon.whole(0, 9))

        def check(self, table, seat, kind, answer):
            return None

    with pytest.raises(agon.BadNews, match="more often than the 2 times that asks_per_seat says"):
        agon.run(experiment(), games=[Endless])


def test_models_and_players_are_refused_what_the_game_refuses():
    asked = []

    def mine(ask):
        asked.append((ask.kind, ask.refused and ask.refused["reason"]))
        return 5 if len(asked) < 3 else 6

    document = experiment()
    document["repeats"] = 1
    document["players"]["me"] = {"kind": "rule", "strategy": "random"}
    document["games"][0]["seats"] = [
        {"player": "me", "count": 1},
        {"player": "anybody", "count": 1},
    ]
    run = agon.run(document, games=[Numbers], players={"me": mine})
    assert asked[0] == ("number", None)
    assert asked[-1] == ("number", "5 was said before")
    record = next(iter(run.records()))
    [fouled] = [move for move in record.moves if move.fouls]
    assert (fouled.seat, fouled.turn, fouled.action) == (0, 2, 6)
    assert run.verify().sessions == 1


def test_a_hosted_game_says_what_is_wrong_with_requests():
    def ask(hosted, path, body=None, kind="application/json"):
        headers = {"content-type": kind}
        request = urllib.request.Request(hosted.address + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    with agon.host(Numbers) as hosted:
        status, described = ask(hosted, "/")
        assert (status, json.loads(described)) == (
            200,
            json.loads(json.dumps(Numbers.description())),
        )
        assert ask(hosted, "/else")[0] == 404
        assert ask(hosted, "/steps", b"{")[0] == 400
        assert ask(hosted, "/steps", b"[]")[0] == 400
        assert ask(hosted, "/steps", b"[" * 100_000)[0] == 400
        assert ask(hosted, "/steps", b"{}", "text/plain")[0] == 415, "what any page can send"
        unknown = {"session": "s", "play": "p", "rules_version": 1, "turn": 3, "answers": [[1, 2]]}
        status, body = ask(hosted, "/steps", json.dumps({"steps": [unknown]}).encode())
        assert (status, body) == (200, b'{"replies":[{"unknown":true}]}')
        broken = {**unknown, "start": {**start(), "seats": "two"}}
        status, body = ask(hosted, "/steps", json.dumps({"steps": [broken]}).encode())
        assert "TypeError" in json.loads(body)["replies"][0]["error"]
        assert len(hosted.errors) == 1
        other = {**unknown, "rules_version": 2}
        status, body = ask(hosted, "/steps", json.dumps({"steps": [other]}).encode())
        assert body == b'{"replies":[{"other_rules":true}]}'
        more = {**unknown, "start": {**start(), "params": {**start()["params"], "check": 1}}}
        status, body = ask(hosted, "/steps", json.dumps({"steps": [more]}).encode())
        assert "numbers has no parameter 'check'" in json.loads(body)["replies"][0]["error"]
        early = {**unknown, "turn": 2, "start": start(), "answers": [[1, 2]]}
        status, body = ask(hosted, "/steps", json.dumps({"steps": [early]}).encode())
        assert "answers of 1 turns came for turn 2" in json.loads(body)["replies"][0]["error"]
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(hosted.address, timeout=2)


def test_what_a_game_must_not_do_is_said_in_its_own_terms():
    def begin(play):
        class Wrong(agon.Game):
            pass

        Wrong.play = play
        return Session.of(Wrong, {"params": {}, "seats": 2, "luck": {"key": KEY}}).begin()

    def returns(self, table):
        return table.ask(0, "bid", agon.whole())

    def asks_nobody(self, table):
        table.brief()
        yield []

    def asks_no_seat(self, table):
        table.brief()
        yield table.ask([], "bid", agon.whole())

    def yields_a_form(self, table):
        table.brief()
        yield [agon.whole()]

    def draws_twice(self, table):
        table.brief()
        table.chance.integer("die", 1, 1, 6)
        yield table.ask(0, "bid", agon.whole(table.chance.integer("die", 1, 1, 6)))

    def rounds_percent(self, table):
        yield table.ask(0, "bid", agon.whole(int(table.chance.percent("noise", 1, 12.5))))

    wrong = [
        (returns, TypeError, "must yield its questions, not return them"),
        (asks_nobody, ValueError, "return when it has ended"),
        (asks_no_seat, ValueError, "return when it has ended"),
        (yields_a_form, TypeError, "yield what table.ask returns"),
        (draws_twice, ValueError, "'die' was drawn at 1 before"),
        (rounds_percent, ValueError, "percent must be a whole number"),
    ]
    for play, kind, why in wrong:
        with pytest.raises(kind, match=why):
            begin(play)
    with pytest.raises(TypeError, match="cannot be called check"):
        type("Named", (agon.Game,), {"check": agon.parameter(1)}).description()
    with pytest.raises(TypeError, match="min and max are for numbers"):
        agon.parameter([1], min=0)
    chance = Chance(KEY)
    happened = [chance.happens("noise", at, 0.25) for at in range(400)]
    assert 60 < sum(happened) < 140


def test_what_a_game_changes_later_has_not_happened_yet():
    class Changing(agon.Game):
        def play(self, table):
            table.brief()
            alive, stock, owned = [0, 1], np.array([5, 5]), [{"gold": 1}]
            table.tell("before", alive=alive, stock=stock, owned=owned)
            alive.remove(1)
            stock -= 1
            owned[0]["gold"] = 0
            yield table.ask(0, "bid", agon.whole())

    session = Session.of(Changing, {"params": {}, "seats": 2, "luck": {"key": KEY}})
    facts = json.loads(as_json(session.begin()["events"][1]["facts"]))
    assert facts == {"alive": [0, 1], "stock": [5, 5], "owned": [{"gold": 1}]}


def test_a_game_that_leaves_the_thread_ends_its_own_session_alone():
    class Leaving(Numbers):
        left = 0

        def check(self, table, seat, kind, answer):
            type(self).left += 1
            if type(self).left == 7:
                sys.exit(3)
            return

    with pytest.raises(agon.BadNews, match=r"(?s)1 of 4 .*1 x numbers, turn \d: SystemExit: 3"):
        agon.run(experiment(), games=[Leaving])


def test_a_run_goes_on_under_other_rules_with_sessions_of_its_own(folder):
    class Newer(Numbers):
        rules_version = 2

    first = agon.run(experiment(), games=[Numbers])
    with agon.host(Newer) as hosted:
        hosted._description = json.dumps(Numbers.description()).encode()
        with pytest.raises((agon.BadNews, agon.BadInput), match="rules 1 of numbers"):
            agon.run(experiment(name="other"), games=[hosted.argument])
    assert first.sessions_done == 4


def test_a_session_that_is_forgotten_is_told_again(binary):
    class Forgetful(agon.hosting.Referee):
        def _keep(self, play, session):
            """Keep nothing."""

    with agon.host(Numbers) as hosted:
        remembered = agon.run(experiment(), games=[hosted.argument])
        hosted.referee = Forgetful(Numbers)
        forgotten = agon.run(experiment(), games=[hosted.argument], data="second")
    assert lines_of(remembered.folder) == lines_of(forgotten.folder)


def test_the_kit_finds_what_does_not_hold(binary):
    def conformance(game):
        with agon.host(game) as hosted:
            command = [binary, "conformance", hosted.address]
            return subprocess.run(command, capture_output=True, text=True, timeout=300)

    class Small(Numbers):
        name = "small"
        seats = 2
        rounds = agon.parameter(2, min=1, max=4)

    sound = conformance(Small)
    assert "BROKEN  luck" in sound.stdout, "it draws and does not say so"
    assert sound.returncode == 1

    class Drawing(Small):
        name = "drawing"
        chance = True

    sound = conformance(Drawing)
    assert (sound.returncode, sound.stderr) == (0, ""), sound.stdout
    assert "drawing conforms" in sound.stdout

    class Counting(Drawing):
        name = "counting"
        played = 0

        def play(self, table):
            type(self).played += 1
            self.factor += type(self).played
            return super().play(table)

    impure = conformance(Counting)
    assert impure.returncode == 1
    for name in ("forgetting", "luck", "determinism"):
        assert f"BROKEN  {name}" in impure.stdout


class Process:
    """A game in a process of its own, on a port that it keeps."""

    def __init__(self, file: Path, listen: str = "127.0.0.1:0"):
        self.file = file
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agon", f"{file}:Ultimatum", "--listen", listen],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        self.argument = line.removeprefix("serving ").strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        self.kill()
        return Process(self.file, self.argument.split("//")[1])


def test_a_thousand_sessions_of_the_game_of_the_page_survive_kills(binary, folder):
    """The game's process and the run are killed again and again; the records are the same."""
    source = ultimatum()
    assert len([line for line in source.splitlines() if line.strip()]) <= 40
    file = folder / "ultimatum.py"
    file.write_text(source)
    document = {
        "name": "killed",
        "repeats": 1000,
        "players": {"anybody": {"kind": "rule", "strategy": "random"}},
        "games": [{"game": "ultimatum", "params": {"rounds": 10}}],
    }
    (folder / "experiment.toml").write_text(_toml.document(document))

    def command(game, data):
        return [
            binary, "run", "experiment.toml", "--data", data, "--quiet", "--places", "32",
            "--game-at", game.argument,
        ]  # fmt: skip

    def lines(data):
        return lines_of(folder / data / "runs" / "killed")

    game = Process(file)
    environment = _binary.environment()
    subprocess.run(command(game, "calm"), check=True, env=environment, timeout=120)
    kills = 0
    for _ in range(40):
        run = subprocess.Popen(
            command(game, "killed"),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        try:
            run.wait(0.4 + 0.1 * kills)
        except subprocess.TimeoutExpired:
            game = game.again()
            try:
                run.wait(0.4)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                kills += 1
        told = run.communicate()[1]
        if run.returncode == 0:
            break
        assert run.returncode == -signal.SIGKILL, told
    game.kill()
    assert run.returncode == 0
    assert kills >= 2
    assert lines("killed") == lines("calm")
    assert len(lines("calm")) == 1000
    verified = agon.open("killed", data="killed").verify()
    assert verified.sessions == 1000


def test_the_example_of_the_page_runs(folder, monkeypatch):
    (folder / "ultimatum.py").write_text(ultimatum())
    monkeypatch.syspath_prepend(folder)
    [example] = [block for block in blocks("python") if "games=[Ultimatum]" in block]
    names: dict[str, object] = {"agon": agon}
    exec(example, names)
    run = names["run"]
    assert isinstance(run, agon.Run)
    assert (run.outcome, run.sessions_done) == ("complete", 50)
    assert all(0 <= record.scores["acceptance"] <= 1 for record in run.records())


def test_the_messages_of_the_page_are_those_of_the_game(folder, monkeypatch):
    (folder / "ultimatum.py").write_text(ultimatum())
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "ultimatum", raising=False)
    from ultimatum import Ultimatum  # type: ignore[import-not-found]

    described, _, replies = (json.loads(block.replace("…", "")) for block in blocks("json"))
    own = json.loads(json.dumps(Ultimatum.description()))
    shown = {key: own[key] for key in described if key not in ("chance", "parameters")}
    assert shown == {key: described[key] for key in shown}
    assert {**own["parameters"], **described["parameters"]} == own["parameters"]
    luck = {"seed": 1, "repeat": 0, "place": 0, "key": KEY}
    begun = Session.of(
        Ultimatum,
        {"params": {"rounds": 3, "pot": 100, "foul_allowance": 3}, "seats": 2, "luck": luck},
    ).begin()
    begun["events"][0]["facts"].pop("title")
    begun["events"][0]["facts"].pop("rules")
    assert json.loads(json.dumps(begun)) == replies["replies"][0]["reply"]


def test_a_cluster_is_told_where_games_are():
    with pytest.raises(agon.BadInput, match="start the workers with --game-at"):
        agon.check(experiment(), games=[Numbers], coordinator="http://127.0.0.1:1")
