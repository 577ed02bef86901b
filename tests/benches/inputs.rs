//! What the worst inputs cost: files of up to 64 MB that are made to be hard, given to `agon check`,
//! `plan`, `verify`, `show` and `replay`. Prints the time and the largest memory of each.
//!
//! `cargo bench -p agon-tests --bench inputs`, after `cargo build --release`. Fails where a command
//! takes more than a gigabyte; times are printed only.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use agon_tests::measured::measured as measured_by;
use agon_tests::talker::talker;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// After so long a command is stopped.
const PATIENCE: Duration = Duration::from_secs(60);

const MOST_KIB: u64 = 1024 * 1024;

/// A large file of so many bytes.
const LARGE: usize = 60_000_000;

fn main() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut worst: Vec<(&str, f64, u64)> = Vec::new();
    let experiments = experiments()
        .into_iter()
        .map(|input| (input, &["check", "plan"][..]));
    let records = records()
        .into_iter()
        .chain(played(folder.path()))
        .chain(talked(folder.path()))
        .map(|input| (input, &["verify", "show", "replay"][..]));
    for ((name, bytes), commands) in experiments.chain(records) {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("the scratch folder takes files");
        for called in commands {
            let (seconds, kib, code) = measured(called, &path, folder.path());
            println!(
                "{name:<28} {called:<7} {seconds:>6.2} s {:>5} MB, exit {code:?}",
                kib / 1024
            );
            match worst.iter_mut().find(|(one, ..)| one == called) {
                Some(one) => *one = (called, one.1.max(seconds), one.2.max(kib)),
                None => worst.push((called, seconds, kib)),
            }
        }
        fs::remove_file(&path).expect("the file is there");
    }
    for (called, seconds, kib) in worst {
        println!("worst of {called:<7} {seconds:>6.2} s {:>5} MB", kib / 1024);
        assert!(kib < MOST_KIB, "{called} took {kib} KiB");
    }
}

fn measured(called: &str, path: &Path, folder: &Path) -> (f64, u64, Option<i32>) {
    let (path, data) = (
        path.display().to_string(),
        folder.join("data").display().to_string(),
    );
    let arguments: Vec<&str> = match called {
        "show" => vec!["show", "--results", &path],
        "check" | "plan" => vec![called, &path, "--data", &data],
        _ => vec![called, &path],
    };
    let measured = measured_by(&arguments, PATIENCE);
    (measured.seconds, measured.kib, measured.code)
}

/// An experiment with these lines before its player, inside it, and inside its game.
fn experiment(top: &str, player: &str, game: &str) -> Vec<u8> {
    format!(
        "name = \"x\"\n{top}\n[players.subject]\nkind = \"rule\"\n{player}\n\
         [[games]]\ngame = \"guess_two_thirds\"\n{game}\n"
    )
    .into_bytes()
}

fn numbers(count: usize) -> String {
    (0..count).map(|number| format!("{number},")).collect()
}

fn answers(count: usize) -> String {
    format!(
        "strategy = \"specified\"\nanswers = [{}]",
        "1,".repeat(count)
    )
}

