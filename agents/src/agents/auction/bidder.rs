//! What every bidder of an auction is made of: its picture of the auction, its plan, its
//! templates and its notes; how it bids and puts other questions. What is asked when, and
//! what templates are told beyond the auction, is each agent's own, as [`Bids`]. Used by
//! [`crate::agents::bdi`] and [`crate::agents::harbor`].

use std::borrow::Cow;
use std::sync::Arc;

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Form, Foul};
use async_trait::async_trait;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use super::{BidReading, Detail, Happened, Item, Picture, read_bid};
use crate::agent::{Agent, Answer, Verdict};
use crate::asking::{Answered, Questions, ask_until};
use crate::forms::{Thinking, reply_schema};
use crate::info::Seating;
use crate::memory::Later;
use crate::mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Thought};
use crate::notes::{Note, Status};
use crate::quotation::problem;
use crate::settings::ReplyStyle;
use crate::templates::{self, Templates};
use crate::understudy::Understudy;

/// Most tries of one question: more only cost.
const MOST_TRIES: u32 = 10;

/// A bidder at its seat; `own` is what its paper adds.
#[derive(Debug)]
pub struct Bidder<A> {
    model: Arc<ModelSettings>,
    /// How its replies are asked for.
    pub reply: ReplyStyle,
    /// The most that a conversation may hold, in estimated tokens.
    bound: usize,
    /// How often a question is put at most.
    tries: u32,
    templates: Templates,
    /// The auction as the seat sees it.
    pub picture: Picture,
    /// How everybody stands by its own notes, after the last item that is over.
    pub status: Status,
    /// What it intends; none without a plan.
    pub plan: Option<Plan>,
    /// Whether the ask that is open has a legal bid.
    can_bid: bool,
    /// The last answer to the ask that is open, and where the auction stood.
    latest: Option<Latest>,
    notes: Vec<Note>,
    /// What a simulated model plays by.
    understudy: Option<Understudy>,
    /// What only this kind of bidder has.
    pub own: A,
}

/// What a bidder intends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// In words.
    pub strategy: Option<String>,
    /// One per item, in order of sale.
    pub priorities: Vec<i64>,
}

impl Plan {
    /// What templates are told of it: what concerns the items that are up or still to come.
    pub fn values(&self, picture: &Picture, detail: Detail) -> Value {
        let behind = self.priorities.iter().skip(picture.place);
        let rows = picture.remaining().iter().zip(behind);
        let rows = rows.map(|(item, priority)| vec![Value::from(&*item.name), (*priority).into()]);
        let strategy = self.strategy.as_deref().map(|text| detail.of(text));
        context! { strategy, priorities => rows.collect::<Vec<_>>() }
    }
}

#[derive(Debug)]
struct Latest {
    bid: BidReading,
    reply: String,
    item: usize,
    bid_round: u32,
}

/// What a kind of bidder adds to bidding when it is asked. A question about one rival names it
/// by its place among the rivals.
#[async_trait]
pub trait Bids: Send + Sync + Sized {
    /// Thinks about what has just happened in the auction.
    async fn hear(
        bidder: &mut Bidder<Self>,
        happened: Happened,
        mind: &dyn Mind,
    ) -> Result<(), MindError>;

    /// Thinks before a bid, or before it is asked for again (`refused`); some answer, where
    /// that needs no bid.
    async fn decide(
        _bidder: &mut Bidder<Self>,
        _refused: bool,
        _mind: &dyn Mind,
    ) -> Result<Option<Action>, MindError> {
        Ok(None)
    }

    /// Whether it has decided to bid, so that it is not offered to withdraw as well.
    fn means_to_bid(&self) -> bool {
        false
    }

    /// The open ask is over.
    fn settled(&mut self) {}

    /// What its templates are told beside what those of every bidder are, in so much detail.
    fn told(bidder: &Bidder<Self>, rival: Option<usize>, detail: Detail) -> Value;

    /// What a simulated model says to a question, if not what any bidder's does.
    fn simulated_reply(_: &Bidder<Self>, _purpose: &str, _rival: Option<usize>) -> Option<String> {
        None
    }

