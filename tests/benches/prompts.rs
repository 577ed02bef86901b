//! Whether the prompts that `agon show --prompts` makes again are those that were sent: every model
//! session of every preset, played once with the simulated model, and the digests of all its calls.
//!
//! `cargo bench -p agon-tests --bench prompts`, or with `-- gamma-bench` those whose name has this
//! in it. Fails when a digest differs. `cargo build --release` first.

use std::path::Path;

use agon_tests::binary::run;
use agon_tests::runs;
use serde_json::Value;

/// Presets whose sessions judge those of other runs, which have to be there first.
const JUDGING: &str = "alympics/judging";
/// What is judged.
const JUDGED: &str = "gamma-bench/leaderboard";

#[derive(Default)]
struct Digests {
    sessions: usize,
    calls: usize,
    equal: usize,
}

fn main() {
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let wanted = wanted.unwrap_or_default();
    let presets = run(&["presets"]).expect_code(0).out;
    let presets = presets
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let mut all = Digests::default();
    for preset in presets.filter(|name| name.contains('/') && name.contains(&wanted)) {
        let digests = compare(preset);
        println!(
            "{preset:<34} {:>4} sessions {:>7} calls, {:>7} digests equal",
            digests.sessions, digests.calls, digests.equal
        );
        all.sessions += digests.sessions;
        all.calls += digests.calls;
        all.equal += digests.equal;
    }
    println!(
        "all: {} sessions, {} of {} digests equal",
        all.sessions, all.equal, all.calls
    );
    assert!(all.calls > 0, "no preset is called {wanted}");
    assert_eq!(all.equal, all.calls);
}

fn compare(preset: &str) -> Digests {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let judged = folder.path().join("judged");
    let mut flags = vec!["--model", "sim", "--repeats", "1"];
    let judged_text = judged.display().to_string();
    if preset == JUDGING {
        play(JUDGED, folder.path(), &judged, &flags);
        flags.extend(["--records", &judged_text]);
    }
    let out = folder.path().join("out");
    play(preset, folder.path(), &out, &flags);
    let (results, mut digests) = (out.display().to_string(), Digests::default());
    for record in runs::parsed(&runs::records(&out)) {
        let decided = record["decisions"]
            .as_array()
            .is_some_and(|made| !made.is_empty());
        if !decided {
            continue;
        }
        let id = record["session"].as_str().expect("a session's id");
        let shown = run(&["show", id, "--prompts", "--json", "--results", &results]);
        let shown: Value = serde_json::from_str(&shown.expect_code(0).out).expect("JSON");
        digests.sessions += 1;
        count(&shown, &mut digests);
    }
    digests
}

fn play(preset: &str, folder: &Path, out: &Path, flags: &[&str]) {
    let (data, out) = (
        folder.join("data").display().to_string(),
        out.display().to_string(),
    );
    let command = ["run", preset, "--quiet", "--data", &data, "--out", &out];
    let _ = run(&[&command, flags].concat()).expect_code(0);
}

/// Counts wherever they stand.
fn count(shown: &Value, digests: &mut Digests) {
    match shown {
        Value::Object(fields) => {
            if let Some(equal) = fields.get("digest_is_equal") {
                digests.calls += 1;
                digests.equal += usize::from(equal == true);
            }
            fields.values().for_each(|value| count(value, digests));
        }
        Value::Array(items) => items.iter().for_each(|item| count(item, digests)),
        _ => {}
    }
}
