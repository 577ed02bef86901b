//! Claims about tables and exports, made from records of real sessions.
//! Equilibrium players play them in the test, so the numbers are those of the engine.

use agon_engine::record::StoredRecord;
use agon_engine::session::open;
use agon_engine::spec::Settings;
use agon_engine::{Luck, PlayerKind, PlayerSpec, Record, SessionSpec, registry};
use agon_report::leaderboard::{GAMES, published};
use agon_report::session::Telemetry;
use agon_report::{
    Cells, Layout, Leaderboard, Pivots, Ratings, Reports, ResultColumns, Session, SessionError,
    StatisticsError, Summary,
};
use serde_json::json;

/// A session of equilibrium players, with parts of its setting as given.
fn line(game: &str, repeat: u32, setting: serde_json::Value) -> String {
    let registration = registry::find(game).unwrap();
    let built = registration.build(&Settings::new()).unwrap();
    let player = PlayerSpec {
        name: "subject".to_owned(),
        kind: PlayerKind::Rule,
        settings: serde_json::from_value(json!({ "strategy": "equilibrium" })).unwrap(),
    };
    let spec = SessionSpec {
        experiment: "e".to_owned(),
        setting: serde_json::from_value(setting).unwrap(),
        luck: Luck::new(3, repeat),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        seats: vec![player; built.game.seats()],
        params: built.params,
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    };
    let play = open(&spec).unwrap();
    Record::new(spec, play, Vec::new(), Vec::new())
        .to_line()
        .unwrap()
}

fn session(line: &str) -> Session {
    Session::from_line(line.as_bytes()).unwrap()
}

#[test]
fn a_setting_has_one_row_with_mean_and_spread() {
    let mut summary = Summary::default();
    for repeat in 0..3 {
        for ratio in [0.5, 0.6] {
            let setting = json!({ "params.ratio": ratio });
            let session = session(&line("guess_two_thirds", repeat, setting));
            summary.add(&session, &Telemetry::default());
        }
    }
    let text = summary.render(Layout::Text(120));
    let rows: Vec<&str> = text
        .lines()
        .filter(|row| row.starts_with(" guess_two_thirds"))
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(
        rows[0].contains("ratio=0.5") && rows[0].contains("100.0 \u{b1} 0.0"),
        "{text}"
    );
    assert!(!text.to_lowercase().contains("simulated"), "{text}");
}

#[test]
fn simulated_sessions_are_marked_in_every_table() {
    let simulated =
        line("pirate", 0, json!({})).replacen("\"simulated\":false", "\"simulated\":true", 1);
    let session = session(&simulated);
    let mut summary = Summary::default();
    summary.add(&session, &Telemetry::default());
    let text = summary.render(Layout::Text(100));
    assert!(
        text.contains("simulated") && text.contains("SIMULATED model"),
        "{text}"
    );
    let mut leaderboard = Leaderboard::default();
    leaderboard.add(&session);
    let shown = leaderboard.render(Layout::Text(140));
    let own = shown.lines().find(|row| row.contains("equilibrium"));
    assert!(own.unwrap().contains("simulated"), "{shown}");
    let mut columns = ResultColumns::default();
    columns.gather(&session);
    let mut out = Cells::new(Vec::new());
    columns.write_headings(&mut out).unwrap();
    columns
        .write_row(&session, &Telemetry::default(), &mut out)
        .unwrap();
    let text = String::from_utf8(out.finish().unwrap()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let place = reader
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "simulated")
        .unwrap();
    assert_eq!(&reader.records().next().unwrap().unwrap()[place], "true");
}

/// Sessions of these settings, one each.
fn sessions_of(game: &str, settings: &[serde_json::Value]) -> Vec<String> {
    let lines = settings
        .iter()
        .map(|setting| line(game, 0, setting.clone()));
    lines.collect()
}

