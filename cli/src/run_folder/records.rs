//! Files of records below a path: of each folder of results those that it shows, apart from those of
//! its earlier runs, so that results of different runs are never taken together. Other folders are
//! searched as they are, and so are addresses in a bucket, where a coordinator's archive may lie. Reads
//! only; called by whoever looks for sessions.

use std::fs;
use std::path::{Path, PathBuf};

use agon_coordinator::archive;
use agon_engine::names::among;
use agon_outlets::InLine as _;

use super::history::{self, Results, Run};
use super::{HISTORY, RECORDS, TELEMETRY};
use crate::failure::Failure;
use crate::lines::{self, LineError};
use crate::storage;

/// What was found, in order of name.
#[derive(Default)]
pub struct RecordFiles {
    /// Records that are shown, of one run for each folder of results; and what cannot be read.
    pub shown: Vec<Result<PathBuf, LineError>>,
    /// Records of earlier runs, newest first for each folder.
    pub earlier: Vec<PathBuf>,
    /// Folders of results, and their runs.
    pub folders: Vec<Results>,
}

/// The files at a path: itself, or those in a folder and below it. Of folders of results those of
/// the run with the number `run`, if one is given. An address is that of a file, or of all below it.
///
/// # Errors
/// A bucket cannot be read, or holds no records there.
pub fn below(path: &Path, run: Option<u32>) -> Result<RecordFiles, Failure> {
    let mut found = RecordFiles::default();
    if storage::is_address(path) && !is_of_records(&path.to_string_lossy()) {
        let files = storage::below(path, is_of_records)?;
        if files.is_empty() {
            return Err(Failure::BadInput(lines::nothing_in(path).to_string()));
        }
        found.shown.extend(files.into_iter().map(Ok));
    } else if path.is_dir() {
        found.search(path, run);
        if found.shown.is_empty() && found.earlier.is_empty() {
            found.shown.push(Err(lines::nothing_in(path)));
        }
    } else {
        found.shown.push(Ok(path.to_owned()));
    }
    Ok(found)
}

/// The telemetry that lies beside a file of records, line by line in the same order: of a run, or of
/// a segment of a coordinator's archive. There may be none.
pub fn telemetry_beside(records: &Path) -> Option<PathBuf> {
    let name = records.file_name()?.to_str()?;
    let beside = match name.strip_suffix(archive::RECORDS) {
        Some(segment) => format!("{segment}{}", archive::TELEMETRY),
        None if name == RECORDS => TELEMETRY.to_owned(),
        None => return None,
    };
    let beside = records.with_file_name(beside);
    // Whether it is in a bucket, its reader finds out.
    Some(beside).filter(|beside| storage::is_address(beside) || beside.is_file())
}

/// The segments of an experiment's folder in a coordinator's archive; `None` where there are none.
pub fn segments(folder: &Path) -> Option<Vec<PathBuf>> {
    let names = fs::read_dir(folder).ok()?.flatten();
    let is_segment = |path: &PathBuf| path.to_string_lossy().ends_with(archive::RECORDS);
    let mut files: Vec<_> = names.map(|entry| entry.path()).filter(is_segment).collect();
    files.sort();
    (!files.is_empty()).then_some(files)
}

fn is_of_records(name: &str) -> bool {
    let is_telemetry = name == TELEMETRY || name.ends_with(archive::TELEMETRY);
    lines::is_looked_for(name) && !is_telemetry
}

/// The folder of an experiment's results, by the experiment's name or the folder's own.
///
/// # Errors
/// There is none; says which there are.
pub fn folder_of(named: &str, by_default: &Path) -> Result<PathBuf, Failure> {
    for path in [by_default.join(named), PathBuf::from(named)] {
        if history::results(&path).is_some() {
            return Ok(path);
        }
    }
    let folders = below(by_default, None)?.folders;
    let names = folders.iter().map(|one| one.experiment.as_str());
    Err(Failure::BadInput(format!(
        "no experiment {named} in {}, and no folder of results of that name{}",
        by_default.in_line(),
        among(named, names)
    )))
}

impl RecordFiles {
    fn search(&mut self, folder: &Path, run: Option<u32>) {
        let results = history::results(folder);
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    let (name, path) = (entry.file_name(), entry.path());
                    // Links to folders are not followed: they may form a circle.
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        folders.push(path);
                    } else if is_of_records(&name.to_string_lossy()) {
                        match lines::regular(path) {
                            Ok(file) => files.push(file),
                            Err(fault) => self.shown.push(Err(fault)),
                        }
                    }
                }
            }
            Err(error) => self.shown.push(Err(LineError::of(folder, error))),
        }
        files.sort();
        folders.sort();
        if let Some(results) = results {
            folders.retain(|inside| *inside != folder.join(HISTORY));
            self.take(results, files, run);
        } else {
            self.shown.extend(files.into_iter().map(Ok));
        }
        for inside in folders {
            self.search(&inside, run);
        }
    }

    fn take(&mut self, results: Results, files: Vec<PathBuf>, run: Option<u32>) {
        let records = |run: &Run| Some(run.path.join(RECORDS)).filter(|file| file.is_file());
        match run {
            Some(number) => {
                let wanted = results.runs.iter().filter(|run| run.number == number);
                self.shown.extend(wanted.filter_map(records).map(Ok));
            }
            None => {
                self.shown.extend(files.into_iter().map(Ok));
                let earlier = results.runs.iter().rev().filter(|run| !run.is_shown);
                self.earlier.extend(earlier.filter_map(records));
            }
        }
        self.folders.push(results);
    }
}
