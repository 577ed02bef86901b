//! The conformance kit: what every registered game must hold, whatever it is.
//!
//! A [`Property`] is checked for a [`Case`]: one game with one set of parameters
//! and one luck. [`cases`] makes them from the parameters' own schema, so a new
//! game is covered by being registered. The tests walk games and properties; a
//! game's author can call [`faults`] for one game. Never part of a session.

use std::sync::Arc;

use crate::chance::Luck;
use crate::game::Game;
use crate::game::Registration;
use crate::names::Name;
use crate::play::Play;
use crate::record::Record;
use crate::session::{self, STRATEGY};
use crate::spec::{PlayerKind, PlayerSpec, SessionSpec, Settings};

mod branches;
mod course;
mod declared;
mod determinism;
mod facts;
mod legality;
mod outcomes;
mod parameters;
mod secrecy;
mod secrets;
mod table;
mod transcript;
mod variations;

pub use course::{Course, Following, Step};
pub use secrets::{compare, compared};
pub use transcript::{full_run_hash, transcript};
pub use variations::{Secret, Variation, secrets_of};

/// Lucks with which the default parameters are tried.
const LUCKS: u32 = 4;

/// Fails the property that is checked, with what went wrong, unless something holds.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}

use ensure;

/// Properties by name: what checks each, and what it says.
macro_rules! properties {
    ($($name:literal: $holds:path, $statement:literal;)*) => {
        &[$(Property {
            name: $name,
            statement: $statement,
            holds: $holds,
        }),*]
    };
}

/// All properties.
pub const PROPERTIES: &[Property] = properties! {
    "legal_play": legality::legal_play_is_well_formed,
        "legal answers are taken, and the events they lead to are well formed";
    "fouls": legality::fouls_change_nothing,
        "an illegal answer is refused and changes nothing";
    "forfeits": legality::forfeits_do_not_stop_play,
        "the game comes to its end whatever is forfeited";
    "determinism": determinism::same_answers_same_bytes,
        "the same luck and answers give the same bytes, in any order of answers";
    "restore": determinism::record_plays_again,
        "a stored record plays to the same bytes from its moves";
    "same_luck": determinism::private_draws_stay_the_same,
        "private draws depend on neither answers nor the number of rounds";
    "own_view": secrecy::view_ignores_what_others_own,
        "a seat's view holds nothing of others' entries or hidden facts";
    "open_turn": secrecy::open_answers_are_unseen,
        "nobody learns of an answer while its turn is open";
    "declared": declared::everything_is_declared,
        "of every parameter and draw it is declared who is told, and by which rule";
    "secrets": secrets::secrets_do_not_show,
        "what a seat is not told shows in nothing that it sees and is asked";
    "players": secrets::players_do_not_show,
        "who sits at a seat does not show, only what is answered there";
    "payoffs": outcomes::payoffs_are_within_bounds,
        "payoffs are finite and within the stated bounds";
    "equilibrium": outcomes::equilibrium_scores_as_predicted,
        "equilibrium play scores what the game predicts";
    "strategies": outcomes::strategies_play_legally,
        "every listed strategy plays legally";
    "facts": facts::declared_facts_mean_what_they_say,
        "facts of declared names mean what the declaration says";
    "clones": branches::clones_play_on_alike,
        "a clone plays on as the original does, and leaves it alone";
    "listed_answers": branches::listed_answers_are_the_legal_ones,
        "listed answers are legal, and every legal answer of the form is listed";
    "listed_outcomes": branches::listed_outcomes_are_what_can_be_drawn,
        "listed outcomes of chance are all that can be drawn, and certain together";
};

/// Something that every game must hold.
pub struct Property {
    /// Short name.
    pub name: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Checks it; the error says what went wrong.
    ///
    /// # Errors
    /// The game does not hold it in this case.
    pub holds: fn(&Case<'_>) -> Result<(), String>,
}

/// A game with parameters and luck.
pub struct Case<'a> {
    /// The game's entry in the registry.
    pub registration: &'a Registration,
    /// Complete parameters.
    pub params: Settings,
    /// The game built from them.
    pub game: Arc<dyn Game>,
    /// The luck to play with.
    pub luck: Luck,
}

impl<'a> Case<'a> {
    /// A case with some parameters; missing ones take their defaults.
    ///
    /// # Errors
    /// The game refuses the parameters.
    pub fn new(
        registration: &'a Registration,
        params: &Settings,
        luck: Luck,
    ) -> Result<Self, crate::ParameterError> {
        let built = registration.build(params)?;
        Ok(Self {
            registration,
            params: built.params,
            game: built.game,
            luck,
        })
    }

