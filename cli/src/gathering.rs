//! The sessions of any number of runs, one after the other and each of them once, with what they
//! cost and where they came from. Reads folders of results and files of records; knows no measure.
//! Called by every command that makes tables, figures or files of several runs.

mod filter;
pub mod provenance;

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use agon_engine::record::StoredRecord;
use agon_outlets::InLine as _;
use agon_report::grouped;
use agon_report::session::Telemetry;
use agon_service_kit::files::read_whole;
use agon_service_kit::tasks::with_causes;

use crate::ahead::in_order;
use crate::failure::Failure;
use crate::lines::{self, Line, LineError, MOST_UNREADABLE};
use crate::output::{self, counted};
use crate::role::DataArguments;
use crate::run_folder::{Account, DOCUMENT, MOST_BESIDE_BYTES, Outcome, history, records};
use crate::storage;

use filter::{Filter, LeftOut, fits_all};

/// Which runs.
#[derive(Debug, clap::Args)]
pub struct RunArguments {
    /// Names of experiments, folders of results or of a coordinator's archive (also in a bucket:
    /// s3://BUCKET/PREFIX/EXPERIMENT), or files of records [default: all in DATA/runs]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    data: DataArguments,
    /// Only sessions whose setting has this value of an axis, by its name or by the last segments of
    /// it if no other axis ends with them (0.5 and 0.50 are the same); an empty value means sessions
    /// without the axis. Also game=NAME, and player=NAME for sessions in which a player, model or
    /// strategy sits. May be given several times
    #[arg(long = "where", value_name = "AXIS=VALUE")]
    filters: Vec<String>,
}

/// A file of records that was read.
pub struct GatheredRun {
    /// The file.
    pub file: PathBuf,
    /// What the run was, where that is known.
    pub account: Option<Account>,
    /// Sessions that were taken from it.
    pub sessions: u64,
}

/// What was read.
#[derive(Default)]
pub struct Gathered {
    /// File by file.
    pub runs: Vec<GatheredRun>,
    /// Sessions that were taken.
    pub sessions: u64,
    /// Sessions that lay in a second place, the same byte by byte.
    pub again: u64,
    /// Sessions of whose second record the first one differs: other answers to the same asks.
    pub differing: u64,
    /// Sessions that were left out by `--where`.
    pub unfitting: u64,
    /// What those have.
    left_out: LeftOut,
    /// Lines and files that could not be read.
    pub unreadable: u64,
    /// Sessions by id, with a hash of the record.
    taken: HashMap<String, u64>,
}

impl GatheredRun {
    /// How much is missing of a run that sessions were taken from; `None` of a whole one, and where
    /// nothing is known of it.
    fn partial(&self) -> Option<String> {
        let account = self.account.as_ref().filter(|_| self.sessions > 0)?;
        let name = account.experiment.in_line();
        let Some(counts) = &account.sessions else {
            let is_under_way = account.outcome == Outcome::Unfinished;
            return is_under_way.then(|| format!("{name} is not whole: it runs, or was killed"));
        };
        let (done, all) = (grouped(counts.done), counted(counts.all, "session"));
        let set_aside = match counts.set_aside.len() as u64 {
            0 => String::new(),
            some => format!(", {} set aside", grouped(some)),
        };
        (counts.done < counts.all).then(|| {
            let outcome = account.outcome.in_words();
            format!("{name} is not whole: {done} of {all} are done{set_aside} ({outcome})")
        })
    }
}

impl RunArguments {
    /// The places that were named, or that of all runs.
    ///
    /// # Errors
    /// There is no such run; says which there are.
    pub fn paths(&self) -> Result<Vec<PathBuf>, Failure> {
        let by_default = self.data.runs();
        let named = self.runs.iter().map(|named| place(named, &by_default));
        let mut paths: Vec<PathBuf> = named.collect::<Result<_, _>>()?;
        if paths.is_empty() {
            paths.push(by_default);
        }
        Ok(paths)
    }

    /// The places as they were named; empty for all runs.
    pub fn named(&self) -> &[String] {
        &self.runs
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.data.folder()
    }

