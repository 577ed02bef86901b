//! Text of others never speaks: whatever a provider, a document, a file or its name says, nothing
//! that is printed, logged or written into a table moves a cursor, forges a line, turns the
//! direction of reading, or is a formula to a spreadsheet.

use std::fs;
use std::path::Path;

use agon_tests::binary::{Ended, command, run};
use agon_tests::runs;
use agon_tests::scripted_server::{Said, ScriptedServer};
use serde_json::{Value, json};

/// What stands at the start of a line that somebody forged.
const FORGED: &str = "FORGED-LINE";

/// One of each kind, and several at once.
const EVIL: [&str; 22] = [
    "\u{1b}[2Jcleared",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;http://evil\u{1b}\\link",
    "\u{9b}31mred",
    "\u{9d}0;title\u{9c}",
    "\u{90}q\u{9c}",
    "bell\u{7}",
    "back\u{8}\u{8}space",
    "over\rFORGED-LINE",
    "two\nFORGED-LINE",
    "two\r\nFORGED-LINE",
    "next\u{85}FORGED-LINE",
    "feed\u{c}FORGED-LINE\u{b}",
    "line\u{2028}FORGED-LINE",
    "paragraph\u{2029}FORGED-LINE",
    "del\u{7f}",
    "\u{202e}txt.exe",
    "\u{2066}isolated\u{2069}",
    "\u{200f}\u{200e}\u{61c}marks",
    "\u{feff}\u{200b}hidden",
    "\u{e0041}tag",
    "=cmd|' /C calc'!A0\n=1+1",
];

const EXPERIMENT: &str = r#"
name = "evening"
[players.subject]
kind = "model"
model = "any"
reply = "text"
[[games]]
game = "guess_two_thirds"
params = { rounds = 1 }
seats = [{ player = "subject", count = 2 }]
"#;

fn speaks(letter: char) -> bool {
    (letter.is_control() && letter != '\n' && letter != '\t')
        || matches!(
            u32::from(letter),
            0x61c | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff
                | 0xe0000..=0xe007f
        )
}

/// Nothing in the text speaks, and no line of it was forged.
fn assert_silent(what: &str, text: &str) {
    let said = text.char_indices().find(|(_, letter)| speaks(*letter));
    assert!(said.is_none(), "{what}: {said:?} in {text:?}");
    let forged = text.lines().find(|line| line.starts_with(FORGED));
    assert!(forged.is_none(), "{what} has a forged line: {text}");
}

fn assert_ended_silent(what: &str, ended: &Ended) {
    assert_silent(what, &ended.out);
    assert_silent(what, &ended.err);
    assert!(!ended.err.contains("panicked"), "{what}: {}", ended.err);
}

fn all_of(evil: &[&str]) -> String {
    evil.join(" and ")
}

fn answer(text: &str, model: &str, finish: &str) -> Said {
    let body = json!({
        "model": model,
        "choices": [{
            "message": { "role": "assistant", "content": text, "reasoning_content": text },
            "finish_reason": finish,
        }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 },
    });
    Said {
        status: 200,
        body: body.to_string().into_bytes(),
    }
}

fn run_against(server: &ScriptedServer, folder: &Path, experiment: &str, more: &[&str]) -> Ended {
    let file = runs::write(folder, experiment).display().to_string();
    let data = folder.join("data").display().to_string();
    let out = folder.join("out").display().to_string();
    let config = runs::config_for(folder, server, "");
    let mut arguments = vec!["run", &file, "--config", &config];
    arguments.extend(["--data", &data, "--out", &out]);
    arguments.extend(more);
    run(&arguments)
}

