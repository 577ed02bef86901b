//! `agon runs`: the runs that folders of results keep, and removing one of them. The only command
//! that removes anything, and it says what. Started by `commands.rs`.

use std::collections::BTreeSet;
use std::path::Path;

use agon_outlets::InLine as _;
use agon_report::grouped;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, Columns, counted};
use crate::role::DataArguments;
use crate::run_folder::account::Counts;
use crate::run_folder::history::{Results, Run};
use crate::run_folder::{RunFolder, history, records};

const EXAMPLES: &str = "Examples:
  agon runs                     all runs whose results are here
  agon runs my-niche            those of one experiment, with their folders
  agon runs my-niche delete 1   remove the results of run 1, for good

Give an experiment's name if its results are in DATA/runs, otherwise their folder. Deleting a run \
keeps its model answers in the data folder: run again, and none is requested twice.";

const USAGE: &str = "agon runs [OPTIONS] [EXPERIMENT]
       agon runs [OPTIONS] EXPERIMENT delete N...";
const USAGE_OF_DELETE: &str = "agon runs [OPTIONS] EXPERIMENT delete N...";

/// Arguments of `agon runs`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct Runs {
    /// An experiment's name, or the folder of its results
    #[arg(value_name = "EXPERIMENT")]
    experiment: Option<String>,
    #[command(flatten)]
    data: DataArguments,
    /// As JSON: the account of every run
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    change: Option<Change>,
}

/// What can be done with runs.
#[derive(Debug, clap::Subcommand)]
enum Change {
    /// Remove the results of runs, for good
    #[command(override_usage = USAGE_OF_DELETE)]
    Delete {
        /// Their numbers
        #[arg(value_name = "N", required = true)]
        numbers: Vec<u32>,
    },
}

/// Lists runs, or removes some.
///
/// # Errors
/// Exit 2 when there is no such experiment or run, 3 when a folder cannot be read or written.
pub fn run(arguments: &Runs) -> Result<(), Failure> {
    let by_default = arguments.data.runs();
    let Some(named) = &arguments.experiment else {
        if arguments.change.is_some() {
            let text = "whose runs? Write `agon runs EXPERIMENT delete N`";
            return Err(Failure::BadInput(text.to_owned()));
        }
        let mut folders = records::below(&by_default, None)?.folders;
        // What never began has a folder and no run.
        folders.retain(|results| !results.runs.is_empty());
        if folders.is_empty() {
            return Err(Failure::BadInput(format!(
                "no results in {}; `agon run` puts them there",
                by_default.in_line()
            )));
        }
        return list(arguments, &folders);
    };
    let path = records::folder_of(named, &by_default)?;
    match &arguments.change {
        Some(Change::Delete { numbers }) => delete(&path, numbers),
        None => {
            let results = history::results(&path).ok_or_else(|| no_results(&path))?;
            if results.runs.is_empty() {
                return Err(Failure::BadInput(format!(
                    "no run of {} is kept in {}",
                    results.experiment,
                    path.in_line()
                )));
            }
            list(arguments, std::slice::from_ref(&results))?;
            if !arguments.json {
                for run in &results.runs {
                    output::print(&format!("run {} in {}", run.number, run.path.in_line()));
                }
            }
            Ok(())
        }
    }
}

fn no_results(path: &Path) -> Failure {
    Failure::BadInput(format!("{} is no folder of results", path.in_line()))
}

fn list(arguments: &Runs, folders: &[Results]) -> Result<(), Failure> {
    if arguments.json {
        let runs = folders.iter().flat_map(|results| &results.runs);
        let listed: Vec<_> = runs
            .map(|run| json!({ "folder": run.path, "shown": run.is_shown, "run": run.account }))
            .collect();
        output::print_json(&json!(listed).to_string());
        return Ok(());
    }
    let mut columns = Columns::new([
        "experiment",
        "run",
        "started",
        "outcome",
        "sessions",
        "changes",
    ]);
    for results in folders {
        for run in &results.runs {
            columns.row(row(&results.experiment, run));
        }
    }
    output::print(&columns.to_string());
    let mut runs = folders.iter().flat_map(|results| &results.runs);
    if runs.any(|run| run.is_shown) {
        output::print("\n* the run whose results the experiment's folder shows");
    }
    Ok(())
}

fn row(experiment: &str, run: &Run) -> [String; 6] {
    let shown = if run.is_shown { " *" } else { "" };
    let number = format!("{}{shown}", run.number);
    let Some(account) = &run.account else {
        let unreadable = "unreadable".to_owned();
        return [
            experiment.to_owned(),
            number,
            String::new(),
            unreadable,
            String::new(),
            String::new(),
        ];
    };
    let sessions = account.sessions.as_ref().map(|counts| {
        let Counts { all, done, .. } = counts;
        format!("{} of {}", grouped(*done), grouped(*all))
    });
    [
        experiment.to_owned(),
        number,
        account.started.clone(),
        account.outcome.in_words().to_owned(),
        sessions.unwrap_or_default(),
        account.changes.join(" "),
    ]
}

fn delete(path: &Path, numbers: &[u32]) -> Result<(), Failure> {
    let folder = RunFolder::existing(path)?;
    // All of them or none.
    let numbers = BTreeSet::from_iter(numbers);
    for number in &numbers {
        folder.check_deletion(**number)?;
    }
    let before = history::results(path).ok_or_else(|| no_results(path))?;
    for number in numbers {
        let run = before.runs.iter().find(|run| run.number == *number);
        let counts = run.and_then(|run| run.account.as_ref()?.sessions.as_ref());
        let held = counts.map_or_else(String::new, |counts| {
            format!(", which held {}", counted(counts.done, "session"))
        });
        for kept in folder.delete(*number)? {
            let kept = kept.in_line();
            output::tell(&format!(
                "a results file was changed since agon wrote it, and is kept as {kept}"
            ));
        }
        output::print(&format!("removed run {number} of {}{held}", path.in_line()));
    }
    let left = history::results(path).ok_or_else(|| no_results(path))?;
    let count = counted(left.runs.len() as u64, "run");
    output::print(&match left.shown() {
        Some(shown) => format!("{count} left; the folder shows run {}", shown.number),
        None => format!("{count} left; the folder shows no results"),
    });
    Ok(())
}
