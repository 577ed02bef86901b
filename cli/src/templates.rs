//! Reads a user's folder of prompt templates into texts. Whether they are good
//! templates is checked by `agon-agents`. Called for experiments that name a folder,
//! and by `agon verify`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use agon_agents::PromptLibrary;
use agon_outlets::InLine as _;

use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::run_folder::{TEMPLATES, history};

/// Ending of template files.
const ENDING: &str = "j2";

/// The library that the records of a file were played with: the built-in templates, with those
/// that lie beside the file or in `named` in their place.
///
/// # Errors
/// As [`read`]; or they are no templates.
pub fn played_with(named: Option<&Path>, records: &Path) -> Result<PromptLibrary, Failure> {
    let beside = history::beside(records, TEMPLATES);
    let folder = match named {
        Some(folder) => Some(folder),
        None => Some(beside.as_path()).filter(|folder| folder.is_dir()),
    };
    match folder {
        None => Ok(PromptLibrary::builtin()),
        Some(folder) => PromptLibrary::with_overrides(read(folder)?).map_err(Failure::input),
    }
}

/// Every template below a folder: path inside it, with `/`, to text.
///
/// # Errors
/// The folder or a file in it cannot be read, or there is no template in it.
pub fn read(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut texts = BTreeMap::new();
    collect(folder, "", &mut texts)?;
    if texts.is_empty() {
        let folder = folder.in_line();
        return Err(Failure::BadInput(format!(
            "no .{ENDING} template in {folder}"
        )));
    }
    Ok(texts)
}

/// Writes a template where no file is yet.
///
/// # Errors
/// There is one, or it cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
    }
    let file = File::create_new(path);
    let mut file = file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::BadInput(format!(
            "{} already exists; choose another folder with --out",
            path.in_line()
        )),
        _ => cannot("create", path, &error),
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| cannot("write", path, &error))
}

fn collect(
    folder: &Path,
    prefix: &str,
    texts: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| cannot("read", folder, &error))?;
        let path = entry.path();
        let name = entry.file_name();
        let name = format!("{prefix}{}", name.to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), texts)?;
        } else if path.extension().is_some_and(|ending| ending == ENDING) {
            let text = fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
            texts.insert(name, text);
        }
    }
    Ok(())
}