#[test]
fn a_providers_complaint_is_one_harmless_line() {
    for (status, log) in [(400, "warn"), (401, "warn"), (500, "warn"), (400, "trace")] {
        let complaint = all_of(&EVIL);
        let server = ScriptedServer::start(move |number, _| {
            let error = json!({ "error": { "message": complaint, "code": complaint } });
            let body = match number % 3 {
                0 => error.to_string(),
                1 => json!([error]).to_string(),
                _ => complaint.clone(),
            };
            Said {
                status,
                body: body.into_bytes(),
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let more = ["--log", log];
        let ended = run_against(&server, folder.path(), EXPERIMENT, &more).expect_code(1);
        assert!(server.requests() > 0);
        assert!(ended.err.contains("\\u{1b}[2Jcleared"), "{}", ended.err);
        assert_ended_silent(&format!("status {status}, log {log}"), &ended);
    }
}

#[test]
fn what_a_model_says_is_shown_and_not_said() {
    let said = all_of(&EVIL);
    let server =
        ScriptedServer::start(move |_, _| answer(&format!("{said}\nI choose 40."), &said, &said));
    let folder = tempfile::tempdir().unwrap();
    let ended = run_against(&server, folder.path(), EXPERIMENT, &[]);
    assert_ended_silent("run", &ended);
    let out = folder.path().join("out").display().to_string();
    let records = runs::records(Path::new(&out));
    let record: Value = runs::parsed(&records).remove(0);
    let session = record["session"].as_str().unwrap().to_owned();
    for arguments in [
        vec!["show", &session, "--results", &out],
        vec!["show", &session, "--results", &out, "--json"],
        vec!["show", &session, "--results", &out, "--prompts"],
        vec!["show", &session, "--results", &out, "--prompts", "--json"],
        vec![
            "show",
            &session,
            "--results",
            &out,
            "--plans",
            "--beliefs",
            "--fouls",
        ],
        vec!["show", "--results", &out, "--json"],
        vec!["verify", &out],
        vec!["runs", &out],
        vec!["runs", &out, "--json"],
    ] {
        let ended = run(&arguments).expect_code(0);
        assert_ended_silent(&arguments.join(" "), &ended);
        if arguments.contains(&"--json") {
            let _: Value = serde_json::from_str(&ended.out).unwrap();
        }
    }
    for file in ["summary.txt", "results.csv"] {
        let text = fs::read_to_string(Path::new(&out).join(file)).unwrap();
        assert_silent(file, &text);
    }
    // What it said is in the record as it was said.
    assert!(
        String::from_utf8(records)
            .unwrap()
            .contains("\u{202e}txt.exe")
    );
}

/// Where a document holds text, with a hole for it.
const PLACES: [&str; 14] = [
    "name = HOLE",
    "name = \"x\"\nHOLE = 1",
    "name = \"x\"\ndescription = 1 # HOLE",
    "name = \"x\"\nteam = HOLE",
    "name = \"x\"\n[players.HOLE]\nkind = \"model\"",
    "name = \"x\"\n[players.a]\nkind = HOLE",
    "name = \"x\"\n[players.a]\nkind = \"model\"\nmodel = HOLE",
    "name = \"x\"\n[players.a]\nkind = \"model\"\nmodel = \"m\"\nHOLE = 1",
    "name = \"x\"\n[players.a]\nkind = \"model\"\nmodel = \"m\"\nagent = HOLE",
    "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = HOLE\n[[games]]\ngame = \"el_farol\"\nseats = [{ player = \"a\", count = 3 }]",
    "name = \"x\"\n[[games]]\ngame = HOLE",
    "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngame = \"el_farol\"\nseats = [HOLE]",
    "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngame = \"el_farol\"\nparams = { HOLE = 1 }\nseats = [{ player = \"a\", count = 3 }]",
    "name = \"x\"\n[grid]\nHOLE = [1]",
];

/// As a TOML string with escapes, and as it is between quotes.
fn spelled(evil: &str) -> [String; 2] {
    let escaped: String = evil
        .chars()
        .map(|letter| match letter {
            '"' | '\\' => format!("\\{letter}"),
            letter if speaks(letter) || letter == '\n' => {
                format!("\\U{:08x}", u32::from(letter))
            }
            letter => letter.to_string(),
        })
        .collect();
    [format!("\"{escaped}\""), format!("\"{evil}\"")]
}

#[test]
fn faults_of_a_document_are_told_without_what_speaks_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for place in PLACES {
        for evil in [all_of(&EVIL), EVIL[9].to_owned(), EVIL[0].to_owned()] {
            for spelling in spelled(&evil) {
                let text = place.replace("HOLE", &spelling);
                let file = runs::write(folder.path(), &text).display().to_string();
                let ended = run(&["check", &file]);
                assert_ended_silent(place, &ended);
            }
        }
    }
}

#[test]
fn names_of_files_and_arguments_are_told_without_what_speaks_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let evil: Vec<&str> = EVIL.into_iter().filter(|one| !one.contains('/')).collect();
    let name = evil.concat();
    let short: String = name.chars().take(60).collect();
    let inside = folder.path().join(&short);
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("thesis.txt"), "mine").unwrap();
    let bad = inside.join("bad.toml").display().to_string();
    fs::write(&bad, "name = 1").unwrap();
    let inside = inside.display().to_string();
    let good = runs::write(folder.path(), EXPERIMENT).display().to_string();
    for arguments in [
        vec!["check", &bad],
        vec!["check", &name],
        vec!["run", &name],
        vec!["run", &good, "--model", "sim", "--out", &inside],
        vec!["run", &good, "--model", &name],
        vec!["run", &good, "--set", &name],
        vec!["run", &good, "--player", &name],
        vec!["run", &good, "--redis", &name],
        vec!["run", &good, &name],
        vec!["plan", &name],
        vec!["show", &name],
        vec!["show", &inside],
        vec!["verify", &inside],
        vec!["replay", &inside],
        vec!["replay", &bad],
        vec!["runs", &inside],
        vec!["games", &name],
        vec!["prompts", &name],
        vec!["prompts", "guess_two_thirds", "--templates", &inside],
        vec!["experiments", "--coordinator", &name],
        vec!["gateway", "status", "--gateway", &name],
        vec![&name],
    ] {
        let ended = command(&arguments).output().map(Ended::from).unwrap();
        assert_ended_silent(&arguments.join(" "), &ended);
        assert_ne!(ended.code, None, "{}", ended.err);
    }
}

