//! Measures of the games of EconArena, Alympics and the K-level paper as a user gets them:
//! at the end of `agon run`, from `agon show --measures`, as JSON and beside what is
//! published, of rule players only. Each test runs the built `agon` as a process of its own.

use std::path::Path;

use agon_tests::binary::{Ended, run};
use agon_tests::runs;
use serde_json::Value;

/// Every game that is measured, auctions of their own apart, with rule players that are
/// named as those of the papers.
const GAMES: &str = r#"
name = "measured-games"
seed = 5
repeats = 3

[report]
compare = "k-level-guessing"

[players.direct]
kind = "rule"
strategy = "specified"
answers = [50, 45, 40]

[players.k-level]
kind = "rule"
strategy = "specified"
answers = [40, 30, 20]

[players.rational]
kind = "rule"
strategy = "equilibrium"

[[games]]
label = "low"
game = "beauty_contest"
seats = ["direct", { player = "rational", count = 2 }]
params = { bound_min = 60, bound_max = 60, rounds = 3 }
grid = { "params.history" = [0, 2] }

[[games]]
label = "low"
game = "second_price_auction"
seats = ["direct", "k-level", { player = "rational", count = 2 }]

[[games]]
label = "low"
game = "water_allocation"
seats = ["direct", "k-level", "direct", "k-level", "rational"]
params = { rounds = 6 }

[[games]]
label = "direct"
game = "water_allocation"
seats = ["k-level", { player = "direct", count = 4 }]
params = { rounds = 4, requirements = [10], salaries = [100], supply_min = 10, supply_max = 10 }

[[games]]
label = "direct"
game = "guess_to_survive"
seats = ["k-level", { player = "direct", count = 4 }]
params = { rounds = 4, health = 3 }
grid = { "seats[0]" = ["k-level", "direct"] }
"#;

fn show(out: &Path, flags: &[&str]) -> Ended {
    let out = out.display().to_string();
    let all = ["show", "measured-games", "--results", &out, "--measures"];
    run(&[&all[..], flags].concat())
}

/// Words of the first line with these words, after a title.
fn line(text: &str, title: &str, words: &str) -> Vec<String> {
    let (_, rest) = text
        .split_once(title)
        .unwrap_or_else(|| panic!("{title}: {text}"));
    let mut lines = rest.lines();
    let found = lines.find(|line| line.contains(words));
    let found = found.unwrap_or_else(|| panic!("{words}: {text}"));
    found.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_measured_game_has_its_tables_at_the_end_of_a_run_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let (out, ended) = runs::run_in(folder.path(), GAMES, &[]);
    let shown = show(&out, &[]).expect_code(0).out;
    assert!(ended.out.contains(shown.trim_end()), "{}", ended.out);
    for title in [
        "Measures of 9 sessions of EconArena",
        "Measures of 6 sessions of the Water Allocation Challenge",
        "Measures of 9 sessions by those of K-level reasoning",
    ] {
        assert!(shown.contains(title), "{title}: {shown}");
    }
    // Who plays the equilibrium against others that do deviates by nothing.
    let rational = line(&shown, "Beauty contest: valid actions", "rational");
    assert!(rational.contains(&"0.00".to_owned()), "{shown}");
    let history = line(&shown, "Beauty contest: the same without", "low, history=2");
    assert_eq!(
        history[2..],
        ["direct", "rationality", "0.000", "0.000", "0.000"],
        "{shown}"
    );
    assert!(shown.contains("Rule breaking, all settings"), "{shown}");
    // A run asks for one published table, a user for any.
    assert!(
        ended.out.contains("arXiv 2402.01521, tables 1, 6 and 8"),
        "{}",
        ended.out
    );
    let own = line(&ended.out, "Win rate by the player's method", "yours");
    // Three rounds that the first seat wins alone, and one that all lose or nobody plays.
    assert_eq!(own[..2], ["yours", "direct"]);
    let beside = show(&out, &["--compare", "alympics-resources"])
        .expect_code(0)
        .out;
    assert!(beside.starts_with(&*shown), "{beside}");
    let own = line(&beside, "Share of sessions", "yours");
    assert_eq!(own[1], "low", "{own:?}");
    // Its days are fewer than those of the paper.
    assert_eq!(own[7..].join(" "), "not as published: rounds");
    let wrong = show(&out, &["--compare", "econarena"]).expect_code(2).err;
    assert!(
        wrong.contains("econarena-senior") && wrong.contains("k-level-guessing"),
        "{wrong}"
    );
}

#[test]
fn json_is_one_list_of_the_settings_of_all_games() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = runs::run_in(folder.path(), GAMES, &[]);
    let json = show(&out, &["--json"]).expect_code(0).out;
    let settings: Vec<Value> = serde_json::from_str(&json).unwrap();
    let known = |setting: &Value| {
        let word = |key: &str| setting[key].as_str().unwrap().to_owned();
        (word("game"), word("setting"))
    };
    let known: Vec<(String, String)> = settings.iter().map(known).collect();
    let expected = [
        ("beauty_contest", "low, history=0"),
        ("beauty_contest", "low, history=2"),
        ("second_price_auction", "low"),
        ("water_allocation", "low"),
        ("water_allocation", "direct"),
        // The survival auction once more, by the measures of the other paper.
        ("water_allocation", "direct"),
        ("guess_to_survive", "direct, seats[0]=k-level"),
        ("guess_to_survive", "direct, seats[0]=direct"),
    ];
    let expected = expected.map(|(game, setting)| (game.to_owned(), setting.to_owned()));
    assert_eq!(known, expected);
    assert!(settings.iter().all(|setting| setting["sessions"] == 3));
    let contest = &settings[0]["players"];
    assert_eq!(contest[1]["deviation"], 0.0);
    assert_eq!(contest[1]["rationality"], 1.5);
    assert_eq!(settings[1]["paths"][0]["runs"][1]["action"], 45.0);
    assert_eq!(settings[2]["players"].as_array().unwrap().len(), 3);
    let town = &settings[3];
    assert_eq!(town["residents"][4]["resident"], "Eric");
    assert_eq!(town["trajectories"][0]["days"][0]["bid"], 50.0);
    assert_eq!(settings[5]["opponents"], "direct");
    assert_eq!(settings[6]["first_seat"][0]["player"], "k-level");
    assert_eq!(settings[7]["first_seat"][0]["player"], "direct");
    assert_eq!(settings[7]["players"][0]["sat"], 15);
}