#[test]
fn axes_that_share_their_last_segment_are_two() {
    let settings = [
        json!({ "players.alice.temperature": 0 }),
        json!({ "players.bob.temperature": 0 }),
    ];
    let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
    for line in sessions_of("pirate", &settings) {
        summary.add(&session(&line), &Telemetry::default());
        leaderboard.add(&session(&line));
    }
    let summary = summary.render(Layout::Text(400));
    let leaderboard = leaderboard.render(Layout::Text(400));
    for name in ["alice.temperature=0", "bob.temperature=0"] {
        let row = summary.lines().find(|row| row.contains(name));
        let row = row.unwrap_or_else(|| panic!("{name}: {summary}"));
        assert!(row.contains("subject  1  "), "{row}");
        assert!(
            leaderboard.contains(&format!("equilibrium (yours) [{name}]")),
            "{leaderboard}"
        );
    }
    let mut reports = Reports::default();
    for line in sessions_of("english_auction", &settings) {
        reports.add(&StoredRecord::from_line(&line).unwrap());
    }
    let json: serde_json::Value = serde_json::from_str(&reports.to_json().unwrap()).unwrap();
    let known = json.as_array().unwrap().iter();
    let known: Vec<_> = known
        .map(|one| (one["setting"].as_str(), one["sessions"].as_u64()))
        .collect();
    let expected = ["alice.temperature=0", "bob.temperature=0"];
    assert_eq!(known, expected.map(|setting| (Some(setting), Some(1))));
}

#[test]
fn axes_of_one_setting_are_told_apart() {
    let setting = json!({ "players.alice.temperature": 0, "players.bob.temperature": 1 });
    let mut summary = Summary::default();
    for line in sessions_of("pirate", &[setting]) {
        summary.add(&session(&line), &Telemetry::default());
    }
    let shown = summary.render(Layout::Text(400));
    let setting = "alice.temperature=0, bob.temperature=1";
    assert!(shown.contains(setting), "{shown}");
}

#[test]
fn a_temperature_that_was_not_sent_is_marked_wherever_it_is_named() {
    let setting = json!({ "players.subject.temperature": 0 });
    let mut record: serde_json::Value = serde_json::from_str(&line("pirate", 0, setting)).unwrap();
    record["spec"]["seats"][0]["settings"] = json!({ "model": "m", "temperature": 0 });
    let applied = json!({ "max_output_tokens": 100, "omitted": ["temperature"] });
    record["decisions"] = json!([{ "seat": 0, "index": 0, "purpose": "act", "request": "",
        "answered_by": "m", "finish_reason": "stop", "reply": "", "applied": applied }]);
    let session = session(&record.to_string());
    let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
    summary.add(&session, &Telemetry::default());
    leaderboard.add(&session);
    for shown in [
        summary.render(Layout::Text(400)),
        leaderboard.render(Layout::Text(400)),
    ] {
        let row = shown.lines().find(|row| row.contains("temperature=0"));
        assert!(row.unwrap().contains("temperature not sent"), "{shown}");
        assert!(
            shown.contains("not sent: a setting that was asked for"),
            "{shown}"
        );
    }
    assert_eq!(session.notes(), "temperature not sent");
}

#[test]
fn the_csv_has_a_column_for_everything_any_session_has() {
    let sessions = [
        session(&line("guess_two_thirds", 0, json!({ "params.ratio": 0.5 }))),
        session(&line("pirate", 1, json!({ "label": "plank, long" }))),
    ];
    let mut columns = ResultColumns::default();
    let grown: Vec<bool> = sessions.iter().map(|one| columns.gather(one)).collect();
    let again: Vec<bool> = sessions.iter().map(|one| columns.gather(one)).collect();
    assert!(grown[0] && !again.contains(&true), "{grown:?} {again:?}");
    let mut out = Cells::new(Vec::new());
    columns.write_headings(&mut out).unwrap();
    for session in &sessions {
        let telemetry = Telemetry::from_line(
            br#"{"seconds":1.5,"usage":{"input_tokens":7,"cost_nanodollars":1230}}"#,
        );
        columns.write_row(session, &telemetry, &mut out).unwrap();
    }
    let text = String::from_utf8(out.finish().unwrap()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        let place = headings.iter().position(|heading| heading == name);
        rows[row][place.unwrap_or_else(|| panic!("no column {name}"))].to_owned()
    };
    assert_eq!(cell(0, "setting.params.ratio"), "0.5");
    assert_eq!(cell(1, "setting.params.ratio"), "");
    assert_eq!(cell(1, "setting.label"), "plank, long");
    assert_eq!(cell(1, "score.iclr2025"), "100");
    assert_eq!(cell(0, "part.S_P"), "");
    assert_eq!(cell(0, "seconds"), "1.500");
    assert_eq!(cell(1, "input_tokens"), "7");
    assert_eq!(cell(1, "payoff.0"), "96");
    assert_eq!(cell(0, "cost_dollars"), "0.000001230");
}

