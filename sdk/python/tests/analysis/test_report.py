"""Reports: which analyses a game has, their numbers, the page, the folder and the command."""

import base64
import gzip
import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import agon
from agon.analysis.__main__ import main
from agon.analysis.alpharank import alpha_rank
from agon.analysis.dynamics import moran_ranking, replicator
from agon.analysis.empirical import bootstrap, payoff_table
from agon.analysis.equilibria import (
    GambitMissingError,
    best_response_graph,
    nash_equilibria,
    pure_equilibria,
)
from agon.analysis.guessing import GuessingGame, choices_of, fit_hierarchy, fit_levels
from agon.analysis.quantal import Counts, fit_quantal
from agon.analysis.regret import regret_table
from agon.analysis.report import pages, payoff_tables, report
from agon.analysis.strategies import fit_strategies, plays_of
from agon.analysis.symmetric import diners_dilemma
from agon.analysis.welfare import welfare_table

PAGE = Path(__file__).parents[4] / "docs" / "game-theory.md"
DRAWS = 50
ALWAYS = {"Payoff table", "Welfare and equality"}
OF_TABLES = {
    "Pure equilibria",
    "Mixed equilibria",
    "Dominance",
    "Price of anarchy",
    "Best-response graph",
    "Alpha-rank",
    "Replicator dynamics",
    "Moran process",
}
MEETINGS = """
name = "meetings"
repeats = 3
[players.tit]
kind = "rule"
strategy = "tit_for_tat"
[players.rnd]
kind = "rule"
strategy = "random"
[[games]]
game = "diners_dilemma"
params = { rounds = 5 }
[games.grid]
"params.costly_utility" = [20, 24]
seats = [["tit", "tit"], ["tit", "rnd"], ["rnd", "rnd"]]
"""


class HawkDove(agon.Game):
    """Two animals share or fight over food of value 4; a fight costs 6."""

    seats = 2
    rounds = agon.parameter(1, "Number of rounds.", min=1, max=100)

    def play(self, table):
        table.brief(rounds=self.rounds)
        for table.round in range(1, self.rounds + 1):
            answers = yield table.ask_all("move", agon.choice("hawk", "dove"))
            one, other = answers[0], answers[1]
            if one == other:
                gains = [-1.0, -1.0] if one == "hawk" else [2.0, 2.0]
            else:
                gains = [4.0, 0.0] if one == "hawk" else [0.0, 4.0]
            table.pay(gains)
            table.tell("round_result", own={"payoff": gains})


HAWK_DOVE = """
name = "animals"
repeats = 2
[players.hawk]
kind = "rule"
strategy = "specified"
answers = ["hawk"]
[players.dove]
kind = "rule"
strategy = "specified"
answers = ["dove"]
[[games]]
game = "hawk_dove"
[games.grid]
seats = [["hawk", "hawk"], ["hawk", "dove"], ["dove", "hawk"], ["dove", "dove"]]
"""


@pytest.fixture(scope="module")
def quick(quick_start):
    return report(quick_start, draws=DRAWS)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def meetings(data):
    return agon.run(MEETINGS, data=data)


@pytest.fixture(scope="module")
def met(meetings):
    return report(meetings, draws=DRAWS)


def there(made, game):
    return {one.title for one in made if one.game == game and not one.left_out}


def left_out(made, game):
    return {one.title: one.left_out for one in made if one.game == game and one.left_out}


def of_setting(meetings, utility):
    sessions = meetings.sessions()
    kept = sessions["params"].map(lambda text: json.loads(text)["costly_utility"] == utility)
    seats = meetings.seats()
    return seats[seats["session"].isin(sessions["session"][kept])], sessions[kept]


def same(one, other):
    pd.testing.assert_frame_equal(
        one.reset_index(drop=True), other.reset_index(drop=True), check_dtype=False
    )


@pytest.mark.parametrize(
    ("game", "own"),
    [
        ("guess_two_thirds", {"Level-k", "Cognitive hierarchy", "Regret"}),
        ("el_farol", {"Quantal response", "Strategies", "Regret"}),
        # Against ten who choose at random all demands pay nearly the same.
        ("divide_dollar", {"Regret"}),
        ("public_goods", {"Quantal response", "Strategies", "Regret"}),
        ("diners_dilemma", {"Quantal response", "Strategies", "Regret"}),
        ("sealed_bid_auction", {"Regret"}),
        ("battle_royale", set()),
        ("pirate", set()),
    ],
)
def test_games_have_what_applies_and_reasons_for_the_rest(quick, game, own):
    assert there(quick, game) == own | ALWAYS
    reasons = left_out(quick, game)
    fitted = game not in ("guess_two_thirds", "divide_dollar")
    left = set() if fitted else {"Quantal response"}
    assert set(reasons) == OF_TABLES | left
    for title in OF_TABLES:
        assert re.search("is not complete|have the same player", reasons[title])


