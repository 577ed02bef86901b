//! The bidder with beliefs, desires and intentions: plans before the first item,
//! bids when it is asked, brings its beliefs up to date after each item, and plans
//! again. After an auction it may write lessons down for the next one.
//!
//! Source: AucArena, arXiv 2310.05746, section 3.2; strategies, section 4.4;
//! desires, sections 3.2 and 4.4; belief errors, section 4.2.

use std::sync::Arc;

use agon_engine::game::player_name;
use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, AgentError, Note};
use crate::asking::{Question, ask_until, shown};
use crate::auction::{Happened, Item, Picture, priorities_schema, read_bid, read_priorities};
use crate::dialogue::{Thinking, reply_schema};
use crate::memory::message;
use crate::mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Role, Thought};
use crate::roster::Seating;
use crate::settings::ReplyStyle;
use crate::templates::Templates;

pub(crate) mod beliefs;
mod options;
mod tips;
mod words;

use beliefs::{About, Kind, Mistake, Status};
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

/// The priority of an item that no plan has spoken of: the middle one.
const NO_PRIORITY: i64 = 2;

/// A bidder with beliefs, desires and intentions.
#[derive(Debug)]
pub struct Bdi {
    model: Arc<ModelSettings>,
    reply: ReplyStyle,
    /// The most that a conversation may hold, in estimated tokens.
    bound: u32,
    options: Options,
    templates: Templates,
    picture: Picture,
    /// The intention: none for a bidder without a plan.
    plan: Option<Plan>,
    /// The belief.
    status: Status,
    /// What was said to the ask that is open, should it be put again.
    latest_reply: Option<String>,
    notes: Vec<Note>,
}

/// What a bidder intends.
#[derive(Debug, Clone, Default)]
struct Plan {
    strategy: Option<String>,
    /// One per item, in order of sale.
    priorities: Vec<i64>,
}

