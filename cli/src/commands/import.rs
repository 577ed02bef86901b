//! `agon import`: games that other programs recorded, kept as a run, so that every table, figure
//! and export takes them in. Each is played again by our rules; one that they do not reproduce is
//! left out and named. Started by `commands.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agon_engine::record::{RECORD_VERSION, StoredRecord};
use agon_engine::replay::{RecordedGame, import};
use agon_outlets::InLine as _;
use agon_report::Tables;
use agon_report::session::Telemetry;
use agon_service_kit::tasks::with_causes;

use crate::failure::Failure;
use crate::keeping::publish;
use crate::lines::{self, LineError, MOST_UNREADABLE};
use crate::output::{self, FILE_WIDTH, counted};
use crate::results::{published_table, shown, write_csv};
use crate::role::DataArguments;
use crate::run_folder::account::{Counts, Outcome, Source, Versions};
use crate::run_folder::{self, Account, Place, RunFolder};

mod gamabench;

const EXAMPLES: &str = "Examples:
  agon import tests/recorded/gamma              games of gamma-Bench's authors
  agon import GAMABench/raw_results             the files that they publish
  agon import games.jsonl.gz --name my-import   under a name of your own
  agon leaderboard imported-games               then as with any run

It reads the recorded games that `agon replay` reads (.jsonl, .jsonl.gz; tests/recorded/README.md \
describes their form) and the raw results of github.com/CUHK-ARISE/GAMABench (.json, a game each).";

/// Arguments of `agon import`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    /// Files of recorded games (.jsonl or .jsonl.gz), raw results of gamma-Bench (.json), folders of
    /// either, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the run is called
    #[arg(long, value_name = "NAME", default_value = "imported-games")]
    name: String,
    /// The published table to show beside the results, as the key `compare` of an experiment's
    /// [report] names it
    #[arg(long, value_name = "TABLE", value_parser = published_table)]
    compare: Option<String>,
    #[command(flatten)]
    data: DataArguments,
}

/// Games that were read.
#[derive(Default)]
struct Read {
    taken: u64,
    /// Games that our rules do not reproduce.
    differing: u64,
    unreadable: u64,
    /// Sessions by id.
    ids: BTreeSet<String>,
    /// Games that came again.
    again: u64,
    /// Files that hold a game before it was over.
    snapshots: u64,
    /// Files of JSON in folders that hold no game.
    foreign: u64,
}

/// Imports them.
///
/// # Errors
/// Exit 1 when a game could not be reproduced, 2 when a line could not be read or there is no game;
/// the others are imported all the same.
pub fn run(arguments: &Import) -> Result<(), Failure> {
    let place = Place {
        data: arguments.data.folder(),
        out: None,
    };
    if !agon_coordinator::experiment::is_experiment_name(&arguments.name) {
        return Err(Failure::BadInput(format!(
            "\"{}\" cannot be the name of a run: letters, digits, - and _",
            arguments.name.in_line()
        )));
    }
    let folder = RunFolder::claim(&place, &arguments.name)?;
    let mut entry = folder.begin(account(arguments))?;
    let mut records = entry.begin(run_folder::RECORDS)?;
    let mut telemetry = entry.begin(run_folder::TELEMETRY)?;
    let mut tables = Tables::default();
    let mut read = Read::default();
    for path in &arguments.files {
        for file in lines::files_that(path, &is_recorded) {
            match file {
                Ok(file) => read.file(&file, path.is_dir(), &arguments.name, |record| {
                    records.line(record.as_bytes())?;
                    telemetry.line(b"{}")?;
                    let stored = StoredRecord::from_line(record).map_err(Failure::surroundings)?;
                    tables.add(&stored, &Telemetry::default());
                    Ok(())
                })?,
                Err(error) => read.cannot_read(&error),
            }
        }
    }
    records.keep()?;
    telemetry.keep()?;
    write_csv(&entry, tables.columns())?;
    let compare = arguments.compare.as_deref();
    let heading = format!(
        "{} imported as {}",
        counted(read.taken, "recorded game"),
        arguments.name
    );
    let summary = format!("{heading}\n\n{}", shown(&tables, compare, FILE_WIDTH));
    entry.write(run_folder::SUMMARY, &output::printed(&summary))?;
    entry.account.sessions = Some(Counts {
        all: read.taken,
        done: read.taken,
        ..Counts::default()
    });
    let verdict = read.verdict();
    entry.account.ended = Some(run_folder::now());
    entry.account.outcome = match read.taken {
        0 => Outcome::Failed,
        _ => Outcome::Complete,
    };
    entry.account.reason = verdict.as_ref().err().map(ToString::to_string);
    entry.write_account()?;
    if read.taken > 0 {
        publish(&folder, &entry)?;
    }
    if read.taken > 0 {
        let tables = shown(&tables, compare, output::width());
        output::print(&format!("{heading}\n\n{tables}"));
        output::tell(&format!(
            "results in {}; `agon leaderboard {}` ranks them",
            folder.path().in_line(),
            arguments.name
        ));
    }
    if read.again > 0 {
        output::tell(&format!(
            "{} came again and counted once",
            counted(read.again, "game")
        ));
    }
    if read.snapshots > 0 {
        output::tell(&format!(
            "{} left out: snapshots of games that went on",
            counted(read.snapshots, "file")
        ));
    }
    if read.foreign > 0 {
        output::tell(&format!(
            "{} passed over: no raw results of gamma-Bench",
            counted(read.foreign, ".json file")
        ));
    }
    verdict
}

