//! `agon verify`: session records, played again from their own decisions. Calls no
//! model and changes no record; the comparison is `agon_worker::verify`. Started by
//! `commands.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_agents::PromptLibrary;
use agon_coordinator::experiment::limits::MOST_FILE_BYTES;
use agon_coordinator::experiment::{ExperimentDocument, expand};
use agon_engine::record::StoredRecord;
use agon_engine::{Carried, SessionSpec};
use agon_outlets::InLine as _;
use agon_referee::Games;
use agon_report::grouped;
use agon_service_kit::files::read_whole;
use agon_service_kit::tasks::{Tasks, with_causes};
use agon_worker::verify::{Replayed, VerifyError, verify};

use crate::failure::Failure;
use crate::lines::{self, Line, LineError};
use crate::output;
use crate::outside::GameArguments;
use crate::role::{DataArguments, LogArguments, runtime};
use crate::run_folder::records::{self, below};
use crate::run_folder::{DOCUMENT, RECORDS, digest_of, history};
use crate::sessions::{Sessions, Source};
use crate::storage;
use crate::templates;

/// Faults after which no further record is played again.
const MOST_FAULTS: u64 = 100;

/// Unreadable lines that are named.
const NAMED: u64 = 5;

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
        let tasks = Tasks::new();
        let games = arguments.games.connect().await?;
        let (mut verified, mut imported, mut by_replies) = (0u64, 0u64, 0u64);
        let (mut different, mut unreadable) = (0u64, 0u64);
        let mut roll = Roll::read(&records)?;
        for line in files.iter().flat_map(|file| lines::read(file)) {
            if unreadable + different >= MOST_FAULTS {
                let message = format!(
                    "stopped after {MOST_FAULTS} faults of {}",
                    records.in_line()
                );
                output::print(&message);
                break;
            }
            let outcome = match line {
                Ok(line) => {
                    roll.call(&line.text);
                    verify_line(&tasks, &line, &library, &games).await
                }
                Err(error) => Err((error, true)),
            };
            match outcome {
                Ok(Verified::Played(replayed)) => {
                    verified += 1;
                    by_replies += u64::from(replayed == Replayed::ByItsReplies);
                }
                Ok(Verified::Imported) => imported += 1,
                Err((error, true)) => {
                    unreadable += 1;
                    match unreadable {
                        ..=NAMED => output::tell(&format!("unreadable: {error}")),
                        more if more == NAMED + 1 => {
                            output::tell("unreadable: further lines are not listed");
                        }
                        _ => {}
                    }
                }
                Err((error, false)) => {
                    different += 1;
                    output::print(&format!("fault: {error}"));
                }
            }
        }
        guard.shutdown().await;
        roll.check_series();
        let all = verified + imported + different + unreadable;
        output::print(&format!(
            "{verified} of {all} records verified{}",
            roll.missing()
        ));
        if by_replies > 0 {
            output::print(&format!(
                "{} of a game that is played elsewhere, from the replies in them: --game-at \
                 NAME=URL asks its process whether it kept its rules",
                output::counted(by_replies, "record")
            ));
        }
        if imported > 0 {
            output::print(&format!(
                "{} imported from games of another program: `agon replay` compares the files that \
                 they came from",
                output::counted(imported, "record")
            ));
        }
        if let Some(note) = changed_since(&records) {
            output::print(&format!("note: {note}"));
        }
        for fault in &roll.faults {
            different += 1;
            output::print(&format!("fault: {}", fault.in_line()));
        }
        match (all, unreadable, different) {
            (0, ..) => Err(Failure::BadInput(format!("{} is empty", records.in_line()))),
            (_, 0, 0) => Ok(()),
            (_, 0, faults) => Err(Failure::BadNews(format!(
                "{}, see above",
                output::counted(faults, "fault")
            ))),
            (_, faults, _) => Err(Failure::BadInput(format!(
                "{} cannot be read, see above",
                output::counted(faults, "line")
            ))),
        }
    })
}

/// The sessions that a run should hold, by the document in its folder.
struct Roll {
    /// Ids that have not been seen; `None` without a document.
    expected: Option<BTreeSet<String>>,
    seen: BTreeSet<String>,
    /// What the players of each session here take along into the next.
    left: BTreeMap<String, Taken>,
    /// What those of later sessions of a series were handed, and from which one.
    handed: Vec<(String, String, Taken)>,
    faults: Vec<String>,
}

