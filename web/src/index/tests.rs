//! Claims about lists: sessions once, pages without gaps, cells with the means of their own sessions,
//! pairs by luck.

use agon_engine::record::Record;
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, SessionSpec, registry};
use agon_report::Session;
use serde_json::json;

use super::{Index, Place};
use crate::query::SessionQuery;

pub(crate) fn line(ratio: f64, repeat: u32) -> String {
    let game = registry::find("guess_two_thirds").unwrap();
    let params = json!({ "players": 2, "rounds": 2, "ratio": ratio });
    let params = serde_json::from_value(params).unwrap();
    let player = |name: &str| PlayerSpec {
        name: name.to_owned(),
        kind: PlayerKind::Rule,
        settings: serde_json::from_value(json!({ "strategy": "random" })).unwrap(),
    };
    let spec = SessionSpec {
        experiment: "guesses".to_owned(),
        setting: serde_json::from_value(json!({ "ratio": ratio })).unwrap(),
        luck: Luck::new(1, repeat),
        game: "guess_two_thirds".to_owned(),
        outside: None,
        rules_version: game.info.rules_version,
        params: game.build(&params).unwrap().params,
        seats: vec![player("alice"), player("bob")],
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    };
    let play = open(&spec).unwrap();
    Record::new(spec, play, Vec::new(), Vec::new())
        .to_line()
        .unwrap()
}

fn place(offset: u64) -> Place {
    Place { file: 0, offset }
}

fn index() -> Index {
    let mut index = Index::default();
    let key = index.add_run("guesses", "here".to_owned());
    for (at, (ratio, repeat)) in [(0.5, 0), (0.5, 1), (0.7, 0), (0.7, 1), (0.7, 2)]
        .iter()
        .enumerate()
    {
        let session = Session::from_line(line(*ratio, *repeat).as_bytes()).unwrap();
        index.add(key, &session, place(at as u64));
        // Twice is once.
        index.add(key, &session, place(99));
    }
    index
}

#[test]
fn run_has_its_cells_with_means_of_their_own_sessions() {
    let index = index();
    let head = index.run("guesses").unwrap();
    assert_eq!(head.run.sessions, 5);
    let counts: Vec<usize> = head.cells.iter().map(|cell| cell.sessions).collect();
    assert_eq!(counts, [2, 3]);
    let sessions = [(0.5, 0), (0.5, 1)].map(|(ratio, repeat)| {
        Session::from_line(line(ratio, repeat).as_bytes())
            .unwrap()
            .mean_payoff()
    });
    let mean = (sessions[0] + sessions[1]) / 2.0;
    assert!((head.cells[0].means["mean payoff"] - mean).abs() < 1e-12);
    assert!(head.measures.contains("mean payoff"));
    assert!(index.run("others").is_none());
}

#[test]
fn pages_follow_each_other_without_gap() {
    let index = index();
    let mut query = SessionQuery {
        count: Some(2),
        ..SessionQuery::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = index.sessions("guesses", &query).unwrap();
        assert_eq!(page.total, 5);
        seen.extend(page.sessions.into_iter().map(|row| row.session));
        match page.next {
            Some(next) => query.cursor = next,
            None => break,
        }
    }
    let all = index.sessions("guesses", &SessionQuery::default()).unwrap();
    let all: Vec<String> = all.sessions.into_iter().map(|row| row.session).collect();
    assert_eq!(seen, all);
    assert_eq!(all.len(), 5);
}

#[test]
fn sessions_are_filtered_by_cell_and_text() {
    let index = index();
    let of = |query: &SessionQuery| index.sessions("guesses", query).unwrap().total;
    let cell = SessionQuery {
        cell: Some(1),
        ..SessionQuery::default()
    };
    assert_eq!(of(&cell), 3);
    let search = |text: &str| SessionQuery {
        search: text.to_owned(),
        ..SessionQuery::default()
    };
    assert_eq!(of(&search("0.5")), 2);
    assert_eq!(of(&search("ALICE")), 5);
    assert_eq!(of(&search("nobody")), 0);
}

#[test]
fn pairs_met_the_same_luck_in_other_cells() {
    let index = index();
    let rows = index
        .sessions("guesses", &SessionQuery::default())
        .unwrap()
        .sessions;
    let paired = index.paired(&rows[0].session);
    assert_eq!(paired.len(), 1);
    assert_eq!((paired[0].cell, paired[0].repeat), (1, 0));
    assert!(index.paired(&rows[4].session).is_empty());
    assert_eq!(index.place(&rows[2].session), Some(("guesses", place(2))));
}

#[test]
fn sessions_of_one_cell_have_the_players_that_sat_there() {
    let mut index = Index::default();
    let run = index.add_run("changed", String::new());
    let mut before: serde_json::Value = serde_json::from_str(&line(0.5, 0)).unwrap();
    before["spec"]["seats"][0]["name"] = "somebody else".into();
    for (offset, text) in [(0, before.to_string()), (1, line(0.5, 1))] {
        let session = Session::from_line(text.as_bytes()).unwrap();
        index.add(run, &session, place(offset));
    }
    assert_eq!(index.run("changed").unwrap().cells.len(), 1);
    let played = index.played("changed").unwrap();
    let first: Vec<&str> = played
        .map(|(_, played)| played.seats[0].name.as_str())
        .collect();
    assert_eq!(first[0], "somebody else");
    assert_ne!(first[1], "somebody else");
}

#[test]
fn runs_of_one_experiment_have_addresses_of_their_own() {
    let mut index = Index::default();
    for name in [
        "a run / with <odd> letters",
        "a run / with <odd> letters",
        "../..",
    ] {
        let key = index.add_run(name, String::new());
        let session = Session::from_line(line(0.5, key.0 as u32).as_bytes()).unwrap();
        index.add(key, &session, place(0));
    }
    let names: Vec<String> = index.runs().into_iter().map(|run| run.run).collect();
    assert_eq!(
        names,
        [
            "a-run---with--odd--letters",
            "a-run---with--odd--letters~2",
            "run"
        ]
    );
}

#[test]
fn sessions_that_stand_in_two_runs_are_listed_once_and_the_other_run_says_so() {
    let mut index = index();
    let again = index.add_run("guesses", "there".to_owned());
    let session = Session::from_line(line(0.5, 0).as_bytes()).unwrap();
    index.add(again, &session, place(7));
    assert_eq!(index.runs().len(), 2);
    let head = index.run("guesses~2").unwrap();
    assert_eq!(head.run.sessions, 0);
    assert!(head.notes[0].contains("another run"), "{:?}", head.notes);
}
