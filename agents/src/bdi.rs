//! The bidder with beliefs, desires and intentions: plans before the first item,
//! bids when it is asked, brings its beliefs up to date after each item, and plans
//! again. After an auction it may write lessons down for the next one.
//!
//! Source: AucArena, arXiv 2310.05746, section 3.2; strategies, section 4.4;
//! desires, sections 3.2 and 4.4; belief errors, section 4.2.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Note, Verdict};
use crate::asking::Question;
use crate::auction::bidder::source;
use crate::auction::{Bidder, Happened, Status, beliefs};
use crate::mind::{Mind, MindError};
use crate::roster::Seating;

mod options;
mod tips;
mod words;

pub use options::{Desire, Options, Strategy};

/// Names of the bidder's own settings.
pub const SETTINGS: &[&str] = options::NAMES;

/// Checks the bidder's own settings.
///
/// # Errors
/// One is impossible; says what would be right.
pub fn check(own: &Map<String, Value>) -> Result<(), String> {
    Options::read(own).map(|_| ())
}

/// A bidder with beliefs, desires and intentions.
#[derive(Debug)]
pub struct Bdi {
    options: Options,
    /// Its picture, its intention and its notes.
    bidder: Bidder,
    /// The belief.
    status: Status,
}

#[async_trait]
impl Agent for Bdi {
    async fn observe(&mut self, events: &[SeenEvent], mind: &dyn Mind) -> Result<(), MindError> {
        for event in events {
            match self.bidder.hear(event)? {
                Happened::Briefed => {
                    self.status = Status::truth(&self.bidder.picture);
                    if self.options.strategy != Strategy::None {
                        self.make_plan("plan", mind).await?;
                    }
                }
                Happened::ItemOver(item) => {
                    self.update_belief(item, mind).await?;
                    let more = !self.bidder.picture.remaining().is_empty();
                    if more && self.options.strategy == Strategy::Adaptive {
                        self.make_plan("replan", mind).await?;
                    }
                }
                Happened::Over if self.options.learn => self.learn(mind).await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        if let Some(foul) = refused {
            self.bidder.note_refused(foul);
        }
        let again = |problem: &str| words::again("bid_again", self, problem, &[]);
        let values = |detail| words::values("bid", self, detail);
        let bid = self.bidder.bid(ask, refused, &values, &again, mind);
        let said = bid.await?;
        Ok(self.bidder.keep_bid(said))
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.bidder.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.bidder.take_notes()
    }
}

impl Bdi {
    /// A bidder at its seat.
    ///
    /// Settings were checked by [`check`]; wrong ones become the defaults.
    pub fn new(seating: Seating<'_>) -> Self {
        let mut options = Options::read(&seating.settings.own).unwrap_or_default();
        // The lessons of the auction before hold those of all before it.
        if let Some(lessons) = seating.carried(tips::NOTE).and_then(tips::carried) {
            options.tips = lessons;
        }
        Self {
            bidder: Bidder::new(&seating, options.tries),
            options,
            status: Status::default(),
        }
    }

    /// Planning and replanning.
    async fn make_plan(&mut self, purpose: &'static str, mind: &dyn Mind) -> Result<(), MindError> {
        let question = self.question(purpose, "plan", || self.bidder.plan_schema());
        let again = |problem: &str| words::again("plan_again", self, problem, &[]);
        let planned = self.bidder.think_plan(question, &again, mind).await?;
        self.bidder.keep_plan(planned);
        Ok(())
    }

    /// Belief update, after every item.
    async fn update_belief(&mut self, item: usize, mind: &dyn Mind) -> Result<(), MindError> {
        let question = self.question("belief", "belief", || beliefs::schema(&self.bidder.picture));
        let again = |problem: &str| {
            let faults: Vec<&str> = problem.lines().collect();
            words::again("belief_again", self, problem, &faults)
        };
        let correct = self.options.correct_beliefs;
        let updated = self
            .bidder
            .think_belief(item, &self.status, correct, question, &again, mind);
        let (status, note) = updated.await?;
        self.status = status;
        self.bidder.note(note.kind, note.body);
        Ok(())
    }

    /// Learning: lessons from this auction and the ones before it.
    async fn learn(&mut self, mind: &dyn Mind) -> Result<(), MindError> {
        let question = self.question("learn", "tips", || tips::SCHEMA.to_owned());
        let again = |problem: &str| words::again("learn_again", self, problem, &[]);
        let mut read = tips::read;
        let answered = self.bidder.ask(mind, question, &mut read, &again).await?;
        let source = source(&answered);
        let tips = answered.found.unwrap_or_else(|| self.options.tips.clone());
        self.bidder
            .note(tips::NOTE, json!({ "tips": tips, "source": source }));
        Ok(())
    }

    /// A question of the bidder's own, worded by the template of its purpose.
    fn question(
        &self,
        purpose: &'static str,
        form: &str,
        schema: impl FnOnce() -> String,
    ) -> Question<'_> {
        let values = move |detail| words::values(purpose, self, detail);
        self.bidder.question(purpose, form, values, schema)
    }
}

#[cfg(test)]
mod tests;
