//! Claims about leaderboards of several runs: what is simulated stays apart, series count as one,
//! and what was played under other terms is said.

use agon_engine::record::Record;
use agon_engine::session::open;
use agon_engine::spec::Settings;
use agon_engine::{Luck, PlayerKind, PlayerSpec, SessionSpec, registry};
use agon_report::{Layout, Leaderboard, Session, Standings};
use serde_json::{Value, json};

/// Wide enough for one line a row.
const WIDE: Layout = Layout::Text(1000);

/// A session that was played by rules.
struct Played<'a> {
    experiment: &'a str,
    game: &'a str,
    params: Value,
    strategy: &'a str,
    /// Repeat, and place in the series.
    luck: (u32, u32),
    simulated: bool,
}

const PLAIN: Played<'_> = Played {
    experiment: "e",
    game: "guess_two_thirds",
    params: Value::Null,
    strategy: "random",
    luck: (0, 0),
    simulated: false,
};

impl Played<'_> {
    fn session(&self) -> Session {
        let registration = registry::find(self.game).unwrap();
        let params: Option<Settings> = serde_json::from_value(self.params.clone()).unwrap();
        let built = registration.build(&params.unwrap_or_default()).unwrap();
        let seat = PlayerSpec {
            name: "subject".to_owned(),
            kind: PlayerKind::Rule,
            settings: serde_json::from_value(json!({ "strategy": self.strategy })).unwrap(),
        };
        let (repeat, place) = self.luck;
        let spec = SessionSpec {
            experiment: self.experiment.to_owned(),
            setting: Settings::new(),
            luck: Luck {
                place,
                ..Luck::new(7, repeat)
            },
            game: self.game.to_owned(),
            outside: None,
            rules_version: registration.info.rules_version,
            seats: vec![seat; built.game.seats()],
            params: built.params,
            prompts_version: None,
            prompt_bundle: None,
            origins: Default::default(),
        };
        let play = open(&spec).unwrap();
        let line = Record::new(spec, play, Vec::new(), Vec::new());
        let mut session = Session::from_line(line.to_line().unwrap().as_bytes()).unwrap();
        session.simulated = self.simulated;
        session
    }
}

fn standings(sessions: &[Session]) -> Standings {
    let mut standings = Standings::default();
    sessions.iter().for_each(|session| standings.add(session));
    standings
}

fn row<'a>(table: &'a str, name: &str) -> &'a str {
    let found = table.lines().find(|line| line.contains(name));
    found.unwrap_or_else(|| panic!("no row {name} in\n{table}"))
}

#[test]
fn what_is_simulated_has_an_overall_table_of_its_own() {
    let mut sessions = Vec::new();
    for simulated in [false, true] {
        for game in ["guess_two_thirds", "public_goods"] {
            for strategy in ["random", "equilibrium"] {
                sessions.extend((0..3).map(|repeat| {
                    let played = Played {
                        game,
                        strategy,
                        simulated,
                        luck: (repeat, 0),
                        ..PLAIN
                    };
                    played.session()
                }));
            }
        }
    }
    let overall = standings(&sessions).overall(WIDE).unwrap();
    let (real, simulated) = overall.split_once("Overall (SIMULATED):").unwrap();
    for table in [real, simulated] {
        let cells: Vec<&str> = row(table, "equilibrium").split_whitespace().collect();
        assert!(cells.ends_with(&["2", "of", "2", "6"]), "{cells:?}");
    }
}

#[test]
fn a_row_with_other_parameters_than_the_published_ones_says_which() {
    let usual = PLAIN.session();
    let short = Played {
        params: json!({ "rounds": 3 }),
        ..PLAIN
    };
    for (session, is_said) in [(usual, false), (short.session(), true)] {
        let by_game = standings(std::slice::from_ref(&session)).by_game(true, WIDE);
        let mut leaderboard = Leaderboard::default();
        leaderboard.add(&session);
        let board = leaderboard.render(WIDE);
        let rows = [row(&by_game, "random"), row(&board, "random (yours)")];
        for row in rows {
            assert_eq!(row.contains("not as published: rounds"), is_said, "{row}");
        }
    }
}

#[test]
fn sessions_of_experiments_with_other_parameters_are_said_to_differ() {
    let of = |experiment, ratio: f64| {
        let played = Played {
            experiment,
            params: json!({ "ratio": ratio }),
            ..PLAIN
        };
        played.session()
    };
    let differing = standings(&[of("a", 0.5), of("b", 0.9)]).by_game(true, WIDE);
    assert!(row(&differing, "random").contains("differing ratio"));
    assert!(differing.contains("differing: sessions of several experiments"));
    let alike = standings(&[of("a", 0.5), of("b", 0.5)]).by_game(true, WIDE);
    assert!(!alike.contains("differing"), "{alike}");
}

#[test]
fn sessions_of_a_series_count_as_one_in_the_leaderboard() {
    let board = |lucks: &[(u32, u32)]| {
        let mut leaderboard = Leaderboard::default();
        for luck in lucks {
            let played = Played {
                luck: *luck,
                ..PLAIN
            };
            leaderboard.add(&played.session());
        }
        leaderboard.render(WIDE)
    };
    let n_of = |board: &str| {
        let mut rows = board.lines().skip_while(|line| !line.contains("(yours)"));
        let n = rows
            .find(|line| line.trim_start().starts_with('n'))
            .unwrap();
        n.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(n_of(&board(&[(0, 0), (1, 0), (2, 0), (3, 0)])), "4");
    assert_eq!(n_of(&board(&[(0, 0), (0, 1), (1, 0), (1, 1)])), "2");
}
