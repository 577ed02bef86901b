//! The experiments of the papers, inside the binary, and the rule by which a
//! name on the command line finds a file or a preset.

use std::path::Path;

use rust_embed::Embed;

use crate::data_folder::cannot;
use crate::failure::Failure;

#[derive(Embed)]
#[folder = "$CARGO_MANIFEST_DIR/../experiments"]
#[include = "**/*.toml"]
struct Presets;

/// An experiment's text and where it came from.
pub struct Source {
    /// File name or preset name, for messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Names of all presets, without the ending.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Presets::iter()
        .map(|path| path.trim_end_matches(".toml").to_owned())
        .collect();
    names.sort();
    names
}

/// The file of this path, or else the preset of this name.
///
/// # Errors
/// There is neither, or the file is no UTF-8 text.
pub fn find(name: &str) -> Result<Source, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        let bytes = std::fs::read(path).map_err(|error| cannot("read", path, &error))?;
        return text(name, bytes);
    }
    let stem = name
        .trim_end_matches(".toml")
        .trim_start_matches("experiments/");
    if let Some(preset) = Presets::get(&format!("{stem}.toml")) {
        return text(name, preset.data.into_owned());
    }
    if path.is_dir() {
        return Err(Failure::BadInput(format!(
            "{name} is a folder; name one experiment file"
        )));
    }
    let presets = names().join(", ");
    Err(Failure::BadInput(format!(
        "no experiment file {name}, and no preset of that name; there are {presets}"
    )))
}

fn text(name: &str, bytes: Vec<u8>) -> Result<Source, Failure> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        Failure::BadInput(format!("{name}:{line}: not UTF-8 text"))
    })?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}
