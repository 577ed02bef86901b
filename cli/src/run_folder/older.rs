//! Folders of results that were written before runs left entries: one run, its files beside each
//! other, without a mark. Known by the document in them. What they hold becomes the first entry of
//! their history; nothing is removed. Called by `run_folder.rs`.

use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use agon_coordinator::experiment::ExperimentDocument;
use agon_service_kit::folder::{Folder, Kind};

use super::account::{self, Account, Outcome};
use super::entry::ACCOUNT;
use super::mark::{Mark, digest_of};
use super::{DOCUMENT, Entry, HISTORY, RECORDS, SHOWN, TEMPLATES, history};
use crate::data_folder::cannot;
use crate::failure::Failure;

/// The number of what is carried over.
const FIRST: u32 = 1;

/// The experiment whose results an older folder holds; `None` when it is none.
pub fn experiment_of(folder: &Folder) -> Option<String> {
    if folder.kind(RECORDS).ok()? != Some(Kind::File) {
        return None;
    }
    let document = folder.read(DOCUMENT).ok()??;
    let document = ExperimentDocument::from_json(&document).ok()?;
    Some(document.name)
}

/// Makes an entry of what is there. Answers the mark that the folder is to have.
///
/// # Errors
/// The entry cannot be written.
pub fn carry_over(folder: &Folder, experiment: &str) -> Result<Mark, Failure> {
    let failed = |error| cannot("carry over", folder.path(), &error);
    let started = written_at(folder).map_err(failed)?;
    let history = folder.folder(HISTORY).map_err(failed)?;
    let name = history::name(FIRST, &started);
    let inside = history.folder(&name).map_err(failed)?;
    let mut files = BTreeMap::new();
    for name in SHOWN {
        if folder.kind(name).map_err(failed)? != Some(Kind::File) {
            continue;
        }
        copy(folder, name, &inside).map_err(failed)?;
        let copied = inside.reader(name).map_err(failed)?;
        if let Some(copied) = copied {
            files.insert(name.to_owned(), digest_of(copied).map_err(failed)?);
        }
    }
    if folder.kind(TEMPLATES).map_err(failed)? == Some(Kind::Folder) {
        copy_all(folder, TEMPLATES, &inside).map_err(failed)?;
    }
    let draft = format!(".{ACCOUNT}.part");
    if inside.kind(&draft).map_err(failed)?.is_some() {
        inside.remove_file(&draft).map_err(failed)?;
    }
    let mut entry = Entry::new(
        inside,
        Account {
            format: account::FORMAT,
            run: FIRST,
            experiment: experiment.to_owned(),
            started,
            outcome: Outcome::Unknown,
            reason: Some("run by a version of agon that kept no account".to_owned()),
            ..Account::default()
        },
    );
    entry.write_carried(&files)?;
    let files = files.into_iter();
    Ok(Mark {
        shown: FIRST,
        last: FIRST,
        files: files.map(|(name, digest)| (name, vec![digest])).collect(),
        ..Mark::new(experiment)
    })
}

/// When the records were written.
fn written_at(folder: &Folder) -> io::Result<String> {
    let records = folder.reader(RECORDS)?;
    let written = records.and_then(|file| file.metadata().ok()?.modified().ok());
    let written = written.unwrap_or_else(SystemTime::now);
    Ok(humantime::format_rfc3339_seconds(written).to_string())
}

/// A carrying over that was cut off is made again.
fn copy(folder: &Folder, name: &str, to: &Folder) -> io::Result<()> {
    if to.kind(name)?.is_some() {
        to.remove_file(name)?;
    }
    folder.copy(name, to, name)
}

fn copy_all(from: &Folder, name: &str, to: &Folder) -> io::Result<()> {
    let Some(from) = from.existing_folder(name)? else {
        return Ok(());
    };
    let to = to.folder(name)?;
    for inside in from.names()? {
        match from.kind(&inside)? {
            Some(Kind::Folder) => copy_all(&from, &inside, &to)?,
            Some(Kind::File) => copy(&from, &inside, &to)?,
            _ => {}
        }
    }
    Ok(())
}
