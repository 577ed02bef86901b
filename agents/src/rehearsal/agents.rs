//! Tries the templates of an agent that words its own calls: seats it at a game,
//! answers its calls with nothing and with the least that their schema allows in
//! turns, and lets the table itself play at random. No model is called.

use std::sync::atomic::{AtomicUsize, Ordering};

use agon_engine::{Ask, Foul, FoulKind, PlayerKind, PlayerSpec, registry};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{Moment, short_game};
use crate::agent::{Agent, AgentError, Verdict};
use crate::info::AgentInfo;
use crate::library::PromptLibrary;
use crate::mind::{Mind, MindError, Reply, Thought};
use crate::roster;
use crate::settings::DEFAULT_PROMPT;
use crate::templates;

/// Renders the templates of an agent's folder, `GAME_AGENT`. A folder of a game
/// or an agent that this build does not have is not used by it.
pub fn rehearse(library: &PromptLibrary, folder: &str, version: &str) -> Result<(), AgentError> {
    let games = registry::GAMES.iter().map(|game| &*game.info.name);
    let own = roster::AGENTS.iter().filter(|agent| agent.own_prompts);
    let mut pairs = games.flat_map(|game| own.clone().map(move |agent| (game, agent)));
    let found = pairs.find(|(game, agent)| templates::folder(game, agent.name) == folder);
    found.map_or(Ok(()), |(game, agent)| {
        try_out(library, game, agent, version, || {
            format!("{folder}/{version}")
        })
    })
}

/// Renders the templates that all games share, as the agents use them that put words of
/// their own around the asks of a game.
pub fn rehearse_shared(library: &PromptLibrary) -> Result<(), AgentError> {
    let agents = roster::AGENTS.iter().filter(|agent| !agent.own_prompts);
    for agent in agents {
        let what = || format!("shared, with the agent {}", agent.name);
        let games = registry::GAMES.iter().map(|game| &*game.info.name);
        for game in games.filter(|game| agent.plays(game)) {
            try_out(library, game, agent, DEFAULT_PROMPT, what)?;
        }
    }
    Ok(())
}

/// Plays a game with the agent at every seat, with each of its settings; `what` is tried.
fn try_out(
    library: &PromptLibrary,
    game: &str,
    agent: &AgentInfo,
    version: &str,
    what: impl Fn() -> String,
) -> Result<(), AgentError> {
    for (at, settings) in agent.rehearsals.iter().enumerate() {
        let played = play(library, game, &player(agent, settings, version, at));
        played.map_err(|message| AgentError::Template {
            template: what(),
            message,
        })?;
    }
    Ok(())
}

fn play(library: &PromptLibrary, game: &str, player: &PlayerSpec) -> Result<(), String> {
    let registration = registry::find(game).map_err(|error| error.to_string())?;
    let built = short_game(registration).map_err(|error| error.to_string())?;
    let agents = (0..built.seats()).map(|seat| roster::build_for(player, game, seat, library));
    let agents = agents.collect::<Result<Vec<_>, _>>();
    let mut agents = agents.map_err(|error| error.to_string())?;
    let mind = Rehearser::default();
    super::play(built, |seat, moment| match moment {
        Moment::Told(events) => done(agents[seat].observe(events, &mind)),
        Moment::Asked(ask) => asked_twice(&mut *agents[seat], ask, &mind),
    })
}

/// Puts an ask, and puts it again as if the answer had been refused.
fn asked_twice(agent: &mut dyn Agent, ask: &Ask, mind: &dyn Mind) -> Result<(), String> {
    let foul = Foul::new(FoulKind::Unreadable, "no answer could be read");
    let _ = done(agent.act(ask, None, mind))?;
    let _ = done(agent.act(ask, Some(&foul), mind))?;
    agent.settle(&Verdict::Taken);
    Ok(())
}

/// The outcome of something that waits for the rehearsing mind alone.
fn done<T>(work: BoxFuture<'_, Result<T, MindError>>) -> Result<T, String> {
    let outcome = work.now_or_never();
    let outcome = outcome.ok_or("the agent waits for something that is no mind")?;
    outcome.map_err(|error| error.to_string())
}

fn player(agent: &AgentInfo, settings: &str, version: &str, at: usize) -> PlayerSpec {
    let persona = match at % 3 {
        0 => Value::from("cooperative"),
        1 => json!({ "text": "You are a poet." }),
        _ => Value::from("mathematician"),
    };
    let mut all = Map::from_iter([
        ("model".to_owned(), "rehearsal".into()),
        ("agent".to_owned(), agent.name.into()),
        ("prompt".to_owned(), version.into()),
        ("persona".to_owned(), persona),
    ]);
    let own: Map<String, Value> = serde_json::from_str(settings).unwrap_or_default();
    all.extend(own);
    PlayerSpec {
        name: agent.name.to_owned(),
        kind: PlayerKind::Model,
        settings: all.into_iter().collect(),
    }
}

/// Answers every other call with nothing, so that both what is said to useless
/// replies and what is done with useful ones is tried.
#[derive(Default)]
struct Rehearser {
    calls: AtomicUsize,
}

impl Mind for Rehearser {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let schema = thought.format.as_ref();
        let schema = schema.and_then(|format| serde_json::from_str(&format.schema).ok());
        let text = match schema {
            _ if call.is_multiple_of(2) => String::new(),
            Some(schema) => least(&schema).to_string(),
            None => "as before".to_owned(),
        };
        let reply = Reply {
            text,
            finish_reason: "stop".to_owned(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// The least value that a schema allows.
fn least(schema: &Value) -> Value {
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    if let Some(first) = schema.pointer("/anyOf/0") {
        return least(first);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let fields = fields.into_iter().flatten();
            Value::Object(fields.map(|(name, of)| (name.clone(), least(of))).collect())
        }
        Some("array") => schema.get("items").map(least).into_iter().collect(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(0.into()),
        Some("boolean") => false.into(),
        Some("string") => "as before".into(),
        _ => Value::Null,
    }
}
