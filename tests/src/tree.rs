//! Where the project lies, and the files in it. Changes none of them. Called by tests that
//! read sources, documents or recorded games.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no sources of ours.
const SKIPPED: [&str; 3] = ["target", ".git", "agon-data"];

/// The project's top folder.
pub fn root() -> PathBuf {
    // This crate lies one folder below the top.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Every file below the top whose name ends like this, in order.
pub fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root(), ending, &mut found);
    found.sort();
    found
}

/// A path as it is written in messages: relative to the top.
pub fn short(path: &Path) -> String {
    let root = root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// The folder of recorded games: `tests/recorded`, or the one in `AGON_RECORDED`.
pub fn recorded() -> PathBuf {
    let named = std::env::var_os("AGON_RECORDED").map(PathBuf::from);
    named.unwrap_or_else(|| root().join("tests/recorded"))
}

/// A file of replies of real models, which are not part of the project: in the folder that
/// `AGON_REPLIES` names, or in `../shared/recorded`. None where there is no such file.
pub fn replies(file: &str) -> Option<PathBuf> {
    let named = std::env::var_os("AGON_REPLIES").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root().join("../shared/recorded"));
    Some(folder.join(file)).filter(|path| path.is_file())
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !SKIPPED.contains(&&*name) {
                collect(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}
