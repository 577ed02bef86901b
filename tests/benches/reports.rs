//! What reports and exports of many sessions cost: prints time and the largest memory of each command.
//! `cargo bench -p agon-tests --bench reports`, after `cargo build --release`: 100,000 sessions of
//! gamma-Bench's games (a million, the same records under other ids, takes ten times as long); `-- 1000`
//! takes so many repeats of each game. Then a grid of 20,000 settings with one session each beside one
//! of 2,000 with ten: time may grow with settings, but no faster than they do.

use std::fs;
use std::time::Duration;

use agon_tests::measured::measured;

/// Games of the preset.
const GAMES: u32 = 8;

/// Repeats of each game without an argument: 100,000 sessions.
const REPEATS: u32 = 12_500;

const PATIENCE: Duration = Duration::from_secs(1_800);

/// Settings of the large grid, and the tenth of it.
const SETTINGS: [u32; 2] = [20_000, 2_000];

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
        print_cost(name, arguments);
    }
    for settings in SETTINGS {
        let (file, data) = (
            place(&format!("{settings}.toml")),
            place(&format!("{settings}")),
        );
        let repeats = SETTINGS[0] / settings;
        fs::write(&file, grid(settings, repeats)).expect("a scratch folder can be written");
        println!("{settings} settings, {repeats} sessions of each");
        let commands: [(&str, &[&str]); 4] = [
            ("run", &["run", &file, "--data", &data]),
            ("report", &["report", "--data", &data]),
            (
                "page",
                &["report", "--data", &data, "-o", &format!("{data}.html")],
            ),
            ("leaderboard", &["leaderboard", "--data", &data]),
        ];
        for (name, arguments) in commands {
            print_cost(name, arguments);
        }
    }
}

fn print_cost(name: &str, arguments: &[&str]) {
    let cost = measured(arguments, PATIENCE);
    let megabytes = cost.kib / 1024;
    println!("{name:<12} {:>7.1} s {megabytes:>5} MB", cost.seconds);
    assert_eq!(cost.code, Some(0), "{name}");
}

/// An experiment of so many settings.
fn grid(settings: u32, repeats: u32) -> String {
    let ratios: Vec<String> = (1..=settings / 10)
        .map(|step| format!("{}", f64::from(step) / 1000.0))
        .collect();
    format!(
        "name = \"settings\"\nrepeats = {repeats}\n\n\
         [players.subject]\nkind = \"rule\"\nstrategy = \"random\"\n\n\
         [[games]]\ngame = \"guess_two_thirds\"\nparams = {{ rounds = 1 }}\n\
         seats = [{{ player = \"subject\", count = 2 }}]\n\n\
         [games.grid]\n\"params.foul_allowance\" = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n\
         \"params.ratio\" = [{}]\n",
        ratios.join(", ")
    )
}
