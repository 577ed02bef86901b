//! The settings of a model player, read from its [`PlayerSpec`] and checked.
//!
//! Settings that belong to the player's agent alone are handed to it unread; unknown ones
//! were refused before, by the roster. Whether the model's name means anything is the
//! gateway's business.

use std::ops::RangeInclusive;
use std::sync::Arc;

use agon_engine::PlayerSpec;
use agon_engine::names::among;
use agon_engine::spec::Settings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::mind::ModelSettings;

/// Bound of the conversation when none is set: far more than twenty rounds of
/// any game take, and little enough for every model of today.
pub const DEFAULT_MEMORY_TOKENS: u32 = 16_000;

/// Bounds below this hold no system message and would only hide a mistake.
const FEWEST_MEMORY_TOKENS: u32 = 200;

/// Sampling temperatures that providers accept end here.
const HIGHEST_TEMPERATURE: f64 = 2.0;

/// The agent that plays when none is named.
pub const DEFAULT_AGENT: &str = "direct";

/// The prompt version that is used when none is named.
pub const DEFAULT_PROMPT: &str = "v1";

/// The personas that have a name.
pub const PERSONAS: &[&str] = &["cooperative", "selfish", "mathematician", "game_expert"];

/// More fall-backs than this hide which model plays.
const MOST_FALLBACKS: usize = 8;

/// The fewest that any provider takes (OpenAI's chat completions).
const MOST_STOPS: usize = 4;

/// Every setting that all agents take.
pub(crate) const NAMES: &[&str] = &[
    "model",
    "temperature",
    "top_p",
    "max_output_tokens",
    "fallback_models",
    "reasoning_effort",
    "stop_sequences",
    "agent",
    "prompt",
    "persona",
    "memory_tokens",
    "when_full",
    "reply",
    "reader",
    "others",
    "strict",
    "explain",
    "reading",
];

/// Settings that a provider may refuse, and what the gateway calls them.
const REFUSABLE: [(&str, &str); 5] = [
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("reasoning_effort", "reasoning_effort"),
    ("stop_sequences", "stop_sequences"),
    ("reply", "reply_format"),
];

/// Settings of players whose agents talk with their model in the words of the game.
pub(crate) const OF_CONVERSATIONS: &[&str] = &["when_full", "reader", "explain", "reading"];

/// What the names of models begin with that are people.
const PEOPLE: &str = "human/";

/// What a model player is set to.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayerSettings {
    /// Which model, and how it samples.
    pub model: Arc<ModelSettings>,
    /// Name of the agent.
    pub agent: String,
    /// Version of the prompts.
    pub prompt: String,
    /// Who the model is told to be, if anybody.
    pub persona: Option<Persona>,
    /// Longest conversation, in estimated tokens.
    pub memory_tokens: u32,
    /// What becomes of the oldest part of a conversation that is longer.
    pub when_full: WhenFull,
    /// The form in which answers are asked for.
    pub reply: ReplyStyle,
    /// Which model makes out replies that the program cannot read, if any does; it
    /// samples nothing.
    pub reader: Option<Arc<ModelSettings>>,
    /// How much of a reply is forgiven where JSON was asked for.
    pub reading: Leniency,
    /// What the player is told about all the others, if anything.
    pub others: Option<Others>,
    /// Whether the player is asked for the reasons behind each answer, and remembers its
    /// replies whole (Alympics, arXiv 2311.03220, equation 1 and appendix A.1).
    pub explain: bool,
    /// Settings of the player's agent alone, by name; checked by the agent.
    pub own: Map<String, Value>,
}

/// Who a model is told to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Persona {
    /// One of [`PERSONAS`].
    Named(String),
    /// A sentence of the experiment's own.
    Own(String),
}

/// The form in which answers are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStyle {
    /// As JSON, with a schema for providers that can enforce it.
    #[default]
    Structured,
    /// As JSON in so many words, without a schema: a model can break the form.
    Json,
    /// In words.
    Text,
    /// As a person types it: nothing is demanded, and the form goes along for whoever
    /// helps with the typing.
    Typed,
}

/// How much of a reply is forgiven where JSON was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leniency {
    /// Whatever states one answer clearly is read.
    #[default]
    Lenient,
    /// The reply holds the object that was asked for, as it stands: nothing in it is mended
    /// and no words are read, so that breaks of the form are fouls and can be counted.
    Strict,
}

/// What becomes of the oldest part of a conversation that has no room for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is forgotten.
    #[default]
    Forget,
    /// The player's model sums it up.
    Summarise,
}

/// What a player is told about all the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// They may be assumed to be perfectly rational, as EconArena has it (appendix B.2).
    Rational,
    /// That everybody is rational is common knowledge, which is more than EconArena says.
    CommonKnowledge,
    /// They may be assumed to be as rational and as able as the player itself, as EconArena
    /// has it of copies of one model (appendix A.3).
    Alike,
}