    /// What a simulated model bids, where its strategy bids so.
    fn simulated_bid(_: &Bidder<Self>, _ask: &Ask, usual: Action) -> Action {
        usual
    }
}

#[async_trait]
impl<A: Bids> Agent for Bidder<A> {
    async fn observe(&mut self, events: &[SeenEvent], mind: &dyn Mind) -> Result<(), MindError> {
        for event in events {
            if let Some(understudy) = &mut self.understudy {
                understudy.see(std::slice::from_ref(event));
            }
            let happened = self.picture.hear(event)?;
            if happened == Happened::Briefed {
                self.status = Status::truth(&self.picture);
            }
            A::hear(self, happened, mind).await?;
        }
        Ok(())
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Answer, MindError> {
        if let Some(foul) = refused {
            self.note_bid(Some(&foul.reason));
        }
        self.can_bid = has_bid(ask);
        if let Some(answer) = A::decide(self, refused.is_some(), mind).await? {
            return Ok(Ok(answer));
        }
        let offered = self.offered(ask);
        let usual = self.understudy.as_mut();
        let usual = usual.map(|understudy| understudy.answer(ask, refused.is_some()));
        let bid = usual.map(|usual| A::simulated_bid(self, ask, usual));
        let later = match refused.zip(self.latest.as_ref()) {
            Some((foul, latest)) => {
                let reason = self.reason(ask, foul);
                Some(self.again("bid", None, &latest.reply, &problem(&reason))?)
            }
            None => None,
        };
        let schema = reply_schema(&offered, Thinking::StepByStep, &[]);
        let thought = Thought {
            simulated_reply: bid.map(|bid| self.simulated_words(ask, &bid)),
            ..self.thought("bid", ("bid", &schema), None, later)?
        };
        let reply = mind.think(thought).await?;
        let bid = read_bid(ask, &reply);
        let read = bid.read.clone();
        self.latest = Some(Latest {
            bid,
            reply: reply.text,
            item: self.picture.place,
            bid_round: self.picture.bid_round(),
        });
        Ok(read)
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.note_bid(match verdict {
            Verdict::Taken => None,
            Verdict::Forfeited(foul) => Some(&foul.reason),
        });
        self.latest = None;
        self.own.settled();
    }

    fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

impl<A: Bids> Bidder<A> {
    /// A bidder at its seat, which puts a question so often at most.
    pub fn new(seating: &Seating<'_>, tries: u32, own: A) -> Self {
        let settings = seating.settings;
        let folder = templates::folder(&seating.game.name, &settings.agent);
        Self {
            model: Arc::clone(&settings.model),
            reply: settings.reply,
            bound: usize::try_from(settings.memory_tokens).unwrap_or(usize::MAX),
            tries,
            templates: Templates::new(settings, &folder, seating.seat, seating.library.clone()),
            picture: Picture::new(seating.seat),
            status: Status::default(),
            plan: None,
            can_bid: false,
            latest: None,
            notes: Vec::new(),
            understudy: seating.understudy(),
            own,
        }
    }

    /// Whether it is offered to withdraw: always, unless it has decided to bid and can.
    fn may_withdraw(&self) -> bool {
        !(self.can_bid && self.own.means_to_bid())
    }

    /// An ask as it is put. A reply is read as an answer to the ask itself, so that a withdrawal
    /// is one in any case.
    fn offered<'a>(&self, ask: &'a Ask) -> Cow<'a, Ask> {
        match &ask.form {
            Form::Integer { min, max, .. } if !self.may_withdraw() => {
                let (min, max, pass) = (*min, *max, None);
                Cow::Owned(Ask {
                    form: Form::Integer { min, max, pass },
                    ..ask.clone()
                })
            }
            _ => Cow::Borrowed(ask),
        }
    }

    /// Why an answer was refused, without the offer to withdraw where it is not made.
    fn reason(&self, ask: &Ask, foul: &Foul) -> String {
        match &ask.form {
            Form::Integer {
                pass: Some(pass), ..
            } if !self.may_withdraw() => foul.reason.replace(&format!(", or \"{pass}\""), ""),
            _ => foul.reason.clone(),
        }
    }