def test_fewer_choices_than_parameters_are_a_reason(data, guessing):
    run = agon.run(guessing(repeats=2), data=data)
    made = report(run, draws=0)
    assert "play more sessions" in left_out(made, "guess_two_thirds")["Level-k"]
    assert "play more sessions" in report(run, players="me", draws=0).find("Level-k").left_out


def test_guessing_is_fitted_as_by_hand(quick, quick_start):
    actions = quick_start.actions().query("game == 'guess_two_thirds'")
    record = next(r for r in quick_start.records() if r.game == "guess_two_thirds")
    game = GuessingGame.of(record.params)
    levels, hierarchy = quick.find("Level-k"), quick.find("Cognitive hierarchy")
    for player in ("thinker", "subject", "random"):
        choices = choices_of(actions, player)
        own = levels.frame().query("player == @player").drop(columns=["player", "choices"])
        same(own, fit_levels(choices, game).frame())
        own = hierarchy.frame().query("player == @player").drop(columns=["player", "choices"])
        same(own, fit_hierarchy(choices, game).frame())
    assert any("thinker 15" in caveat for caveat in levels.caveats)


def test_numbers_of_contests_with_other_bounds_are_scaled(data):
    run = agon.run(
        {
            "name": "contest",
            "repeats": 4,
            "players": {"eq": {"kind": "rule", "strategy": "level_k", "k": 1}},
            "games": [{"game": "beauty_contest", "seats": [{"player": "eq", "count": 3}]}],
        },
        data=data,
    )
    levels = report(run, draws=0).find("Level-k")
    assert any("Bounds differ" in caveat for caveat in levels.caveats)
    assert levels.frame().set_index("name").loc["level 1", "value"] > 0.5


def test_strategies_and_regret_and_quantal_response_are_those_of_direct_calls(quick, quick_start):
    records = [record for record in quick_start.records() if record.game == "diners_dilemma"]
    strategies = quick.find("Strategies", "diners_dilemma").frame()
    own = strategies.query("player == 'subject'").drop(columns=["player", "plays", "units"])
    same(own, fit_strategies(plays_of(records, "subject"), draws=DRAWS).frame())
    same(quick.find("Regret", "diners_dilemma").frame(), regret_table(records).frame())
    first = [
        m for r in records for m in r.moves if m.turn == 1 and r.seats[m.seat]["name"] == "random"
    ]
    said = [move.action for move in first]
    fit = fit_quantal(Counts.of(diners_dilemma(), [said.count("cheap"), said.count("costly")]))
    rows = quick.find("Quantal response", "diners_dilemma").frame().set_index("player")
    assert rows.loc["random", ["lambda", "low", "high"]].tolist() == pytest.approx(
        [fit.precision.value, fit.precision.low, fit.precision.high]
    )


def test_strategies_that_fit_alike_are_named(quick):
    caveats = quick.find("Strategies", "el_farol").caveats
    assert any("subject: only the sum is known of AD, D-TFT" in one for one in caveats)


def test_welfare_is_that_of_the_direct_call(quick, quick_start):
    seats = quick_start.seats().query("game == 'public_goods'")
    # All give everything, or nobody anything: 10 players, 20 tokens, 20 rounds, ratio 2.
    table = welfare_table(seats, 8000.0, 4000.0)
    same(
        quick.find("Welfare and equality", "public_goods").frame().drop(columns="seats"),
        table.frame(),
    )
    measures = set(quick.find("Welfare and equality", "pirate").frame()["measure"])
    assert measures == {"welfare", "gini"}


def test_settings_are_not_pooled(met, meetings):
    settings = ["costly_utility = 20", "costly_utility = 24"]
    assert [heading for heading, _ in met.groups()] == [f"diners_dilemma: {s}" for s in settings]
    for utility, setting in zip((20, 24), settings, strict=True):
        seats, sessions = of_setting(meetings, utility)
        table = payoff_table(seats, sessions)
        section = met.find("Payoff table", setting=setting)
        assert section.sessions == 9
        same(section.frame(), table.frame())


