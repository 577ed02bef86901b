//! Plays a recorded session again from its own decisions and compares bytes.
//! The same session and seat actors run as in a live session; only the mind
//! answers from the record.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_agents::Mind;
use agon_engine::Seat;
use agon_engine::extent::{Extent, TooLarge};
use agon_engine::record::{RecordError, StoredRecord};
use agon_referee::{Games, RecordedReferee, Referee, RemoteReferee};
use agon_service_kit::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::mind::{Journal, RecordedMind};
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
    let bundle = stored.spec.prompt_bundle.as_deref();
    if bundle.is_some_and(|bundle| Some(bundle) != library.digest()) {
        let reason = "it was played with other templates; name them with --templates".to_owned();
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
    let keyed = stored.decisions.into_iter();
    let decisions: BTreeMap<_, _> = keyed
        .map(|decision| ((decision.seat, decision.index), decision))
        .collect();
    let decisions = Arc::new(decisions);
    let session_id: Arc<str> = session.as_str().into();
    let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
        Arc::new(RecordedMind::new(
            Arc::clone(&session_id),
            seat,
            Arc::clone(&decisions),
            journal,
        ))
    };
    let plan = SessionPlan {
        spec: stored.spec,
        carried: stored.carried,
        library,
        minds: Box::new(minds),
        referee,
        // All that the play produces stands in the line.
        most: Extent::of_json(line.as_bytes()),
        given_up: CancellationToken::new(),
    };
    let played = match session::run(tasks.clone(), plan).await {
        SessionEnd::Finished { record, .. } => record.to_line().map_err(|error| error.to_string()),
        SessionEnd::Parked(reason)
        | SessionEnd::BudgetSpent(reason)
        | SessionEnd::Impossible(reason)
        | SessionEnd::Unplayable(reason)
        | SessionEnd::Crashed(reason) => Err(reason),
        SessionEnd::TooLarge(much) => return Err(VerifyError::Shorter { session, much }),
        SessionEnd::GivenUp => Err("given up".to_owned()),
    };
    let played = played.map_err(|reason| VerifyError::NotPlayable {
        session: session.clone(),
        reason,
    })?;
    match first_difference(line.trim_end().as_bytes(), played.as_bytes()) {
        None => Ok(replayed),
        Some(at) => Err(VerifyError::Differs {
            session,
            at,
            recorded: around(line.trim_end(), at),
            played: around(&played, at),
        }),
    }
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

fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    if left == right {
        return None;
    }
    let same = left
        .iter()
        .zip(right)
        .take_while(|(one, other)| one == other);
    Some(same.count())
}

fn around(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(CONTEXT));
    let end = text.ceil_char_boundary((at + CONTEXT).min(text.len()));
    text[start.min(end)..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_may_be_the_missing_end() {
        assert_eq!(first_difference(b"abc", b"abc"), None);
        assert_eq!(first_difference(b"abc", b"abd"), Some(2));
        assert_eq!(first_difference(b"abc", b"ab"), Some(2));
    }

    #[test]
    fn context_never_cuts_a_character() {
        let text = "é".repeat(60);
        for at in 0..=text.len() {
            assert!(text.contains(&around(&text, at)));
        }
    }
}