#[test]
fn no_cell_of_the_results_is_a_formula() {
    let formulas = [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1+1",
        "@SUM(A1)",
        "=HYPERLINK(1)",
    ];
    let folder = tempfile::tempdir().unwrap();
    let players: String = formulas
        .iter()
        .map(|formula| format!("[players.\"{formula}\"]\nkind = \"rule\"\nstrategy = \"random\"\n"))
        .collect();
    let seats: Vec<String> = formulas
        .iter()
        .map(|formula| format!("\"{formula}\""))
        .collect();
    let text = format!(
        "name = \"sheet\"\n{players}[[games]]\ngame = \"el_farol\"\nparams = {{ rounds = 2 }}\n\
         seats = [{}]\n",
        seats.join(", ")
    );
    let file = runs::write(folder.path(), &text).display().to_string();
    let out = folder.path().join("out").display().to_string();
    let data = folder.path().join("data").display().to_string();
    let ended = run(&["run", &file, "--out", &out, "--data", &data]);
    // Names of players have an alphabet, or their cells are text.
    if ended.code == Some(2) {
        assert!(ended.err.contains("players"), "{}", ended.err);
        return;
    }
    let ended = ended.expect_code(0);
    assert_ended_silent("run", &ended);
    let table = fs::read_to_string(Path::new(&out).join("results.csv")).unwrap();
    for cell in table.split([',', '\n']).map(|cell| cell.trim_matches('"')) {
        let is_formula = cell.starts_with(['=', '+', '@'])
            || (cell.starts_with('-') && cell.parse::<f64>().is_err());
        assert!(!is_formula, "{cell} in {table}");
    }
}
