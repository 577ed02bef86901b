//! Names of files of a run until all of them stands beside the history, and what runs left under such
//! names that were killed meanwhile. Called by the run's folder, which holds its lock.

use std::io;

use agon_service_kit::folder::{Folder, Kind};

use super::SHOWN;

/// What a file of a run is called until it is whole.
pub fn name_of(file: &str, number: u32) -> String {
    format!(".{file}.{number}.part")
}

/// Removes all that are there. What is no plain file somebody else has put there.
pub fn clear(folder: &Folder) -> io::Result<()> {
    for name in folder.names()?.iter().filter(|name| is_one(name)) {
        if matches!(folder.kind(name)?, Some(Kind::File)) {
            folder.remove_file(name)?;
        }
    }
    Ok(())
}

/// Whether a file is called so, or so and `~` because that name was taken.
fn is_one(name: &str) -> bool {
    SHOWN.into_iter().any(|file| {
        let rest = name.trim_end_matches('~').strip_prefix('.');
        let rest = rest.and_then(|rest| rest.strip_prefix(file)?.strip_prefix('.'));
        let number = rest.and_then(|rest| rest.strip_suffix(".part"));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}
