//! `memory_tokens` bounds every call of every agent in every game, whatever its model says
//! and however often it is asked again. Where rules and ask alone are longer, they are all
//! that is sent. A model that talks too much is scripted; none is called.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_agents::{
    AGENTS, AgentInfo, Message, Mind, MindError, PromptLibrary, Reply, Role, Thought,
};
use agon_engine::registry::GAMES;
use agon_engine::{Foul, FoulKind};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

#[path = "conversations/filling.rs"]
mod filling;
#[path = "conversations/table.rs"]
#[allow(dead_code, missing_docs)]
mod table;

use filling::filled;
use table::Game;

/// The least that `memory_tokens` can be set to: rules and ask alone are longer in most games.
const LEAST: usize = 200;

/// How often an ask is put at most.
const PUTS: usize = 3;

/// The seat that is looked at.
const SEAT: usize = 1;

/// Says nothing of use in much too many words in every third call, and else fills the form
/// that is asked for, with as many words wherever words may stand.
#[derive(Default)]
struct Talker {
    calls: AtomicUsize,
    heard: Mutex<Vec<Thought>>,
}

impl Mind for Talker {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let format = thought.format.as_ref();
        let schema = format.and_then(|format| serde_json::from_str(&format.schema).ok());
        let text = match schema {
            Some(schema) if call % 3 != 1 => filled(&schema, &chatter()).to_string(),
            _ => chatter(),
        };
        self.heard.lock().unwrap().push(thought);
        let finish_reason = "stop".to_owned();
        Box::pin(std::future::ready(Ok(Reply {
            text,
            finish_reason,
        })))
    }
}

fn chatter() -> String {
    "I could go on about this for hours. ".repeat(90)
}

/// One call as it was sent.
#[derive(Debug, Clone)]
struct Call {
    purpose: &'static str,
    tokens: usize,
    roles: Vec<Role>,
}

impl From<Thought> for Call {
    fn from(thought: Thought) -> Self {
        Self {
            purpose: thought.purpose,
            tokens: thought.messages.iter().map(Message::tokens).sum(),
            roles: thought.messages.iter().map(|one| one.role).collect(),
        }
    }
}

/// Every call of a seat. Its asks are put up to so many times each, refused with a reason that
/// quotes more than anybody wants to read.
fn calls(game: &Game, agent: &AgentInfo, own: &str, more: Value, puts: usize) -> Vec<Call> {
    let mut settings: Map<String, Value> = serde_json::from_str(own).unwrap();
    settings.insert("agent".to_owned(), agent.name.into());
    settings.extend(more.as_object().unwrap().clone());
    let player = table::player(Value::Object(settings));
    let mut agent = game.agent(&player, SEAT, &PromptLibrary::builtin());
    let mind = Talker::default();
    let mut seen = 0;
    let asks = game.steps.iter().filter(|step| step.ask.seat == SEAT);
    for (number, step) in asks.enumerate() {
        table::show(&mut *agent, SEAT, &game.events[seen..step.events], &mind);
        seen = step.events;
        let mut refused = None;
        for _ in 0..=number % puts {
            let _ = table::act(&mut *agent, &step.ask, refused.as_ref(), &mind);
            let reason = format!("\"{}\" will not do: be brief", chatter());
            refused = Some(Foul::new(FoulKind::WrongType, reason));
        }
        let taken = step.action.clone();
        table::settle(&mut *agent, &taken.ok_or_else(table::foul));
    }
    table::show(&mut *agent, SEAT, &game.events[seen..], &mind);
    let heard = mind.heard.into_inner().unwrap();
    heard.into_iter().map(Call::from).collect()
}

/// Every game, as long as a test can wait for.
fn long_games() -> impl Iterator<Item = Game> {
    GAMES.iter().map(|registration| {
        let mut params = Map::new();
        params.insert(
            "players".to_owned(),
            3.max(registration.info.seats.0).into(),
        );
        let schema = registration.schema();
        for (name, value) in [
            ("rounds", json!(8)),
            ("max_turns", json!(24)),
            ("health", json!(100)),
            ("elimination", json!(false)),
            ("items", json!(items())),
            ("increment", json!(20)),
        ] {
            if schema["properties"].get(name).is_some() {
                params.insert(name.to_owned(), value);
            }
        }
        let params = table::settings(Value::Object(params));
        table::play(&registration.info.name, &params, 3, 5)
    })
}

