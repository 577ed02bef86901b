//! Records to be judged: an experiment of the game `judging` plays one entry per judged
//! player. Reads records and changes the experiment's file before it is checked; what
//! judges are told of a record, the report crate writes. Called by
//! `experiment_arguments.rs`, and by pages on which a draw is looked at first.

mod assigning;
mod drafts;
mod drawing;
mod entries;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use agon_coordinator::experiment::ExperimentFile;
use agon_engine::record::StoredRecord;
use agon_engine::{Seat, registry};
use agon_outlets::InLine as _;
use agon_service_kit::tasks::with_causes;
use serde_json::Value;

use crate::failure::Failure;
use crate::lines::{self, Line, LineError, MOST_UNREADABLE};
use crate::numbers::whole;
use crate::output;
use crate::run_folder;
use crate::storage;
pub use drafts::Drafts;
use drawing::{Candidate, Draw, candidates};
use entries::{Entry, LeftOut};

/// The game that judges play.
const JUDGING: &str = "judging";

/// Before the labels of those who judge themselves; tables count their marks apart.
const PERSONS: &str = "persons";

/// How many are judged by default (Mao et al., arXiv 2311.03220, section 7).
pub const DEFAULT: u32 = 30;

/// Heading of the help text.
const HEADING: &str = "Judging";

/// Whose play is judged, and by whom.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct JudgingArguments {
    /// For an experiment that judges: the finished sessions whose players are judged, a
    /// run's folder or a file of records
    #[arg(long, value_name = "RESULTS", help_heading = HEADING)]
    pub records: Option<PathBuf>,
    /// With --records: how many players are judged, at most; the session ids decide which
    #[arg(long, value_name = "N", default_value_t = DEFAULT, requires = "records", help_heading = HEADING,
          allow_negative_numbers = true, value_parser = whole(1_u32, 10_000))]
    pub judged: u32,
    /// With --records: how many of the seated judges rate each record, in turn, so that every judge
    /// rates the same number of records [default: all]
    #[arg(long, value_name = "K", requires = "records", help_heading = HEADING, allow_negative_numbers = true, value_parser = whole(1_u32, 100))]
    pub judges: Option<u32>,
    /// With --records: people rate their own play, each of them only the records in which they
    /// played; their marks are counted apart
    #[arg(long, requires = "records", conflicts_with = "judges", help_heading = HEADING)]
    pub own: bool,
}

