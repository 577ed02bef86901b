//! Folders that are refused before anything is written into them, and what to do instead. Changes
//! nothing. Called by `run_folder.rs`.

use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_service_kit::folder::Folder;

use super::{HISTORY, LOCK, mark};
use crate::data_folder::cannot;
use crate::failure::Failure;

/// Things named when a folder is somebody else's.
const NAMED: usize = 3;

pub(super) fn other_experiment(folder: &Folder, holds: &str, wanted: &str) -> Failure {
    let path = folder.path();
    Failure::BadInput(format!(
        "{} holds the results of experiment \"{holds}\"; choose another folder for those of \
         \"{wanted}\", for example --out {}",
        path.in_line(),
        beside(path, wanted).in_line()
    ))
}

/// Refuses a folder without a mark that somebody else has put things into. Another run of ours may be
/// making its first mark there meanwhile.
pub(super) fn other_things(folder: &Folder, experiment: &str) -> Result<(), Failure> {
    let failed = |error| cannot("read", folder.path(), &error);
    let mut names = folder.names().map_err(failed)?;
    let locked_only = |history: Folder| history.names().is_ok_and(|inside| inside == [LOCK]);
    let history = folder.existing_folder(HISTORY).map_err(failed)?;
    let is_begun = history.is_some_and(locked_only);
    names.retain(|name| !(mark::is_draft(name) || is_begun && name == HISTORY));
    match names.is_empty() {
        true => Ok(()),
        false => Err(holds_others(folder, &names, experiment)),
    }
}

fn holds_others(folder: &Folder, names: &[String], experiment: &str) -> Failure {
    let path = folder.path();
    let mut named = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED {
        named.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    Failure::BadInput(format!(
        "{} contains other files ({named}), and results need a folder of their own, for example \
         --out {}",
        path.in_line(),
        path.join(experiment).in_line()
    ))
}

fn beside(path: &Path, name: &str) -> PathBuf {
    match path.parent() {
        Some(parent) if path.file_name().is_some_and(|own| own != name) => parent.join(name),
        _ => path.join(name),
    }
}