impl Others {
    /// Its name in settings and templates.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rational => "rational",
            Self::CommonKnowledge => "common_knowledge",
            Self::Alike => "alike",
        }
    }
}

impl ReplyStyle {
    /// What templates go by: how answers are asked for in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured | Self::Json => "structured",
            Self::Text => "text",
            Self::Typed => "typed",
        }
    }
}

#[derive(Deserialize)]
struct Raw {
    model: Option<String>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_output_tokens: Option<u32>,
    fallback_models: Option<Vec<String>>,
    reasoning_effort: Option<String>,
    stop_sequences: Option<Vec<String>>,
    agent: Option<String>,
    prompt: Option<String>,
    persona: Option<Value>,
    memory_tokens: Option<u32>,
    when_full: Option<WhenFull>,
    reply: Option<ReplyStyle>,
    reader: Option<String>,
    reading: Option<Leniency>,
    others: Option<Others>,
    strict: Option<bool>,
    explain: Option<bool>,
}

impl PlayerSettings {
    /// Reads and checks a player's settings; those of these names are its agent's own.
    ///
    /// # Errors
    /// A setting is missing or impossible; says what would be right.
    pub fn read(player: &PlayerSpec, own: &[&str]) -> Result<Self, String> {
        let settings = player.settings.iter();
        let settings = settings.map(|(name, value)| (name.clone(), value.clone()));
        let (own, map): (Map<String, Value>, Map<String, Value>) =
            settings.partition(|(name, _)| own.contains(&name.as_str()));
        let raw: Raw = read_table(map)?;
        let model = raw.model.filter(|model| !model.trim().is_empty());
        let model = model.ok_or("model is missing: name a model of the gateway's configuration")?;
        check_temperature(raw.temperature)?;
        check_top_p(raw.top_p)?;
        if raw.max_output_tokens == Some(0) {
            return Err("max_output_tokens must be at least 1".to_owned());
        }
        let fallback_models = raw.fallback_models.unwrap_or_default();
        check_fallbacks(&model, &fallback_models)?;
        let effort = raw.reasoning_effort.as_ref();
        if effort.is_some_and(|word| word.trim().is_empty()) {
            return Err("reasoning_effort must be a word such as \"low\"".to_owned());
        }
        let stop_sequences = raw.stop_sequences.unwrap_or_default();
        check_stops(&stop_sequences)?;
        let reading = raw.reading.unwrap_or_default();
        if reading == Leniency::Strict && raw.reader.is_some() {
            let message =
                "reader makes out what reading = \"strict\" counts as a foul: set one of them";
            return Err(message.to_owned());
        }
        let memory_tokens = raw.memory_tokens.unwrap_or(DEFAULT_MEMORY_TOKENS);
        if memory_tokens < FEWEST_MEMORY_TOKENS {
            return Err(format!(
                "memory_tokens must be at least {FEWEST_MEMORY_TOKENS}, not {memory_tokens}"
            ));
        }
        Ok(Self {
            model: Arc::new(ModelSettings {
                model,
                temperature: raw.temperature,
                top_p: raw.top_p,
                max_output_tokens: raw.max_output_tokens,
                fallback_models,
                reasoning_effort: raw.reasoning_effort,
                stop_sequences,
                required: match raw.strict {
                    Some(true) => set_parameters(player),
                    Some(false) | None => Vec::new(),
                },
            }),
            agent: raw.agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            prompt: raw.prompt.unwrap_or_else(|| DEFAULT_PROMPT.to_owned()),
            persona: raw.persona.as_ref().map(read_persona).transpose()?,
            memory_tokens,
            when_full: raw.when_full.unwrap_or_default(),
            reply: raw.reply.unwrap_or_default(),
            reader: raw.reader.map(read_reader).transpose()?,
            reading,
            others: raw.others,
            explain: raw.explain.unwrap_or_default(),
            own,
        })
    }

    /// The same for a cell of a grid: parameters whose values are compared there are required
    /// of the model, unless the player says otherwise.
    #[must_use]
    pub fn in_cell(mut self, player: &PlayerSpec, setting: &Settings) -> Self {
        if player.settings.contains_key("strict") {
            return self;
        }
        let compared = REFUSABLE
            .iter()
            .filter(|(name, _)| is_compared(player, name, setting));
        let required = compared.map(|(_, parameter)| *parameter).collect();
        Arc::make_mut(&mut self.model).required = required;
        self
    }
}

