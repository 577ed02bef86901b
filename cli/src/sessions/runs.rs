//! Whether there is a run of a number where sessions are looked for: an experiment that is named has runs
//! of its own. Called by the search for sessions.

use std::collections::BTreeSet;
use std::path::Path;

use agon_outlets::InLine as _;

use crate::failure::Failure;
use crate::run_folder::history::Results;

/// Looks for a run among those of the experiment that is wanted, or else of all that are there.
///
/// # Errors
/// There is none of this number, or runs are not kept apart.
pub fn refuse_unknown(
    run: u32,
    wanted: Option<&str>,
    path: &Path,
    folders: &[Results],
) -> Result<(), Failure> {
    let mut named = folders.iter();
    let own = named.find(|results| Some(results.experiment.as_str()) == wanted);
    let (path, folders) = match own {
        Some(own) => (own.path.as_path(), std::slice::from_ref(own)),
        None => (path, folders),
    };
    let numbers: BTreeSet<u32> = folders
        .iter()
        .flat_map(|results| results.runs.iter().map(|one| one.number))
        .collect();
    if numbers.contains(&run) {
        return Ok(());
    }
    let path = path.in_line();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    Err(Failure::BadInput(match numbers.as_slice() {
        [] => format!("{path} keeps no runs that --run could choose from"),
        [only] => format!("there is no run {run} in {path}; there is only run {only}"),
        several => format!(
            "there is no run {run} in {path}; there are {}",
            several.join(", ")
        ),
    }))
}
