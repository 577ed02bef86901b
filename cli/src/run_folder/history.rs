//! The history of a folder of results, for whoever reads it: which runs there are, and where the
//! files of one are. Changes nothing, except that it removes the entry of a run when told to.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;
use agon_service_kit::folder::{Folder, Kind};

use super::entry::{ACCOUNT, RUNNING};
use super::mark::{Found, Mark};
use super::{Account, HISTORY, MOST_BESIDE_BYTES};
use crate::data_folder::cannot;
use crate::failure::Failure;

/// A folder of results.
pub struct Results {
    /// Where it is.
    pub path: PathBuf,
    /// The experiment whose results it holds.
    pub experiment: String,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
}

/// A run in a folder's history.
pub struct Run {
    /// Its number.
    pub number: u32,
    /// Its folder.
    pub path: PathBuf,
    /// What it was; absent when that cannot be read.
    pub account: Option<Account>,
    /// The files beside the history are its files.
    pub is_shown: bool,
}

impl Results {
    /// The run whose files stand beside the history.
    pub fn shown(self) -> Option<Run> {
        self.runs.into_iter().find(|run| run.is_shown)
    }
}

/// What a folder holds when it is one of results; `None` when it is none.
pub fn results(path: &Path) -> Option<Results> {
    let folder = Folder::open(path).ok()?;
    let Ok(Found::Mark(mark)) = Mark::read(&folder) else {
        return None;
    };
    let history = folder.existing_folder(HISTORY).ok().flatten();
    let runs = history.map(|history| runs(&history, mark.shown));
    Some(Results {
        path: path.to_owned(),
        experiment: mark.experiment,
        runs: runs.unwrap_or_default(),
    })
}

fn runs(history: &Folder, shown: u32) -> Vec<Run> {
    let runs = entries(history).into_iter().map(|(number, name)| {
        let folder = history.existing_folder(&name).ok().flatten();
        let account = folder.and_then(|folder| folder.read(ACCOUNT).ok().flatten());
        Run {
            number,
            path: history.place(&name),
            account: account.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
            is_shown: shown == number,
        }
    });
    runs.collect()
}

/// The account of a run, in the folder of its entry.
pub fn account(entry: &Path) -> Option<Account> {
    let bytes = read_whole(&entry.join(ACCOUNT), MOST_BESIDE_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Where a file is that belongs to records: in the entry of the run that their folder shows, or
/// beside them.
pub fn beside(records: &Path, name: &str) -> PathBuf {
    let folder = records.parent().unwrap_or(Path::new(""));
    let shown = results(folder).and_then(|results| results.shown());
    shown
        .map_or_else(|| folder.to_owned(), |run| run.path)
        .join(name)
}

/// The numbers of all entries.
pub(super) fn numbers(history: &Folder) -> Vec<u32> {
    let entries = entries(history).into_iter();
    entries.map(|(number, _)| number).collect()
}

/// The name of an entry: its number, and when its run began.
pub(super) fn name(number: u32, started: &str) -> String {
    format!("{number:04}-{}", started.replace(':', "-"))
}

/// The folder of an entry.
pub(super) fn open(history: &Folder, number: u32) -> io::Result<Option<Folder>> {
    let entry = entries(history).into_iter().find(|(own, _)| *own == number);
    match entry {
        Some((_, name)) => history.existing_folder(&name),
        None => Ok(None),
    }
}

/// Numbers and names of the entries, oldest first.
fn entries(history: &Folder) -> Vec<(u32, String)> {
    let names = history.names().unwrap_or_default().into_iter();
    let mut entries: Vec<(u32, String)> = names
        .filter_map(|name| {
            let (number, _) = name.split_once('-')?;
            Some((number.parse().ok()?, name))
        })
        .filter(|(_, name)| history.kind(name).ok().flatten() == Some(Kind::Folder))
        .collect();
    entries.sort();
    entries
}

/// The name of an entry.
///
/// # Errors
/// There is none of this number; says which there are.
pub(super) fn find(history: &Folder, number: u32) -> Result<String, Failure> {
    let entries = entries(history);
    let found = entries.iter().find(|(own, _)| *own == number);
    if let Some((_, name)) = found {
        return Ok(name.clone());
    }
    let numbers: Vec<String> = entries.iter().map(|(own, _)| own.to_string()).collect();
    let there = match numbers.as_slice() {
        [] => "there are none".to_owned(),
        [only] => format!("there is only run {only}"),
        several => format!("there are {}", several.join(", ")),
    };
    Err(Failure::BadInput(format!(
        "there is no run {number} in {}; {there}",
        history.path().in_line()
    )))
}

/// The newest run that has a file, apart from one.
pub(super) fn newest_with(history: &Folder, file: &str, apart: u32) -> io::Result<Option<u32>> {
    for (number, name) in entries(history).into_iter().rev() {
        let Some(entry) = history.existing_folder(&name)? else {
            continue;
        };
        if number != apart && entry.kind(file)? == Some(Kind::File) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// The folder of the newest run that has ended and has a file, apart from one.
pub(super) fn ended_with(history: &Folder, file: &str, apart: u32) -> io::Result<Option<Folder>> {
    for number in numbers(history).into_iter().rev() {
        let Some(entry) = open(history, number)? else {
            continue;
        };
        let is_there = number != apart && entry.kind(file)? == Some(Kind::File);
        if is_there && !is_running(history, number)? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// Whether a run has not come to its end, in a process that lives.
pub(super) fn is_running(history: &Folder, number: u32) -> io::Result<bool> {
    let entry = open(history, number)?;
    let running = entry.map(|entry| entry.reader(RUNNING)).transpose()?;
    match running.flatten().map(|file| file.try_lock_shared()) {
        None | Some(Ok(())) => Ok(false),
        Some(Err(TryLockError::WouldBlock)) => Ok(true),
        Some(Err(TryLockError::Error(error))) => Err(error),
    }
}

/// Removes an entry with all that is in it.
pub(super) fn remove(history: &Folder, number: u32) -> Result<(), Failure> {
    let name = find(history, number)?;
    remove_folder(history, &name).map_err(|error| cannot("remove", &history.place(&name), &error))
}

/// Removes a folder and what is in it; links go, and what they lead to stays.
fn remove_folder(parent: &Folder, name: &str) -> io::Result<()> {
    if let Some(folder) = parent.existing_folder(name)? {
        for inside in folder.names()? {
            match folder.kind(&inside)? {
                Some(Kind::Folder) => remove_folder(&folder, &inside)?,
                Some(_) => folder.remove_file(&inside)?,
                None => {}
            }
        }
    }
    parent.remove_empty_folder(name)
}