#[async_trait]
impl Agent for Bdi {
    async fn observe(&mut self, events: &[SeenEvent], mind: &dyn Mind) -> Result<(), MindError> {
        for event in events {
            let happened = self.picture.hear(event)?;
            self.latest_reply = None;
            match happened {
                Happened::Briefed => {
                    self.status = Status::truth(&self.picture);
                    if self.options.strategy != Strategy::None {
                        self.make_plan("plan", mind).await?;
                    }
                }
                Happened::ItemOver(item) => {
                    self.update_belief(item, mind).await?;
                    let more = !self.picture.remaining().is_empty();
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
        let mut messages = self.conversation("bid")?;
        if let (Some(foul), Some(said)) = (refused, &self.latest_reply) {
            messages.push(message(Role::Assistant, shown(said)));
            let again = words::again("bid_again", self, &foul.reason, &[]);
            messages.push(message(Role::User, again.map_err(impossible)?));
        }
        let call = mind.think(Thought {
            purpose: "bid",
            settings: Arc::clone(&self.model),
            messages,
            format: self.format("bid", || reply_schema(ask, Thinking::StepByStep)),
        });
        let reply = call.await?;
        let bid = read_bid(ask, &reply);
        let (item, round) = (self.picture.place, self.picture.bid_round());
        self.note("bid", bid.note(ask, item, round));
        self.latest_reply = Some(reply.text);
        Ok(bid.read)
    }

    fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

impl Bdi {
    /// A bidder at its seat.
    ///
    /// Settings were checked by [`check`]; wrong ones become the defaults.
    pub fn new(seating: Seating<'_>) -> Self {
        let settings = seating.settings;
        let library = seating.library.clone();
        Self {
            model: Arc::clone(&settings.model),
            reply: settings.reply,
            bound: settings.memory_tokens,
            options: Options::read(&settings.own).unwrap_or_default(),
            templates: Templates::new(settings, seating.game, seating.seat, library),
            picture: Picture::new(seating.seat),
            plan: None,
            status: Status::default(),
            latest_reply: None,
            notes: Vec::new(),
        }
    }

    /// Planning and replanning: a strategy in words and a priority for every item
    /// that is still to come. What cannot be read leaves the plan as it was.
    async fn make_plan(&mut self, purpose: &'static str, mind: &dyn Mind) -> Result<(), MindError> {
        let place = self.picture.place;
        let names = |items: &[Item]| -> Vec<String> {
            items.iter().map(|item| item.name.clone()).collect()
        };
        let (wanted, past) = (names(self.picture.remaining()), names(self.picture.past()));
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let past: Vec<&str> = past.iter().map(String::as_str).collect();
        let question = self.question(purpose, "plan", || priorities_schema(&wanted))?;
        let again = |problem: &str| words::again("plan_again", self, problem, &[]);
        let mut read = |reply: &Reply| read_priorities(reply, &wanted, &past);
        let answered = ask_until(mind, question, self.options.tries, &mut read, &again).await?;
        let unplanned = || Plan {
            strategy: None,
            priorities: vec![NO_PRIORITY; self.picture.items.len()],
        };
        let mut plan = self.plan.take().unwrap_or_else(unplanned);
        let source = if answered.found.is_some() {
            "model"
        } else {
            "kept"
        };
        let mut over = Vec::new();
        if let Some(found) = answered.found {
            plan.strategy = found.strategy;
            plan.priorities.truncate(place);
            plan.priorities.extend(found.of);
            over = found.past;
        }
        let rows = plan.priorities.iter().enumerate();
        let priorities: Vec<Option<i64>> = rows
            .map(|(at, priority)| (at >= place).then_some(*priority))
            .collect();
        let body = json!({
            "at_item": place, "priorities": priorities, "strategy": plan.strategy,
            "tries": answered.tries, "source": source, "problems": answered.problems,
            "past_items": over,
        });
        self.plan = Some(plan);
        self.note("plan", body);
        Ok(())
    }

    /// Belief update: what the bidder says of the auction is checked against what
    /// it has seen. Mistakes are put right by the bidder, in the end by the
    /// auctioneer; or only counted, when beliefs are not corrected.
    async fn update_belief(&mut self, item: usize, mind: &dyn Mind) -> Result<(), MindError> {
        let truth = Status::truth(&self.picture);
        let me = player_name(self.picture.seat);
        let correct = self.options.correct_beliefs;
        let question = self.question("belief", "belief", || beliefs::schema(&self.picture))?;
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
        let again = |problem: &str| {
            let faults: Vec<&str> = problem.lines().collect();
            words::again("belief_again", self, problem, &faults)
        };
        let answered = ask_until(mind, question, self.options.tries, &mut read, &again).await?;
        let (status, source) = match answered.found {
            Some(status) => (status, "model"),
            None if correct => (truth.clone(), "auctioneer"),
            None => (said.clone().unwrap_or_else(|| self.status.clone()), "kept"),
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
        self.status = status;
        self.note("belief", body);
        Ok(())
    }

    /// Learning: lessons from this auction and the ones before it.
    async fn learn(&mut self, mind: &dyn Mind) -> Result<(), MindError> {
        let question = self.question("learn", "tips", || tips::SCHEMA.to_owned())?;
        let again = |problem: &str| words::again("learn_again", self, problem, &[]);
        let mut read = tips::read;
        let answered = ask_until(mind, question, self.options.tries, &mut read, &again).await?;
        let source = if answered.found.is_some() {
            "model"
        } else {
            "kept"
        };
        let tips = answered.found.unwrap_or_else(|| self.options.tips.clone());
        self.note("tips", json!({ "tips": tips, "source": source }));
        Ok(())
    }

    /// A question of the bidder's own, worded by the template of its purpose.
    fn question(
        &self,
        purpose: &'static str,
        form: &str,
        schema: impl FnOnce() -> String,
    ) -> Result<Question, MindError> {
        Ok(Question {
            purpose,
            settings: Arc::clone(&self.model),
            messages: self.conversation(purpose)?,
            format: self.format(form, schema),
        })
    }

    fn conversation(&self, template: &str) -> Result<Vec<Message>, MindError> {
        words::conversation(template, self)
    }

    fn format(&self, name: &str, schema: impl FnOnce() -> String) -> Option<ReplyFormat> {
        (self.reply == ReplyStyle::Structured).then(|| ReplyFormat {
            name: name.to_owned(),
            schema: schema().into(),
        })
    }

    fn note(&mut self, kind: &'static str, body: Value) {
        self.notes.push(Note { kind, body });
    }
}

fn impossible(error: AgentError) -> MindError {
    MindError::Impossible(error.to_string())
}

#[cfg(test)]
mod tests;