    /// Writes a conclusion down.
    pub fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// Notes the last bid, and what was wrong with it.
    fn note_bid(&mut self, problem: Option<&str>) {
        if let Some(latest) = &self.latest {
            let note = latest.bid.note(latest.item, latest.bid_round, problem);
            self.note(note);
        }
    }

    /// Puts a question, worded by the template of its purpose, until its reply can be read.
    pub async fn ask<T: Send>(
        &self,
        purpose: &'static str,
        format: (&'static str, String),
        mut read: impl FnMut(&Reply) -> Result<T, String> + Send,
        mind: &dyn Mind,
    ) -> Result<Answered<T>, MindError> {
        let questions = Asked {
            bidder: self,
            purpose,
            format,
            rivals: None,
            read: |_, reply: &Reply| read(reply),
        };
        let mut answered = ask_until(mind, questions, self.tries).await?;
        // One question, one answer.
        Ok(answered.swap_remove(0))
    }

    /// Puts the same question about each of so many rivals, side by side.
    pub async fn ask_of_each<T: Send>(
        &self,
        rivals: usize,
        purpose: &'static str,
        format: (&'static str, String),
        read: impl FnMut(usize, &Reply) -> Result<T, String> + Send,
        mind: &dyn Mind,
    ) -> Result<Vec<Answered<T>>, MindError> {
        let questions = Asked {
            bidder: self,
            purpose,
            format,
            rivals: Some(rivals),
            read,
        };
        ask_until(mind, questions, self.tries).await
    }

    /// The call of a purpose, with what was said to it already.
    fn thought(
        &self,
        purpose: &'static str,
        (name, schema): (&str, &str),
        rival: Option<usize>,
        later: Option<Later>,
    ) -> Result<Thought, MindError> {
        let format = (self.reply == ReplyStyle::Structured).then(|| ReplyFormat {
            name: name.to_owned(),
            schema: schema.into(),
        });
        let messages = self.conversation(purpose, rival, later)?;
        let settings = Arc::clone(&self.model);
        Ok(Thought::new(purpose, settings, messages, format))
    }

    /// The conversation of a call. Tells as much as there is room for; the least that is told
    /// may be longer than that.
    pub fn conversation(
        &self,
        template: &str,
        rival: Option<usize>,
        later: Option<Later>,
    ) -> Result<Vec<Message>, MindError> {
        let room = self
            .bound
            .saturating_sub(later.as_ref().map_or(0, Later::tokens));
        let mut messages = Vec::new();
        for (step, detail) in (1..).zip(Detail::STEPS) {
            let values = self.values(template, rival, detail);
            messages = match self.templates.conversation(template, values) {
                // So long a text as nobody may render does not fit either.
                Err(_) if step < Detail::STEPS.len() => continue,
                rendered => rendered?,
            };
            if messages.iter().map(Message::tokens).sum::<usize>() <= room {
                break;
            }
        }
        Ok(match later {
            Some(later) => later.behind(messages, self.bound),
            None => messages,
        })
    }

    /// What is said to a reply that could not be used.
    fn again(
        &self,
        purpose: &str,
        rival: Option<usize>,
        reply: &str,
        reason: &str,
    ) -> Result<Later, MindError> {
        let purpose = if purpose == "replan" { "plan" } else { purpose };
        let template = format!("{purpose}_again");
        let faults: Vec<&str> = reason.lines().collect();
        let values = self.values(&template, rival, Detail::FULL);
        let values = context! { reason, faults => Serde(faults), ..values };
        let said = self.templates.render(&template, values)?;
        Ok(Later::new(reply, usize::MAX, &said))
    }

    /// What a template is told: the auction, the item that it is about with its last bid
    /// rounds, the plan, and what is the agent's own.
    fn values(&self, template: &str, rival: Option<usize>, detail: Detail) -> Value {
        let picture = &self.picture;
        // Beliefs and profiles are about the sale that is over, all else about the one that is on.
        let is_over = ["belief", "profile"]
            .iter()
            .any(|start| template.starts_with(start));
        let told = match is_over {
            true => picture.past().last(),
            false => picture.item(),
        };
        let (rounds, left_out) = rounds_of(told, detail);
        let latest = told.and_then(|item| item.rounds.last());
        context! {
            auction => Serde(json!({
                "players": picture.players,
                "items": picture.items.iter().map(|item| &item.name).collect::<Vec<_>>(),
                "start_budget": picture.start_budget,
                "budget": picture.budget,
                "starting_price": picture.starting_price,
                "minimum_increase": picture.minimum_increase,
                "discount": picture.discount,
                "most_rounds": picture.most_rounds,
                "standings": picture.standings,
            })),
            names => picture.names(),
            open_items => Serde(picture.remaining().iter().map(brief).collect::<Vec<_>>()),
            item => Serde(picture.item().map(brief)),
            last => Serde(picture.past().last().map(brief)),
            bid_round => picture.bid_round(),
            may_withdraw => self.may_withdraw(),
            leader => latest.and_then(|round| round.leader),
            highest => latest.and_then(|round| round.highest),
            rounds,
            left_out,
            plan => self.plan.as_ref().map(|plan| plan.values(picture, detail)),
            ..A::told(self, rival, detail)
        }
    }
}

/// The questions of one purpose: about no rival, or about each of so many.
struct Asked<'a, A, R> {
    bidder: &'a Bidder<A>,
    purpose: &'static str,
    format: (&'static str, String),
    rivals: Option<usize>,
    read: R,
}

impl<A, T, R> Questions for Asked<'_, A, R>
where
    A: Bids,
    T: Send,
    R: FnMut(usize, &Reply) -> Result<T, String> + Send,
{
    type Found = T;

    fn count(&self) -> usize {
        self.rivals.unwrap_or(1)
    }

    fn thought(&mut self, at: usize, later: Option<Later>) -> Result<Thought, MindError> {
        let (bidder, purpose) = (self.bidder, self.purpose);
        let rival = self.rivals.map(|_| at);
        let said =
            || A::simulated_reply(bidder, purpose, rival).or_else(|| bidder.usual_reply(purpose));
        let (name, schema) = &self.format;
        Ok(Thought {
            simulated_reply: bidder.understudy.as_ref().and_then(|_| said()),
            ..bidder.thought(purpose, (name, schema), rival, later)?
        })
    }

    fn read(&mut self, at: usize, reply: &Reply) -> Result<T, String> {
        (self.read)(at, reply)
    }

    fn again(&mut self, at: usize, reply: &Reply, problem: &str) -> Result<Later, MindError> {
        let rival = self.rivals.map(|_| at);
        self.bidder.again(self.purpose, rival, &reply.text, problem)
    }
}

/// Whether any bid is legal.
fn has_bid(ask: &Ask) -> bool {
    match &ask.form {
        Form::Integer { min, max, .. } => min.zip(*max).is_none_or(|(min, max)| min <= max),
        _ => false,
    }
}

/// Checks how often a question may be put.
///
/// # Errors
/// Never, or too often; says what would be right.
pub fn check_tries(tries: u32) -> Result<(), String> {
    if (1..=MOST_TRIES).contains(&tries) {
        return Ok(());
    }
    Err(format!("tries must be from 1 to {MOST_TRIES}, not {tries}"))
}

/// The last rounds of an item, and how many are left out before them.
pub fn rounds_of(item: Option<&Item>, detail: Detail) -> (Value, usize) {
    let rounds = item.map_or(&[][..], |item| &item.rounds);
    let left_out = rounds.len().saturating_sub(detail.rounds);
    (Value::from(Serde(&rounds[left_out..])), left_out)
}

/// An item without its rounds.
pub fn brief(item: &Item) -> serde_json::Value {
    json!({
        "name": item.name, "starting_price": item.starting_price, "estimate": item.estimate,
        "description": item.description, "size": item.size, "location": item.location,
        "outcome": item.outcome,
    })
}