#[test]
fn the_overall_score_needs_all_eight_games() {
    let mut leaderboard = Leaderboard::default();
    for (game, _) in &GAMES[..7] {
        leaderboard.add(&session(&line(game, 0, json!({}))));
    }
    let own = |text: &str| {
        text.lines()
            .find(|row| row.contains("equilibrium"))
            .unwrap()
            .to_owned()
    };
    let seven = own(&leaderboard.render(Layout::Text(160)));
    let cells = |row: &str| {
        row.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        cells(&seven)[..5],
        ["-", "equilibrium", "(yours)", "mean", "-"]
    );
    leaderboard.add(&session(&line(GAMES[7].0, 0, json!({}))));
    let eight = own(&leaderboard.render(Layout::Text(160)));
    // Of one session a game nothing is known of how exact the score is.
    assert_eq!(cells(&eight)[0], "1\u{2013}14", "{eight}");
    let all = leaderboard.render(Layout::Text(160));
    let of = |name: &str| all.lines().position(|row| row.contains(name)).unwrap();
    assert!(of("equilibrium") < of("Gemini-1.5-Pro"), "{all}");
    let overall: f64 = cells(&eight)[4].parse().unwrap();
    // All games reward equilibrium play with 100, the auction with about 10.
    assert!((overall - 88.7).abs() < 1.0, "{eight}");
    assert!(!eight.contains("unequal"), "{eight}");
    leaderboard.add(&session(&line(GAMES[0].0, 1, json!({}))));
    let uneven = leaderboard.render(Layout::Text(160));
    assert!(own(&uneven).contains("overall of unequal n"), "{uneven}");
    let n = uneven.lines().find(|row| row.trim().starts_with("n "));
    let n: Vec<&str> = n.unwrap().split_whitespace().take(4).collect();
    assert_eq!(n, ["n", "1\u{2013}2", "2", "1"], "{uneven}");
}

#[test]
fn the_published_rows_are_complete_and_consistent() {
    let rows = published();
    assert_eq!(rows.len(), 13);
    for row in rows {
        assert_eq!(row.scores.len(), GAMES.len(), "{}", row.model);
        let mean = row.scores.values().sum::<f64>() / 8.0;
        assert!(
            (mean - row.overall).abs() < 0.1,
            "{}: {mean} and {}",
            row.model,
            row.overall
        );
    }
}

#[test]
fn newer_and_foreign_lines_are_refused() {
    let newer = line("pirate", 0, json!({})).replacen("\"agon_record\":1", "\"agon_record\":9", 1);
    assert!(matches!(
        Session::from_line(newer.as_bytes()),
        Err(SessionError::TooNew(9))
    ));
    assert!(matches!(
        Session::from_line(b"{}"),
        Err(SessionError::Malformed(_))
    ));
}

#[test]
fn payoffs_are_told_by_player_and_forfeits_aloud() {
    let line = line("divide_dollar", 0, json!({}));
    let mut record: serde_json::Value = serde_json::from_str(&line).unwrap();
    record["spec"]["seats"][0]["name"] = json!("other");
    record["outcome"]["payoffs"][0] = json!(7.0);
    record["outcome"]["forfeits"][0] = json!(3);
    let mut summary = Summary::default();
    summary.add(&session(&record.to_string()), &Telemetry::default());
    let text = summary.render(Layout::Text(200));
    let row = |player: &str| text.lines().find(|row| row.contains(player)).unwrap();
    // Three of twenty were forfeited by one seat of ten.
    let other = row("1 x other");
    assert!(
        other.contains(" 7.00 ") && other.ends_with("15 % forfeited"),
        "{text}"
    );
    assert!(row("9 x subject").ends_with("200.00"), "{text}");
    assert!(
        text.contains("ATTENTION: 3 of 200 asks (1.5 %) were forfeited"),
        "{text}"
    );
}

