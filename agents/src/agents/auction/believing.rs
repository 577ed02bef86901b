//! The belief update of a bidder: what it says of the auction is checked against what
//! it has seen. Mistakes are put right by the bidder, in the end by the auctioneer; or
//! only counted, when beliefs are not corrected.
//!
//! Source: AucArena, arXiv 2310.05746, sections 3.2 and 4.2.

use agon_engine::game::player_name;

use super::{Bidder, Bids, beliefs};
use crate::mind::{Mind, MindError, Reply};
use crate::notes::{About, Belief, Mistake, MistakeKind, Source, Status};

impl<A: Bids> Bidder<A> {
    /// Takes stock after an item. Where nothing could be read and beliefs are not corrected,
    /// the bidder goes on with what it believed before.
    ///
    /// # Errors
    /// The model could not be called, or a template does not render.
    pub async fn update_belief(
        &mut self,
        item: usize,
        correct: bool,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let (picture, truth) = (&self.picture, Status::truth(&self.picture));
        let me = player_name(picture.seat);
        // What each try said, and what is wrong with it.
        let mut tries: Vec<(Option<Status>, Vec<Mistake>)> = Vec::new();
        let read = |reply: &Reply| {
            let try_number = tries.len() as u32 + 1;
            let read = Status::read(reply, picture);
            let wrong = match &read {
                Ok(status) => status.mistakes(&truth, &me, try_number),
                Err(problem) => vec![Mistake {
                    try_number,
                    kind: MistakeKind::Shape,
                    about: About::Myself,
                    detail: problem.clone(),
                }],
            };
            let details: Vec<&str> = wrong.iter().map(|one| &*one.detail).collect();
            let details = details.join("\n");
            tries.push((read.clone().ok(), wrong));
            match read {
                Ok(_) if correct && !details.is_empty() => Err(details),
                read => read,
            }
        };
        let format = ("belief", beliefs::schema(picture));
        let answered = self.ask("belief", format, read, mind).await?;
        let first = tries.first().filter(|(said, _)| said.is_some());
        let (checked, wrong) =
            first.map_or((0, 0), |(_, wrong)| (Status::facts(picture), wrong.len()));
        let said = tries.iter().rev().find_map(|(said, _)| said.clone());
        let (status, source) = match answered.found {
            Some(status) => (status, Source::Model),
            None if correct => (truth.clone(), Source::Auctioneer),
            None => {
                let kept = said.clone().unwrap_or_else(|| self.status.clone());
                (kept, Source::Kept)
            }
        };
        let errors: Vec<Mistake> = tries.into_iter().flat_map(|(_, wrong)| wrong).collect();
        self.note(Belief {
            after_item: item,
            believed: said.unwrap_or_default(),
            checked,
            wrong,
            tries: answered.tries,
            corrected: !errors.is_empty() && status == truth,
            errors,
            truth,
            source,
        });
        self.status = status;
        Ok(())
    }
}
