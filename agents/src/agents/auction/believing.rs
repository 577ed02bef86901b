//! The belief update of a bidder: what it says of the auction is checked against what
//! it has seen. Mistakes are put right by the bidder, in the end by the auctioneer; or
//! only counted, when beliefs are not corrected.
//!
//! Source: AucArena, arXiv 2310.05746, sections 3.2 and 4.2.

use agon_engine::game::player_name;

use super::{Again, Bidder};
use crate::asking::Question;
use crate::mind::{Mind, MindError, Reply};
use crate::notes::{About, Belief, Mistake, MistakeKind, Source, Status};

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
    ) -> Result<(Status, Belief), MindError> {
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
                    kind: MistakeKind::Shape,
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
            Some(status) => (status, Source::Model),
            None if correct => (truth.clone(), Source::Auctioneer),
            None => (said.clone().unwrap_or_else(|| kept.clone()), Source::Kept),
        };
        let note = Belief {
            after_item: item,
            believed: said.unwrap_or_default(),
            checked: first_wrong.map_or(0, |_| Status::facts(&self.picture)),
            wrong: first_wrong.unwrap_or(0),
            tries: answered.tries,
            corrected: !mistakes.is_empty() && status == truth,
            errors: mistakes,
            truth,
            source,
        };
        Ok((status, note))
    }
}