/// What players took along, as its digest: the notes of all sessions may be long.
type Taken = [u8; 32];

fn taken(carried: &Carried) -> Taken {
    // Strings, numbers and maps of them always serialise.
    let text = serde_json::to_vec(carried).unwrap_or_default();
    *blake3::hash(&text).as_bytes()
}

impl Roll {
    fn read(records: &Path) -> Result<Self, Failure> {
        let path = history::beside(records, DOCUMENT);
        let expected = match read_whole(&path, MOST_FILE_BYTES) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return Err(Failure::BadInput(format!("{}: {error}", path.in_line())));
            }
            Err(_) => None,
            Ok(bytes) => {
                let wrong = |faults| Failure::BadInput(format!("{}: {faults}", path.in_line()));
                let document = ExperimentDocument::from_json(&bytes).map_err(wrong)?;
                let sessions = expand(&document).map_err(wrong)?.into_sessions();
                Some(
                    sessions
                        .map(|session| session.spec.id().to_string())
                        .collect(),
                )
            }
        };
        Ok(Self {
            expected,
            seen: BTreeSet::new(),
            left: BTreeMap::new(),
            handed: Vec::new(),
            faults: Vec::new(),
        })
    }

    /// Notes a record; one that stands twice, or is of no session of the
    /// experiment, is a fault.
    fn call(&mut self, line: &str) {
        let Ok(stored) = StoredRecord::from_line(line) else {
            return;
        };
        let session = stored.session.to_string();
        let planned = planned_id(stored.spec);
        let carried = stored.carried.iter();
        let handed = carried.map(|from| (session.clone(), from.from.to_string(), taken(from)));
        self.handed.extend(handed);
        if let Ok(left) = Carried::from_record(line.as_bytes())
            && !left.notes.is_empty()
        {
            self.left.insert(session.clone(), taken(&left));
        }
        if !self.seen.insert(session.clone()) {
            self.faults
                .push(format!("session {session} stands here twice"));
        } else if let Some(expected) = &mut self.expected
            && !expected.remove(&planned)
        {
            self.faults
                .push(format!("session {session} is none of this experiment"));
        }
    }

    /// Where players of a series were handed something else than the session before left; only
    /// sessions whose record is here are compared.
    fn check_series(&mut self) {
        for (session, before, handed) in std::mem::take(&mut self.handed) {
            let nothing = Carried {
                from: before.clone().into(),
                notes: Vec::new(),
            };
            let left = self.left.get(&before).copied();
            let left = left.unwrap_or_else(|| taken(&nothing));
            if self.seen.contains(&before) && left != handed {
                self.faults.push(format!(
                    "session {session} was handed something else than session {before} left"
                ));
            }
        }
    }

    /// Says how many sessions the run has no record of.
    fn missing(&self) -> String {
        match self.expected.as_ref().map_or(0, BTreeSet::len) {
            0 => String::new(),
            1 => "; 1 more session of the experiment has no record here".to_owned(),
            missing => format!(
                "; {} more sessions of the experiment have no record here",
                grouped(missing as u64)
            ),
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

/// The id that a document gives to a session: it does not know where models are.
fn planned_id(spec: SessionSpec) -> String {
    let planned = SessionSpec {
        origins: BTreeMap::new(),
        ..spec
    };
    planned.id().to_string()
}

/// Verifies one line; the flag of a fault says whether the line is unreadable.
async fn verify_line(
    tasks: &Tasks,
    line: &Line,
    library: &Arc<PromptLibrary>,
    games: &Games,
) -> Result<Verified, (LineError, bool)> {
    match verify(tasks, &line.text, Arc::clone(library), games).await {
        Ok(replayed) => Ok(Verified::Played(replayed)),
        Err(VerifyError::Imported(_)) => Ok(Verified::Imported),
        Err(error) => {
            let unreadable = matches!(error, VerifyError::Unreadable(_));
            Err((LineError::at(line, with_causes(&error)), unreadable))
        }
    }
}

/// What was found out about a record that is sound.
enum Verified {
    /// It came out the same when it was played again.
    Played(Replayed),
    /// Another program played it.
    Imported,
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
