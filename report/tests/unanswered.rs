//! Claims about players that do not answer: whatever the game, no table, export or leaderboard
//! shows a number of theirs without saying so, and none at all where they never answered.

use agon_engine::record::StoredRecord;
use agon_engine::session::open;
use agon_engine::spec::Settings;
use agon_engine::{
    Action, Ask, Form, Foul, FoulKind, Luck, PlayerKind, PlayerSpec, Reaction, Record, SessionSpec,
    registry,
};
use agon_report::plots::{Plot, PlotData, every_for_games};
use agon_report::session::Telemetry;
use agon_report::{
    Cells, Layout, Leaderboard, Reports, ResultColumns, Session, Standings, Summary,
};
use serde_json::{Value, json};

/// Wide enough for one line a row.
const WIDE: u16 = 1000;

/// The player that forfeits.
const SILENT: &str = "silent";

/// The player that never does.
const RULE: &str = "rule";

/// Figures of fouls and failed bids, which always count.
const OF_FOULS: [&str; 3] = ["fouls", "aucarena-faithfulness", "econarena-rule-breaking"];

/// Every game, from the table of games.
fn games() -> impl Iterator<Item = &'static str> {
    registry::GAMES.iter().map(|game| &*game.info.name)
}

fn player(name: &str, kind: PlayerKind, settings: Value) -> PlayerSpec {
    PlayerSpec {
        name: name.to_owned(),
        kind,
        settings: serde_json::from_value(settings).unwrap(),
    }
}

/// The numbers of a figure of these sessions.
fn drawn(plot: &'static Plot, lines: &[String]) -> String {
    let mut data = PlotData::new(plot);
    for line in lines {
        let record = StoredRecord::from_line(line).unwrap();
        data.add(&record, &Reports::default());
    }
    data.figure().csv()
}

/// The smallest legal answer.
fn answer(ask: &Ask) -> Action {
    match &ask.form {
        Form::Integer {
            min: Some(min),
            max: Some(max),
            ..
        } if min > max => Action::Pass,
        Form::Integer { min, .. } => Action::Integer(min.unwrap_or(0)),
        Form::Number { min, .. } => Action::Number(*min),
        Form::Amount { .. } => Action::Integer(0),
        Form::Choice { options } => Action::Choice(options[0].clone()),
        Form::Division { parts, total } => {
            let mut division = vec![0; *parts];
            division[0] = *total;
            Action::Division(division)
        }
        Form::Target { seats, .. } => seats
            .first()
            .map_or(Action::Pass, |seat| Action::Target(*seat)),
    }
}

/// A session in which the first seats are played by a model called `silent`, that forfeits when
/// `forfeits` says so of the number of its ask, and all others by rules.
fn line(game: &str, silent: usize, repeat: u32, forfeits: impl Fn(usize) -> bool) -> String {
    let registration = registry::find(game).unwrap();
    let built = registration.build(&Settings::new()).unwrap();
    let rule = player(RULE, PlayerKind::Rule, json!({ "strategy": "random" }));
    let mut seats = vec![rule; built.game.seats()];
    let model = player(SILENT, PlayerKind::Model, json!({ "model": "m" }));
    seats[..silent].fill(model);
    let spec = SessionSpec {
        experiment: "e".to_owned(),
        setting: serde_json::from_value(json!({ "label": "one" })).unwrap(),
        luck: Luck::new(3, repeat),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        seats,
        params: built.params,
        prompts_version: Some("1".to_owned()),
        prompt_bundle: None,
        origins: Default::default(),
    };
    let mut play = open(&spec).unwrap();
    let mut asked = vec![0; spec.seats.len()];
    while !play.is_finished() {
        let asks: Vec<Ask> = play.waiting().cloned().collect();
        for ask in asks {
            let number = asked[ask.seat];
            asked[ask.seat] += 1;
            if forfeits(number) {
                let foul = || Err(Foul::new(FoulKind::NoReply, "nothing came"));
                while !matches!(play.answer(ask.seat, foul()), Reaction::Forfeited { .. }) {}
            } else {
                let taken = play.answer(ask.seat, Ok(answer(&ask)));
                assert_eq!(taken, Reaction::Taken, "{game}");
            }
        }
    }
    let record = Record::new(spec, play, Vec::new(), Vec::new());
    record.to_line().unwrap()
}

/// Everything that is printed of these sessions.
fn printed(lines: &[String]) -> String {
    let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
    let (mut reports, mut standings) = (Reports::default(), Standings::default());
    for line in lines {
        let session = Session::from_line(line.as_bytes()).unwrap();
        summary.add(&session, &Telemetry::default());
        leaderboard.add(&session);
        standings.add(&session);
        reports.add(&StoredRecord::from_line(line).unwrap());
    }
    let own = leaderboard.render(Layout::Text(WIDE));
    let own: Vec<&str> = own
        .lines()
        .skip_while(|row| !row.contains("(yours)"))
        .collect();
    [
        summary.render(Layout::Text(WIDE)),
        reports.render(Layout::Text(WIDE)),
        own.join("\n"),
        standings.by_game(true, Layout::Text(WIDE)),
    ]
    .join("\n\n")
}

