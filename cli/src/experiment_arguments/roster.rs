//! The models that `--models` names, on the command line, in a file of one name a line, or in a
//! roster of a paper's models. Whether they exist is found out where models are checked.

use std::io::ErrorKind;
use std::path::Path;

use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;

use crate::presets;

/// Names are short, and lists of them are read by people.
const MOST_BYTES: u64 = 1 << 20;

/// Models that an experiment is run with, one after the other.
#[derive(Debug, Clone)]
pub struct Roster(pub Vec<String>);

/// Reads the value of `--models`: names with commas between them, or those of a file, or of the
/// roster of this name where there is no such file.
///
/// # Errors
/// The file cannot be read, and no roster has its name; a name is there twice; there is none.
pub fn read(text: &str) -> Result<Roster, String> {
    let list = match text.strip_prefix('@') {
        Some(path) => match (
            read_whole(Path::new(path), MOST_BYTES),
            presets::roster(path),
        ) {
            (Ok(text), _) => String::from_utf8_lossy(&text).into_owned(),
            (Err(error), Some(roster)) if error.kind() == ErrorKind::NotFound => roster,
            (Err(error), _) => {
                let known = presets::rosters().join(", @");
                let path = path.in_line();
                return Err(format!("cannot read {path}: {error}; rosters are @{known}"));
            }
        },
        None => text.replace(',', "\n"),
    };
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    let mut models: Vec<String> = Vec::new();
    for model in lines.filter(|line| !line.is_empty()) {
        if models.iter().any(|known| known == model) {
            return Err(format!("{} is named twice", model.in_line()));
        }
        models.push(model.to_owned());
    }
    match models.is_empty() {
        true => Err("no model is named".to_owned()),
        false => Ok(Roster(models)),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn names_stand_in_a_list_or_in_a_file_with_comments() {
        assert_eq!(read("a, b/c ,d").unwrap().0, ["a", "b/c", "d"]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roster.txt");
        std::fs::write(&file, "a # the cheap one\n\n# none\nb/c\n").unwrap();
        let named = format!("@{}", file.display());
        assert_eq!(read(&named).unwrap().0, ["a", "b/c"]);
        for (roster, models) in [("gamma-bench", 13), ("aucarena", 7), ("econarena", 5)] {
            assert_eq!(read(&format!("@{roster}")).unwrap().0.len(), models);
        }
        for (text, told) in [
            ("a,b,a", "a is named twice"),
            (" , ", "no model is named"),
            ("@no-such-file", "cannot read no-such-file"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
