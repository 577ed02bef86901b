//! The only list of agents: what there is, and how one is built for a seat.
//! The worker builds; the coordinator and `agon check` check early.

use agon_engine::{PlayerSpec, Seat, SessionSpec};

use crate::agent::{Agent, AgentError};
use crate::chain_of_thought::ChainOfThought;
use crate::dialogue::Dialogue;
use crate::direct::Direct;
use crate::library::PromptLibrary;
use crate::settings::{PlayerSettings, unknown};

/// How one kind of agent is known and built.
#[derive(Debug, Clone, Copy)]
pub struct AgentInfo {
    /// Name in experiment files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    build: fn(Dialogue) -> Box<dyn Agent>,
}

/// Every agent there is.
pub const AGENTS: &[AgentInfo] = &[
    AgentInfo {
        name: "direct",
        summary: "asks the model once and takes its answer",
        build: |dialogue| Box::new(Direct::new(dialogue)),
    },
    AgentInfo {
        name: "chain_of_thought",
        summary: "has the model think step by step before it answers, in one call",
        build: |dialogue| Box::new(ChainOfThought::new(dialogue)),
    },
];

/// Builds the agent of a model player for one seat of a session.
///
/// # Errors
/// A setting of the player is wrong, or there are no such prompts.
pub fn build(
    player: &PlayerSpec,
    session: &SessionSpec,
    seat: Seat,
    library: &PromptLibrary,
) -> Result<Box<dyn Agent>, AgentError> {
    let (settings, agent) = read(player, &session.game, library)?;
    let dialogue = Dialogue::new(&settings, &session.game, seat, library.clone());
    Ok((agent.build)(dialogue))
}

/// Checks a model player of a game before anything is played.
///
/// # Errors
/// A setting is unknown or wrong, or there are no such prompts; says what exists.
pub fn check_player(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<(), AgentError> {
    read(player, game, library).map(|_| ())
}

fn read(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<(PlayerSettings, &'static AgentInfo), AgentError> {
    let wrong = |message| AgentError::Settings {
        player: player.name.clone(),
        message,
    };
    let settings = PlayerSettings::read(player)?;
    let agent = AGENTS.iter().find(|agent| agent.name == settings.agent);
    let agent = agent.ok_or_else(|| {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        wrong(unknown("agent", &settings.agent, &names))
    })?;
    let versions = library.versions(game);
    if versions.is_empty() {
        return Err(wrong(format!(
            "there are no prompts for the game \"{game}\""
        )));
    }
    if !versions.contains(&&*settings.prompt) {
        let what = format!("prompt version for {game}");
        return Err(wrong(unknown(&what, &settings.prompt, &versions)));
    }
    Ok((settings, agent))
}

#[cfg(test)]
mod tests;
