//! The settings of a model player, read from its [`PlayerSpec`] and checked.
//!
//! Settings that belong to the player's agent alone are handed to it unread; unknown ones
//! were refused before, by the roster. Whether the model's name means anything is the
//! gateway's business.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use agon_engine::PlayerSpec;
use agon_engine::names::among;
use agon_engine::spec::Settings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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

/// What all providers that tell take (OpenAI's chat completions, Gemini).
const LOGPROBS: RangeInclusive<u32> = 1..=20;

/// What is said to a player without a model.
const NO_MODEL: &str = "model is missing: name a model of the gateway's configuration";

/// Settings of every player that say which model it has, and how that samples.
const OF_MODELS: [&str; 8] = [
    "model",
    "temperature",
    "top_p",
    "max_output_tokens",
    "fallback_models",
    "reasoning_effort",
    "stop_sequences",
    "logprobs",
];

/// Settings that a provider may refuse, and what the gateway calls them.
const REFUSABLE: [(&str, &str); 6] = [
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("reasoning_effort", "reasoning_effort"),
    ("stop_sequences", "stop_sequences"),
    ("logprobs", "logprobs"),
    ("reply", "reply_format"),
];

/// Settings of players whose agents talk with their model in the words of the game.
pub(crate) const OF_CONVERSATIONS: &[&str] = &["when_full", "reader", "explain", "reading"];

/// What the names of models begin with that are people.
const PEOPLE: &str = "human/";

/// Describes settings once: their type with its defaults, and their names; behind them what
/// else the type holds, which is left to its default.
macro_rules! settings {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $setting:ident: $kind:ty = $usual:expr,)*
    } $(and { $($(#[$more_doc:meta])* $more:ident: $more_kind:ty,)* })?) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$doc])* pub $setting: $kind,)*
            $($($(#[$more_doc])* #[serde(skip)] pub $more: $more_kind,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($setting: $usual,)*
                    $($($more: Default::default(),)*)?
                }
            }
        }

        impl $name {
            /// Names of the settings.
            pub const NAMES: &[&str] = &[$(stringify!($setting),)*];
        }
    };
}

pub(crate) use settings;

settings! {
    /// What a model player is set to.
    PlayerSettings {
        /// Name of the agent.
        agent: String = DEFAULT_AGENT.to_owned(),
        /// Version of the prompts.
        prompt: String = DEFAULT_PROMPT.to_owned(),
        /// Who the model is told to be, if anybody.
        #[serde(skip)]
        persona: Option<Persona> = None,
        /// Longest conversation, in estimated tokens.
        memory_tokens: u32 = DEFAULT_MEMORY_TOKENS,
        /// What becomes of the oldest part of a conversation that is longer.
        when_full: WhenFull = WhenFull::Forget,
        /// The form in which answers are asked for.
        reply: ReplyStyle = ReplyStyle::Structured,
        /// Which model makes out replies that the program cannot read, if any does; it
        /// samples nothing.
        #[serde(skip)]
        reader: Option<Arc<ModelSettings>> = None,
        /// What the player is told about all the others, if anything.
        others: Option<Others> = None,
        /// Whether all that it sets and a provider may refuse is required of the model.
        strict: bool = false,
        /// Whether the player is asked for the reasons behind each answer, and remembers its
        /// replies whole (Alympics, arXiv 2311.03220, equation 1 and appendix A.1).
        explain: bool = false,
        /// How much of a reply is forgiven where JSON was asked for.
        reading: Leniency = Leniency::Lenient,
    } and {
        /// Which model, and how it samples.
        model: Arc<ModelSettings>,
        /// Settings of the player's agent alone, by name; checked by the agent.
        own: Map<String, Value>,
    }
}

/// Every setting that all agents take.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    OF_MODELS.iter().chain(PlayerSettings::NAMES).copied()
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStyle {
    /// As JSON, with a schema for providers that can enforce it.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leniency {
    /// Whatever states one answer clearly is read.
    Lenient,
    /// The reply holds the object that was asked for, as it stands: nothing in it is mended
    /// and no words are read, so that breaks of the form are fouls and can be counted.
    Strict,
}

/// What becomes of the oldest part of a conversation that has no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is forgotten.
    Forget,
    /// The player's model sums it up.
    Summarise,
}

/// What a player is told about all the others; templates go by its name in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
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

impl ReplyStyle {
    /// What templates go by: how answers are asked for in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured | Self::Json => "structured",
            Self::Text => "text",
            Self::Typed => "typed",
        }
    }

    /// Whether a schema goes along, which leaves no room for words around an object.
    pub fn has_schema(self) -> bool {
        matches!(self, Self::Structured | Self::Typed)
    }
}

