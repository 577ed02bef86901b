//! `agon verify`: session records, played again from their own decisions. Calls no
//! model and changes no record; the comparison is `agon_worker::verify`. Started by
//! `commands.rs`.

mod roll;
mod tally;

use std::cell::Cell;
use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use agon_agents::PromptLibrary;
use agon_engine::record::StoredRecord;
use agon_outlets::InLine as _;
use agon_referee::Games;
use agon_service_kit::tasks::{Tasks, with_causes};
use agon_worker::verify::{VerifyError, verify, verify_parsed};
use futures_util::{StreamExt as _, stream};
use tokio::sync::Semaphore;

use self::roll::{Entry, Roll};
use self::tally::{Outcome, Tally};
use crate::failure::Failure;
use crate::lines::{self, Line, LineError};
use crate::output;
use crate::outside::GameArguments;
use crate::progress::CountProgress;
use crate::role::{DataArguments, LogArguments, runtime};
use crate::run_folder::records::{self, below};
use crate::run_folder::{RECORDS, digest_of, history};
use crate::sessions::{Sessions, Source};
use crate::storage;
use crate::templates;

/// Faults after which no further record is played again.
const MOST_FAULTS: u64 = 100;

/// What a packed file may unpack to without `--long`: what a slow machine verifies in ten seconds.
const MOST_UNPACKED: u64 = 64 * 1024 * 1024;

/// Lines that are played at the same time have so many KiB in all, or are one.
const ROOM_KIB: usize = 32 * 1024;

/// Arguments of `agon verify`.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// An experiment's name, the folder of its results or of a coordinator's archive (also in a
    /// bucket: s3://BUCKET/PREFIX/EXPERIMENT), a file of records, or a session's id or its beginning
    #[arg(value_name = "EXPERIMENT")]
    named: String,
    /// For an experiment: the number of the run, as `agon runs` lists them [default: the newest
    /// run with results]
    #[arg(long, value_name = "N")]
    run: Option<u32>,
    #[command(flatten)]
    data: DataArguments,
    /// The templates that the run replaced built-in ones with, if it did
    /// [default: the copy in the run's folder]
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    #[command(flatten)]
    games: GameArguments,
    /// Verify all of a packed file, also where that takes minutes
    #[arg(long)]
    long: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// Verifies every record.
///
/// # Errors
/// Exit 1 when a record differs, 2 when something is unreadable.
pub fn run(arguments: &Verify, log: &LogArguments) -> Result<(), Failure> {
    let Some(files) = records_files(arguments)? else {
        return verify_session(arguments, log);
    };
    let Some(records) = files.first().cloned() else {
        return Err(Failure::BadInput(format!(
            "no records in {}",
            arguments.named.in_line()
        )));
    };
    let library = Arc::new(templates::played_with(
        arguments.templates.as_deref(),
        &records,
    )?);
    runtime()?.block_on(async {
        let guard = log.start("verify", true)?;
        let with = With {
            tasks: Tasks::new(),
            library,
            games: arguments.games.connect().await?,
            room: Arc::new(Semaphore::new(ROOM_KIB)),
        };
        let mut roll = Roll::read(&records)?;
        let progress = CountProgress::start(arguments.quiet, "verified", "record", roll.sessions());
        let mut tally = Tally::new(progress);
        let most = most_unpacked(arguments, &records);
        let cut_at = Cell::new(None);
        let is_beyond = |line: &Line| most.filter(|most| line.offset > *most);
        let lines = files.iter().flat_map(|file| lines::read(file));
        let lines = lines.map_while(|line| {
            if let Some(most) = line.as_ref().ok().and_then(is_beyond) {
                cut_at.set(Some(most));
                return None;
            }
            Some(line)
        });
        let mut checked = stream::iter(lines)
            .map(|line| with.clone().check(line))
            .buffered(available_parallelism().map_or(1, NonZero::get));
        while let Some(checked) = checked.next().await {
            if let Some(entry) = checked.entry {
                roll.call(entry);
            }
            if tally.count(checked.outcome) >= MOST_FAULTS {
                tally.print(&format!(
                    "stopped after {MOST_FAULTS} faults of {}",
                    records.in_line()
                ));
                break;
            }
        }
        drop(checked);
        guard.shutdown().await;
        tally.conclude(&records, roll, cut_at.get())
    })
}

/// What a packed file that is named itself may unpack to without `--long`; `None` for everything.
fn most_unpacked(arguments: &Verify, records: &Path) -> Option<u64> {
    let named = Path::new(&arguments.named) == records;
    (named && !arguments.long && lines::is_packed(records)).then_some(MOST_UNPACKED)
}

/// What lines are checked with.
#[derive(Clone)]
struct With {
    tasks: Tasks,
    library: Arc<PromptLibrary>,
    games: Games,
    /// For the lines that are played at the same time, a permit for each KiB.
    room: Arc<Semaphore>,
}

