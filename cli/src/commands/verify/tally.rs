//! Counts what became of each record that is verified, says it as it comes, and decides how
//! `agon verify` ends. Fed by `verify.rs` in the order of the lines.

use std::path::Path;

use agon_outlets::InLine as _;
use agon_worker::verify::Replayed;

use super::changed_since;
use super::roll::Roll;
use crate::failure::Failure;
use crate::lines::LineError;
use crate::output;
use crate::progress::CountProgress;

/// Unreadable lines that are named.
const NAMED: u64 = 5;

/// What became of a line.
pub(super) enum Outcome {
    /// It came out the same when it was played again.
    Played(Replayed),
    /// Another program played it.
    Imported,
    /// It came out differently.
    Different(LineError),
    /// It is no record, or could not be read.
    Unreadable(LineError),
}

/// Counts of all outcomes so far.
pub(super) struct Tally {
    progress: CountProgress,
    verified: u64,
    /// Of those verified, how many by the replies of their game's process.
    by_replies: u64,
    imported: u64,
    different: u64,
    unreadable: u64,
}

impl Tally {
    /// Nothing was verified yet.
    pub(super) fn new(progress: CountProgress) -> Self {
        Self {
            progress,
            verified: 0,
            by_replies: 0,
            imported: 0,
            different: 0,
            unreadable: 0,
        }
    }

    /// Counts a line, says what is wrong with it, and returns how many faults there are by now.
    pub(super) fn count(&mut self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Played(replayed) => {
                self.verified += 1;
                self.by_replies += u64::from(replayed == Replayed::ByItsReplies);
            }
            Outcome::Imported => self.imported += 1,
            Outcome::Different(error) => {
                self.different += 1;
                self.print(&format!("fault: {error}"));
            }
            Outcome::Unreadable(error) => {
                self.unreadable += 1;
                let line = match self.unreadable {
                    ..=NAMED => Some(format!("unreadable: {error}")),
                    more => (more == NAMED + 1)
                        .then(|| "unreadable: further lines are not listed".to_owned()),
                };
                if let Some(line) = line {
                    self.progress.beside(|| output::tell(&line));
                }
            }
        }
        self.progress.show(self.verified + self.imported);
        self.different + self.unreadable
    }

    /// Prints a line beside the progress.
    pub(super) fn print(&self, line: &str) {
        self.progress.beside(|| output::print(line));
    }

    /// Says how it went, once there are no more lines; `cut_at` so many bytes, if there are more.
    ///
    /// # Errors
    /// Exit 1 when a record differs or the sessions are not those of the run, 2 when something is
    /// unreadable.
    pub(super) fn conclude(
        self,
        records: &Path,
        roll: Roll,
        cut_at: Option<u64>,
    ) -> Result<(), Failure> {
        let (verified, imported, unreadable) = (self.verified, self.imported, self.unreadable);
        drop(self.progress);
        let all = verified + imported + self.different + unreadable;
        let missing = match cut_at {
            None => roll.missing(),
            Some(_) => "; there are more".to_owned(),
        };
        output::print(&format!("{verified} of {all} records verified{missing}"));
        if self.by_replies > 0 {
            output::print(&format!(
                "{} of games in other processes, checked from the replies in them: --game-at \
                 NAME=URL asks such a process whether it kept its rules",
                output::counted(self.by_replies, "record")
            ));
        }
        if imported > 0 {
            output::print(&format!(
                "{} imported from games of another program: `agon replay` compares the files that \
                 they came from",
                output::counted(imported, "record")
            ));
        }
        if let Some(note) = changed_since(records) {
            output::print(&format!("note: {note}"));
        }
        let mut different = self.different;
        for fault in roll.into_faults() {
            different += 1;
            output::print(&format!("fault: {}", fault.in_line()));
        }
        let more = cut_at.map(|bytes| {
            format!(
                "{} unpacks to more than {} MiB of records, which take long to verify; --long \
                 verifies them all",
                records.in_line(),
                bytes / 1024 / 1024
            )
        });
        match (all, unreadable, different) {
            (_, 0, 0) if more.is_some() => Err(Failure::BadInput(more.unwrap_or_default())),
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
    }
}
