//! Templates that an experiment brings with it, as they are stored under their digest.
//! Called when an experiment is submitted, and by the service of workers.

use std::collections::BTreeMap;

use agon_engine::spec::bundle;
use agon_outlets::line;
use bytes::Bytes;

/// Templates by their path.
pub type Templates = BTreeMap<String, String>;

/// As they are stored.
pub fn pack(templates: &Templates) -> Bytes {
    // A map of strings always serialises.
    serde_json::to_vec(templates).unwrap_or_default().into()
}

/// The opposite; `None` when it is something else.
pub fn unpack(bytes: &[u8]) -> Option<Templates> {
    serde_json::from_slice(bytes).ok()
}

/// More than twice what is built in.
const MOST_TEMPLATES: usize = 1_000;

/// Of all paths and texts of an experiment together; agents take no more.
const MOST_BYTES: usize = 1 << 20;

/// Longest path.
const LONGEST_PATH: usize = 200;

/// The digest of templates, which is also their name in the store: nobody may put other texts
/// under it.
///
/// # Errors
/// It is not the one that is named; there are too many of them, or one has no path of a template.
pub fn checked_digest(digest: &str, templates: &Templates) -> Result<String, String> {
    check_bounds(templates)?;
    let texts = templates.iter().map(|(path, text)| (&**path, &**text));
    let found = bundle::digest(texts);
    if found == digest {
        return Ok(found);
    }
    Err(format!(
        "prompt_bundle is {digest}, but the digest of the templates is {found}"
    ))
}

/// Whoever fetches them puts them into files of these names.
fn check_bounds(templates: &Templates) -> Result<(), String> {
    let bytes = templates.iter().map(|(path, text)| path.len() + text.len());
    if templates.len() > MOST_TEMPLATES || bytes.sum::<usize>() > MOST_BYTES {
        return Err(format!(
            "templates may be {MOST_TEMPLATES}, and have {MOST_BYTES} bytes together"
        ));
    }
    match templates.keys().find(|path| !is_path_of_template(path)) {
        None => Ok(()),
        Some(path) => Err(format!(
            "{} is no path of a template; write letters, digits, `_`, `-` and `.` between slashes",
            line(path.get(..LONGEST_PATH).unwrap_or(path))
        )),
    }
}

/// `pirate/v1/ask.j2`: leads nowhere but down.
fn is_path_of_template(path: &str) -> bool {
    let is_name = |part: &str| {
        let mut letters = part.bytes();
        let fits = |letter: u8| letter.is_ascii_alphanumeric() || b"_-.".contains(&letter);
        !part.starts_with('.') && !part.is_empty() && letters.all(fits)
    };
    path.len() <= LONGEST_PATH && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(templates: &Templates) -> Result<String, String> {
        let texts = templates.iter().map(|(path, text)| (&**path, &**text));
        checked_digest(&bundle::digest(texts), templates)
    }

    #[test]
    fn templates_with_paths_that_lead_elsewhere_are_refused() {
        let long = format!("a/{}.j2", "b".repeat(300));
        for path in [
            "../x.j2",
            "/etc/x",
            "..",
            ".",
            "",
            "a//b.j2",
            "a/../b.j2",
            "a/./b.j2",
            "a/.git/x",
            "a\\b.j2",
            "a/b\n.j2",
            "a/\u{1b}[2J.j2",
            "a/b .j2",
            "a/",
            &long,
            "a/\u{202e}.j2",
            "C:/x.j2",
            "a/%2e%2e/b",
            "a/b?.j2",
            "~/x.j2",
        ] {
            let templates = Templates::from([(path.to_owned(), "x".to_owned())]);
            let fault = said(&templates).unwrap_err();
            assert!(fault.contains("no path of a template"), "{path}: {fault}");
            assert!(!fault.contains(['\n', '\u{1b}', '\u{202e}']), "{fault}");
        }
        let good = Templates::from([("guess_two_thirds/v1/ask.j2".to_owned(), "x".to_owned())]);
        assert!(said(&good).is_ok());
    }

    #[test]
    fn more_templates_than_anybody_takes_are_refused() {
        let many = (0..=MOST_TEMPLATES).map(|number| (format!("a/{number}.j2"), String::new()));
        assert!(said(&many.collect()).unwrap_err().contains("may be 1000"));
        let long = Templates::from([("a/b.j2".to_owned(), "x".repeat(MOST_BYTES))]);
        assert!(said(&long).unwrap_err().contains("1048576 bytes"));
    }
}
