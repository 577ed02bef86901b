//! A game behind its rules: what sessions hold of it, how it is built from parameters,
//! and its entry in the list of games. Made of [`Rules`] by a blanket implementation; a
//! game that is not played in this process implements [`Game`] itself.

use std::borrow::Cow;
use std::marker::PhantomData;
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

    /// The built-in strategies that play it.
    fn strategies(&self) -> Vec<StrategyInfo>;

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

    fn strategies(&self) -> Vec<StrategyInfo> {
        R::STRATEGIES.iter().map(|one| one.info).collect()
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
    pub info: Cow<'static, GameInfo>,
    blueprint: Source,
}

/// Where a blueprint is kept.
enum Source {
    /// In this program.
    BuiltIn(&'static dyn Blueprint),
    /// It was read from elsewhere.
    Outside(Arc<dyn Blueprint>),
}

/// What games of one kind are built from.
pub trait Blueprint: Send + Sync {
    /// The built-in strategies that play it.
    fn strategies(&self) -> Vec<StrategyInfo>;

    /// Builds it from parameters; missing ones take their defaults.
    ///
    /// # Errors
    /// A parameter is unknown, of the wrong type, or makes no game.
    fn build(&self, settings: &Settings) -> Result<Built, ParameterError>;

    /// JSON Schema of its parameters, with meanings and defaults.
    fn schema(&self) -> Value;
}

impl Registration {
    /// The entry of a game of this program.
    pub const fn of<R: Rules>() -> Self {
        Self {
            info: Cow::Borrowed(R::INFO),
            blueprint: Source::BuiltIn(&OfRules::<R>(PhantomData)),
        }
    }

    /// The entry of a game that is described elsewhere.
    pub fn new(info: GameInfo, blueprint: Arc<dyn Blueprint>) -> Self {
        Self {
            info: Cow::Owned(info),
            blueprint: Source::Outside(blueprint),
        }
    }

    /// Its rule players.
    pub fn strategies(&self) -> Vec<StrategyInfo> {
        self.blueprint().strategies()
    }

    /// Builds it from parameters; missing ones take their defaults.
    ///
    /// # Errors
    /// A parameter is unknown, of the wrong type, or makes no game.
    pub fn build(&self, settings: &Settings) -> Result<Built, ParameterError> {
        self.blueprint().build(settings)
    }

    /// JSON Schema of its parameters, with meanings and defaults.
    pub fn schema(&self) -> Value {
        self.blueprint().schema()
    }

    fn blueprint(&self) -> &dyn Blueprint {
        match &self.blueprint {
            Source::BuiltIn(blueprint) => *blueprint,
            Source::Outside(blueprint) => &**blueprint,
        }
    }
}

/// The blueprint that rules are.
struct OfRules<R>(PhantomData<fn() -> R>);

impl<R: Rules> Blueprint for OfRules<R> {
    fn strategies(&self) -> Vec<StrategyInfo> {
        R::STRATEGIES.iter().map(|one| one.info).collect()
    }

    fn build(&self, settings: &Settings) -> Result<Built, ParameterError> {
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

    fn schema(&self) -> Value {
        schemars::schema_for!(R).to_value()
    }
}

/// A game and the parameters it was built from, complete with defaults.
pub struct Built {
    /// The game.
    pub game: Arc<dyn Game>,
    /// Every parameter, as it goes into the session spec.
    pub params: Settings,
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
