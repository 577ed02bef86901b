//! What reports and exports of many sessions cost: prints time and the largest memory of each command.
//!
//! `cargo bench -p agon-tests --bench reports`, after `cargo build --release`: 100,000 sessions of
//! gamma-Bench's games, ten repeats of which make the million (the same records under other ids are
//! not made, the figure is ten times that of 100,000). `-- 1000` takes so many repeats of each game.

use std::time::Duration;

use agon_tests::measured::measured;

/// Games of the preset.
const GAMES: u32 = 8;

/// Repeats of each game without an argument: 100,000 sessions.
const REPEATS: u32 = 12_500;

const PATIENCE: Duration = Duration::from_secs(1_800);

fn main() {
    let mut given = std::env::args().filter_map(|argument| argument.parse().ok());
    let repeats: u32 = given.next_back().unwrap_or(REPEATS);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (data, page, tables) = (place("data"), place("report.html"), place("tables"));
    let count = repeats.to_string();
    let play = [
        "run",
        "gamma-bench/leaderboard",
        "--repeats",
        &count,
        "--data",
        &data,
    ];
    let commands: [(&str, &[&str]); 5] = [
        ("play", &play),
        ("report", &["report", "--data", &data]),
        ("page", &["report", "--data", &data, "-o", &page]),
        ("leaderboard", &["leaderboard", "--data", &data]),
        ("export", &["export", "--data", &data, "-o", &tables]),
    ];
    println!("{} sessions", repeats * GAMES);
    for (name, arguments) in commands {
        let cost = measured(arguments, PATIENCE);
        let megabytes = cost.kib / 1024;
        println!("{name:<12} {:>7.1} s {megabytes:>5} MB", cost.seconds);
        assert_eq!(cost.code, Some(0), "{name}");
    }
}
