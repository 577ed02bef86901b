//! The templates of one seat, and what all of them see. Those of a game stand in a folder
//! `GAME` of the prompt library, those of an agent that words its own calls in `GAME_AGENT`,
//! with versions of its own. What else templates see is what they are handed.

use std::sync::Arc;

use agon_engine::Seat;
use agon_engine::game::player_name;
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::agent::AgentError;
use crate::library::PromptLibrary;
use crate::mind::{Message, MindError, Role};
use crate::settings::{Others, Persona, PlayerSettings};

/// The folder of the library that holds an agent's templates for a game.
pub fn folder(game: &str, agent: &str) -> String {
    format!("{game}_{agent}")
}

/// The templates of one seat.
#[derive(Debug, Clone)]
pub struct Templates {
    library: PromptLibrary,
    folder: String,
    /// What every template sees: `me`, `seat`, `persona` and `reply`.
    common: Value,
    others: Option<Others>,
}

impl Templates {
    /// The templates of a folder, for one seat.
    pub fn new(
        settings: &PlayerSettings,
        folder: &str,
        seat: Seat,
        library: PromptLibrary,
    ) -> Self {
        let persona = match &settings.persona {
            None => Value::from(()),
            Some(Persona::Named(name)) => context! { name },
            Some(Persona::Own(text)) => context! { text },
        };
        Self {
            folder: format!("{folder}/{}", settings.prompt),
            library,
            others: settings.others,
            common: context! {
                me => player_name(seat), seat, persona, reply => settings.reply.name(),
            },
        }
    }

    /// Whether there is a `NAME.j2`.
    pub fn has(&self, name: &str) -> bool {
        self.library.has(&format!("{}/{name}.j2", self.folder))
    }

    /// Renders `NAME.j2` with `values` and, beneath them, what every template sees.
    ///
    /// # Errors
    /// There is no such template, or it does not render.
    pub fn render(&self, name: &str, values: Value) -> Result<String, AgentError> {
        let values = context! { ..values, ..self.common.clone() };
        let path = format!("{}/{name}.j2", self.folder);
        self.library.render(&path, values)
    }

    /// Renders a template that all games share.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_shared(&self, name: &str, values: Value) -> Result<String, AgentError> {
        let values = context! { ..values, ..self.common.clone() };
        self.library.render(&format!("shared/{name}.j2"), values)
    }

    /// The system message: `system.j2`, with what the player is told about all the others. Other
    /// sessions have the same, so it is kept once for all of them.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn rules(&self, values: Value) -> Result<Arc<str>, AgentError> {
        let mut rules = self.render("system", values.clone())?;
        if let Some(others) = self.others {
            let others = context! { others => Serde(others), ..values };
            rules = format!("{rules}\n{}", self.render_shared("others", others)?);
        }
        Ok(self.library.shared(rules))
    }

    /// The conversation of one call: the system message, then `NAME.j2`.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn conversation(&self, name: &str, values: Value) -> Result<Vec<Message>, MindError> {
        Ok(vec![
            Message::new(Role::System, self.rules(values.clone())?),
            Message::new(Role::User, self.render(name, values)?),
        ])
    }
}
