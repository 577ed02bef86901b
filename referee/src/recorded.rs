//! The referee of a session that was played before: what it says stands in the record. Used wherever a
//! record is played again without its game's process.

use std::vec::IntoIter;

use agon_engine::record::StoredRecord;
use agon_engine::{Answer, OutsideReply};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::ruling::{Referee, RefereeError};

/// See the module.
pub struct RecordedReferee {
    said: IntoIter<(u32, OutsideReply)>,
}

impl RecordedReferee {
    /// The referee of a record.
    ///
    /// # Errors
    /// The record's replies do not fit its events.
    pub fn of(record: &StoredRecord) -> Result<Self, String> {
        let said = record.said()?.into_iter();
        Ok(Self { said })
    }
}

impl Referee for RecordedReferee {
    fn rule(
        &mut self,
        turn: u32,
        _answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<OutsideReply, RefereeError>> {
        let next = self.said.next().filter(|(after, _)| *after == turn);
        let missing =
            || RefereeError::Impossible(format!("the record has no reply to turn {turn}"));
        ready(next.map(|(_, reply)| reply).ok_or_else(missing)).boxed()
    }
}
