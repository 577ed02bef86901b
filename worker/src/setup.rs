//! Builds everything a session needs from its spec: the play with its rule
//! players, and the agents of its model seats. Used by live sessions and by
//! verification alike, so that both play the same thing.

use std::sync::Arc;

use agon_agents::{Agent, AgentError, PromptLibrary};
use agon_engine::extent::Bounds;
use agon_engine::series::{self, HandoverError};
use agon_engine::session::{OpenError, open_within};
use agon_engine::{Carried, Play, PlayerKind, SessionSpec};

/// The library of templates that a session is played with.
pub type Library = Arc<PromptLibrary>;

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
    /// The engine does not know such a session.
    #[error("cannot open a session of {game}")]
    Open {
        /// The game's name.
        game: String,
        /// Why.
        #[source]
        source: OpenError,
    },
    /// In a series it was handed something else than it needs.
    #[error("cannot take up a series")]
    Handover(#[source] HandoverError),
    /// The prompts have changed since the session was planned.
    #[error("planned with prompts {planned}, this worker has {ours}")]
    PromptsVersion {
        /// Version in the spec.
        planned: String,
        /// Version in this program.
        ours: String,
    },
    /// An agent cannot be made.
    #[error("cannot seat a model player")]
    Agent(#[source] AgentError),
}

impl SetupError {
    /// Whether a worker of another version may be able to play it.
    pub fn is_of_versions(&self) -> bool {
        let of_rules = |source: &OpenError| matches!(source, OpenError::RulesVersion { .. });
        match self {
            Self::PromptsVersion { .. } => true,
            Self::Open { source, .. } => of_rules(source),
            Self::Handover(_) | Self::Agent(_) => false,
        }
    }
}

/// Builds the session, with what its players took along, and plays it up to its first outside ask,
/// as far as the bounds of what it may produce go.
///
/// # Errors
/// The spec cannot be played by this program.
pub fn set_up(
    spec: &SessionSpec,
    carried: Option<&Carried>,
    library: &PromptLibrary,
    most: &Bounds,
) -> Result<Table, SetupError> {
    check_prompts(spec, library)?;
    series::check(spec, carried).map_err(SetupError::Handover)?;
    let play = open_within(most, spec).map_err(|source| SetupError::Open {
        game: spec.game.clone(),
        source,
    })?;
    let agents = spec
        .seats
        .iter()
        .enumerate()
        .map(|(seat, player)| match player.kind {
            PlayerKind::Rule => Ok(None),
            PlayerKind::Model => agon_agents::build(player, spec, carried, seat, library).map(Some),
        });
    let agents = agents
        .collect::<Result<_, _>>()
        .map_err(SetupError::Agent)?;
    Ok(Table { play, agents })
}

fn check_prompts(spec: &SessionSpec, library: &PromptLibrary) -> Result<(), SetupError> {
    let Some(planned) = &spec.prompts_version else {
        return Ok(());
    };
    let ours = agon_agents::prompts_version_of(spec, library).map_err(SetupError::Agent)?;
    match ours {
        Some(ours) if ours != *planned => Err(SetupError::PromptsVersion {
            planned: planned.clone(),
            ours,
        }),
        _ => Ok(()),
    }
}
