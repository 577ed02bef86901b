//! `agon verify`: session records, played again from their own decisions. Calls no
//! model and changes no record; the comparison is `agon_worker::verify`. Started by
//! `commands.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_agents::PromptLibrary;
use agon_service_kit::tasks::{Tasks, with_causes};
use agon_worker::verify::{VerifyError, verify};

use crate::failure::Failure;
use crate::lines::{self, Line, LineError};
use crate::output;
use crate::role::{LogArguments, runtime};
use crate::templates;

/// Arguments of `agon verify`.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// A run's folder, or its records.jsonl
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The templates that the run replaced built-in ones with, if it did
    /// [default: the copy in the run's folder]
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
}

/// Verifies every record.
///
/// # Errors
/// Exit 1 when a record differs, 2 when something is unreadable.
pub fn run(arguments: &Verify, log: &LogArguments) -> Result<(), Failure> {
    let records = records_file(&arguments.run)?;
    let library = Arc::new(library(arguments, &records)?);
    runtime()?.block_on(async {
        let guard = log.start("verify", true)?;
        let tasks = Tasks::new();
        let (mut verified, mut different, mut unreadable) = (0u64, 0u64, 0u64);
        for line in lines::read(&records) {
            let outcome = match line {
                Ok(line) => verify_line(&tasks, &line, &library).await,
                Err(error) => Err((error, true)),
            };
            match outcome {
                Ok(()) => verified += 1,
                Err((error, true)) => {
                    unreadable += 1;
                    eprintln!("unreadable: {error}");
                }
                Err((error, false)) => {
                    different += 1;
                    output::print(&format!("fault: {error}"));
                }
            }
        }
        guard.shutdown().await;
        let all = verified + different + unreadable;
        output::print(&format!("{verified} of {all} records verified"));
        match (all, unreadable, different) {
            (0, ..) => Err(Failure::BadInput(format!("{} is empty", records.display()))),
            (_, 0, 0) => Ok(()),
            (_, 0, faults) => Err(Failure::BadNews(format!(
                "{faults} of {all} records differ"
            ))),
            (_, faults, _) => Err(Failure::BadInput(format!("{faults} lines are unreadable"))),
        }
    })
}

/// Verifies one line; the flag of a fault says whether the line is unreadable.
async fn verify_line(
    tasks: &Tasks,
    line: &Line,
    library: &Arc<PromptLibrary>,
) -> Result<(), (LineError, bool)> {
    let verified = verify(tasks, &line.text, Arc::clone(library)).await;
    verified.map_err(|error| {
        let unreadable = matches!(error, VerifyError::Unreadable(_));
        (LineError::at(line, with_causes(&error)), unreadable)
    })
}

fn records_file(run: &Path) -> Result<PathBuf, Failure> {
    if run.is_file() {
        return Ok(run.to_owned());
    }
    let inside = run.join(crate::run_folder::RECORDS);
    if inside.is_file() {
        return Ok(inside);
    }
    let run = run.display();
    Err(Failure::BadInput(format!(
        "{run} is neither a record file nor a run's folder"
    )))
}

/// The built-in templates, with those that the run used in their place.
fn library(arguments: &Verify, records: &Path) -> Result<PromptLibrary, Failure> {
    let beside = records.with_file_name(crate::run_folder::TEMPLATES);
    let folder = arguments
        .templates
        .clone()
        .or_else(|| beside.is_dir().then_some(beside));
    match folder {
        None => Ok(PromptLibrary::builtin()),
        Some(folder) => {
            let texts = templates::read(&folder)?;
            PromptLibrary::with_overrides(texts).map_err(Failure::input)
        }
    }
}
