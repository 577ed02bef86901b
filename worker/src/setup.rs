//! Builds everything a session needs from its spec: the game, the rule players
//! inside it and the agents of its model seats. Used by live sessions and by
//! verification alike, so that both play the same thing.

use std::sync::Arc;

use agon_agents::{Agent, AgentError, PROMPTS_VERSION, PromptLibrary};
use agon_engine::registry::{self, Built};
use agon_engine::rule::StrategyError;
use agon_engine::{
    Chance, Game, ParameterError, Play, PlayerKind, PlayerSpec, Rule, Seat, SessionSpec,
};

/// A session that is ready to be played.
pub struct Table {
    /// The game with its rule players, begun.
    pub play: Play,
    /// The agents of the model seats, by seat.
    pub agents: Vec<Option<Box<dyn Agent>>>,
}

/// Why a session can never be played as it is written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The game is unknown or refuses its parameters.
    #[error("cannot build {game}")]
    Game {
        /// The game's name.
        game: String,
        /// Why.
        #[source]
        source: ParameterError,
    },
    /// The rules have changed since the session was planned.
    #[error("{game} was planned with rules version {planned}, this worker has {ours}")]
    RulesVersion {
        /// The game's name.
        game: String,
        /// Version in the spec.
        planned: u32,
        /// Version in this program.
        ours: u32,
    },
    /// The prompts have changed since the session was planned.
    #[error("planned with prompts {planned}, this worker has {ours}")]
    PromptsVersion {
        /// Version in the spec.
        planned: String,
        /// Version in this program.
        ours: String,
    },
    /// The players do not fill the seats.
    #[error("{game} has {seats} seats, but {players} players are named")]
    Seats {
        /// The game's name.
        game: String,
        /// Seats of the game.
        seats: usize,
        /// Players of the spec.
        players: usize,
    },
    /// A rule player cannot be made.
    #[error("player \"{player}\"")]
    Rule {
        /// The player's name.
        player: String,
        /// Why.
        #[source]
        source: StrategyError,
    },
    /// An agent cannot be made.
    #[error("cannot seat a model player")]
    Agent(#[source] AgentError),
}

/// Builds the session and plays it up to its first outside ask.
///
/// # Errors
/// The spec cannot be played by this program.
pub fn set_up(spec: &SessionSpec, library: &PromptLibrary) -> Result<Table, SetupError> {
    let Built { game, .. } = build_game(spec)?;
    check_versions(spec, &*game)?;
    let mut rules = Vec::with_capacity(spec.seats.len());
    let mut agents = Vec::with_capacity(spec.seats.len());
    for (seat, player) in spec.seats.iter().enumerate() {
        let (rule, agent) = match player.kind {
            PlayerKind::Rule => (Some(make_rule(&*game, player, seat)?), None),
            PlayerKind::Model => {
                let agent = agon_agents::build(player, spec, seat, library);
                (None, Some(agent.map_err(SetupError::Agent)?))
            }
        };
        rules.push(rule);
        agents.push(agent);
    }
    let play = Play::start(game, Chance::seeded(spec.luck), rules);
    Ok(Table { play, agents })
}

fn build_game(spec: &SessionSpec) -> Result<Built, SetupError> {
    let built = registry::find(&spec.game).and_then(|game| (game.build)(&spec.params));
    built.map_err(|source| SetupError::Game {
        game: spec.game.clone(),
        source,
    })
}

fn check_versions(spec: &SessionSpec, game: &dyn Game) -> Result<(), SetupError> {
    let (planned, ours) = (spec.rules_version, game.info().rules_version);
    if planned != ours {
        return Err(SetupError::RulesVersion {
            game: spec.game.clone(),
            planned,
            ours,
        });
    }
    if let Some(planned) = &spec.prompts_version
        && *planned != *PROMPTS_VERSION
    {
        let ours = PROMPTS_VERSION.to_string();
        return Err(SetupError::PromptsVersion {
            planned: planned.clone(),
            ours,
        });
    }
    let (seats, players) = (game.seats(), spec.seats.len());
    if seats != players {
        return Err(SetupError::Seats {
            game: spec.game.clone(),
            seats,
            players,
        });
    }
    Ok(())
}

/// Name of the setting that says which strategy a rule player follows.
const STRATEGY: &str = "strategy";

fn make_rule(
    game: &dyn Game,
    player: &PlayerSpec,
    seat: Seat,
) -> Result<Box<dyn Rule>, SetupError> {
    let mut settings: serde_json::Map<_, _> = player.settings.clone().into_iter().collect();
    let strategy = settings.remove(STRATEGY);
    let name = strategy
        .as_ref()
        .and_then(|name| name.as_str())
        .unwrap_or_default();
    let made = game.rule(name, &settings, seat);
    made.map_err(|source| SetupError::Rule {
        player: player.name.clone(),
        source,
    })
}

/// The library of templates that a session is played with.
pub type Library = Arc<PromptLibrary>;