    /// Hands out every session of these runs that fits `--where` once, in the order of the files.
    ///
    /// # Errors
    /// There is no such run, none of them has a session that fits, a filter may mean several axes, or
    /// `take` failed.
    pub fn gather(
        &self,
        take: impl FnMut(Session) -> Result<(), Failure>,
    ) -> Result<Gathered, Failure> {
        let filters = self.filters.iter().map(|filter| Filter::read(filter));
        let filters: Vec<Filter> = filters.collect::<Result<_, _>>()?;
        gather(&self.paths()?, &filters, take)
    }
}

/// The place that a name means: an experiment in the data folder, or a path.
///
/// # Errors
/// There is no such run; says which there are.
pub fn place(named: &str, by_default: &Path) -> Result<PathBuf, Failure> {
    if storage::is_address(Path::new(named)) {
        return Ok(PathBuf::from(named));
    }
    let mut places = [by_default.join(named), PathBuf::from(named)].into_iter();
    match places.find(|place| place.exists()) {
        Some(place) => Ok(place),
        None => records::folder_of(named, by_default),
    }
}

/// A session as it is handed out.
pub struct Session {
    /// Its record.
    pub record: StoredRecord,
    /// What it cost.
    pub telemetry: Telemetry,
    /// Which of the places that were named it comes from, from 0.
    pub place: usize,
}