/// What a session's telemetry says of its cost.
fn cost(nanodollars: u64, unpriced: u64) -> Telemetry {
    let usage = json!({ "cost_nanodollars": nanodollars, "unpriced_decisions": unpriced });
    Telemetry::from_line(json!({ "usage": usage }).to_string().as_bytes())
}

#[test]
fn tokens_that_nobody_counted_are_marked_below_the_table_and_in_the_row() {
    let counted = Telemetry::from_line(br#"{"usage":{"input_tokens":9}}"#);
    let estimated =
        Telemetry::from_line(br#"{"usage":{"input_tokens":9,"estimated_decisions":3}}"#);
    let session = session(&line("pirate", 0, json!({})));
    let mut rows = Vec::new();
    for (telemetry, note) in [(counted, false), (estimated, true)] {
        let mut summary = Summary::default();
        summary.add(&session, &telemetry);
        let text = summary.render(Layout::Text(200));
        assert_eq!(
            text.contains("token counts and costs of 3 decisions are estimates"),
            note,
            "{text}"
        );
        let mut columns = ResultColumns::default();
        columns.gather(&session);
        let mut out = Cells::new(Vec::new());
        columns.write_headings(&mut out).unwrap();
        columns.write_row(&session, &telemetry, &mut out).unwrap();
        rows.push(String::from_utf8(out.finish().unwrap()).unwrap());
    }
    let cell = |csv: &str| {
        let mut lines = csv.lines();
        let mut cells = lines.next().unwrap().split(',');
        let at = cells
            .position(|name| name == "estimated_decisions")
            .unwrap();
        lines.next().unwrap().split(',').nth(at).unwrap().to_owned()
    };
    assert_eq!((cell(&rows[0]), cell(&rows[1])), ("0".into(), "3".into()));
}

#[test]
fn cost_is_told_by_session_by_setting_and_in_total() {
    let mut summary = Summary::default();
    let sessions = [
        ("guess_two_thirds", 0, cost(12_000_000, 0)),
        ("guess_two_thirds", 1, cost(300_000, 2)),
        ("pirate", 0, cost(0, 3)),
        ("pirate", 1, Telemetry::default()),
    ];
    for (game, repeat, telemetry) in &sessions {
        let session = session(&line(game, *repeat, json!({})));
        summary.add(&session, telemetry);
        assert_eq!(telemetry.usage.known_cost().is_some(), *game != "pirate");
    }
    let text = summary.render(Layout::Text(200));
    let row = |game: &str| {
        let mut rows = text.lines().filter(|row| row.contains(game));
        rows.next()
            .unwrap()
            .split_whitespace()
            .last()
            .unwrap()
            .to_owned()
    };
    assert_eq!(row("guess_two_thirds"), "$0.0123", "{text}");
    assert_eq!(row("pirate"), "-", "{text}");
    let total = "cost: $0.0123 in all, without 5 decisions that have no known price";
    assert!(text.contains(total), "{text}");
}

#[test]
fn nothing_paid_shows_no_cost_and_unknown_prices_are_said() {
    let rendered = |telemetry: Telemetry| {
        let mut summary = Summary::default();
        summary.add(&session(&line("pirate", 0, json!({}))), &telemetry);
        summary.render(Layout::Text(200))
    };
    assert!(!rendered(cost(0, 0)).contains("cost"));
    assert!(!rendered(Telemetry::default()).contains("cost"));
    assert!(rendered(cost(0, 4)).contains("cost: unknown, 4 decisions"));
}

#[test]
fn ratings_follow_payoffs_in_the_order_of_sessions() {
    let paid = |repeat: u32, payoffs: [f64; 3]| {
        let mut session = session(&line("guess_two_thirds", repeat, json!({})));
        session.spec.seats.truncate(3);
        for (seat, name) in session.spec.seats.iter_mut().zip(["a", "b", "c"]) {
            seat.name = name.to_owned();
        }
        session.outcome.payoffs = payoffs.to_vec();
        session
    };
    let sessions = [
        paid(0, [3.0, 2.0, 1.0]),
        paid(1, [3.0, 2.0, 1.0]),
        paid(2, [1.0, 2.0, 3.0]),
    ];
    let ratings = Ratings::of(&sessions).unwrap();
    assert_eq!(ratings.sessions(), 3);
    let names: Vec<&str> = ratings.players().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let backwards = Ratings::of(sessions.iter().rev()).unwrap();
    let mu = |ratings: &Ratings, name: &str| ratings.rating(name).unwrap().mu;
    assert!(mu(&ratings, "a") != mu(&backwards, "a"));
    let first_two = Ratings::of(&sessions[..2]).unwrap();
    assert!(mu(&first_two, "a") > mu(&first_two, "b"));
    assert!(mu(&first_two, "b") > mu(&first_two, "c"));
    let mut lonely = sessions[0].clone();
    lonely.spec.seats.truncate(1);
    lonely.outcome.payoffs.truncate(1);
    let too_few = StatisticsError::TooFew { least: 2, given: 1 };
    assert_eq!(Ratings::of([&lonely]), Err(too_few));
}

#[test]
fn the_rows_that_are_exported_are_those_that_tables_are_made_of() {
    let played = |game| StoredRecord::from_line(&line(game, 2, json!({ "label": "low" }))).unwrap();
    let record = played("beauty_contest");
    let mut reports = Reports::default();
    assert!(reports.add(&record));
    let sessions = reports.observe(&record);
    let [session] = &sessions[..] else {
        panic!("{sessions:?}");
    };
    let payoffs = session.rows().filter(|row| row.measure == "payoff");
    let payoffs: Vec<f64> = payoffs.map(|row| row.value).collect();
    assert_eq!(payoffs.len(), record.spec.seats.len());
    let settings: serde_json::Value = serde_json::from_str(&reports.to_json().unwrap()).unwrap();
    let mean = settings[0]["players"][0]["payoff"].as_f64().unwrap();
    let expected = payoffs.iter().sum::<f64>() / payoffs.len() as f64;
    assert!((mean - expected).abs() < 1e-9, "{mean} is not {expected}");
    // A game that no paper measures has none.
    assert!(reports.observe(&played("el_farol")).is_empty());
}

#[test]
fn games_and_runs_make_a_table_with_means_and_an_overall_row() {
    let mut pivots = Pivots::default();
    let mut runs: [Vec<f64>; 2] = Default::default();
    for (repeat, scores) in (0..).zip(&mut runs) {
        for (game, _) in GAMES {
            let session = session(&line(game, repeat, json!({})));
            scores.push(session.scores()["arxiv2024"]);
            pivots.add(&session);
        }
    }
    let shown = pivots
        .beside_published("gamma-bench-repeats", Layout::Text(120))
        .unwrap();
    let row = |game: &str| -> Vec<f64> {
        let mut rows = shown.lines();
        let row = rows.find(|row| row.contains(game) && row.contains("equilibrium"));
        let cells = row.unwrap().split_whitespace();
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let close = |shown: &[f64], expected: &[f64]| {
        let pairs = shown.iter().zip(expected);
        assert_eq!(shown.len(), expected.len());
        assert!(
            pairs.clone().all(|(one, other)| (one - other).abs() < 0.06),
            "{shown:?} {expected:?}"
        );
    };
    let with_mean =
        |one: f64, two: f64| [one, two, (one + two) / 2.0, (one - two).abs() / 2f64.sqrt()];
    for (place, (game, _)) in GAMES.iter().enumerate() {
        close(&row(game), &with_mean(runs[0][place], runs[1][place]));
    }
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    close(&row("overall"), &with_mean(mean(&runs[0]), mean(&runs[1])));
    assert_eq!(
        pivots.beside_published("gamma-bench", Layout::Text(120)),
        None
    );
}