def test_a_complete_table_has_all_that_rests_on_it(met, meetings):
    assert there(met, "diners_dilemma") >= OF_TABLES | ALWAYS
    seats, sessions = of_setting(meetings, 24)
    table = payoff_table(seats, sessions)
    game = table.normal_form()

    def section(title):
        return met.find(title, setting="costly_utility = 24")

    rows = section("Pure equilibria").frame()
    own = {" / ".join(game.name_of(profile)) for profile in pure_equilibria(game)}
    assert set(rows["profile"][rows["equilibrium"]]) == own & set(rows["profile"])
    same(section("Best-response graph").frame(), best_response_graph(game).frame())
    ranked = section("Alpha-rank").frame()
    same(ranked[["profile", "mass"]], alpha_rank(game, np.inf).frame())
    drawn = bootstrap(table, lambda g: alpha_rank(g, np.inf).mass, ["rnd", "tit"], draws=DRAWS)
    lows = dict(zip(drawn.frame()["name"], drawn.frame()["low"], strict=True))
    assert dict(zip(ranked["profile"], ranked["low"], strict=True)) == lows
    spread = np.ptp(game.payoffs[0])
    [path] = replicator(game, until=100.0 / spread)
    same(section("Replicator dynamics").frame(), path.frame())
    same(section("Moran process").frame(), moran_ranking(game, 50, 1.0 / spread).frame())


def test_mixed_equilibria_are_those_of_gambit(met, meetings):
    pytest.importorskip("pygambit")
    game = payoff_table(*of_setting(meetings, 24)).normal_form()
    found = met.find("Mixed equilibria", setting="costly_utility = 24").frame()
    expected = nash_equilibria(game).frame()
    assert found["probability"].tolist() == expected["probability"].tolist()


def test_without_gambit_its_section_says_how_to_install_it(meetings, monkeypatch):
    def missing(game):
        raise GambitMissingError

    monkeypatch.setattr(payoff_tables, "nash_equilibria", missing)
    made = report(meetings, draws=0)
    assert "pip install pygambit" in left_out(made, "diners_dilemma")["Mixed equilibria"]
    caveats = made.find("Price of anarchy", setting="costly_utility = 20").caveats
    assert any("Only pure equilibria" in caveat for caveat in caveats)


def test_seats_that_share_luck_are_told(met):
    caveats = met.find("Regret", setting="costly_utility = 20").caveats
    assert any("share the luck of 3 repeats" in caveat for caveat in caveats)
    caveats = met.find("Payoff table", setting="costly_utility = 20").caveats
    assert not any("share the luck" in caveat for caveat in caveats)


def test_games_elsewhere_have_what_needs_payoffs_only(data):
    run = agon.run(HAWK_DOVE, games=[HawkDove], data=data)
    made = report(run, draws=DRAWS)
    found = there(made, "hawk_dove")
    assert found - {"Mixed equilibria"} == (ALWAYS | OF_TABLES) - {"Mixed equilibria"}
    rows = made.find("Pure equilibria").frame()
    assert set(rows["profile"][rows["equilibrium"]]) == {"hawk / dove", "dove / hawk"}
    assert "seat" in made.find("Payoff table").frame()
    alike = report(run, draws=DRAWS, symmetric_games=["hawk_dove"])
    assert "Moran process" in there(alike, "hawk_dove")
    assert "seat" not in alike.find("Payoff table").frame()
    [path] = alike.find("Replicator dynamics").results["paths"]
    # Hawks are a share of value / cost, 4 / 6.
    assert path.shares[-1].tolist() == pytest.approx([1 / 3, 2 / 3], abs=1e-3)


def test_simulated_models_are_marked_wherever_a_number_rests_on_them(data, folder):
    run = agon.run("gamma-bench/leaderboard", model="sim", repeats=1, data=data)
    made = report(run, draws=0)
    assert any("SIMULATED: subject" in note for note in made.notes)
    for section in made:
        if section.left_out:
            continue
        assert section.simulated == ("subject",)
        assert "simulated models (subject)" in section.caveats[0]
        assert section.frame()["simulated"].all()
        assert "[simulated]" in str(section)
    assert "(simulated models)" in made.find("Level-k").svg()
    page = made.html()
    shown = [section for section in made if not section.left_out]
    assert page.count('<span class="mark">simulated</span>') == len(shown)


