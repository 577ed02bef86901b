//! Games that are played elsewhere: where each is, as the command line says. Experiments name such
//! games and never say where they are, so that an experiment of somebody else's calls nobody.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agon_engine::outside_game::Description;
use agon_engine::{SessionSpec, session};
use agon_referee::{GameClient, Games, Named, Referee as _, RefereeError, RemoteReferee};
use agon_service_kit::tasks::with_causes;

use crate::failure::Failure;

/// How long a process may take to come up.
const UP_WITHIN: Duration = Duration::from_secs(10);

/// Which games are where.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct GameArguments {
    /// Where a game is whose rules are in a process of its own, in any language:
    /// ultimatum=http://127.0.0.1:9000; docs/outside-games.md says what that process is asked
    #[arg(
        long = "game-at",
        env = "AGON_GAMES",
        hide_env_values = true,
        value_name = "NAME=URL",
        value_delimiter = ','
    )]
    games: Vec<Named>,
}

impl GameArguments {
    /// Whether none is named.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Connects to all of them.
    ///
    /// # Errors
    /// One does not answer, or is another game.
    pub async fn connect(&self) -> Result<Games, Failure> {
        let connected = Games::connect(&self.games, UP_WITHIN).await;
        connected.map_err(|error| failure(&error.to_string(), error.is_away))
    }

    /// What they say of themselves. Asks them, from within a command that is not asynchronous.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn describe(&self) -> Result<Vec<Arc<Description>>, Failure> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(async |games| games.descriptions().cloned().collect())
    }

    /// Has the games begin sessions, none of which is played; for each, why it cannot begin.
    ///
    /// # Errors
    /// A game does not answer.
    pub fn try_starts(&self, specs: &[SessionSpec]) -> Result<Vec<Option<String>>, Failure> {
        if specs.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(async |games| {
            let tried = specs.iter().map(|spec| start(&games, spec));
            futures_util::future::join_all(tried).await
        })
    }

    /// Asks the games something, from within a command that may have a runtime already: none goes
    /// inside another.
    fn ask<T: Send>(&self, ask: impl AsyncFnOnce(Games) -> T + Send) -> Result<T, Failure> {
        let asked = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.map_err(Failure::surroundings)?;
            runtime.block_on(async { Ok(ask(self.connect().await?).await) })
        };
        let asked = thread::scope(|scope| scope.spawn(asked).join());
        asked.unwrap_or_else(|_| {
            let why = "games cannot be asked what they are";
            Err(Failure::Surroundings(why.to_owned()))
        })
    }

    /// The flags, as they were typed.
    pub fn typed(&self) -> impl Iterator<Item = String> {
        let games = self.games.iter();
        games.map(|Named { name, address }| format!("--game-at {name}={address}"))
    }
}

/// Connects to the game at an address, whatever it is called.
///
/// # Errors
/// Nobody answers there, or what is described is no game.
pub async fn connect_to(address: &str) -> Result<GameClient, Failure> {
    let connected = GameClient::connect(address, UP_WITHIN).await;
    connected.map_err(|error| {
        let is_away = matches!(error, RefereeError::Away(_));
        failure(&format!("the game at {address}: {error}"), is_away)
    })
}

fn failure(why: &str, is_away: bool) -> Failure {
    match is_away {
        true => Failure::Surroundings(format!("{why}; start it and try again")),
        false => Failure::BadInput(why.to_owned()),
    }
}

/// Why a session cannot begin.
async fn start(games: &Games, spec: &SessionSpec) -> Option<String> {
    let client = games.get(&spec.game)?.clone();
    let mut play = match session::open(spec) {
        Ok(play) => play,
        Err(error) => return Some(with_causes(&error)),
    };
    let ruled = RemoteReferee::new(client, spec).rule(0, Vec::new()).await;
    match ruled {
        Ok(reply) => match play.reply(reply) {
            Err(why) => Some(why),
            Ok(_) => play.overflow().map(|much| much.to_string()),
        },
        Err(error) => Some(error.to_string()),
    }
}