/// As [`RunArguments::gather`], of paths.
///
/// # Errors
/// As there.
pub fn gather(
    paths: &[PathBuf],
    filters: &[Filter],
    mut take: impl FnMut(Session) -> Result<(), Failure>,
) -> Result<Gathered, Failure> {
    let mut gathered = Gathered::default();
    for (place, path) in paths.iter().enumerate() {
        for file in records::below(path, None)?.shown {
            match file {
                Ok(file) => gathered.read((place, file), filters, &mut take)?,
                Err(error) => gathered.cannot_read(&error),
            }
        }
    }
    if gathered.sessions == 0 && gathered.unfitting > 0 {
        return Err(Failure::BadInput(format!(
            "none of {} fits --where: {}",
            counted(gathered.unfitting, "session"),
            gathered.left_out.why(filters)
        )));
    }
    if gathered.sessions == 0 {
        let places = paths.iter().map(|one| one.in_line().to_string());
        return Err(Failure::BadInput(format!(
            "no finished session in {}; `agon runs` lists the runs that are kept",
            places.collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(gathered)
}

impl Gathered {
    /// What must be said of the way in which sessions came together; nothing where each lay in
    /// one place and every run is whole.
    pub fn notes(&self) -> Vec<String> {
        let again = (self.again > 0).then(|| {
            format!(
                "{} lay in several places and counted once",
                counted(self.again, "session")
            )
        });
        let differing = (self.differing > 0).then(|| {
            format!(
                "{} lay in several places with different answers; the first one counted, in the \
                 order in which runs were named",
                counted(self.differing, "session")
            )
        });
        let unfitting = (self.unfitting > 0)
            .then(|| format!("{} left out by --where", counted(self.unfitting, "session")));
        let unreadable = match self.unreadable {
            0 => None,
            1 => Some("1 unreadable line or file left out".to_owned()),
            more => Some(format!(
                "{} unreadable lines or files left out",
                grouped(more)
            )),
        };
        let notes = [again, differing, unfitting, unreadable];
        let partial = self.runs.iter().filter_map(GatheredRun::partial);
        notes.into_iter().flatten().chain(partial).collect()
    }

    fn read(
        &mut self,
        (place, file): (usize, PathBuf),
        filters: &[Filter],
        take: &mut impl FnMut(Session) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut telemetry = records::telemetry_beside(&file).map(|beside| lines::read(&beside));
        let before = (self.sessions, self.unreadable);
        let both = lines::read(&file).map(|line| {
            let beside = telemetry.as_mut().and_then(Iterator::next);
            (line, beside.and_then(Result::ok))
        });
        let bytes =
            |line: &Result<Line, LineError>| line.as_ref().map_or(0, |line| line.text.len() as u64);
        for (read, telemetry) in in_order(both, |(line, _)| bytes(line), read_both) {
            match read {
                Ok(read) if !fits_all(filters, &read.record.spec)? => {
                    self.unfitting += 1;
                    // Asked for only where nothing fits.
                    if self.sessions == 0 {
                        self.left_out.add(filters, &read.record.spec);
                    }
                }
                Ok(read) if self.is_new(&read) => {
                    self.sessions += 1;
                    take(Session {
                        record: read.record,
                        telemetry,
                        place,
                    })?;
                }
                Ok(_) => {}
                Err(error) => self.cannot_read(&error),
            }
            if self.unreadable - before.1 == MOST_UNREADABLE as u64 {
                output::tell(&format!(
                    "unreadable: {}: not read on after {MOST_UNREADABLE} unreadable lines",
                    file.in_line()
                ));
                break;
            }
        }
        self.runs.push(GatheredRun {
            account: account_of(&file),
            file,
            sessions: self.sessions - before.0,
        });
        Ok(())
    }

    fn is_new(&mut self, read: &Read) -> bool {
        match self.taken.entry(read.record.session.to_string()) {
            Entry::Vacant(free) => {
                free.insert(read.hash);
                true
            }
            Entry::Occupied(known) if *known.get() == read.hash => {
                self.again += 1;
                false
            }
            Entry::Occupied(_) => {
                self.differing += 1;
                false
            }
        }
    }

    fn cannot_read(&mut self, error: &LineError) {
        output::tell(&format!("unreadable: {error}"));
        self.unreadable += 1;
    }
}

/// A line that was read.
struct Read {
    record: StoredRecord,
    /// Of the line's text.
    hash: u64,
}

/// Reads a record's line and the one of its telemetry.
fn read_both(
    (line, beside): (Result<Line, LineError>, Option<Line>),
) -> (Result<Read, LineError>, Telemetry) {
    let read = line.and_then(|line| match StoredRecord::from_line(&line.text) {
        Ok(record) => {
            let mut hasher = DefaultHasher::new();
            line.text.hash(&mut hasher);
            let hash = hasher.finish();
            Ok(Read { record, hash })
        }
        Err(error) => Err(LineError::at(&line, with_causes(&error))),
    });
    let telemetry = beside.map_or_else(Telemetry::default, |line| {
        Telemetry::from_line(line.text.as_bytes())
    });
    (read, telemetry)
}

/// The account of the run that a file of records belongs to.
fn account_of(file: &Path) -> Option<Account> {
    let folder = file.parent()?;
    let shown = history::results(folder).and_then(history::Results::shown);
    shown
        .and_then(|run| run.account)
        .or_else(|| history::account(folder))
}

/// The published table that the experiment of a file of records names.
pub fn named_by(records: &Path) -> Option<String> {
    let document = read_whole(&records.with_file_name(DOCUMENT), MOST_BESIDE_BYTES).ok()?;
    let document: serde_json::Value = serde_json::from_slice(&document).ok()?;
    let named = document.pointer("/report/compare")?.as_str()?;
    Some(named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::account::Counts;

    #[test]
    fn runs_that_are_not_whole_are_said() {
        let partial = |outcome, counts: Option<(u64, u64)>, sessions| {
            let account = Account {
                experiment: "e".to_owned(),
                outcome,
                sessions: counts.map(|(done, all)| Counts {
                    done,
                    all,
                    set_aside: [("one".to_owned(), "why".to_owned())].into(),
                    ..Counts::default()
                }),
                ..Account::default()
            };
            let run = GatheredRun {
                file: PathBuf::new(),
                account: Some(account),
                sessions,
            };
            run.partial().unwrap_or_default()
        };
        assert_eq!(partial(Outcome::Complete, Some((5, 5)), 5), "");
        assert_eq!(partial(Outcome::Interrupted, Some((3, 5)), 0), "");
        assert_eq!(
            partial(Outcome::Interrupted, Some((3, 5)), 3),
            "e is not whole: 3 of 5 sessions are done, 1 set aside (interrupted)"
        );
        assert_eq!(
            partial(Outcome::Unfinished, None, 3),
            "e is not whole: it runs, or was killed"
        );
    }
}