def test_rules_are_not_marked_as_simulated(quick):
    assert not any(section.simulated for section in quick)
    assert "SIMULATED" not in str(quick)
    assert 'mark">simulated' not in quick.html()


def test_players_can_be_chosen_and_unknown_ones_are_refused(quick_start):
    made = report(quick_start, players="subject", draws=0)
    assert set(made.find("Level-k").frame()["player"]) == {"subject"}
    assert set(made.find("Regret", "el_farol").frame()["player"]) == {"subject"}
    assert len(made.find("Payoff table", "el_farol").frame()["player"].unique()) == 2
    with pytest.raises(ValueError, match="no player is called nobody"):
        report(quick_start, players=["nobody"])


def test_sessions_of_a_run_that_is_named_twice_count_once(meetings, met):
    twice = report([meetings, meetings.folder], draws=DRAWS)
    assert [one.sessions for one in twice] == [one.sessions for one in met]
    same(twice[0].frame(), met[0].frame())


def test_a_name_that_means_another_player_elsewhere_is_kept_apart(meetings, data):
    text = MEETINGS.replace('"tit_for_tat"', '"equilibrium"').replace('"meetings"', '"others"')
    made = report([meetings, agon.run(text, data=data)], draws=0)
    assert [sections[0].sessions for _, sections in made.groups()] == [9] * 4
    assert {section.setting for section in made} == {
        f"costly_utility = {utility}, experiment = {name}"
        for utility in (20, 24)
        for name in ("meetings", "others")
    }


def test_forfeited_sessions_are_left_out_and_counted(data):
    text = MEETINGS.replace('"tit_for_tat"', '"specified"\nanswers = ["nothing"]')
    run = agon.run(text.replace('"meetings"', '"silent"'), data=data)
    made = report(run, draws=0)
    section = made.find("Payoff table", setting="costly_utility = 20")
    assert section.sessions == 3
    assert set(section.frame()["player"]) == {"rnd"}
    assert any("Left out: 6 sessions in which a player forfeited" in c for c in section.caveats)


HOSTILE = "<script>alert(1)</script>$x_$ & \"'\x1b[31m\u202e=1"


@pytest.fixture
def hostile(meetings, folder):
    records = []
    for record in meetings.records():
        text = json.dumps(record.data).replace('"tit"', json.dumps(HOSTILE))
        records.append(json.loads(text))
    path = folder / "records.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(r) for r in records).encode()))
    return path


