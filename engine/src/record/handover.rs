//! What a finished session's record hands over to the next one of its series. What a session
//! does with it is left to [`crate::series`].

use serde::Deserialize;

use super::{RecordError, SeatNote, check_version};
use crate::series::{CARRIED_NOTES, Carried, CarriedNote};
use crate::spec::SessionId;

impl Carried {
    /// What the players take along from a finished session, given its record as
    /// one line of JSON: of each seat and kind the last note.
    ///
    /// # Errors
    /// The line is no record, or of a newer version.
    pub fn from_record(line: &[u8]) -> Result<Self, RecordError> {
        let before: Before = serde_json::from_slice(line).map_err(RecordError::Malformed)?;
        check_version(before.agon_record)?;
        let mut notes: Vec<CarriedNote> = Vec::new();
        let carried = before.notes.into_iter();
        for note in carried.filter(|note| CARRIED_NOTES.contains(&note.note.as_str())) {
            // Notes stand by seat, then as they were made.
            notes.retain(|held| held.seat != note.seat || held.note != note.note);
            notes.push(CarriedNote {
                seat: note.seat,
                note: note.note,
                body: note.body,
            });
        }
        Ok(Self {
            from: before.session,
            notes,
        })
    }
}

/// As much of a record as is taken along.
#[derive(Deserialize)]
struct Before {
    agon_record: u32,
    session: SessionId,
    #[serde(default)]
    notes: Vec<SeatNote>,
}