impl With {
    /// Checks one line in a task of its own, so that all cores have something to do.
    async fn check(self, line: Result<Line, LineError>) -> Checked {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Checked::unreadable(error),
        };
        let shown = LineError::at(&line, String::new());
        match tokio::spawn(self.check_line(line)).await {
            Ok(checked) => checked,
            Err(error) => Checked::unreadable(shown.because(error)),
        }
    }

    async fn check_line(self, line: Line) -> Checked {
        let kib = (line.text.len() / 1024).clamp(1, ROOM_KIB);
        // The semaphore is never closed.
        let _room = self.room.acquire_many(kib as u32).await.ok();
        let unreadable = |error| LineError::at(&line, with_causes(&error));
        let stored = match StoredRecord::from_line(&line.text) {
            Ok(stored) => stored,
            Err(error) => return Checked::unreadable(unreadable(error)),
        };
        let entry = Some(Entry::of(&stored, &line.text));
        let (tasks, library, games) = (&self.tasks, self.library, &self.games);
        let outcome = match verify_parsed(tasks, &line.text, stored, library, games).await {
            Ok(replayed) => Outcome::Played(replayed),
            Err(VerifyError::Imported(_)) => Outcome::Imported,
            Err(error) => Outcome::Different(LineError::at(&line, with_causes(&error))),
        };
        Checked { entry, outcome }
    }
}

/// What was found out about a line.
struct Checked {
    entry: Option<Entry>,
    outcome: Outcome,
}

impl Checked {
    fn unreadable(error: LineError) -> Self {
        Self {
            entry: None,
            outcome: Outcome::Unreadable(error),
        }
    }
}

/// Says so when records are not those that their run wrote, as far as it left word.
fn changed_since(records: &Path) -> Option<String> {
    let account = history::account(&history::beside(records, ""))?;
    let written = account.files.get(RECORDS)?;
    let is_named = records.file_name().is_some_and(|name| name == RECORDS);
    let found = digest_of(File::open(records).ok()?).ok()?;
    (is_named && found != *written).then(|| {
        let (records, run) = (records.in_line(), account.run);
        format!("{records} has changed since run {run} wrote it")
    })
}

/// The files of records that are meant, of one run or of an archive; `None` when it can only be a
/// session's id.
fn records_files(arguments: &Verify) -> Result<Option<Vec<PathBuf>>, Failure> {
    let path = Path::new(&arguments.named);
    if storage::is_address(path) && arguments.run.is_none() {
        let files = below(path, None)?.shown.into_iter();
        return Ok(Some(files.filter_map(Result::ok).collect()));
    }
    if path.is_file() {
        return match arguments.run {
            None => Ok(Some(vec![path.to_owned()])),
            Some(_) => Err(Failure::BadInput(format!(
                "{} is a single file of records, with no runs that --run could choose from",
                path.in_line()
            ))),
        };
    }
    let by_default = arguments.data.runs();
    let folder = match records::folder_of(&arguments.named, &by_default) {
        Ok(folder) => folder,
        Err(_) if path.is_dir() => path.to_owned(),
        Err(_) => return Ok(None),
    };
    let found = match (arguments.run, history::results(&folder)) {
        (Some(_), None) => {
            return Err(Failure::BadInput(format!(
                "{} keeps no runs that --run could choose from",
                folder.in_line()
            )));
        }
        (Some(run), Some(_)) => below(&folder, Some(run))?
            .shown
            .into_iter()
            .find_map(Result::ok)
            .map(|file| vec![file]),
        _ => Some(folder.join(RECORDS))
            .filter(|file| file.is_file())
            .map(|file| vec![file])
            .or_else(|| records::segments(&folder)),
    };
    let which = arguments
        .run
        .map_or_else(String::new, |run| format!("run {run} in "));
    found.map(Some).ok_or_else(|| {
        Failure::BadInput(format!(
            "no records in {which}{}; name an experiment, a folder of results, a file of \
                 records or a session",
            folder.in_line()
        ))
    })
}

/// Verifies one session out of all whose results are there.
fn verify_session(arguments: &Verify, log: &LogArguments) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let guard = log.start("verify", true)?;
        let source = Source::Folder(arguments.data.runs(), arguments.run);
        let sessions = Sessions::look(&source, Some(&arguments.named)).await?;
        let found = sessions.the_one(&arguments.named)?;
        let file = found.file.as_deref().unwrap_or(Path::new(""));
        let library = templates::played_with(arguments.templates.as_deref(), file)?;
        let games = arguments.games.connect().await?;
        let verified = verify(&Tasks::new(), &found.line, Arc::new(library), &games).await;
        guard.shutdown().await;
        verified.map_err(|error| Failure::BadNews(with_causes(&error).in_line().to_string()))?;
        output::print("1 of 1 records verified");
        Ok(())
    })
}
