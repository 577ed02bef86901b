//! Puts a game into words for one seat: the rules, what happened, what is asked.
//!
//! It holds nothing but what the seat's own events told it, so no template can
//! name what the seat may not know. Which file tells an event also says whether
//! the event opens or closes its round (see [`Narrator::tell`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::game::player_name;
use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Form, Foul, GameInfo, Seat};
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::agent::AgentError;
use crate::events::{BRIEFING, ROUND_RESULT};
use crate::forms::fields::About;
use crate::forms::{Thinking, wording};
use crate::library::PromptLibrary;
use crate::rivals::Rivals;
use crate::settings::{PlayerSettings, ReplyStyle};
use crate::templates::Templates;

/// The template that tells any event.
const ANY_EVENT: &str = "event";

/// Words for one seat.
#[derive(Debug)]
pub struct Narrator {
    templates: Templates,
    /// The wording in which the model is told to think step by step.
    thinking: u64,
    /// How answers are asked for.
    reply: ReplyStyle,
    game: Value,
    latest: BTreeMap<String, Value>,
    round: u32,
    rivals: Rivals,
}

/// What a call that sums the past up is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summing {
    /// First and last round.
    pub rounds: (u32, u32),
    /// Whether an earlier summary is summed up with them.
    pub earlier: bool,
    /// The most words that are asked for.
    pub words: usize,
}

/// What an event comes to in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telling {
    /// The rules: the system message.
    Rules(Arc<str>),
    /// Something that happened.
    News(String),
    /// How something ended that the seat was asked about.
    Result(String),
    /// Players are not told of it.
    Nothing,
}

impl Narrator {
    /// The narrator of a seat.
    pub fn new(
        settings: &PlayerSettings,
        game: &GameInfo,
        seat: Seat,
        library: PromptLibrary,
    ) -> Self {
        let folder = library.folder_of(&game.name);
        Self {
            templates: Templates::new(settings, &folder, seat, library),
            // What is wrong with it is said before any seat is taken.
            thinking: wording(&settings.own).unwrap_or(1),
            reply: settings.reply,
            game: Value::from(()),
            latest: BTreeMap::new(),
            round: 1,
            rivals: Rivals::new(game.facts.clone(), seat),
        }
    }

    /// Tells an event. The briefing becomes the rules. `open_EVENT.j2` tells
    /// events before the asks of their round, `result_EVENT.j2` (or `result.j2`,
    /// for `round_result`) those after them, and `event.j2`, in the words for games that have
    /// none of their own, any other. Events without a file are kept for templates, as
    /// `latest.EVENT`, but not told.
    ///
    /// # Errors
    /// The template does not render.
    pub fn tell(&mut self, event: &SeenEvent) -> Result<Telling, AgentError> {
        self.rivals.see(event);
        let facts = Value::from(Serde(event));
        if event.kind == BRIEFING {
            self.game = facts;
            let rules = self.templates.rules(self.with_common(Value::from(())));
            return rules.map(Telling::Rules);
        }
        self.latest.insert(event.kind.clone(), facts.clone());
        let open = format!("open_{}", event.kind);
        let result = match event.kind.as_str() {
            ROUND_RESULT => "result".to_owned(),
            kind => format!("result_{kind}"),
        };
        let (file, telling): (_, fn(String) -> Telling) = if self.templates.has(&open) {
            self.round = event.round;
            (open, Telling::News)
        } else if self.templates.has(&result) {
            self.round = event.round + 1;
            (result, Telling::Result)
        } else if self.templates.has(ANY_EVENT) {
            self.round = event.round;
            (ANY_EVENT.to_owned(), Telling::News)
        } else {
            return Ok(Telling::Nothing);
        };
        let text = self.render(&file, context! { event => facts, round => event.round })?;
        Ok(if text.is_empty() {
            Telling::Nothing
        } else {
            telling(text)
        })
    }

    /// Who else is in play, as far as the seat was told.
    pub fn rivals(&self) -> &Rivals {
        &self.rivals
    }

    /// The round that the next ask belongs to.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Puts an ask, with how to answer it.
    ///
    /// # Errors
    /// The template does not render.
    pub fn ask(&self, ask: &Ask, thinking: Thinking) -> Result<String, AgentError> {
        self.render("ask", self.ask_values(ask, thinking))
    }

