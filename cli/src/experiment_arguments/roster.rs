//! The models that `--models` names, on the command line or in a file of one name a line. Whether
//! they exist is found out where models are checked.

use agon_outlets::InLine as _;

/// Models that an experiment is run with, one after the other.
#[derive(Debug, Clone)]
pub struct Roster(pub Vec<String>);

/// Reads the value of `--models`: names with commas between them, or those of a file.
///
/// # Errors
/// The file cannot be read; a name stands there twice; there is none.
pub fn read(text: &str) -> Result<Roster, String> {
    let list = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.in_line()))?,
        None => text.replace(',', "\n"),
    };
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    let mut models: Vec<String> = Vec::new();
    for model in lines.filter(|line| !line.is_empty()) {
        if models.iter().any(|known| known == model) {
            return Err(format!("{} stands there twice", model.in_line()));
        }
        models.push(model.to_owned());
    }
    match models.is_empty() {
        true => Err("it names no model".to_owned()),
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
        for (text, told) in [
            ("a,b,a", "a stands there twice"),
            (" , ", "names no model"),
            ("@no-such-file", "cannot read no-such-file"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