/// The rows of the tables about a player, with their headings: those that name it, and those
/// below that name nobody.
fn rows_of<'a>(printed: &'a str, player: &str) -> Vec<(&'a str, &'a str)> {
    let mut rows = Vec::new();
    // How wide the bins of winning bids are is no measure of a player.
    let tables = printed.split("\n\n");
    for table in tables.filter(|table| !table.contains("bin width")) {
        let mut lines = table.lines().filter(|line| line.starts_with(' '));
        let Some(headings) = lines.next() else {
            continue;
        };
        let mut is_own = false;
        for row in lines {
            let goes_on = row.starts_with("     ") && !row.contains(RULE);
            is_own = row.contains(player) || is_own && goes_on;
            if is_own {
                rows.push((headings, row));
            }
        }
    }
    rows
}

/// The cells of `results.csv` by heading.
fn csv(line: &str) -> Vec<(String, String)> {
    let session = Session::from_line(line.as_bytes()).unwrap();
    let mut columns = ResultColumns::default();
    columns.gather(&session);
    let mut out = Cells::new(Vec::new());
    columns.write_headings(&mut out).unwrap();
    columns
        .write_row(&session, &Telemetry::default(), &mut out)
        .unwrap();
    let text = out.finish().unwrap();
    let mut reader = csv::Reader::from_reader(&*text);
    let headings = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    let cells = headings.iter().zip(&row);
    cells
        .map(|(heading, cell)| (heading.to_owned(), cell.to_owned()))
        .collect()
}

fn cell<'a>(cells: &'a [(String, String)], heading: &str) -> &'a str {
    let found = cells.iter().find(|(known, _)| known == heading);
    found.map_or_else(|| panic!("no {heading}"), |(_, cell)| cell)
}

/// Whether a measure of the session stands in a column.
fn is_measure(heading: &str) -> bool {
    heading.starts_with("score.") || heading.starts_with("part.")
}

#[test]
fn a_model_that_never_answers_has_no_score_and_no_payoff_in_any_game() {
    for game in games() {
        let seats = registry::find(game)
            .unwrap()
            .build(&Settings::new())
            .unwrap();
        for silent in [1, seats.game.seats()] {
            let line = line(game, silent, 0, |_| true);
            let printed = printed(std::slice::from_ref(&line));
            let rows = rows_of(&printed, SILENT);
            assert!(!rows.is_empty(), "{game}: {printed}");
            let marked = |(_, row): &(&str, &str)| row.contains("100 % forfeited");
            assert!(rows.iter().any(marked), "{game}: {printed}");
            for (headings, row) in rows {
                let numbers = row.split("100 % forfeited").next().unwrap_or(row);
                let words = numbers.split_whitespace();
                let measured = words.filter(|word| word.contains('.')).count();
                // Nothing but the percentage of runs with a foul.
                let fouls = usize::from(headings.contains("fouls %"));
                assert!(
                    measured <= fouls,
                    "{game}, {silent} seats: {row}\n{printed}"
                );
            }
            let cells = csv(&line);
            for (heading, cell) in &cells {
                assert!(!is_measure(heading) || cell.is_empty(), "{game}: {heading}");
            }
            assert_eq!(cell(&cells, "unanswered_share"), "1", "{game}");
            let notes = cell(&cells, "notes");
            assert!(
                notes.starts_with("100 % forfeited, not measured"),
                "{game}: {notes}"
            );
        }
    }
}

#[test]
fn json_has_null_where_nothing_was_answered_and_says_why() {
    let mut measured = 0;
    for game in games() {
        let line = line(game, 1, 0, |_| true);
        let mut reports = Reports::default();
        reports.add(&StoredRecord::from_line(&line).unwrap());
        let settings: Vec<Value> = serde_json::from_str(&reports.to_json().unwrap()).unwrap();
        for setting in settings {
            measured += 1;
            let answers = of_player(&setting["answers_by_player"]).next().unwrap();
            assert_eq!(answers["notes"][0], "100 % forfeited", "{game}: {answers}");
            assert_eq!(answers["left_out"], 1, "{game}: {answers}");
            for list in setting.as_object().unwrap().values() {
                for row in of_player(list) {
                    for (name, number) in row.as_object().unwrap() {
                        // Shares of fouls are counted always; whole numbers are counts.
                        let is_fouls = name == "rule_breaking" || name == "failed_bid_rate";
                        assert!(is_fouls || !number.is_f64(), "{game}: {name} of {row}");
                    }
                }
            }
        }
    }
    assert!(measured >= 7, "{measured} games");
}

