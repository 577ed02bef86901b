//! A game behind its rules: what sessions hold of it, how it is built from parameters,
//! and its entry in the list of games. Made of [`Rules`] by a blanket implementation; a
//! game that is not played in this process implements [`Game`] itself.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Equilibrium, GameInfo, ParameterError, Rules, State};
use crate::ask::Seat;
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::EventLog;
use crate::measures::Measures;
use crate::moves::Move;
use crate::rule_player::{Made, Request, Strategy, StrategyInfo, StrategySettings};
use crate::spec::Settings;

/// Values of a record that one ask leaves behind in most games: its move, and its entries in the
/// columns of a round's events.
pub(super) const VALUES_PER_ASK: u64 = 12;

/// A game with checked parameters; each method is that of [`Rules`].
pub trait Game: Send + Sync {
    /// What kind of game it is.
    fn info(&self) -> &GameInfo;

    /// How many seats this instance has.
    fn seats(&self) -> usize;

    /// Most asks that one seat can get in a session.
    fn asks_per_seat(&self) -> u32;

    /// Asks that one seat gets in a usual session.
    fn usual_asks_per_seat(&self) -> u32 {
        self.asks_per_seat()
    }

    /// About how many values of a record one ask leaves behind.
    fn values_per_ask(&self) -> u64 {
        VALUES_PER_ASK
    }

    /// Smallest and largest payoff of a seat.
    fn payoff_bounds(&self) -> (f64, f64);

    /// Who is told what of the parameters and draws.
    fn disclosures(&self) -> Vec<Disclosure>;

    /// The first state.
    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State>;

    /// A rule player of this game for one seat.
    ///
    /// # Errors
    /// The strategy is unknown or its settings are wrong; says what exists.
    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made;

    /// What equilibrium play of all seats leads to.
    fn equilibrium(&self) -> Equilibrium;

    /// Scores and series of a finished session.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures;
}

impl<R: Rules> Game for Arc<R> {
    fn info(&self) -> &GameInfo {
        R::INFO
    }

    fn seats(&self) -> usize {
        self.setup().players
    }

    fn asks_per_seat(&self) -> u32 {
        R::asks_per_seat(self)
    }

    fn usual_asks_per_seat(&self) -> u32 {
        R::usual_asks_per_seat(self)
    }

    fn values_per_ask(&self) -> u64 {
        R::values_per_ask(self)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        R::payoff_bounds(self)
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        [R::DISCLOSURES, &R::disclosures(self)].concat()
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        Box::new(R::start(self, chance, log))
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        let request = Request::new(strategy, settings, seat);
        Strategy::seat(R::STRATEGIES, &R::INFO.name, &**self, request)
    }

    fn equilibrium(&self) -> Equilibrium {
        R::equilibrium(self)
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        R::measures(self, log, moves)
    }
}

/// How one kind of game is known, built and described.
pub struct Registration {
    /// What kind of game it is.
    pub info: &'static GameInfo,
    /// Its rule players.
    pub strategies: fn() -> Vec<StrategyInfo>,
    /// Builds it from parameters; missing ones take their defaults.
    pub build: fn(&Settings) -> Result<Built, ParameterError>,
    /// JSON Schema of its parameters, with meanings and defaults.
    pub schema: fn() -> Value,
}

impl Registration {
    /// The entry of a game.
    pub const fn of<R: Rules>() -> Self {
        Self {
            info: R::INFO,
            strategies: || R::STRATEGIES.iter().map(|one| one.info).collect(),
            build: build::<R>,
            schema: || schemars::schema_for!(R).to_value(),
        }
    }
}

/// A game and the parameters it was built from, complete with defaults.
pub struct Built {
    /// The game.
    pub game: Arc<dyn Game>,
    /// Every parameter, as it goes into the session spec.
    pub params: Settings,
}

fn build<R: Rules>(settings: &Settings) -> Result<Built, ParameterError> {
    let rules: R = read(settings)?;
    let params = match serde_json::to_value(&rules) {
        Ok(Value::Object(map)) => map.into_iter().collect(),
        // A parameter struct is an object of plain values.
        _ => Settings::new(),
    };
    Ok(Built {
        game: Arc::new(Arc::new(rules)),
        params,
    })
}

/// Reads and checks the parameters of a game.
///
/// # Errors
/// A parameter is unknown, of the wrong type, or makes no game.
pub(crate) fn read<R: Rules>(settings: &Settings) -> Result<R, ParameterError> {
    let mut rules: R = parse(settings)?;
    rules.setup().check(R::INFO)?;
    rules.check()?;
    rules.settle()?;
    Ok(rules)
}

fn parse<T: DeserializeOwned>(settings: &Settings) -> Result<T, ParameterError> {
    let all = settings.iter();
    let map = all.map(|(name, value)| (name.clone(), value.clone()));
    serde_path_to_error::deserialize(Value::Object(map.collect())).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        ParameterError::new(path, error.into_inner().to_string())
    })
}
