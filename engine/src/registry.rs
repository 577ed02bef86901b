//! The only list of games. Everything that works on "every game" walks it; how a
//! game is played is left to its own file. Called by whoever has a game's name and
//! parameters: sessions, replay, experiment files, `agon games`.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::game::{Game, GameInfo, ParameterError};
use crate::games::{
    ascending_auction, battle_royale, beauty_contest, diners_dilemma, divide_dollar, el_farol,
    english_auction, guess_to_survive, guess_two_thirds, judging, pirate, public_goods,
    sealed_bid_auction, second_price_auction, water_allocation,
};
use crate::names::among;
use crate::rule::StrategyInfo;
use crate::spec::Settings;

/// How one kind of game is known, built and described.
pub struct Registration {
    /// What kind of game it is.
    pub info: &'static GameInfo,
    /// Its rule players.
    pub strategies: &'static [StrategyInfo],
    /// Builds it from parameters; missing ones take their defaults.
    pub build: fn(&Settings) -> Result<Built, ParameterError>,
    /// JSON Schema of its parameters, with meanings and defaults.
    pub schema: fn() -> serde_json::Value,
}

/// A game and the parameters it was built from, complete with defaults.
pub struct Built {
    /// The game.
    pub game: Arc<dyn Game>,
    /// Every parameter, as it goes into the session spec.
    pub params: Settings,
}

/// Every game there is, by name.
pub static GAMES: &[Registration] = &[
    guess_two_thirds::REGISTRATION,
    divide_dollar::REGISTRATION,
    public_goods::REGISTRATION,
    diners_dilemma::REGISTRATION,
    el_farol::REGISTRATION,
    sealed_bid_auction::REGISTRATION,
    battle_royale::REGISTRATION,
    pirate::REGISTRATION,
    english_auction::REGISTRATION,
    water_allocation::REGISTRATION,
    beauty_contest::REGISTRATION,
    second_price_auction::REGISTRATION,
    ascending_auction::REGISTRATION,
    guess_to_survive::REGISTRATION,
    judging::REGISTRATION,
];

/// The game of this name.
///
/// # Errors
/// There is none; says which there are.
pub fn find(name: &str) -> Result<&'static Registration, ParameterError> {
    let found = GAMES.iter().find(|game| game.info.name == name);
    found.ok_or_else(|| {
        let known = among(name, GAMES.iter().map(|game| game.info.name));
        ParameterError::new("", format!("no game \"{name}\"{known}"))
    })
}

/// Reads parameters into a game's own struct; for `Registration::build`.
pub(crate) fn read_params<T>(params: &Settings) -> Result<T, ParameterError>
where
    T: DeserializeOwned,
{
    let map: serde_json::Map<String, serde_json::Value> = params
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let json = serde_json::Value::Object(map);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        ParameterError::new(path, error.into_inner().to_string())
    })
}

/// Writes a game's own struct back as complete parameters.
pub(crate) fn write_params<T: serde::Serialize>(params: &T) -> Settings {
    match serde_json::to_value(params) {
        Ok(serde_json::Value::Object(map)) => map.into_iter().collect(),
        // A parameter struct is an object of plain values.
        _ => Settings::new(),
    }
}
