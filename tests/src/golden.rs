//! Golden files: what a test shows, compared line by line with what a file under
//! `tests/tests/golden` says. Rewrites a file only when `AGON_REFRESH_GOLDEN` is 1. Called
//! by tests that show whole outputs.

use std::fs;

use crate::tree;

/// Compares what is shown with the golden file of this name.
///
/// # Panics
/// They differ; the first line that does is named.
pub fn compare(name: &str, shown: &str) {
    let golden = tree::root().join("tests/tests/golden").join(name);
    if std::env::var("AGON_REFRESH_GOLDEN").is_ok_and(|value| value == "1") {
        fs::write(&golden, shown).expect("a writable golden file");
    }
    let then =
        fs::read_to_string(&golden).unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
    for (number, (then, now)) in then.lines().zip(shown.lines()).enumerate() {
        assert_eq!(then, now, "{name}, line {}", number + 1);
    }
    assert_eq!(then, shown, "{name}");
}