/// The entries of a list about the player that forfeits.
fn of_player(list: &Value) -> impl Iterator<Item = &Value> {
    let rows = list.as_array().into_iter().flatten();
    rows.filter(|row| row["player"] == SILENT)
}

#[test]
fn a_model_that_forfeits_now_and_then_is_marked_with_its_share_in_every_game() {
    for game in games() {
        let seats = registry::find(game)
            .unwrap()
            .build(&Settings::new())
            .unwrap();
        // The first of its asks, and every third after it.
        let line = line(game, seats.game.seats(), 0, |ask| ask % 3 == 2);
        let session = Session::from_line(line.as_bytes()).unwrap();
        if session.forfeits() == 0 {
            continue;
        }
        let printed = printed(std::slice::from_ref(&line));
        for table in printed.split("\n\n") {
            let rows: Vec<&str> = table.lines().filter(|row| row.contains(SILENT)).collect();
            for row in rows {
                assert!(row.contains(" % forfeited"), "{game}: {row}\n{printed}");
            }
        }
        let cells = csv(&line);
        let notes = cell(&cells, "notes");
        assert!(notes.contains(" % forfeited"), "{game}: {notes}");
        assert_eq!(
            cell(&cells, "forfeits"),
            session.forfeits().to_string(),
            "{game}"
        );
    }
}

#[test]
fn silence_in_the_public_goods_game_is_not_level_with_the_best_published_model() {
    let lines: Vec<String> = (0..5)
        .map(|repeat| line("public_goods", 10, repeat, |_| true))
        .collect();
    let mut leaderboard = Leaderboard::default();
    for line in &lines {
        leaderboard.add(&Session::from_line(line.as_bytes()).unwrap());
    }
    let shown = leaderboard.render(Layout::Text(WIDE));
    let own = shown
        .lines()
        .find(|row| row.contains(" m (yours)"))
        .unwrap();
    assert!(!own.contains("100.0"), "{shown}");
    assert!(own.contains("100 % forfeited, 5 of 5 left out"), "{shown}");
    assert!(
        shown.contains("left out: sessions in which more than half"),
        "{shown}"
    );
}

#[test]
fn n_counts_the_sessions_that_a_mean_rests_on() {
    // One of five pirate sessions has a score.
    let mut lines: Vec<String> = (1..5)
        .map(|repeat| line("pirate", 10, repeat, |_| true))
        .collect();
    lines.push(line("pirate", 10, 5, |_| false));
    let shown = printed(&lines);
    let row = shown
        .lines()
        .find(|row| row.starts_with(" pirate"))
        .unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words[..8],
        ["pirate", "one", "10", "x", "silent", "(m)", "1", "of"]
    );
    assert!(row.contains("4 of 5 left out"), "{row}");
    // The leaderboard says so too, and has no overall score.
    let mut below = shown.lines().skip_while(|row| !row.contains("(yours)"));
    let own = below.next().unwrap();
    let words: Vec<&str> = own.split_whitespace().collect();
    assert_eq!(words[..5], ["-", "m", "(yours)", "mean", "-"], "{shown}");
    assert!(own.contains("no overall: 7 games have no score"), "{own}");
    let n = below.nth(3).unwrap();
    assert!(
        n.trim().starts_with('n') && n.ends_with("1 of 5"),
        "{shown}"
    );
}

#[test]
fn no_figure_shows_what_tables_leave_out() {
    let mut kinds = 0;
    for game in games() {
        let seats = registry::find(game)
            .unwrap()
            .build(&Settings::new())
            .unwrap();
        let seats = seats.game.seats();
        let answered: Vec<String> = (0..3)
            .map(|repeat| line(game, seats, repeat, |_| false))
            .collect();
        let silent = (3..6).map(|repeat| line(game, seats, repeat, |_| true));
        let all: Vec<String> = answered.iter().cloned().chain(silent).collect();
        for plot in every_for_games(&[game]) {
            if !OF_FOULS.contains(&plot.name) {
                kinds += 1;
                let (all, answered) = (drawn(plot, &all), drawn(plot, &answered));
                assert_eq!(all, answered, "{} of {game}", plot.name);
            }
        }
    }
    assert!(kinds > 100, "{kinds} figures");
}

#[test]
fn a_player_that_never_answers_has_no_payoff_in_figures() {
    // It contributes nothing, and would be paid more than those who do.
    let lines: Vec<String> = (0..3)
        .map(|repeat| line("public_goods", 1, repeat, |_| true))
        .collect();
    for name in [
        "payoffs",
        "payoff-distribution",
        "conditions",
        "payoff-shares",
        "strengths",
        "trueskill",
    ] {
        let csv = drawn(agon_report::plots::find(name).unwrap(), &lines);
        let rows = csv.lines().skip(1);
        let of_model = rows.filter(|row| row.split(',').any(|cell| cell == "m"));
        assert_eq!(of_model.count(), 0, "{name}: {csv}");
    }
}
