//! Which games are played elsewhere, and where, as the operator of a process says. Connected to once,
//! when a command begins.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use agon_engine::outside_game::Description;

use crate::client::{GameClient, check_address};
use crate::ruling::RefereeError;

/// A game and the address of its process: `NAME=URL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The game's name.
    pub name: String,
    /// The address of its process.
    pub address: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, address) = text
            .split_once('=')
            .filter(|(name, address)| !name.is_empty() && !address.is_empty())
            .ok_or("write NAME=URL, such as ultimatum=http://127.0.0.1:9000")?;
        check_address(address)?;
        Ok(Self {
            name: name.to_owned(),
            address: address.to_owned(),
        })
    }
}

/// Games that are played elsewhere, by name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Games {
    by_name: Arc<BTreeMap<String, GameClient>>,
}

/// Why a game cannot be played.
#[derive(Debug, thiserror::Error)]
#[error("the game {name} at {address}: {why}")]
pub struct GamesError {
    name: String,
    address: String,
    /// What is wrong there.
    pub why: String,
    /// Whether nobody answers, so that another try may help.
    pub is_away: bool,
}

impl Games {
    /// Connects to the processes of games, each asked as long as `patience` lasts.
    ///
    /// # Errors
    /// One does not answer, or has another game.
    pub async fn connect(named: &[Named], patience: Duration) -> Result<Self, GamesError> {
        let mut by_name = BTreeMap::new();
        for Named { name, address } in named {
            let wrong = |why: String, is_away: bool| GamesError {
                name: name.clone(),
                address: address.clone(),
                why,
                is_away,
            };
            let connected = GameClient::connect(address, patience).await;
            let client = connected.map_err(|error| match error {
                RefereeError::Away(why) => wrong(why, true),
                RefereeError::Impossible(why) => wrong(why, false),
            })?;
            let found = &client.description().name;
            if found != name {
                let why = format!("it plays \"{found}\"; write {found}={address}");
                return Err(wrong(why, false));
            }
            if by_name.insert(name.clone(), client).is_some() {
                return Err(wrong("it is named twice".to_owned(), false));
            }
        }
        Ok(Self {
            by_name: Arc::new(by_name),
        })
    }

    /// The connection to a game's process.
    pub fn get(&self, name: &str) -> Option<&GameClient> {
        self.by_name.get(name)
    }

    /// What the games say of themselves.
    pub fn descriptions(&self) -> impl Iterator<Item = &Arc<Description>> {
        self.by_name.values().map(GameClient::description)
    }
}
