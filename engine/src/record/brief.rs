//! A record read without what models said in it, which is nearly all of a long one. Replies are passed
//! over where they stand in the line, and only those that a reader wants are read. Called by pages.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{Record, RecordError, RecordedDecision, StoredMove, StoredRecord};
use crate::ask::Seat;

/// A decision whose reply stays in its line.
#[derive(Deserialize)]
struct Brief<'a> {
    seat: Seat,
    index: u32,
    purpose: String,
    #[serde(rename = "request")]
    _request: IgnoredAny,
    #[serde(default)]
    model: Option<String>,
    answered_by: String,
    finish_reason: String,
    #[serde(borrow)]
    reply: &'a RawValue,
    #[serde(default)]
    simulated: bool,
}

impl<'a> Brief<'a> {
    /// The decision without its texts, and where its reply stands.
    fn split(self) -> (RecordedDecision, &'a RawValue) {
        let decision = RecordedDecision {
            seat: self.seat,
            index: self.index,
            purpose: self.purpose,
            request: String::new(),
            model: self.model,
            answered_by: self.answered_by,
            finish_reason: self.finish_reason,
            reply: String::new(),
            reasoning: String::new(),
            applied: None,
            logprobs: Vec::new(),
            simulated: self.simulated,
        };
        (decision, self.reply)
    }
}

impl StoredRecord {
    /// Reads a line like [`StoredRecord::from_line`], but leaves out of each decision what was asked, its
    /// parameters, and all that was said or thought. The replies at the places that `wanted` names among
    /// the decisions are read after all.
    ///
    /// # Errors
    /// As there.
    pub fn brief(
        line: &str,
        wanted: impl FnOnce(&Self) -> Vec<usize>,
    ) -> Result<Self, RecordError> {
        let malformed = |error| RecordError::of(line, error);
        let read: Record<StoredMove, Brief<'_>> = serde_json::from_str(line).map_err(malformed)?;
        let decisions = read.decisions.into_iter().map(Brief::split);
        let (decisions, replies): (_, Vec<&RawValue>) = decisions.unzip();
        let record = Self {
            agon_record: read.agon_record,
            session: read.session,
            simulated: read.simulated,
            spec: read.spec,
            carried: read.carried,
            outcome: read.outcome,
            measures: read.measures,
            moves: read.moves,
            events: read.events,
            replies: read.replies,
            draws: read.draws,
            decisions,
            notes: read.notes,
        };
        let mut record = record.checked()?;
        for place in wanted(&record) {
            let text = serde_json::from_str(replies[place].get());
            record.decisions[place].reply = text.map_err(RecordError::Malformed)?;
        }
        Ok(record)
    }
}