fn experiments() -> Vec<(&'static str, Vec<u8>)> {
    const RANDOM: &str = "strategy = \"random\"";
    let seeds = format!("[games.grid]\nseed = [{}]", numbers(190_000));
    let idle = |table: &str, key: &str| {
        format!(
            "{seeds}\n[{table}]\n{key} = \"{}\"\n",
            "a".repeat(8_000_000)
        )
    };
    let models: String = (0..190_000)
        .map(|model| format!("\"openai/m{model}\","))
        .collect();
    let models = format!(
        "name = \"x\"\n[players.subject]\nkind = \"model\"\nmodel = \"openai/m\"\n\
         [[games]]\ngame = \"guess_two_thirds\"\n[grid]\n\"players.subject.model\" = [{models}]\n"
    )
    .into_bytes();
    let tables = |count: usize| {
        (0..count)
            .map(|table| format!("[t{table}]\n"))
            .collect::<String>()
    };
    vec![
        (
            "repeats.toml",
            experiment("repeats = 10000", &answers(1_000), ""),
        ),
        (
            "most_repeats.toml",
            experiment("repeats = 100000", &answers(200), ""),
        ),
        ("answers.toml", experiment("", &answers(500_000), "")),
        (
            "answers_of_two.toml",
            experiment("", &answers(200_000), "seats = [\"subject\", \"subject\"]"),
        ),
        ("numbers_60mb.toml", experiment("", &answers(LARGE / 2), "")),
        ("numbers_most.toml", experiment("", &answers(599_000), "")),
        (
            "text_60mb.toml",
            experiment(
                &format!("description = \"{}\"", "a".repeat(LARGE)),
                RANDOM,
                "",
            ),
        ),
        (
            "text_15mb.toml",
            experiment(
                &format!("description = \"{}\"", "a".repeat(15_000_000)),
                RANDOM,
                "",
            ),
        ),
        ("line_ends_60mb.toml", vec![b'\n'; LARGE]),
        (
            "brackets.toml",
            [b"x = ".as_slice(), &vec![b'['; LARGE]].concat(),
        ),
        (
            "tables_inside.toml",
            [b"x = ".as_slice(), &b"{a=".repeat(LARGE / 3)].concat(),
        ),
        ("dotted_key.toml", b"a.".repeat(LARGE / 2)),
        ("tables.toml", experiment("", RANDOM, &tables(90_000))),
        (
            "games.toml",
            experiment("", RANDOM, &"[[games]]\ngame = \"pirate\"\n".repeat(90_000)),
        ),
        (
            "inline_tables.toml",
            experiment("", &format!("x = [{}]", "{a=1},".repeat(99_000)), ""),
        ),
        (
            "axis.toml",
            experiment(
                "",
                RANDOM,
                &format!("[games.grid]\nseed = [{}]", numbers(500_000)),
            ),
        ),
        ("cells.toml", experiment("", RANDOM, &seeds)),
        ("models.toml", models),
        (
            "idle_player.toml",
            experiment("", RANDOM, &idle("players.idle", "strategy")),
        ),
        (
            "idle_model.toml",
            experiment("", RANDOM, &idle("model", "persona")),
        ),
        (
            "keys.toml",
            (0..500_000)
                .flat_map(|key| format!("k{key} = 1\n").into_bytes())
                .collect(),
        ),
        (
            "long_key.toml",
            experiment("", RANDOM, &format!("{} = 1", "a".repeat(15_000_000))),
        ),
        ("errors.toml", b"= = =\n".repeat(LARGE / 6)),
        ("not_text.toml", vec![0xff; LARGE]),
    ]
}

/// Records of sessions that are as long as an experiment may have them, and one that claims to be longer.
fn played(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let played = |game: &str, strategy: &str, seats: usize, params: &str| {
        let text = format!(
            "name = \"{game}\"\n[players.subject]\nkind = \"rule\"\nstrategy = \"{strategy}\"\n\
             [[games]]\ngame = \"{game}\"\nparams = {{ {params} }}\n\
             seats = [{{ player = \"subject\", count = {seats} }}]\n"
        );
        let [file, out, data] = ["long.toml", game, "data"].map(|name| folder.join(name));
        fs::write(&file, text).expect("the scratch folder takes files");
        let [file, folder, data] = [&file, &out, &data].map(|path| path.display().to_string());
        let arguments = ["run", &file, "--out", &folder, "--data", &data];
        let ended = measured_by(&arguments, PATIENCE);
        assert_eq!(ended.code, Some(0), "{game} is played");
        fs::read(out.join("records.jsonl")).expect("its record")
    };
    let short = played("guess_two_thirds", "random", 10, "rounds = 10");
    let mut claim: Value = serde_json::from_slice(&short).expect("a record");
    let seat = claim["spec"]["seats"][0].clone();
    claim["spec"]["params"]["rounds"] = 10_000.into();
    claim["spec"]["params"]["players"] = 1_000.into();
    claim["spec"]["seats"] = vec![seat; 1_000].into();
    let items: String = (0..45)
        .map(|item| format!("{{ name = \"i{item}\", starting_price = 1000, true_value = 9000 }}, "))
        .collect();
    let auction = format!("budget = 100000000, minimum_increase_percent = 1, items = [{items}]");
    vec![
        (
            "claimed.jsonl.gz",
            packed(format!("{claim}\n").as_bytes(), 1),
        ),
        (
            "guesses.jsonl",
            played(
                "guess_to_survive",
                "mono_trend",
                10,
                "rounds = 10000, health = 1000000",
            ),
        ),
        (
            "days.jsonl",
            played(
                "water_allocation",
                "random",
                100,
                "rounds = 600, supply_min = 10000, supply_max = 10000",
            ),
        ),
        (
            "bids.jsonl",
            played("english_auction", "truthful", 3, &auction),
        ),
    ]
}

