//! Plays a recorded session again from its own decisions and compares bytes.
//! The same session and seat actors run as in a live session; only the mind
//! answers from the record.

use std::io;
use std::sync::Arc;

use agon_agents::{Mind, PromptLibrary};
use agon_engine::extent::{Extent, TooLarge};
use agon_engine::record::{RecordError, StoredRecord};
use agon_engine::{Carried, RecordedDecision, Seat, SessionSpec};
use agon_referee::{Games, RecordedReferee, Referee, RemoteReferee};
use agon_service_kit::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::mind::{Journal, Recorded, RecordedMind};
use crate::session::{self, SessionEnd, SessionPlan};
use crate::setup::Library;

/// Characters shown around the first difference.
const CONTEXT: usize = 40;

/// Why a record does not stand up.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The line is no session record.
    #[error(transparent)]
    Unreadable(RecordError),
    /// Another program played it, so that nothing follows from its seed.
    #[error("session {0} was imported; `agon replay` compares the file that it came from")]
    Imported(String),
    /// Playing the spec again ends without a record.
    #[error("session {session} cannot be played again: {reason}")]
    NotPlayable {
        /// The session's id.
        session: String,
        /// Why.
        reason: String,
    },
    /// Playing it again was stopped when it had produced more than the record holds.
    #[error("session {session} differs: played again it does not end where its record does")]
    Shorter {
        /// The session's id.
        session: String,
        /// What there is too much of.
        #[source]
        much: TooLarge,
    },
    /// Playing it again gives other bytes.
    #[error("session {session} differs at byte {at}: recorded \"{recorded}\", played \"{played}\"")]
    Differs {
        /// The session's id.
        session: String,
        /// Position of the first difference.
        at: usize,
        /// What the record has around it.
        recorded: String,
        /// What the new play has around it.
        played: String,
    },
}

/// By what a record that stands up was played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// The rules of its game, here or in its process.
    ByRules,
    /// What the game's process said then: whether it kept its rules is not known.
    ByItsReplies,
}

/// Plays one record line again. What a game that is played elsewhere says is asked of its process,
/// if `games` has it, and else read from the record.
///
/// # Errors
/// The line is unreadable, cannot be played, or comes out differently.
pub async fn verify(
    tasks: &Tasks,
    line: &str,
    library: Library,
    games: &Games,
) -> Result<Replayed, VerifyError> {
    let stored = StoredRecord::from_line(line).map_err(VerifyError::Unreadable)?;
    verify_parsed(tasks, line, stored, library, games).await
}

/// The same of a line that was parsed already.
///
/// # Errors
/// A session was played with templates that are not at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it was played with other templates")]
pub struct OtherTemplates;

/// Whether these are the templates that a session was played with.
pub(crate) fn check_templates(
    stored: &StoredRecord,
    library: &PromptLibrary,
) -> Result<(), OtherTemplates> {
    let bundle = stored.spec.prompt_bundle.as_deref();
    match bundle.is_some_and(|bundle| Some(bundle) != library.digest()) {
        true => Err(OtherTemplates),
        false => Ok(()),
    }
}

/// As there, but for what is unreadable.
pub async fn verify_parsed(
    tasks: &Tasks,
    line: &str,
    stored: StoredRecord,
    library: Library,
    games: &Games,
) -> Result<Replayed, VerifyError> {
    let session = stored.session.to_string();
    if stored.spec.is_imported() {
        return Err(VerifyError::Imported(session));
    }
    if let Err(other) = check_templates(&stored, &library) {
        let reason = format!("{other}; name them with --templates");
        return Err(VerifyError::NotPlayable { session, reason });
    }
    let replayed = match stored.spec.outside.is_some() && games.get(&stored.spec.game).is_none() {
        true => Replayed::ByItsReplies,
        false => Replayed::ByRules,
    };
    let referee = referee(&stored, games).map_err(|reason| VerifyError::NotPlayable {
        session: session.clone(),
        reason,
    })?;
    let (spec, carried, decisions) = parts(stored);
    let recorded = Arc::new(Recorded::once(decisions));
    let session_id: Arc<str> = session.as_str().into();
    let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
        Arc::new(RecordedMind::new(
            Arc::clone(&session_id),
            seat,
            Arc::clone(&recorded),
            journal,
        ))
    };
    let plan = SessionPlan {
        spec,
        carried,
        library,
        minds: Box::new(minds),
        referee,
        // All that the play produces stands in the line.
        most: Extent::of_json(line.as_bytes()),
        given_up: CancellationToken::new(),
    };
    let unplayable = |reason: String| VerifyError::NotPlayable {
        session: session.clone(),
        reason,
    };
    let played = match session::run(tasks.clone(), plan).await {
        SessionEnd::Finished { record, .. } => record,
        SessionEnd::Parked(reason)
        | SessionEnd::BudgetSpent(reason)
        | SessionEnd::Impossible(reason)
        | SessionEnd::Unplayable(reason)
        | SessionEnd::Crashed(reason) => return Err(unplayable(reason)),
        SessionEnd::TooLarge(much) => return Err(VerifyError::Shorter { session, much }),
        SessionEnd::GivenUp => return Err(unplayable("given up".to_owned())),
    };
    let compared = first_difference(line.trim_end(), |out| played.write(out));
    match compared.map_err(|error| unplayable(error.to_string()))? {
        None => Ok(replayed),
        Some(Difference {
            at,
            recorded,
            played,
        }) => Err(VerifyError::Differs {
            session,
            at,
            recorded,
            played,
        }),
    }
}