impl PlayerSettings {
    /// Reads and checks a player's settings; those of these names are its agent's own.
    ///
    /// # Errors
    /// A setting is missing or impossible; says what would be right.
    pub fn read(player: &PlayerSpec, own: &[&str]) -> Result<Self, String> {
        let settings = player.settings.iter();
        let settings = settings.map(|(name, value)| (name.clone(), value.clone()));
        let (own, mut map): (Map<String, Value>, Map<String, Value>) =
            settings.partition(|(name, _)| own.contains(&name.as_str()));
        map.retain(|_, value| !value.is_null());
        if !map.contains_key("model") {
            return Err(NO_MODEL.to_owned());
        }
        let model: ModelSettings = read_table(map.clone())?;
        check_model(&model)?;
        let (persona, reader) = (map.remove("persona"), map.remove("reader"));
        let settings = Self {
            model: Arc::new(model),
            persona: persona.as_ref().map(read_persona).transpose()?,
            reader: reader.map(read_reader).transpose()?,
            own,
            ..read_table(map)?
        };
        if settings.reading == Leniency::Strict && settings.reader.is_some() {
            let message =
                "reader makes out what reading = \"strict\" counts as a foul: set one of them";
            return Err(message.to_owned());
        }
        let given = settings.memory_tokens;
        if given < FEWEST_MEMORY_TOKENS {
            return Err(format!(
                "memory_tokens must be at least {FEWEST_MEMORY_TOKENS}, not {given}"
            ));
        }
        let is_strict = settings.strict;
        Ok(settings.requiring(|name| is_strict && player.settings.contains_key(name)))
    }

    /// The same for a cell of a grid: parameters whose values are compared there are required
    /// of the model, unless the player says otherwise.
    #[must_use]
    pub fn in_cell(self, player: &PlayerSpec, setting: &Settings) -> Self {
        if player.settings.contains_key("strict") {
            return self;
        }
        self.requiring(|name| is_compared(player, name, setting))
    }

    /// The same, with those parameters required of the model whose settings are meant.
    fn requiring(mut self, is_meant: impl Fn(&str) -> bool) -> Self {
        let required = REFUSABLE.iter().filter(|(name, _)| is_meant(name));
        let required = required.map(|(_, parameter)| *parameter).collect();
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
fn read_reader(reader: Value) -> Result<Arc<ModelSettings>, String> {
    let reader: String = read_one("reader", reader)?;
    if reader.trim().is_empty() || reader.starts_with(PEOPLE) {
        return Err(
            "reader must be the name of a model, not of a person: it reads replies at once"
                .to_owned(),
        );
    }
    Ok(Arc::new(ModelSettings {
        model: reader,
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

/// Reads the value of one setting; an error names it.
pub(crate) fn read_one<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, String> {
    let table = Map::from_iter([(name.to_owned(), value)]);
    let mut read: BTreeMap<String, T> = read_table(table)?;
    read.remove(name)
        .ok_or_else(|| format!("{name} is missing"))
}

/// Reads a table of settings; an error names the setting.
pub(crate) fn read_table<T: DeserializeOwned>(table: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(table)).map_err(|error| {
        let path = error.path().to_string();
        format!("{path}: {}", error.into_inner())
    })
}

/// Checks which model is asked and how it samples.
fn check_model(model: &ModelSettings) -> Result<(), String> {
    let (fallbacks, stops) = (&model.fallback_models, &model.stop_sequences);
    let is_blank = |text: &String| text.trim().is_empty();
    let is_twice = |(place, name): &(usize, &String)| {
        **name == model.model || fallbacks[..*place].contains(name)
    };
    let twice = fallbacks.iter().enumerate().find(is_twice);
    let message = match (model.temperature, model.top_p, twice) {
        _ if is_blank(&model.model) => NO_MODEL.to_owned(),
        (Some(given), ..) if !(0.0..=HIGHEST_TEMPERATURE).contains(&given) => {
            format!("temperature must be from 0 to {HIGHEST_TEMPERATURE}, not {given}")
        }
        (_, Some(given), _) if !(given > 0.0 && given <= 1.0) => {
            format!("top_p must be greater than 0 and at most 1, not {given}")
        }
        _ if model.max_output_tokens == Some(0) => "max_output_tokens must be at least 1".into(),
        _ if fallbacks.len() > MOST_FALLBACKS => format!(
            "fallback_models may be {MOST_FALLBACKS}, not {}",
            fallbacks.len()
        ),
        _ if fallbacks.iter().any(is_blank) => "fallback_models must be names of models".into(),
        (.., Some((_, twice))) => {
            format!("fallback_models names \"{twice}\" twice, or the player's own model")
        }
        _ if model.reasoning_effort.as_ref().is_some_and(is_blank) => {
            "reasoning_effort must be a word such as \"low\"".into()
        }
        _ if stops.len() > MOST_STOPS || stops.iter().any(String::is_empty) => {
            format!("stop_sequences must be at most {MOST_STOPS} texts, none of them empty")
        }
        _ if model.logprobs.is_some_and(|most| !LOGPROBS.contains(&most)) => format!(
            "logprobs must be a whole number from {} to {}: so many likely tokens are recorded \
             with each token of a reply",
            LOGPROBS.start(),
            LOGPROBS.end()
        ),
        _ => return Ok(()),
    };
    Err(message)
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