/// Records of sessions of models with long replies, one of 60 MB and one as long as it may be.
fn talked(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let models = talker(0, 3_900, "guess");
    let played = |rounds: u32| {
        let text = format!(
            "name = \"talk{rounds}\"\n[players.talker]\nkind = \"model\"\nmodel = \"any\"\n\
             [[games]]\ngame = \"guess_two_thirds\"\nparams = {{ rounds = {rounds} }}\n\
             seats = [{{ player = \"talker\", count = 10 }}]\n"
        );
        let out = format!("talked{rounds}");
        let [file, out, data] = ["talk.toml", &out, "data"].map(|name| folder.join(name));
        fs::write(&file, text).expect("the scratch folder takes files");
        let [file, folder, data] = [&file, &out, &data].map(|path| path.display().to_string());
        let base_url = models.base_url();
        let arguments = [
            "run",
            &file,
            "--out",
            &folder,
            "--data",
            &data,
            "--base-url",
            &base_url,
        ];
        let ended = measured_by(&arguments, PATIENCE * 3);
        assert_eq!(ended.code, Some(0), "{rounds} rounds are played");
        let (seconds, megabytes) = (ended.seconds, ended.kib / 1024);
        println!("a session of {rounds} rounds is played in {seconds:.0} s, {megabytes} MB");
        fs::read(out.join("records.jsonl")).expect("its record")
    };
    vec![
        ("replies_60mb.jsonl", played(1_280)),
        ("replies_most.jsonl", played(2_200)),
    ]
}

fn packed(part: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..times {
        encoder.write_all(part).expect("vectors take everything");
    }
    encoder.finish().expect("vectors take everything")
}

fn records() -> Vec<(&'static str, Vec<u8>)> {
    let megabyte = |part: &[u8]| part.repeat((1 << 20) / part.len());
    let heads = |names: usize| {
        let line = |number: usize| {
            let name = format!("{number:032x}").repeat(names);
            format!(
                "{{\"session\":\"{number:032x}\",\"spec\":{{\"experiment\":\"{name}\",\"game\":\"g\"}}}}\n"
            )
        };
        let mut text = String::new();
        for number in 0.. {
            if text.len() >= LARGE {
                break;
            }
            text.push_str(&line(number));
        }
        text.into_bytes()
    };
    vec![
        ("zeros.jsonl.gz", packed(&megabyte(b"0"), 2_000)),
        ("line_ends.jsonl.gz", packed(&megabyte(b"\n"), 2_000)),
        ("short_lines.jsonl.gz", packed(&megabyte(b"1\n"), 2_000)),
        ("nested.jsonl.gz", packed(&megabyte(b"[{\"\":"), 2_000)),
        ("parts.jsonl.gz", packed(b"", 1).repeat(LARGE / 20)),
        ("one_line.jsonl", vec![b'a'; LARGE]),
        (
            "tables.jsonl",
            [b"[".as_slice(), &b"{\"\":1},".repeat(LARGE / 7), b"1]"].concat(),
        ),
        (
            "tables_most.jsonl",
            [b"[".as_slice(), &b"{\"\":1},".repeat(299_000), b"1]"].concat(),
        ),
        ("short_lines.jsonl", b"1\n".repeat(LARGE / 2)),
        ("line_ends.jsonl", vec![b'\n'; LARGE]),
        ("nested.jsonl", vec![b'['; LARGE / 2]),
        ("heads.jsonl", heads(1)),
        ("heads_of_long_names.jsonl", heads(6)),
        ("not_text.jsonl", vec![0xff; LARGE]),
    ]
}
