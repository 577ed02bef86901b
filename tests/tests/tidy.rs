//! House rules that a machine can check: headers, file sizes, module files,
//! forbidden markers.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use agon_tests::tree;

/// Files may have this many lines, tests apart.
const LONGEST_FILE: usize = 500;

/// A header says what the file owns, what it refuses and who calls it.
const HEADER_LINES: RangeInclusive<usize> = 2..=6;

/// The roots of libraries and the games say more: a reading order, the rules.
const LONG_HEADER_LINES: RangeInclusive<usize> = 2..=20;

/// Written by a program; its header is in the file that includes it.
const GENERATED: &[&str] = &["proto/src/agon.v1.rs"];

fn sources() -> Vec<(String, PathBuf, String)> {
    let files = tree::files(".rs").into_iter();
    let named = files.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (tree::short(&path), path, text)
    });
    named
        .filter(|(name, ..)| !GENERATED.contains(&name.as_str()))
        .collect()
}

#[test]
fn every_source_file_opens_with_a_header() {
    let mut wrong = Vec::new();
    for (name, _, text) in sources() {
        let lines = text.lines();
        let header = lines.take_while(|line| line.starts_with("//!")).count();
        let long = name.ends_with("src/lib.rs") || name.starts_with("engine/src/games/");
        let allowed = if long {
            LONG_HEADER_LINES
        } else {
            HEADER_LINES
        };
        if !allowed.contains(&header) {
            wrong.push(format!("{name} opens with {header} lines of //!"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_source_file_is_longer_than_the_limit() {
    let mut wrong = Vec::new();
    for (name, _, text) in sources() {
        let in_tests = name.contains("tests/") || name.ends_with("tests.rs");
        let own = text
            .split("\n#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or(&text);
        let lines = own.lines().count();
        if !in_tests && lines > LONGEST_FILE {
            wrong.push(format!("{name} has {lines} lines"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn modules_lie_beside_their_folder() {
    for (name, path, _) in sources() {
        assert!(
            path.file_name().unwrap() != "mod.rs",
            "{name}: put it beside its folder"
        );
    }
}

#[test]
fn library_roots_hold_documentation_modules_and_re_exports_only() {
    for (name, _, text) in sources() {
        if !name.ends_with("src/lib.rs") {
            continue;
        }
        for line in text.lines() {
            let code = !line.starts_with("//");
            let item = [
                "fn ", "struct ", "enum ", "impl ", "trait ", "const ", "static ",
            ];
            let declares = item
                .iter()
                .any(|word| line.trim_start_matches("pub ").starts_with(word));
            assert!(!(code && declares), "{name} declares something: {line}");
        }
    }
}

#[test]
fn no_test_is_switched_off_and_nothing_is_left_unfinished() {
    // Spelled apart so that this file does not find itself.
    let markers = [
        ["#[", "ignore"].concat(),
        ["#[", "should_panic"].concat(),
        ["todo", "!("].concat(),
        ["unimplemented", "!("].concat(),
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
    ];
    for (name, _, text) in sources() {
        for marker in &markers {
            assert!(!text.contains(marker.as_str()), "{name} contains {marker}");
        }
    }
}

/// Documents that name tests as guards.
const NAMING_TESTS: [&str; 2] = ["ARCHITECTURE.md", "agent-gateway/README.md"];

/// A name with this many words is a claim, which only tests have.
const WORDS_OF_A_CLAIM: usize = 5;

#[test]
fn every_test_that_the_documents_name_exists() {
    let all: String = sources().into_iter().map(|(_, _, text)| text).collect();
    let mut named = 0;
    for document in NAMING_TESTS {
        let text = fs::read_to_string(tree::root().join(document)).unwrap();
        for quoted in text.split('`').skip(1).step_by(2) {
            let name = quoted.rsplit("::").next().unwrap_or(quoted);
            let is_name = name
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_');
            if !is_name || name.split('_').count() < WORDS_OF_A_CLAIM {
                continue;
            }
            named += 1;
            // A property of the conformance kit has its test from a table.
            let forms = [format!("fn {name}("), format!("    {name}: \"")];
            assert!(
                forms.iter().any(|form| all.contains(form)),
                "{document} names {name}"
            );
        }
    }
    assert!(named >= 15, "only {named} tests are named");
}

/// What would print past the outlets, and the files that are outlets.
const PAST_THE_OUTLETS: [&str; 8] = [
    concat!("print", "ln!("),
    concat!("eprint", "!("),
    concat!(" print", "!("),
    concat!(".dis", "play()"),
    concat!("csv::Wri", "ter"),
    concat!("io::std", "out()"),
    concat!("io::std", "err()"),
    concat!("anel::set_", "hook"),
];
const OUTLETS: [&str; 4] = [
    "cli/src/output.rs",
    "service-kit/src/telemetry.rs",
    "service-kit/src/telemetry/outlets.rs",
    "report/src/results.rs",
];

#[test]
fn nothing_is_shown_past_the_outlets() {
    let mut wrong = Vec::new();
    for (name, _, text) in sources() {
        let in_tests = name.contains("tests/") || name.ends_with("tests.rs");
        let is_tool = ["/examples/", "/benches/", "/build.rs"]
            .iter()
            .any(|part| name.contains(part));
        if in_tests || is_tool || OUTLETS.contains(&name.as_str()) {
            continue;
        }
        let own = text.split("\n#[cfg(test)]\nmod tests {").next();
        for (number, line) in own.unwrap_or(&text).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let is_asked = code.contains(".is_terminal()");
            let past = PAST_THE_OUTLETS.iter().find(|way| code.contains(**way));
            if past.is_some() && !is_asked {
                wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