/// Whether files of this name hold recorded games.
fn is_recorded(name: &str) -> bool {
    lines::is_looked_for(name) || is_raw(Path::new(name))
}

/// Whether a file is a raw result of gamma-Bench.
fn is_raw(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "json")
}

fn account(arguments: &Import) -> Account {
    let files = arguments.files.iter();
    let files: Vec<String> = files.map(|file| file.in_line().to_string()).collect();
    Account {
        command: [vec!["agon".to_owned(), "import".to_owned()], files.clone()].concat(),
        source: Source {
            name: files.join(", "),
            ..Source::default()
        },
        versions: Versions {
            agon: env!("CARGO_PKG_VERSION").to_owned(),
            record: RECORD_VERSION,
            ..Versions::default()
        },
        ..Account::default()
    }
}

impl Read {
    /// Reads the games of a file, which was found in a folder or named.
    fn file(
        &mut self,
        file: &Path,
        is_found: bool,
        name: &str,
        mut take: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if is_raw(file) {
            return self.raw(file, is_found, name, take);
        }
        let before = self.unreadable;
        for line in lines::read(file) {
            let game = line.and_then(|line| {
                let game = RecordedGame::from_json(&line.text);
                game.map_err(|error| LineError::at(&line, with_causes(&error)))
            });
            self.read(game, name, &mut take)?;
            if self.unreadable - before >= MOST_UNREADABLE as u64 {
                let file = file.in_line();
                output::tell(&format!(
                    "unreadable: {file}: not read on after {MOST_UNREADABLE} unreadable lines"
                ));
                break;
            }
        }
        Ok(())
    }

    /// Reads a raw result of gamma-Bench.
    fn raw(
        &mut self,
        file: &Path,
        is_found: bool,
        name: &str,
        mut take: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let text = lines::whole(file);
        if is_found && text.as_ref().is_ok_and(|text| !gamabench::is_meant(text)) {
            self.foreign += 1;
            return Ok(());
        }
        let line = text.and_then(|text| {
            let line = gamabench::line(&file.to_string_lossy(), &text);
            line.map_err(|why| LineError::of(file, why))
        });
        let Some(line) = line.transpose() else {
            self.snapshots += 1;
            return Ok(());
        };
        let game = line.and_then(|line| {
            let game = RecordedGame::from_json(&line);
            game.map_err(|error| LineError::of(file, with_causes(&error)))
        });
        self.read(game, name, &mut take)
    }

    /// Takes the record of a game that was read, or notes that it could not be.
    fn read(
        &mut self,
        game: Result<RecordedGame, LineError>,
        name: &str,
        take: &mut impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match game.map(|game| self.game(&game, name)) {
            Ok(Some(record)) => take(&record),
            Ok(None) => Ok(()),
            Err(error) => {
                self.cannot_read(&error);
                Ok(())
            }
        }
    }

    /// A game as a record; nothing where our rules do not reproduce it, which is said, and where it
    /// came before.
    fn game(&mut self, game: &RecordedGame, name: &str) -> Option<String> {
        let record = import(game, name).and_then(|record| {
            let line = record.to_line().map_err(|error| vec![error.to_string()])?;
            Ok((record.session.to_string(), line))
        });
        match record {
            Ok((session, _)) if !self.ids.insert(session.clone()) => {
                self.again += 1;
                None
            }
            Ok((_, line)) => {
                self.taken += 1;
                Some(line)
            }
            Err(why) => {
                let id = game.id().in_line();
                output::tell(&format!("left out {id}: {}", why.join("; ")));
                self.differing += 1;
                None
            }
        }
    }

    fn cannot_read(&mut self, error: &LineError) {
        output::tell(&format!("unreadable: {error}"));
        self.unreadable += 1;
    }

    fn verdict(&self) -> Result<(), Failure> {
        match (self.taken, self.unreadable, self.differing) {
            (0, 0, 0) => Err(Failure::BadInput(
                "no recorded game in what was named; `agon import --help` says what it reads"
                    .into(),
            )),
            (_, 0, 0) => Ok(()),
            (_, 0, games) => Err(Failure::BadNews(format!(
                "{} left out, see above",
                counted(games, "game")
            ))),
            (_, lines, _) => Err(Failure::BadInput(format!(
                "{} could not be read, see above",
                counted(lines, "line")
            ))),
        }
    }
}