def test_names_are_escaped(hostile, folder):
    made = report(hostile, draws=0)
    page = made.html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for text in (page, str(made)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    ElementTree.fromstring(page.partition("\n")[2])
    made.save(folder / "out")
    for figure in (folder / "out" / "figures").glob("*.svg"):
        ElementTree.parse(figure)


def test_tables_run_no_formulas():
    frame = pd.DataFrame({"player": ["=cmd()", "@x", "-1+1", "fine"], "value": [-1.5, 2, 3, 4]})
    safe = pages._safe_for_spreadsheets(frame)
    assert safe["player"].tolist() == ["'=cmd()", "'@x", "'-1+1", "fine"]
    assert safe["value"].tolist() == [-1.5, 2, 3, 4]


def test_the_page_is_well_formed_and_needs_nothing_else(met):
    page = met.html()
    top = ElementTree.fromstring(page.partition("\n")[2])
    names = [part.attrib["id"] for part in top.iter() if "id" in part.attrib]
    assert len(names) == len(set(names))
    links = [part.attrib["href"] for part in top.iter("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(names)
    figures = [part for part in top.iter() if part.tag.endswith("}svg")]
    assert len(figures) == len(list(top.iter("figure"))) == len(list(top.iter("table")))
    texts = [t for t in top.iter() if t.tag.endswith("}text")]
    assert any("rnd" in "".join(text.itertext()) for text in texts)
    assert not re.search(r"<(link|script|img|iframe)\b", page)
    assert "prefers-color-scheme: dark" in page
    assert "currentColor" in page
    assert pages._INK not in page.partition("</style>")[2]


def test_the_text_has_everything(met):
    text = str(met)
    for section in met:
        assert section.title in text
        assert section.left_out or section.frame().columns[0] in text
    assert "Dal Bo, Frechette 2011" in text


def test_a_folder_has_page_tables_and_figures(met, folder):
    page = met.save(folder / "out")
    assert page == folder / "out" / "index.html"
    links = re.findall(r'href="((?:tables|figures)/[^"]+)"', page.read_text())
    assert links
    written = {str(p.relative_to(folder / "out")) for p in (folder / "out").glob("*/*")}
    assert set(links) == written
    shown = [section for section in met if not section.left_out]
    tables = sorted((folder / "out" / "tables").glob("*.csv"))
    for section, path in zip(shown, tables, strict=True):
        assert list(pd.read_csv(path).columns) == list(section.frame().columns)
        assert len(pd.read_csv(path)) == len(section.frame())
    (folder / "out" / "tables" / "99-old.csv").touch()
    met.save(folder / "out")
    assert not (folder / "out" / "tables" / "99-old.csv").exists()
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").touch()
    with pytest.raises(FileExistsError, match="has other files"):
        met.save(folder / "mine")


def of_agon(binary, *arguments):
    return subprocess.run([binary, "report", *arguments], capture_output=True, text=True)


def test_the_report_of_everything_shows_the_analyses(met, meetings, data, binary, folder):
    met.save(folder / "out")
    page = folder / "page.html"
    flags = ["--data", data, "-o", page, "--overwrite"]
    ended = of_agon(binary, meetings.name, *flags, "--analyses", folder / "out")
    assert ended.returncode == 0, ended.stderr
    text = html.unescape(page.read_text())
    assert ">Reasoning and strategy</h2>" in text
    for section in met:
        assert section.title in text
        for caveat in section.caveats:
            assert caveat in text
    figures = [one for one in met if one.draw is not None and not one.left_out]
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    assert len(pictures) == len(figures)
    for section, picture in zip(figures, pictures, strict=True):
        assert base64.b64decode(picture).decode() == section.svg()
    # Of other sessions they would say something else.
    other = of_agon(binary, meetings.name, *flags, "--where", "costly_utility=20", "--analyses",
                    folder / "out")  # fmt: skip
    assert other.returncode == 2
    assert "that are not the same; name the same runs here and there" in other.stderr


def test_names_are_escaped_in_the_report_of_everything(hostile, binary, folder):
    report(hostile, draws=0).save(folder / "out")
    page = folder / "page.html"
    ended = of_agon(binary, hostile, "-o", page, "--analyses", folder / "out")
    assert ended.returncode == 0, ended.stderr
    text = page.read_text()
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_folder_without_analyses_is_refused_with_the_way_to_make_them(hostile, binary, folder):
    (folder / "none").mkdir()
    ended = of_agon(binary, hostile, "-o", folder / "page.html", "--analyses", folder / "none")
    assert ended.returncode == 2
    assert "`python -m agon.analysis RUN... --out" in ended.stderr


def test_figures_are_the_same_each_time(met, meetings):
    again = report(meetings, draws=DRAWS)
    assert again.html() == met.html()


def test_the_command_prints_and_writes(meetings, data, folder, capsys):
    assert main(["meetings", "--data", str(data), "--out", "out", "--draws", "0"]) == 0
    printed = capsys.readouterr().out
    assert "Alpha-rank" in printed
    assert "Wrote out/index.html" in printed
    assert (folder / "out" / "index.html").is_file()
    assert main(["meetings", "--data", str(data), "--player", "tit", "--draws", "0"]) == 0
    (folder / "out" / "index.html").write_text("mine")
    assert main(["meetings", "--data", str(data), "--out", "out", "--draws", "0"]) == 2


def test_the_command_says_what_is_wrong(meetings, data, capsys):
    assert main(["nowhere", "--data", str(data)]) == 2
    assert "there are no results in nowhere" in capsys.readouterr().err
    assert main(["meetings", "--data", str(data), "--player", "me"]) == 2
    assert "no player is called me; there are rnd, tit" in capsys.readouterr().err


def test_the_command_runs_as_a_module_and_teaches():
    done = subprocess.run(
        [sys.executable, "-m", "agon.analysis", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for words in ("examples:", "exit codes", "--out", "--player", "--data"):
        assert words in done.stdout


def test_the_example_of_the_guide_runs(folder, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    [example] = [block for block in blocks if "report(" in block]
    exec(example, {})
    assert "Level-k" in capsys.readouterr().out
    assert (folder / "my-report" / "index.html").is_file()