/// Whether a cell's axes set this setting of a player.
fn is_compared(player: &PlayerSpec, name: &str, setting: &Settings) -> bool {
    let own = format!("players.{}", player.name);
    let as_a_whole = setting.get(&own).and_then(|table| table.get(name));
    as_a_whole.is_some()
        || setting.contains_key(&format!("{own}.{name}"))
        || setting.contains_key(&format!("model.{name}"))
}

/// What the player sets and a provider may refuse.
fn set_parameters(player: &PlayerSpec) -> Vec<&'static str> {
    let set = REFUSABLE
        .iter()
        .filter(|(name, _)| player.settings.contains_key(*name));
    set.map(|(_, parameter)| *parameter).collect()
}

/// Every model that a player may ask: its own, those that may answer in its place, and
/// its reader. Names as they stand in its settings, checked or not.
pub fn models_of(player: &PlayerSpec) -> impl Iterator<Item = &str> {
    let named = |key: &str| player.settings.get(key).and_then(Value::as_str);
    let fallbacks = player.settings.get("fallback_models");
    let fallbacks = fallbacks.and_then(Value::as_array).into_iter().flatten();
    let own = named("model").into_iter();
    own.chain(fallbacks.filter_map(Value::as_str))
        .chain(named("reader"))
}

/// A reader is asked what stands there, so it draws no lots.
fn read_reader(model: String) -> Result<Arc<ModelSettings>, String> {
    if model.trim().is_empty() || model.starts_with(PEOPLE) {
        return Err(
            "reader must be the name of a model, not of a person: it reads replies at once"
                .to_owned(),
        );
    }
    Ok(Arc::new(ModelSettings {
        model,
        temperature: Some(0.0),
        ..ModelSettings::default()
    }))
}

/// Reads a whole number among an agent's own settings, `usual` when it is absent.
pub(crate) fn whole(
    own: &Map<String, Value>,
    name: &str,
    range: RangeInclusive<u32>,
    usual: u32,
) -> Result<u32, String> {
    let Some(value) = own.get(name) else {
        return Ok(usual);
    };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("{name} must be a whole number from {least} to {most}, not {value}")
        })
}

/// Reads a table of settings; an error names the setting.
pub(crate) fn read_table<T: DeserializeOwned>(table: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(table)).map_err(|error| {
        let path = error.path().to_string();
        format!("{path}: {}", error.into_inner())
    })
}

fn check_temperature(temperature: Option<f64>) -> Result<(), String> {
    match temperature {
        Some(given) if !(0.0..=HIGHEST_TEMPERATURE).contains(&given) => Err(format!(
            "temperature must be from 0 to {HIGHEST_TEMPERATURE}, not {given}"
        )),
        _ => Ok(()),
    }
}

fn check_top_p(top_p: Option<f64>) -> Result<(), String> {
    match top_p {
        Some(given) if !(given > 0.0 && given <= 1.0) => Err(format!(
            "top_p must be greater than 0 and at most 1, not {given}"
        )),
        _ => Ok(()),
    }
}

fn check_fallbacks(model: &str, fallbacks: &[String]) -> Result<(), String> {
    if fallbacks.len() > MOST_FALLBACKS {
        let given = fallbacks.len();
        return Err(format!(
            "fallback_models may be {MOST_FALLBACKS}, not {given}"
        ));
    }
    for (place, fallback) in fallbacks.iter().enumerate() {
        if fallback.trim().is_empty() {
            return Err("fallback_models must be names of models".to_owned());
        }
        if fallback == model || fallbacks[..place].contains(fallback) {
            return Err(format!(
                "fallback_models names \"{fallback}\" twice, or the player's own model"
            ));
        }
    }
    Ok(())
}

fn check_stops(stops: &[String]) -> Result<(), String> {
    if stops.len() > MOST_STOPS || stops.iter().any(String::is_empty) {
        return Err(format!(
            "stop_sequences must be at most {MOST_STOPS} texts, none of them empty"
        ));
    }
    Ok(())
}

fn read_persona(value: &Value) -> Result<Persona, String> {
    if let Some(name) = value.as_str() {
        if PERSONAS.contains(&name) {
            return Ok(Persona::Named(name.to_owned()));
        }
        return Err(unknown("persona", name, PERSONAS) + ", or { text = \"...\" }");
    }
    let own = value.as_object().filter(|table| table.len() == 1);
    let text = own
        .and_then(|table| table.get("text"))
        .and_then(Value::as_str);
    match text.map(str::trim) {
        Some(text) if !text.is_empty() => Ok(Persona::Own(text.to_owned())),
        _ => Err(format!(
            "persona must be one of {}, or {{ text = \"...\" }}",
            PERSONAS.join(", ")
        )),
    }
}

/// The message for a name that does not exist: what may have been meant, and
/// what there is.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("no {what} \"{name}\"{}", among(name, known.iter().copied()))
}