    /// The same case with one parameter changed, when the game allows it.
    fn with(&self, name: &str, value: serde_json::Value) -> Option<Self> {
        let mut params = self.params.clone();
        params.insert(name.to_owned(), value)?;
        Self::new(self.registration, &params, self.luck).ok()
    }

    /// A parameter that is a flag.
    fn flag(&self, name: &str) -> bool {
        self.params
            .get(name)
            .and_then(serde_json::Value::as_bool)
            .unwrap_or(false)
    }

    /// The case as a session whose seats all answer from outside.
    fn outside_spec(&self) -> SessionSpec {
        let player = PlayerSpec {
            name: "outside".to_owned(),
            kind: PlayerKind::Model,
            settings: Settings::new(),
        };
        self.spec(vec![player; self.game.seats()])
    }

    /// The case as a session of rule players, one strategy and its settings for
    /// all seats.
    fn rule_spec(&self, strategy: &str, settings: &Settings) -> SessionSpec {
        let mut settings = settings.clone();
        settings.insert(STRATEGY.to_owned(), strategy.into());
        let name = strategy.to_owned();
        let player = PlayerSpec {
            name,
            kind: PlayerKind::Rule,
            settings,
        };
        self.spec(vec![player; self.game.seats()])
    }

    /// Such a session, played.
    fn ruled(&self, strategy: &str, settings: &Settings) -> Result<(SessionSpec, Play), String> {
        let spec = self.rule_spec(strategy, settings);
        let play = self.open(&spec)?;
        Ok((spec, play))
    }

    /// Opens a session of the case's game.
    fn open(&self, spec: &SessionSpec) -> Result<Play, String> {
        let play = session::open_with(Arc::clone(&self.game), spec);
        play.map_err(|error| causes(&error))
    }

    fn spec(&self, seats: Vec<PlayerSpec>) -> SessionSpec {
        SessionSpec {
            experiment: "conformance".to_owned(),
            setting: Settings::new(),
            luck: self.luck,
            game: self.registration.info.name.to_string(),
            outside: None,
            rules_version: self.registration.info.rules_version,
            params: self.params.clone(),
            seats,
            prompts_version: None,
            prompt_bundle: None,
            origins: Default::default(),
        }
    }
}

/// A property that does not hold.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Name of the property.
    pub property: &'static str,
    /// Name of the game.
    pub game: Name,
    /// With which parameters.
    pub params: Settings,
    /// With which luck.
    pub luck: Luck,
    /// What went wrong.
    pub why: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            property,
            game,
            why,
            luck,
            ..
        } = self;
        let params = serde_json::to_string(&self.params).unwrap_or_default();
        let Luck { seed, repeat, .. } = luck;
        write!(
            formatter,
            "{game} breaks {property}: {why} (seed {seed}, repeat {repeat}, {params})"
        )
    }
}

/// The cases of a game: its defaults with several lucks, then each parameter at
/// its edges, and mixtures.
pub fn cases(registration: &Registration) -> Vec<Case<'_>> {
    let defaults = (0..LUCKS).map(|repeat| (Settings::new(), Luck::new(7, repeat)));
    let sets = parameters::parameter_sets(registration).into_iter();
    let edges = sets
        .zip(0..)
        .map(|(set, repeat)| (set, Luck::new(u64::MAX, repeat)));
    defaults
        .chain(edges)
        .filter_map(|(params, luck)| Case::new(registration, &params, luck).ok())
        .collect()
}

/// Checks one property for all cases of a game.
pub fn faults(property: &Property, registration: &Registration) -> Vec<Fault> {
    let broken = |case: Case<'_>| {
        let why = (property.holds)(&case).err()?;
        Some(Fault {
            property: property.name,
            game: registration.info.name.clone(),
            params: case.params,
            luck: case.luck,
            why,
        })
    };
    cases(registration).into_iter().filter_map(broken).collect()
}

/// The record of a finished play as its line.
fn record_line(spec: SessionSpec, play: Play) -> Result<String, String> {
    let record = Record::new(spec, play, Vec::new(), Vec::new());
    record
        .to_line()
        .map_err(|error| format!("the record cannot be written: {error}"))
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let rest = error.source().map(|source| format!(": {}", causes(source)));
    format!("{error}{}", rest.unwrap_or_default())
}