    /// Puts an ask again, with what was wrong with the last answer.
    ///
    /// # Errors
    /// The template does not render.
    pub fn refuse(&self, ask: &Ask, thinking: Thinking, foul: &Foul) -> Result<String, AgentError> {
        let values = context! { reason => foul.reason.as_str(), ..self.ask_values(ask, thinking) };
        self.render_shared("refused", values)
    }

    /// What is left of an ask once it is over.
    ///
    /// # Errors
    /// The template does not render.
    pub fn recall(&self, ask: &Ask, answered: bool) -> Result<String, AgentError> {
        let values = context! { answered, ..self.ask_values(ask, Thinking::None) };
        self.render_shared("asked", values)
    }

    /// Asks for a summary of the oldest part of the conversation, again with what was
    /// wrong with the last one.
    ///
    /// # Errors
    /// The template does not render.
    pub fn sum_up(&self, summing: &Summing, problem: Option<&str>) -> Result<String, AgentError> {
        let ((first, last), earlier) = (summing.rounds, summing.earlier);
        let words = summing.words;
        let values = context! { first, last, earlier, words, problem };
        self.render_shared("summarise", values)
    }

    /// A summary as it stands in the conversation.
    ///
    /// # Errors
    /// The template does not render.
    pub fn summary(&self, rounds: (u32, u32), text: &str) -> Result<String, AgentError> {
        let (first, last) = rounds;
        self.render_shared("summary", context! { first, last, text })
    }

    /// What another model is told to make out a reply: its instructions, and what it
    /// is shown.
    ///
    /// # Errors
    /// A template does not render.
    pub fn to_read(
        &self,
        ask: &Ask,
        asked: &str,
        replied: &str,
    ) -> Result<(String, String), AgentError> {
        let values = context! { asked, replied, ..self.ask_values(ask, Thinking::None) };
        let instructions = self.render_shared("read", values.clone())?;
        Ok((instructions, self.render_shared("read_reply", values)?))
    }

    fn ask_values(&self, ask: &Ask, thinking: Thinking) -> Value {
        let nothing = || Value::from(());
        let field = |about: About| {
            let (about, name) = about.names(&ask.kind);
            context! { name, about }
        };
        context! {
            ask => describe(ask),
            round => self.round,
            think => if thinking.is_step_by_step() { self.thinking } else { 0 },
            aloud => thinking.is_aloud(self.reply),
            explain => thinking == Thinking::Explained,
            fields => match thinking {
                Thinking::Stated(fields) => fields.of(ask).into_iter().map(field).collect(),
                _ => nothing(),
            },
            // Whom the model is to predict before it answers, and whether in words.
            foresight => match thinking {
                Thinking::Foreseeing { in_words } => {
                    context! { rivals => self.rivals.names_of_others(), in_words }
                }
                _ => nothing(),
            },
        }
    }

    fn render(&self, name: &str, values: Value) -> Result<String, AgentError> {
        self.templates.render(name, self.with_common(values))
    }

    /// Renders a template that all games share, for an agent with words of its own
    /// around the asks.
    ///
    /// # Errors
    /// There is no such template, or it does not render.
    pub fn render_shared(&self, name: &str, values: Value) -> Result<String, AgentError> {
        self.templates.render_shared(name, self.with_common(values))
    }

    fn with_common(&self, values: Value) -> Value {
        context! {
            game => self.game.clone(),
            latest => Value::from_pairs(self.latest.clone()),
            ..values
        }
    }
}

/// An ask as templates see it.
fn describe(ask: &Ask) -> Value {
    let kind = &ask.kind;
    let range = ask.form.describe();
    match &ask.form {
        Form::Integer { min, max, pass } => {
            context! { kind, range, form => "integer", min, max, pass }
        }
        Form::Amount { min, max } => context! { kind, range, form => "amount", min, max },
        Form::Number { min, max } => context! { kind, range, form => "number", min, max },
        Form::Choice { options } => {
            context! { kind, range, form => "choice", options => options.to_vec() }
        }
        Form::Target { seats, pass } => {
            let mut options: Vec<String> = seats.iter().map(|seat| player_name(*seat)).collect();
            options.extend(pass.as_deref().map(str::to_owned));
            context! { kind, range, form => "target", seats, pass, options }
        }
        Form::Division { parts, total } => {
            context! { kind, range, form => "division", parts, total }
        }
    }
}
