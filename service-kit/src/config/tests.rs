//! Where configuration errors point, and that no text is worse than an error.
//! Damaged texts are generated; reading them must never panic.

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Experiment {
    repeats: u32,
    #[serde(default)]
    players: Vec<Player>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Player {
    kind: Kind,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Model,
    Rule,
}

fn fault(text: &str) -> ConfigError {
    parse::<Experiment>("x.toml", text).expect_err("the text is wrong")
}

#[test]
fn unknown_key_names_place_and_path() {
    let error = fault("repeats = 1\n[[players]]\nkind = \"rule\"\n  colour = 3\n");
    let text = error.to_string();
    let mut lines = text.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("x.toml:4:3: players[0].colour: unknown field `colour`"),
        "{text}"
    );
    assert_eq!(lines.next().unwrap(), "  4 |   colour = 3");
    assert_eq!(lines.next().unwrap(), "    |   ^^^^^^");
}

#[test]
fn wrong_variant_says_what_would_be_right() {
    let error = fault("repeats = 1\n[[players]]\nkind = \"modl\"\n");
    assert_eq!(error.path, "players[0].kind");
    assert_eq!(
        error.place.as_ref().map(|p| (p.line, p.column, p.width)),
        Some((3, 8, 6))
    );
    assert!(error.message.contains("`model` or `rule`"), "{error}");
}

#[test]
fn wrong_type_and_missing_field_have_a_line() {
    let error = fault("repeats = \"many\"\n");
    assert_eq!(
        (error.path.as_str(), error.place.unwrap().line),
        ("repeats", 1)
    );
    let expected = |text| {
        fault(text)
            .message
            .rsplit_once(", expected ")
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(expected("repeats = \"many\""), "a whole number, 0 or more");
    assert_eq!(expected("repeats = 1\nplayers = 2"), "a list");
    assert_eq!(expected("repeats = 1\nplayers = [2]"), "a table");
    let error = fault("repeats = 1\n[[players]]\n");
    assert!(error.message.contains("missing field `kind`"), "{error}");
    assert_eq!(error.place.unwrap().line, 2);
}

#[test]
fn broken_syntax_is_one_headline_with_its_line() {
    let error = fault("repeats = 1\nplayers = [\n");
    assert!(!error.message.contains('\n'));
    assert!(error.place.is_some(), "{error}");
    assert!(fault("").message.contains("missing field `repeats`"));
}

#[test]
fn unreadable_and_binary_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.toml");
    let error = load::<Experiment>(&missing).unwrap_err();
    assert!(
        error.to_string().contains("none.toml: cannot be read: "),
        "{error}"
    );
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"repeats = 1\nname = \"\xff\"").unwrap();
    let error = load::<Experiment>(&binary).unwrap_err();
    assert_eq!(
        error.place.as_ref().map(|p| (p.line, p.column)),
        Some((2, 9)),
        "{error}"
    );
    std::fs::write(&binary, "repeats = 2").unwrap();
    assert_eq!(
        load::<Experiment>(&binary).unwrap(),
        Experiment {
            repeats: 2,
            players: vec![]
        }
    );
}

#[test]
fn line_column_counts_characters_not_bytes() {
    assert_eq!(line_column("äb\nçd", 0), (1, 1));
    assert_eq!(line_column("äb\nçd", 2), (1, 2));
    assert_eq!(line_column("äb\nçd", 1), (1, 1));
    assert_eq!(line_column("äb\nçd", 6), (2, 2));
    assert_eq!(line_column("äb\nçd", 99), (2, 3));
    assert_eq!(line_column("", 0), (1, 1));
}

#[test]
fn very_long_lines_are_cut() {
    let error = fault(&format!("repeats = \"{}\"\n", "x".repeat(100_000)));
    assert!(
        error.to_string().len() < 100_600,
        "the quoted line is short"
    );
    assert!(error.place.unwrap().source_line.len() < 200);
}

#[test]
fn damaged_text_is_an_error_and_never_a_panic() {
    let whole = "repeats = 3\n[[players]]\nkind = \"rule\" # größer\n";
    assert!(parse::<Experiment>("x.toml", whole).is_ok());
    for cut in (0..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        let mut tail = whole.len() - cut / 2;
        while !whole.is_char_boundary(tail) {
            tail -= 1;
        }
        for inserted in ["", "\"", "=", "[", "\u{0}", "é\n", "'''"] {
            let text = format!("{}{inserted}{}", &whole[..cut], &whole[tail..]);
            if let Err(error) = parse::<Experiment>("x.toml", &text) {
                assert!(error.to_string().starts_with("x.toml:"));
            }
        }
    }
    assert!(
        fault(&format!("repeats = {}", "[".repeat(200_000)))
            .place
            .is_some()
    );
}
