//! Records to be judged: an experiment of the game `judging` plays one entry per judged
//! player. Reads records and changes the experiment's file before it is checked; what
//! judges are told of a record, the report crate writes. Called by
//! `experiment_arguments.rs`, and by pages on which a draw is looked at first.

mod assigning;
mod drafts;
mod drawing;
mod entries;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agon_coordinator::experiment::ExperimentFile;
use agon_engine::record::StoredRecord;
use agon_outlets::InLine as _;
use agon_service_kit::tasks::with_causes;
use serde_json::Value;

use crate::failure::Failure;
use crate::lines::{self, Line, LineError, MOST_UNREADABLE};
use crate::output;
use crate::run_folder;
use crate::storage;
pub use drafts::Drafts;
use drawing::{Candidate, candidates, drawn};

/// The game that judges play.
const JUDGING: &str = "judging";

/// Before the labels of those who judge themselves; tables count their marks apart.
const PERSONS: &str = "persons";

/// How many are judged unless said otherwise (Mao et al., arXiv 2311.03220, section 7).
pub const USUAL: u32 = 30;

/// Heading of the help text.
const HEADING: &str = "Judging";

/// Whose play is judged, and by whom.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct JudgingArguments {
    /// For an experiment that judges: the finished sessions whose players are judged, a
    /// run's folder or a file of records
    #[arg(long, value_name = "RESULTS", help_heading = HEADING)]
    pub records: Option<PathBuf>,
    /// With --records: how many players are judged; which ones, follows from their sessions
    #[arg(long, value_name = "N", default_value_t = USUAL, requires = "records", help_heading = HEADING,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub judged: u32,
    /// With --records: how many of the seated judges rate each record, in turn, so that all rate
    /// equally many, and each two about equally often the same [default: all]
    #[arg(long, value_name = "K", requires = "records", help_heading = HEADING, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub judges: Option<u32>,
    /// With --records: people rate their own games, each person the records in which it played, and
    /// no others; their marks are counted apart
    #[arg(long, requires = "records", conflicts_with = "judges", help_heading = HEADING)]
    pub own: bool,
}

impl JudgingArguments {
    /// As typed, of what is not usual.
    pub fn changes(&self) -> Vec<String> {
        let Some(records) = &self.records else {
            return Vec::new();
        };
        let mut changes = vec![
            format!("--records {}", records.to_string_lossy()),
            format!("--judged {}", self.judged),
        ];
        changes.extend(self.judges.map(|judges| format!("--judges {judges}")));
        changes.extend(self.own.then(|| "--own".to_owned()));
        changes
    }
}

/// Puts the players of the records into the file that is judged, if there are any: half with a
/// persona and half without, as far as there are as many of each. Which ones, follows from
/// their sessions' ids alone.
///
/// # Errors
/// The file's only game is not `judging`; a record cannot be read; there is none; there are
/// fewer judges than each record is to have.
pub fn add(file: &mut ExperimentFile, arguments: &JudgingArguments) -> Result<(), Failure> {
    let Some(records) = &arguments.records else {
        return Ok(());
    };
    let flag = format!("--records {}", records.in_line());
    let like = match file.games() {
        [only] if only.get("game").and_then(Value::as_str) == Some(JUDGING) => only.clone(),
        _ => {
            return Err(Failure::BadInput(format!(
                "{flag}: records are judged by an experiment whose only game is \"{JUDGING}\", \
                 such as alympics/judging"
            )));
        }
    };
    let Found { places, candidates } = find(records)?;
    if candidates.is_empty() {
        return Err(Failure::BadInput(format!(
            "{flag}: there are no finished sessions"
        )));
    }
    let most = arguments.judged as usize;
    let drawn = draw(candidates, most, arguments.own)
        .map_err(|reason| Failure::BadInput(format!("{flag}: {reason}")))?;
    let mut entries = Vec::new();
    for one in &drawn {
        let record = places[one.session].read().map_err(bad)?;
        entries.push(entries::entry_for(&like, &record, one.seat));
    }
    if arguments.own {
        let people = drawn.iter().map(|one| one.person.as_deref());
        assigning::seat_people(file, &mut entries, people)?;
    } else if let Some(each) = arguments.judges {
        assigning::take_turns(&mut entries, each as usize)?;
    }
    file.replace_games(entries, &flag);
    Ok(())
}

/// Draws players; those who were people, if they are to judge themselves.
///
/// # Errors
/// None of them was.
fn draw(mut all: Vec<Candidate>, most: usize, own: bool) -> Result<Vec<Candidate>, String> {
    if own {
        all.retain(|one| one.person.is_some());
        if all.is_empty() {
            let text = "no person played in these sessions, so nobody can judge their own; people \
                        are players with the model `human/NAME`";
            return Err(text.to_owned());
        }
    }
    Ok(drawn(all, most))
}

/// Sessions that may be judged.
#[derive(Default)]
struct Found {
    places: Vec<Place>,
    candidates: Vec<Candidate>,
}

/// Where a record is.
enum Place {
    /// In this file, its line beginning here.
    File(PathBuf, u64),
    /// What cannot be read twice, such as a pipe, is kept.
    Kept(Box<Line>),
}

impl Place {
    fn of(line: Line) -> Self {
        let can_be_read_again = line.file.is_file() || storage::is_address(&line.file);
        match can_be_read_again {
            true => Self::File(line.file, line.offset),
            false => Self::Kept(Box::new(line)),
        }
    }

    fn read(&self) -> Result<StoredRecord, LineError> {
        match self {
            Self::File(path, offset) => read(&lines::at(path, *offset)?),
            Self::Kept(line) => read(line),
        }
    }
}

/// The players of every record that is no judgement itself.
fn find(records: &Path) -> Result<Found, Failure> {
    let mut found = Found::default();
    // A session may lie in several of the folders.
    let mut seen = BTreeSet::new();
    // Of a folder of results what it shows: one run, not several mixed.
    for file in run_folder::records::below(records, None)?.shown {
        let file = file.map_err(bad)?;
        let mut unreadable = 0;
        for line in lines::read(&file) {
            if unreadable == MOST_UNREADABLE {
                break;
            }
            let (record, line) = match line.and_then(|line| Ok((read(&line)?, line))) {
                Ok(both) => both,
                // As `agon show` does: what a crash cut off is no reason to judge nothing.
                Err(error) => {
                    unreadable += 1;
                    output::tell(&format!("unreadable: {error}"));
                    continue;
                }
            };
            if record.spec.game == JUDGING || !seen.insert(record.session.clone()) {
                continue;
            }
            let (number, id) = (found.places.len(), record.session.to_string());
            found
                .candidates
                .extend(candidates(number, &id, &record.spec));
            found.places.push(Place::of(line));
        }
    }
    Ok(found)
}

fn bad(error: LineError) -> Failure {
    Failure::BadInput(error.to_string())
}

fn read(line: &Line) -> Result<StoredRecord, LineError> {
    let record = StoredRecord::from_line(&line.text);
    record.map_err(|error| LineError::at(line, with_causes(&error)))
}
