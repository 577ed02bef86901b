//! What is known of a kind of agent before any sits at a table: its name, the settings that
//! it takes, the games that it plays, the calls that it makes, and how one is built. Every
//! agent's own file fills one [`AgentInfo`]; `roster.rs` lists them.

use agon_engine::{Carried, GameInfo, Seat, SessionSpec};
use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::dialogue::Dialogue;
use crate::library::PromptLibrary;
use crate::settings::PlayerSettings;
use crate::templates;
use crate::understudy::Understudy;

/// An agent's settings of its own, by name.
pub type OwnSettings = Map<String, Value>;

/// Builds an agent, or says which setting is wrong.
pub type Build = fn(Seating<'_>) -> Result<Box<dyn Agent>, String>;

/// How one kind of agent is known and built.
#[derive(Debug, Clone, Copy)]
pub struct AgentInfo {
    /// Name in experiment files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Names of the settings that it takes besides those of every model player.
    pub settings: &'static [&'static str],
    /// Whether it words its own calls, in templates of its own
    /// ([`templates::folder`]), and so plays only games that have these.
    pub own_prompts: bool,
    /// Whether it talks with a model in the words of its game, turn by turn, so that
    /// what every such conversation can have is a matter of its settings.
    pub converses: bool,
    /// The only games that it can play, if it cannot play all that have its prompts.
    pub games: Option<&'static [&'static str]>,
    /// Whether its answers are thought through in the same reply, and so long.
    pub reasons: bool,
    /// Calls that it makes for itself, besides those that answer an ask. Its settings
    /// need not be right.
    pub calls: fn(&OwnSettings) -> OwnCalls,
    /// Settings that between them reach all of its templates, as JSON objects.
    pub rehearsals: &'static [&'static str],
    /// Checks its own settings; says what would be right.
    pub check: fn(&OwnSettings) -> Result<(), String>,
    /// Builds one for a seat.
    pub build: Build,
}

impl AgentInfo {
    /// An agent that talks with its model in the words of its game, makes no calls but
    /// those that answer an ask, and takes no settings of its own.
    pub const fn conversing(name: &'static str, summary: &'static str, build: Build) -> Self {
        Self {
            name,
            summary,
            settings: &[],
            own_prompts: false,
            converses: true,
            games: None,
            reasons: true,
            calls: |_| OwnCalls::NONE,
            rehearsals: &["{}"],
            check: |_| Ok(()),
            build,
        }
    }

    /// An agent that words its own calls.
    pub const fn with_own_prompts(name: &'static str, summary: &'static str, build: Build) -> Self {
        Self {
            own_prompts: true,
            converses: false,
            ..Self::conversing(name, summary, build)
        }
    }

    /// The folder of a library that holds its templates for a game.
    pub fn folder(&self, game: &str, library: &PromptLibrary) -> String {
        match self.own_prompts {
            true => templates::folder(game, self.name),
            false => library.folder_of(game),
        }
    }

    /// Whether it can play a game, if that has its prompts.
    pub fn plays(&self, game: &str) -> bool {
        self.games.is_none_or(|games| games.contains(&game))
    }
}

/// Where an agent is to sit.
pub struct Seating<'a> {
    /// Its settings.
    pub settings: &'a PlayerSettings,
    /// What kind of game it is.
    pub game: &'a GameInfo,
    /// Its seat.
    pub seat: Seat,
    /// The templates.
    pub library: &'a PromptLibrary,
    /// The session; none where templates are only tried out.
    pub session: Option<&'a SessionSpec>,
    /// What it took along from the session before, in a series.
    pub carried: Option<&'a Carried>,
}

impl Seating<'_> {
    /// What its seat took along of a kind.
    pub fn carried(&self, note: &str) -> Option<&Value> {
        self.carried?.of(self.seat, note)
    }

    /// A conversation for its seat.
    pub fn dialogue(&self) -> Dialogue {
        Dialogue::new(self.settings, self.game, self.seat, self.library.clone())
            .with_understudy(self.understudy())
    }

    /// Who plays for its model, if that is the simulated one.
    pub fn understudy(&self) -> Option<Understudy> {
        Understudy::simulating(self.session, &self.settings.model.model, self.seat)
    }
}

/// Calls that an agent makes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCalls {
    /// In the whole game.
    pub once: u64,
    /// About each item that is sold.
    pub per_item: u64,
    /// About each rival, for each item that is sold.
    pub per_item_and_rival: u64,
    /// Behind every round but the last.
    pub per_round_over: u64,
    /// Before each answer.
    pub per_ask: u64,
    /// About each rival, before each answer.
    pub per_ask_and_rival: u64,
    /// How often each of them is put at most.
    pub tries: u64,
    /// Whether replies to them are long.
    pub reason: bool,
}

/// The size of a game, for one seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Most asks of the seat.
    pub asks: u64,
    /// Asks of the seat in a usual game.
    pub usual_asks: u64,
    /// Seats.
    pub seats: u64,
    /// Items, in games that sell some.
    pub items: u64,
    /// Rounds that the game has at most.
    pub rounds: u64,
}

impl OwnCalls {
    /// None at all.
    pub const NONE: Self = Self {
        once: 0,
        per_item: 0,
        per_item_and_rival: 0,
        per_round_over: 0,
        per_ask: 0,
        per_ask_and_rival: 0,
        tries: 1,
        reason: true,
    };

    /// Calls in a usual game in which each is put once, and the most that there can be.
    pub fn in_game(&self, table: &Table) -> (u64, u64) {
        let rivals = table.seats.saturating_sub(1);
        let of_items = self
            .per_item
            .saturating_add(self.per_item_and_rival.saturating_mul(rivals))
            .saturating_mul(table.items);
        let of_ask = self
            .per_ask
            .saturating_add(self.per_ask_and_rival.saturating_mul(rivals));
        let with = |asks: u64, rounds: u64| {
            self.once
                .saturating_add(of_items)
                .saturating_add(of_ask.saturating_mul(asks))
                .saturating_add(self.per_round_over.saturating_mul(rounds.saturating_sub(1)))
        };
        let rounds = table.rounds.min(table.asks);
        let expected = with(table.usual_asks, rounds.min(table.usual_asks));
        let most = with(table.asks, rounds);
        (expected, most.saturating_mul(self.tries))
    }
}

#[cfg(test)]
mod tests;