impl JudgingArguments {
    /// As typed, of what differs from the default.
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
/// persona and half without, if there are enough of both. The sessions' ids decide which. Says
/// who is left out.
///
/// # Errors
/// The file's only game is not `judging`; a record cannot be read; there is none; there are
/// fewer judges than each record is to have.
pub fn add(file: &mut ExperimentFile, arguments: &JudgingArguments) -> Result<(), Failure> {
    let Some(records) = &arguments.records else {
        return Ok(());
    };
    let flag = format!("--records {}", records.in_line());
    let refused = |reason: String| Failure::BadInput(format!("{flag}: {reason}"));
    let like = match file.games() {
        [only] if only.get("game").and_then(Value::as_str) == Some(JUDGING) => only.clone(),
        _ => {
            return Err(refused(format!(
                "records are judged by an experiment whose only game is \"{JUDGING}\", such as \
                 alympics/judging"
            )));
        }
    };
    let found = find(records)?;
    if found.candidates.is_empty() {
        return Err(refused(match found.judgements {
            0 => "there are no finished sessions".to_owned(),
            _ => "all of its sessions are judgements, which are not judged".to_owned(),
        }));
    }
    let by = By::wanted(arguments.own, arguments.judges);
    let draw = Draw {
        most: arguments.judged as usize,
        own: arguments.own,
        personas: rates_personas_alone(&like),
    };
    let mut drawn = Drawn::default();
    for one in draw.from(found.candidates).map_err(refused)? {
        let record = found.places[one.session].read().map_err(bad)?;
        drawn.add(&like, &record, (one.session, one.seat), by);
    }
    drawn.seat(file, by).map_err(refused)?;
    for (reason, count) in drawn.left_out() {
        let players = output::counted(count, "player");
        output::tell(&format!("left out: {players}: {}", reason.in_words()));
    }
    let entries = drawn.entries.into_iter().map(|entry| entry.value);
    file.replace_games(entries.collect(), &flag);
    Ok(())
}

/// How many judges the game seats.
fn most_judges() -> u64 {
    registry::find(JUDGING).map_or(1, |game| game.info.seats.1 as u64)
}

/// Whether everything that is rated is about personas.
fn rates_personas_alone(entry: &Value) -> bool {
    let criteria = entry.pointer("/params/criteria").and_then(Value::as_array);
    let about_personas = |criterion: &Value| criterion.get("needs_persona") == Some(&true.into());
    criteria.is_some_and(|all| !all.is_empty() && all.iter().all(about_personas))
}

/// Who judges.
#[derive(Debug, Clone, Copy)]
enum By {
    /// People, what they did themselves.
    Themselves,
    /// So many of the judges that are seated, or all.
    Judges(Option<usize>),
}

impl By {
    fn wanted(own: bool, judges: Option<u32>) -> Self {
        match own {
            true => Self::Themselves,
            false => Self::Judges(judges.map(|each| each as usize)),
        }
    }
}

/// Players that were drawn, in the order of the draw.
#[derive(Default)]
struct Drawn {
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
}

impl Drawn {
    fn add(&mut self, like: &Value, record: &StoredRecord, place: (usize, Seat), by: By) {
        let own = matches!(by, By::Themselves);
        match entries::entry_for(like, record, place, own) {
            Ok(entry) => self.entries.push(entry),
            Err(reason) => self.left_out.push(reason),
        }
    }

    /// Gives every player its judges; afterwards they stand in the order of their sessions.
    ///
    /// # Errors
    /// There are not as many judges, or nobody is left to judge.
    fn seat(&mut self, file: &mut ExperimentFile, by: By) -> Result<(), String> {
        match by {
            By::Themselves => assigning::seat_people(file, &mut self.entries),
            By::Judges(each) => assigning::seat_judges(file, &mut self.entries, each)?,
        }
        let before = self.entries.len();
        let has_judges =
            |entry: &Entry| entry.value.get("seats") != Some(&Value::Array(Vec::new()));
        self.entries.retain(has_judges);
        let without = before - self.entries.len();
        self.left_out
            .extend(std::iter::repeat_n(LeftOut::NoJudge, without));
        self.entries.sort_by_key(|entry| entry.place);
        match (self.entries.is_empty(), self.left_out.first()) {
            (true, Some(reason)) => Err(format!(
                "nobody is left to be judged: {}",
                reason.in_words()
            )),
            _ => Ok(()),
        }
    }

    /// Why players were left out, and how many.
    fn left_out(&self) -> BTreeMap<LeftOut, u64> {
        let mut counts = BTreeMap::new();
        for reason in &self.left_out {
            *counts.entry(*reason).or_default() += 1;
        }
        counts
    }
}

/// Sessions that may be judged.
#[derive(Default)]
struct Found {
    places: Vec<Place>,
    candidates: Vec<Candidate>,
    /// How many others are judgements themselves.
    judgements: u64,
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
    if !storage::is_address(records) && !records.exists() {
        let text = format!(
            "--records {}: there is no such file or folder",
            records.in_line()
        );
        return Err(Failure::BadInput(text));
    }
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
            if record.spec.game == JUDGING {
                found.judgements += 1;
                continue;
            }
            if !seen.insert(record.session.clone()) {
                continue;
            }
            let (number, id) = (found.places.len(), record.session.to_string());
            let players = candidates(number, &id, &record.spec.seats);
            found.candidates.extend(players);
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