/// What a record is played again from; the rest goes, for a record is large.
fn parts(stored: StoredRecord) -> (SessionSpec, Option<Carried>, Vec<RecordedDecision>) {
    (stored.spec, stored.carried, stored.decisions)
}

/// Who rules when a record is played again.
pub(crate) fn referee(
    stored: &StoredRecord,
    games: &Games,
) -> Result<Option<Box<dyn Referee>>, String> {
    let spec = &stored.spec;
    if spec.outside.is_none() {
        return Ok(None);
    }
    Ok(Some(match games.get(&spec.game) {
        Some(client) if client.description().rules_version != spec.rules_version => {
            let (game, recorded) = (&spec.game, spec.rules_version);
            let have = client.description().rules_version;
            return Err(format!(
                "it was played by rules {recorded} of {game}, and its process has rules {have}"
            ));
        }
        Some(client) => Box::new(RemoteReferee::new(client.clone(), spec)),
        None => Box::new(RecordedReferee::of(stored)?),
    }))
}

/// Where two lines differ for the first time, and what stands there.
#[derive(Debug, PartialEq)]
struct Difference {
    at: usize,
    recorded: String,
    played: String,
}

/// Compares a line with one that is written, which is never there as a whole.
///
/// # Errors
/// Of the writer, before there was a difference.
fn first_difference<E>(
    line: &str,
    write: impl FnOnce(&mut Comparing<'_>) -> Result<(), E>,
) -> Result<Option<Difference>, E> {
    let mut compared = Comparing {
        line: line.as_bytes(),
        at: 0,
        other: Vec::new(),
    };
    let written = write(&mut compared);
    let Comparing { at, other, .. } = compared;
    if other.is_empty() {
        written?;
    }
    if other.is_empty() && at == line.len() {
        return Ok(None);
    }
    let start = line.floor_char_boundary(at.saturating_sub(CONTEXT));
    let same = &line.as_bytes()[start..at];
    let played = String::from_utf8_lossy(&[same, &other].concat()).into_owned();
    Ok(Some(Difference {
        at,
        recorded: around(line, at),
        played: around(&played, same.len()),
    }))
}

/// What is written is compared with a line, up to the first difference.
struct Comparing<'a> {
    line: &'a [u8],
    /// So much is the same.
    at: usize,
    /// What was written behind that.
    other: Vec<u8>,
}

impl io::Write for Comparing<'_> {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        let mut rest = written;
        if self.other.is_empty() {
            let line = &self.line[self.at..];
            if line.starts_with(rest) {
                self.at += rest.len();
                return Ok(written.len());
            }
            let same = line
                .iter()
                .zip(rest)
                .take_while(|(one, other)| one == other);
            let same = same.count();
            self.at += same;
            rest = &rest[same..];
        }
        self.other.extend_from_slice(rest);
        // Whole letters around the difference, and nothing more.
        match self.other.len() > 2 * CONTEXT {
            true => Err(io::Error::other("it differs")),
            false => Ok(written.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn around(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(CONTEXT));
    let end = text.ceil_char_boundary((at + CONTEXT).min(text.len()));
    text[start.min(end)..end].to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn compared(line: &str, parts: &[&str]) -> Option<Difference> {
        let write = |out: &mut Comparing<'_>| {
            let mut parts = parts.iter();
            parts.try_for_each(|part| out.write_all(part.as_bytes()))
        };
        first_difference(line, write).unwrap()
    }

    #[test]
    fn the_first_difference_may_be_the_missing_end() {
        let at = |parts: &[&str]| compared("abc", parts).map(|difference| difference.at);
        assert_eq!(at(&["abc"]), None);
        assert_eq!(at(&["a", "", "bc"]), None);
        assert_eq!(at(&["a", "bd"]), Some(2));
        assert_eq!(at(&["ab"]), Some(2));
        assert_eq!(at(&["ab", "cd"]), Some(3));
        assert_eq!(at(&[]), Some(0));
    }

    #[test]
    fn both_are_shown_around_the_difference_and_no_further() {
        let (before, after) = ("0123456789".repeat(9), "9876543210".repeat(9));
        let difference = compared(
            &format!("{before}x{after}"),
            &[&before[..50], &before[50..], "y", &after, &after],
        );
        let (before, after) = (&before[50..], &after[..39]);
        let expected = Difference {
            at: 90,
            recorded: format!("{before}x{after}"),
            played: format!("{before}y{after}"),
        };
        assert_eq!(difference, Some(expected));
    }

    #[test]
    fn a_fault_of_the_writer_is_no_difference() {
        let faulty = first_difference("abc", |out| {
            out.write_all(b"ab").map_err(|error| error.to_string())?;
            Err("a number that JSON cannot hold".to_owned())
        });
        assert_eq!(faulty, Err("a number that JSON cannot hold".to_owned()));
    }

    #[test]
    fn context_never_cuts_a_character() {
        let text = "é".repeat(60);
        for at in 0..=text.len() {
            assert!(text.contains(&around(&text, at)));
        }
    }
}
