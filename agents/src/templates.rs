//! The templates of an agent that words its own calls: a folder `GAME_AGENT` of
//! the prompt library, beside the folders of the games, with versions of its own.
//! What its templates see is what the agent hands them, and who the seat is.

use agon_engine::Seat;
use agon_engine::game::player_name;
use minijinja::{Value, context};

use crate::agent::AgentError;
use crate::library::PromptLibrary;
use crate::mind::{Message, MindError, Role};
use crate::settings::{Others, Persona, PlayerSettings};

/// The folder of the library that holds an agent's templates for a game.
pub fn folder(game: &str, agent: &str) -> String {
    format!("{game}_{agent}")
}

/// The templates of one seat's agent.
#[derive(Debug, Clone)]
pub struct Templates {
    library: PromptLibrary,
    folder: String,
    common: Value,
    others: Option<Others>,
}

impl Templates {
    /// The templates of the agent that `settings` name, for one seat.
    pub fn new(settings: &PlayerSettings, game: &str, seat: Seat, library: PromptLibrary) -> Self {
        let persona = match &settings.persona {
            None => Value::from(()),
            Some(Persona::Named(name)) => context! { name },
            Some(Persona::Own(text)) => context! { text },
        };
        Self {
            folder: format!("{}/{}", folder(game, &settings.agent), settings.prompt),
            library,
            others: settings.others,
            common: context! {
                me => player_name(seat), seat, persona, reply => settings.reply.name(),
            },
        }
    }

    /// Renders `NAME.j2` with `values` and, beneath them, `me`, `seat`, `persona`
    /// and `reply`.
    ///
    /// # Errors
    /// There is no such template, or it does not render.
    pub fn render(&self, name: &str, values: Value) -> Result<String, AgentError> {
        let values = context! { ..values, ..self.common.clone() };
        let path = format!("{}/{name}.j2", self.folder);
        self.library.render(&path, values)
    }

    /// The conversation of one call: `system.j2`, with what the player is told about all
    /// the others, then `NAME.j2`.
    ///
    /// # Errors
    /// A template does not render.
    pub fn conversation(&self, name: &str, values: Value) -> Result<Vec<Message>, MindError> {
        let mut system = self.render("system", values.clone())?;
        if let Some(others) = self.others {
            let told = context! { others => others.name(), ..self.common.clone() };
            let told = self.library.render("shared/others.j2", told)?;
            system = format!("{system}\n{told}");
        }
        let text = self.render(name, values)?;
        Ok(vec![
            Message::new(Role::System, system),
            Message::new(Role::User, text),
        ])
    }
}
