//! The belief update of a bidder: what it says of the auction is checked against what
//! it has seen. Mistakes are put right by the bidder, in the end by the auctioneer; or
//! only counted, when beliefs are not corrected.
//!
//! Source: AucArena, arXiv 2310.05746, sections 3.2 and 4.2.

use agon_engine::game::player_name;
use serde_json::json;

use super::beliefs::{About, Kind, Mistake, Status};
use super::{Again, Bidder};
use crate::agent::Note;
use crate::asking::Question;
use crate::mind::{Mind, MindError, Reply};

impl Bidder {
    /// Asks for a belief after an item, and says what the bidder goes on with, and what
    /// it notes: what it `kept` so far where it could not be read and is not corrected.
    ///
    /// # Errors
    /// As [`Bidder::bid`].
    pub async fn think_belief(
        &self,
        item: usize,
        kept: &Status,
        correct: bool,
        question: Question<'_>,
        again: Again<'_>,
        mind: &dyn Mind,
    ) -> Result<(Status, Note), MindError> {
        let truth = Status::truth(&self.picture);
        let me = player_name(self.picture.seat);
        let mut mistakes: Vec<Mistake> = Vec::new();
        let mut said: Option<Status> = None;
        let mut first_wrong = None;
        let mut tries = 0;
        let mut read = |reply: &Reply| {
            tries += 1;
            let status = Status::read(reply, &self.picture).inspect_err(|problem| {
                mistakes.push(Mistake {
                    try_number: tries,
                    kind: Kind::Shape,
                    about: About::Myself,
                    detail: problem.clone(),
                });
            })?;
            let wrong = status.mistakes(&truth, &me, tries);
            if tries == 1 {
                first_wrong = Some(wrong.len());
            }
            let details: Vec<String> = wrong.iter().map(|one| one.detail.clone()).collect();
            mistakes.extend(wrong);
            said = Some(status.clone());
            if correct && !details.is_empty() {
                return Err(details.join("\n"));
            }
            Ok(status)
        };
        let answered = self.ask(mind, question, &mut read, again).await?;
        let (status, source) = match answered.found {
            Some(status) => (status, "model"),
            None if correct => (truth.clone(), "auctioneer"),
            None => (said.clone().unwrap_or_else(|| kept.clone()), "kept"),
        };
        let body = json!({
            "after_item": item,
            "believed": said.unwrap_or_default(),
            "truth": truth,
            "errors": mistakes,
            "checked": if first_wrong.is_some() { Status::facts(&self.picture) } else { 0 },
            "wrong": first_wrong.unwrap_or(0),
            "tries": answered.tries,
            "corrected": !mistakes.is_empty() && status == truth,
            "source": source,
        });
        let kind = "belief";
        Ok((status, Note { kind, body }))
    }
}
