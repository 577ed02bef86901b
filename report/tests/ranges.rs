//! Claims about intervals of measures with a known range: none reaches beyond it, in tables, figures and
//! comparisons, and none is cut where the range is not known.

use agon_engine::record::StoredRecord;
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, Record, SessionSpec, registry};
use agon_report::comparison::Comparison;
use agon_report::plots::{PlotData, find};
use agon_report::{Layout, Leaderboard, Reports, Session, Standings};
use serde_json::json;

/// Wide enough for one line a row.
const WIDE: u16 = 1000;

/// A session of one round in which three players all say this number.
fn session(game: &str, answer: i64, repeat: u32) -> StoredRecord {
    let registration = registry::find(game).unwrap();
    let params = json!({ "players": 3, "rounds": 1 });
    let params = serde_json::from_value(params).unwrap();
    let player = |name: &str| PlayerSpec {
        name: name.to_owned(),
        kind: PlayerKind::Rule,
        settings: serde_json::from_value(json!({ "strategy": "specified", "answers": [answer] }))
            .unwrap(),
    };
    let spec = SessionSpec {
        experiment: "e".to_owned(),
        setting: Default::default(),
        luck: Luck::new(1, repeat),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        params: registration.build(&params).unwrap().params,
        seats: vec![player("a"), player("a"), player("a")],
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    };
    let play = open(&spec).unwrap();
    let record = Record::new(spec, play, Vec::new(), Vec::new());
    StoredRecord::from_line(&record.to_line().unwrap()).unwrap()
}

/// Two sessions, of which one has a full score and the other none.
fn all_or_nothing() -> [StoredRecord; 2] {
    [(0, 0), (100, 1)].map(|(answer, repeat)| session("guess_two_thirds", answer, repeat))
}

/// Category, value and ends of all points of a figure.
fn points(name: &str, records: &[StoredRecord]) -> Vec<(String, [f64; 3])> {
    let mut plot = PlotData::new(find(name).unwrap());
    for record in records {
        plot.add(record, &Reports::default());
    }
    let csv = plot.figure().csv();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<std::collections::BTreeMap<String, String>>();
    let rows = rows.map(Result::unwrap);
    let rows = rows.filter(|row| !row["low"].is_empty());
    rows.map(|row| {
        let numbers = ["y", "low", "high"].map(|name| row[name].parse().unwrap());
        (row["series"].clone(), numbers)
    })
    .collect()
}

#[test]
fn intervals_of_scores_end_at_the_range_of_scores() {
    let records = all_or_nothing();
    let (mut leaderboard, mut standings) = (Leaderboard::default(), Standings::default());
    for record in &records {
        let session = Session::of(record);
        leaderboard.add(&session);
        standings.add(&session);
    }
    let layout = Layout::Text(WIDE);
    let own = leaderboard.render(layout);
    let own = own.lines().skip_while(|row| !row.contains("(yours)"));
    let numbers: Vec<&str> = own
        .take(4)
        .map(|row| {
            let mut words = row.split_whitespace();
            words.find(|word| word.contains('.')).unwrap_or_default()
        })
        .collect();
    assert_eq!(numbers, ["50.0", "70.7", "0.0", "100.0"]);
    let games = standings.by_game(true, layout);
    assert!(games.contains("0.00 to 100.00"), "{games}");
    for name in ["scores", "gamma-bench-leaderboard", "score-grid"] {
        let points = points(name, &records);
        let mut own = points.iter().filter(|(series, _)| series != "arxiv2024");
        assert_eq!(own.next().unwrap().1, [50.0, 0.0, 100.0], "{name}");
    }
}

#[test]
fn intervals_of_scores_without_a_range_are_whole() {
    // All the dollars asked for three times over, and almost none: some scores are far below 0.
    let records = [(100, 0), (33, 1)].map(|(bid, repeat)| session("divide_dollar", bid, repeat));
    for name in ["scores", "gamma-bench-settings"] {
        let points = points(name, &records);
        let is_old = |series: &str| name != "scores" || series == "arxiv2024";
        let (_, [value, low, high]) = *points.iter().find(|(series, _)| is_old(series)).unwrap();
        assert!(value < 0.0 && low < -1_000.0 && high > 100.0, "{points:?}");
    }
}

#[test]
fn intervals_of_counts_end_at_nothing() {
    // Nobody answers out of range in one session, everybody in the other.
    let records =
        [(50, 0), (500, 1)].map(|(answer, repeat)| session("guess_two_thirds", answer, repeat));
    let fouls = points("fouls", &records);
    assert!(
        fouls.iter().any(|(_, [value, ..])| *value > 0.0),
        "{fouls:?}"
    );
    assert!(
        fouls.iter().all(|(_, [_, low, _])| *low == 0.0),
        "{fouls:?}"
    );
    let records = [(1, 0), (90, 1)].map(|(bid, repeat)| session("water_allocation", bid, repeat));
    let days = points("alympics-trajectories", &records);
    assert!(days.iter().any(|(_, [_, low, _])| *low == 0.0), "{days:?}");
    assert!(days.iter().all(|(_, [_, low, _])| *low >= 0.0), "{days:?}");
}

#[test]
fn equal_numbers_have_no_interval_in_figures() {
    let records = [0, 1].map(|repeat| session("divide_dollar", 20, repeat));
    for name in ["payoffs", "scores", "gamma-bench-dollar"] {
        assert_eq!(points(name, &records), [], "{name}");
    }
}

#[test]
fn differences_of_scores_end_at_the_largest_difference() {
    let mut comparison = Comparison::default();
    for (called, answers) in [("one", [0, 100]), ("two", [100, 0])] {
        let set = comparison.set(called);
        for (repeat, answer) in (0..).zip(answers) {
            let record = session("guess_two_thirds", answer, repeat);
            comparison.add(set, &Session::of(&record));
        }
    }
    let shown = comparison.render(Layout::Markdown);
    let row = |measure: &str| shown.lines().find(|line| line.contains(measure)).unwrap();
    let own = row("score iclr2025");
    assert!(own.contains("| -100.00 to 100.00 |"), "{shown}");
    let old = row("score arxiv2024");
    assert!(!old.contains("| -100.00 to"), "{shown}");
}

#[test]
fn a_caption_counts_one_session_as_one() {
    let caption = |records: &[StoredRecord]| {
        let mut plot = PlotData::new(find("payoffs").unwrap());
        for record in records {
            plot.add(record, &Reports::default());
        }
        plot.figure().caption.unwrap()
    };
    let [one, other] = all_or_nothing();
    let alone = caption(std::slice::from_ref(&one));
    assert!(alone.starts_with("n = 1 session or series; "), "{alone}");
    let both = caption(&[one, other]);
    assert!(both.starts_with("n = 2 sessions or series; "), "{both}");
}
