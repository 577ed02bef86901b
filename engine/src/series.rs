//! A series: sessions of one setting and repeat that are played one after the
//! other, the players of each taking along what they concluded in the one before.
//!
//! What is taken along is a pure function of the record before it, and stands in
//! the record of the session that received it. It is no part of the spec: which
//! sessions a series has, and their ids, follow from the experiment alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::Seat;
use crate::spec::{SessionId, SessionSpec};

/// Kinds of notes that a player takes along: the lessons that it wrote down.
pub const CARRIED_NOTES: [&str; 1] = ["tips"];

/// What the players of a session took along from the one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The session before.
    pub from: SessionId,
    /// What was taken along, by seat; each seat is handed its own and no other.
    pub notes: Vec<CarriedNote>,
}

/// One note that a player took along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedNote {
    /// Whose note it was, and who is handed it.
    pub seat: Seat,
    /// Its kind, one of [`CARRIED_NOTES`].
    pub note: String,
    /// Its content, as it stood.
    pub body: Value,
}

impl Carried {
    /// What one seat is handed of a kind.
    pub fn of(&self, seat: Seat, note: &str) -> Option<&Value> {
        let mut notes = self.notes.iter();
        notes
            .find(|held| held.seat == seat && held.note == note)
            .map(|held| &held.body)
    }
}

/// Whether what a session was handed is what it needs: something from the session
/// before it, or nothing when there is none before.
///
/// # Errors
/// It is not; says what is wrong.
pub fn check(spec: &SessionSpec, carried: Option<&Carried>) -> Result<(), HandoverError> {
    match (spec.before(), carried) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(HandoverError::Uncalled),
        (Some(_), None) => Err(HandoverError::Missing {
            place: spec.luck.place,
        }),
        (Some(before), Some(carried)) => {
            let (wanted, found) = (before.id(), carried.from.clone());
            if wanted != found {
                return Err(HandoverError::Other { wanted, found });
            }
            carried.check_notes(spec.seats.len())
        }
    }
}

impl Carried {
    /// Whether each seat is handed one note of each kind at most, and nobody else any.
    fn check_notes(&self, seats: usize) -> Result<(), HandoverError> {
        let mut handed = BTreeSet::new();
        for CarriedNote { seat, note, .. } in &self.notes {
            let is_known = *seat < seats && CARRIED_NOTES.contains(&&**note);
            if !is_known || !handed.insert((seat, note)) {
                return Err(HandoverError::Note {
                    seat: *seat,
                    note: note.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Why a session cannot be played with what it was handed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HandoverError {
    /// It belongs to no series, or is the first of one.
    #[error("was handed notes, but no session comes before it")]
    Uncalled,
    /// It comes after another.
    #[error("is at place {place} of its series, but was handed nothing of the session before")]
    Missing {
        /// Its place, from 0.
        place: u32,
    },
    /// Only one note of a kind is handed on for each seat, and only of some kinds.
    #[error("was handed a note {note:?} of seat {seat} twice, or no session hands on such a note")]
    Note {
        /// Whose note it is.
        seat: Seat,
        /// Its kind.
        note: String,
    },
    /// They come from elsewhere.
    #[error("comes after session {wanted}, but was handed notes of session {found}")]
    Other {
        /// The session before.
        wanted: SessionId,
        /// Where the notes come from.
        found: SessionId,
    },
}
