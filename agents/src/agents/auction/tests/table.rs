//! Small auctions for tests of bidders: the bidder under test sits at seat 0 and its model's
//! replies are scripted; the bids of all others are set by the test. What the bidder concludes
//! is read from its notes, as a measure would.

use std::sync::Mutex;

use agon_engine::chance::Luck;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Action, Ask, Chance, Form, Foul, Play, PlayerKind, PlayerSpec, Reaction, Seat, registry,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Verdict};
use crate::agents::auction::Picture;
use crate::library::PromptLibrary;
use crate::mind::{Mind, MindError, Reply, Thought};
use crate::roster::build_for;

/// Answers a call, by the number of calls of its purpose before it.
pub type Script<'a> = &'a (dyn Fn(&Thought, usize) -> String + Sync);

/// Another bidder: sees the name of the item and the ask, and bids or withdraws.
pub type Other<'a> = &'a dyn Fn(&str, &Ask) -> Action;

/// Answers by a script, and keeps what was asked.
struct Scripted<'a> {
    answer: Script<'a>,
    heard: Mutex<Vec<Thought>>,
}

impl Mind for Scripted<'_> {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let mut heard = self.heard.lock().unwrap();
        let before = heard.iter().filter(|one| one.purpose == thought.purpose);
        let text = (self.answer)(&thought, before.count());
        heard.push(thought);
        let finish_reason = "stop".to_owned();
        Box::pin(std::future::ready(Ok(Reply {
            text,
            finish_reason,
        })))
    }
}

/// What the bidder under test did in an auction, and what came of it.
pub struct Played {
    /// Kinds and bodies of its notes.
    pub notes: Vec<(&'static str, Value)>,
    pub thoughts: Vec<Thought>,
    /// Winner and price of each item that was sold.
    pub sales: Vec<(Seat, i64)>,
    pub payoffs: Vec<f64>,
}

impl Played {
    /// Bodies of its notes of a kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        let notes = self.notes.iter().filter(|(known, _)| *known == kind);
        notes.map(|(_, body)| body).collect()
    }

    pub fn purposes(&self) -> Vec<&str> {
        self.thoughts.iter().map(|one| one.purpose).collect()
    }

    /// Its calls of a purpose.
    pub fn thoughts(&self, purpose: &str) -> Vec<&Thought> {
        let all = self.thoughts.iter();
        all.filter(|one| one.purpose == purpose).collect()
    }

    /// All that was said in each call of a purpose.
    pub fn said(&self, purpose: &str) -> Vec<String> {
        let calls = self.thoughts(purpose).into_iter();
        calls.map(whole).collect()
    }

    fn note(&mut self, agent: &mut dyn Agent) {
        let notes = agent.take_notes().into_iter();
        self.notes
            .extend(notes.map(|note| (note.kind(), note.body())));
    }
}

/// All that is said in a call.
pub fn whole(thought: &Thought) -> String {
    let texts = thought.messages.iter().map(|said| &*said.content);
    texts.collect::<Vec<&str>>().join("\n--\n")
}

/// A player with an agent and these settings besides.
pub fn player(agent: &str, settings: &Value) -> PlayerSpec {
    let mut all = Map::from_iter([
        ("model".to_owned(), json!("m")),
        ("agent".to_owned(), json!(agent)),
    ]);
    all.extend(settings.as_object().unwrap().clone());
    PlayerSpec {
        name: "ann".to_owned(),
        kind: PlayerKind::Model,
        settings: all.into_iter().collect(),
    }
}

/// The least and the most that a bid may be.
pub fn limits(ask: &Ask) -> (i64, i64) {
    match ask.form {
        Form::Integer { min, max, .. } => (min.unwrap_or(0), max.unwrap_or(i64::MAX)),
        _ => (0, i64::MAX),
    }
}

/// An auction with the bidder under test at seat 0.
pub fn auction(
    player: &PlayerSpec,
    params: &Value,
    others: &[Other<'_>],
    answer: Script<'_>,
) -> Played {
    let mut params = params.clone();
    params["players"] = json!(others.len() + 1);
    let params = params.as_object().unwrap().clone().into_iter().collect();
    let built = registry::find("english_auction")
        .unwrap()
        .build(&params)
        .unwrap();
    let library = PromptLibrary::builtin();
    let mut agent = build_for(player, "english_auction", 0, &library).unwrap();
    let mind = Scripted {
        answer,
        heard: Mutex::default(),
    };
    let mut played = Played {
        notes: Vec::new(),
        thoughts: Vec::new(),
        sales: Vec::new(),
        payoffs: Vec::new(),
    };
    let chance = Chance::seeded(Luck::new(1, 0));
    let seats = (0..=others.len()).map(|_| None).collect();
    let mut play = Play::start(built.game, chance, seats);
    let (mut told, mut picture) = (0, Picture::new(0));
    loop {
        let sights = play.view(0).sights().skip(told);
        let events: Vec<SeenEvent> = sights.map(|sight| sight.to_event()).collect();
        told += events.len();
        for event in &events {
            picture.hear(event).unwrap();
        }
        let observed = agent.observe(&events, &mind).now_or_never();
        observed.unwrap().unwrap();
        played.note(&mut *agent);
        let next = play.waiting().next().cloned();
        let Some(ask) = next else {
            let outcomes = picture.items.iter().filter_map(|item| item.outcome);
            let sales = outcomes.filter_map(|sale| Some((sale.winner?, sale.price?)));
            played.sales = sales.collect();
            played.payoffs = play.payoffs();
            played.thoughts = mind.heard.into_inner().unwrap();
            return played;
        };
        if ask.seat > 0 {
            let item = picture.item().unwrap().name.clone();
            play.answer(ask.seat, Ok(others[ask.seat - 1](&item, &ask)));
            continue;
        }
        let mut refused: Option<Foul> = None;
        while play.waiting().any(|open| *open == ask) {
            let acted = agent.act(&ask, refused.as_ref(), &mind);
            let offer = acted.now_or_never().unwrap().unwrap();
            let reaction = play.answer(0, offer);
            if let Some(verdict) = Verdict::of(&reaction) {
                agent.settle(&verdict);
            }
            played.note(&mut *agent);
            refused = match reaction {
                Reaction::Refused { foul, .. } => Some(foul),
                _ => None,
            };
        }
    }
}
