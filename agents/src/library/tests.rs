//! The template library: what is built in, and what a user may replace.
//! Replacements are texts in the test; no folder is read.

use minijinja::context;

use super::*;
use crate::rehearsal::{self, replaced};

const SYSTEM: &str = "guess_two_thirds/v1/system.j2";

fn with(path: &str, text: &str) -> Result<PromptLibrary, AgentError> {
    replaced(BTreeMap::from([(path.to_owned(), text.to_owned())]))
}

fn failure(path: &str, text: &str) -> (String, String) {
    match with(path, text).unwrap_err() {
        AgentError::Template { template, message } => (template, message),
        other => panic!("{other}"),
    }
}

#[test]
fn every_built_in_template_parses() {
    for (path, text) in BUILT_IN {
        let mut environment = empty_environment();
        assert!(add_template(&mut environment, path, text).is_ok(), "{path}");
        assert!(PromptLibrary::builtin().has(path));
    }
}

#[test]
fn every_built_in_template_renders_in_a_game() {
    for (game, version) in built_in_folders() {
        rehearsal::rehearse(&PromptLibrary::builtin(), game, version).unwrap();
    }
}

#[test]
fn a_replaced_template_is_used_and_digested() {
    let library = with(SYSTEM, "Hello {{ me }}.").unwrap();
    let text = library
        .render(SYSTEM, context! { me => "player_1" })
        .unwrap();
    assert_eq!(text, "Hello player_1.");
    assert!(library.digest().is_some());
    assert_ne!(
        library.digest(),
        with(SYSTEM, "Hello, {{ me }}.").unwrap().digest()
    );
    assert_eq!(PromptLibrary::builtin().digest(), None);
    assert_eq!(replaced(BTreeMap::new()).unwrap().digest(), None);
}

#[test]
fn a_wrong_path_lists_near_names() {
    let (template, message) = failure("guess_two_third/v1/system.j2", "x");
    assert_eq!(template, "guess_two_third/v1/system.j2");
    assert!(
        message.contains("guess_two_thirds/v1/system.j2"),
        "{message}"
    );
}

#[test]
fn a_syntax_error_names_file_and_line() {
    let (template, message) = failure(SYSTEM, "one\ntwo\n{% if %}\n");
    assert_eq!(template, SYSTEM);
    assert!(message.starts_with("line 3: "), "{message}");
}

#[test]
fn an_unknown_variable_is_found_before_play() {
    let (template, message) = failure(SYSTEM, "one\n{{ game.ruonds }}\n");
    assert_eq!(template, SYSTEM);
    assert!(message.starts_with("line 2: "), "{message}");
    // Only asked for by a bidder without a plan, after a useless reply.
    let own = "english_auction_bdi/v1/learn_again.j2";
    let (template, message) = failure(own, "{{ reasons }}");
    assert_eq!(template, "english_auction_bdi/v1");
    assert!(message.contains(&format!("{own}: line 1")), "{message}");
    let said_by_all = [
        "refused",
        "others",
        "summarise",
        "summary",
        "read",
        "read_reply",
    ];
    for part in said_by_all {
        let path = format!("shared/{part}.j2");
        let (template, _) = failure(&path, "{{ reasons }}");
        assert_eq!(template, path);
    }
    // Included in a part that is included.
    failure("shared/fields.j2", "{{ reasons }}");
    failure("shared/foresee.j2", "{{ reasons }}");
    // Said by some agents alone, around their asks.
    for part in ["predicted", "reflect", "reflections", "feedback", "refine"] {
        let path = format!("shared/{part}.j2");
        let (_, message) = failure(&path, "{{ reasons }}");
        assert!(message.contains(&format!("{path}: line 1")), "{message}");
    }
}

#[test]
fn a_template_cannot_hang() {
    let long = "{% set r = range(900) %}{% for a in r %}{% for b in r %}x{% endfor %}{% endfor %}";
    let (_, message) = failure(SYSTEM, long);
    assert!(message.contains("fuel"), "{message}");
    let deep = "{% include \"guess_two_thirds/v1/system.j2\" %}";
    failure(SYSTEM, deep);
}

#[test]
fn the_version_changes_with_every_template_that_is_used_and_with_no_other() {
    let used = ["a/v1/".to_owned(), "a_agent/v1/".to_owned()];
    let templates = [
        ("a/v1/ask.j2", "one"),
        ("a/v2/ask.j2", "two"),
        ("a_agent/v1/plan.j2", "three"),
        ("b/v1/ask.j2", "four"),
        ("shared/answer.j2", "five"),
    ];
    let before = prompts_version(&templates, &used);
    assert!(before.starts_with(&format!("{AGENTS_VERSION}-")));
    for (place, counts) in [true, false, true, false, true].into_iter().enumerate() {
        let mut changed = templates;
        changed[place].1 = "other";
        let same = prompts_version(&changed, &used) == before;
        assert_eq!(same, !counts, "{}", templates[place].0);
    }
}

#[test]
fn operands_are_weighed_once_for_each_operator_and_nothing_else_is_touched() {
    for (text, expected) in [
        ("{{ name }} {{ a.b|join }}", "{{ name }} {{ a.b|join }}"),
        ("{% if a and not b %}", "{% if a and not b %}"),
        ("{% if a is not none %}", "{% if a is not none %}"),
        (
            "{% if a.b == -c %}",
            "{% if (a.b|_weighed(1)) == -(c|_weighed(1)) %}",
        ),
        (
            "{{ a[b.c][1:]|length + d|f(g=1) }}",
            "{{ ((a|_indexed)[(b.c|_weighed(4))]|_weighed(4))[1:]|length + (d|_weighed(4))|f(g=1) }}",
        ),
        (
            "{% set a, b = c ~ d, e %}",
            "{% set a, b = ((c|_weighed(1)) ~ (d|_weighed(1)), (e|_weighed(1)))|_kept %}",
        ),
        (
            "{% for a, b in c if a in b %}",
            "{% for a, b in (c|_weighed(1)) if (a|_weighed(1)) in (b|_weighed(1)) %}",
        ),
        (
            "{% if x is endingwith y %}",
            "{% if (x|_weighed(1)) is endingwith (y|_weighed(1)) %}",
        ),
        (
            "{% if loop.changed(a) and f.g %}",
            "{% if (loop|_weighed(1)).changed((a|_weighed(1))) and (f.g|_weighed(1)) %}",
        ),
    ] {
        assert_eq!(scan::bounded(text, &syntax()).unwrap(), expected);
    }
}