fn items() -> Vec<Value> {
    let one = |number: i64| {
        json!({ "name": format!("Item {number}"), "starting_price": 100 + number,
            "true_value": 2_000, "description": "as good as new" })
    };
    (1..=8).map(one).collect()
}

/// The agents that play a game, with settings that between them reach all of their calls.
fn agents_of(game: &str) -> impl Iterator<Item = (&'static AgentInfo, &'static str)> {
    let plays = move |agent: &&AgentInfo| {
        let has_prompts = !agent.own_prompts || game == "english_auction";
        has_prompts && agent.games.is_none_or(|games| games.contains(&game))
    };
    let agents: Vec<&AgentInfo> = AGENTS.iter().filter(plays).collect();
    let all = agents.into_iter();
    all.flat_map(|agent| agent.rehearsals.iter().map(move |own| (agent, *own)))
}

fn within(bound: usize) -> Value {
    json!({ "memory_tokens": bound })
}

#[test]
fn every_call_of_every_agent_stays_within_its_bound_or_is_rules_and_ask_alone() {
    let mut bounded = 0;
    for game in long_games() {
        for (agent, own) in agents_of(game.name) {
            let which = format!("{} in {} with {own}", agent.name, game.name);
            let smallest = calls(&game, agent, own, within(LEAST), PUTS);
            let longest = smallest.iter().map(|call| call.tokens).max().unwrap();
            for call in &smallest {
                let is_least = call.roles == [Role::System, Role::User];
                assert!(call.tokens <= LEAST || is_least, "{which}: {call:?}");
            }
            let bound = longest + 100;
            let sent = calls(&game, agent, own, within(bound), PUTS);
            assert_eq!(sent.len(), smallest.len(), "{which}");
            for call in &sent {
                assert!(call.tokens <= bound, "{which}, {bound}: {call:?}");
                bounded += 1;
            }
        }
    }
    assert!(bounded > 3_000, "{bounded}");
}

#[test]
fn the_smallest_conversation_does_not_grow_with_the_game() {
    for game in long_games() {
        for (agent, own) in agents_of(game.name) {
            let mut by_purpose: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for call in calls(&game, agent, own, within(LEAST), 1) {
                by_purpose
                    .entry(call.purpose)
                    .or_default()
                    .push(call.tokens);
            }
            for (purpose, lengths) in by_purpose {
                let (early, late) = lengths.split_at(lengths.len() / 2);
                let (Some(early), Some(late)) = (early.iter().max(), late.iter().max()) else {
                    continue;
                };
                let which = format!("{} in {} with {own}", agent.name, game.name);
                // Who won what takes the place of what is still to come.
                assert!(*late <= early + early / 4, "{which}: {purpose} {lengths:?}");
            }
        }
    }
}

#[test]
fn a_player_that_sums_up_and_has_replies_read_stays_within_its_bound() {
    for game in long_games() {
        for (agent, own) in agents_of(game.name).filter(|(agent, _)| agent.converses) {
            let which = format!("{} in {} with {own}", agent.name, game.name);
            let more = |bound: usize| json!({ "memory_tokens": bound, "when_full": "summarise", "reader": "careful" });
            let smallest = calls(&game, agent, own, more(LEAST), PUTS);
            let longest = smallest.iter().map(|call| call.tokens).max().unwrap();
            for call in &smallest {
                let is_least = call.roles == [Role::System, Role::User];
                assert!(call.tokens <= LEAST || is_least, "{which}: {call:?}");
            }
            let bound = longest + 200;
            for call in calls(&game, agent, own, more(bound), PUTS) {
                assert!(call.tokens <= bound, "{which}, {bound}: {call:?}");
            }
        }
    }
}
