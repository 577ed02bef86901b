//! The only list of agents: what there is, and how one is built for a seat.
//! The worker builds; the coordinator and `agon check` check early.

use agon_engine::session::info_of;
use agon_engine::spec::prompts::joint_version;
use agon_engine::{Carried, PlayerKind, PlayerSpec, Seat, SessionSpec, registry};
use serde_json::Value;

use crate::agent::{Agent, AgentError};
use crate::agents::{
    bdi, chain_of_thought, direct, elicitation, harbor, k_level, person,
    prediction_chain_of_thought, reflexion, self_refine,
};
use crate::info::{AgentInfo, OwnCalls, Seating};
use crate::library::PromptLibrary;
use crate::settings::{self, DEFAULT_AGENT, OF_CONVERSATIONS, PlayerSettings, unknown};

/// Every agent there is.
pub const AGENTS: &[AgentInfo] = &[
    direct::INFO,
    chain_of_thought::INFO,
    elicitation::INFO,
    bdi::INFO,
    harbor::INFO,
    k_level::INFO,
    prediction_chain_of_thought::INFO,
    reflexion::INFO,
    self_refine::INFO,
    person::INFO,
];

/// Builds the agent of a model player for one seat of a session; in a series it is
/// handed what its seat took along, and nothing of any other.
///
/// # Errors
/// A setting of the player is wrong, or there are no such prompts.
pub fn build(
    player: &PlayerSpec,
    session: &SessionSpec,
    carried: Option<&Carried>,
    seat: Seat,
    library: &PromptLibrary,
) -> Result<Box<dyn Agent>, AgentError> {
    let (settings, agent) = read(player, &session.game, library)?;
    let settings = settings.in_cell(player, &session.setting);
    let game = info_of(session).ok_or_else(|| unknown_game(&session.game));
    let built = (agent.build)(Seating {
        settings: &settings,
        game: &*game.map_err(wrong(player))?,
        seat,
        library,
        session: Some(session),
        carried,
    });
    built.map_err(wrong(player))
}

/// Builds the agent of a model player for one seat of a game, to try templates out.
pub(crate) fn build_for(
    player: &PlayerSpec,
    game: &str,
    seat: Seat,
    library: &PromptLibrary,
) -> Result<Box<dyn Agent>, AgentError> {
    let (settings, agent) = read(player, game, library)?;
    let found = registry::find(game).map_err(|_| unknown_game(game));
    let built = (agent.build)(Seating {
        settings: &settings,
        game: &found.map_err(wrong(player))?.info,
        seat,
        library,
        session: None,
        carried: None,
    });
    built.map_err(wrong(player))
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

/// The same for one seat of a session, where more can be said: whether the game has
/// the strategy of a stand-in.
///
/// # Errors
/// As [`check_player`]; or the stand-in cannot play at this seat.
pub fn check_seat(
    player: &PlayerSpec,
    session: &SessionSpec,
    seat: Seat,
    library: &PromptLibrary,
) -> Result<(), AgentError> {
    build(player, session, None, seat, library).map(|_| ())
}

/// A player's agent, and the calls that it makes for itself; none for one that does not exist.
pub fn own_calls(player: &PlayerSpec) -> Option<(&'static AgentInfo, OwnCalls)> {
    let agent = agent_of(player).ok()?;
    let own = player.settings.iter();
    let own = own.map(|(name, value)| (name.clone(), value.clone()));
    Some((agent, (agent.calls)(&own.collect())))
}

/// Version of what a player of a game is told, by built-in templates: that of its agent and of
/// the templates which that uses.
///
/// # Errors
/// As [`check_player`].
pub fn prompts_version(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<String, AgentError> {
    Ok(PromptLibrary::version_of(&folders(player, game, library)?))
}

/// The version of the prompts of a session; none when no model plays.
///
/// # Errors
/// As [`check_player`], for any of its players.
pub fn prompts_version_of(
    session: &SessionSpec,
    library: &PromptLibrary,
) -> Result<Option<String>, AgentError> {
    let models = session
        .seats
        .iter()
        .filter(|player| player.kind == PlayerKind::Model);
    let versions = models
        .map(|player| prompts_version(player, &session.game, library))
        .collect::<Result<Vec<String>, _>>()?;
    Ok(joint_version(
        &versions.iter().map(String::as_str).collect(),
    ))
}

/// The built-in templates that a player of a game may be told in: path and text.
///
/// # Errors
/// As [`check_player`].
pub fn templates_of(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<Vec<(&'static str, &'static str)>, AgentError> {
    Ok(PromptLibrary::templates_in(&folders(
        player, game, library,
    )?))
}

/// Whether a player of a game is told anything in the words of the user's own templates.
///
/// # Errors
/// As [`check_player`].
pub fn uses_replaced(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<bool, AgentError> {
    Ok(library.replaces(&folders(player, game, library)?))
}

/// The folders of the templates of a player, apart from the one that all games share.
fn folders(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<Vec<String>, AgentError> {
    let (settings, agent) = read(player, game, library)?;
    let folder = agent.folder(game, library);
    Ok(vec![format!("{folder}/{}/", settings.prompt)])
}

fn read(
    player: &PlayerSpec,
    game: &str,
    library: &PromptLibrary,
) -> Result<(PlayerSettings, &'static AgentInfo), AgentError> {
    let read = || {
        let agent = agent_of(player)?;
        check_names(player, agent)?;
        let settings = PlayerSettings::read(player, agent.settings)?;
        (agent.check)(&settings.own)?;
        check_game(agent, game)?;
        check_prompts(agent, game, &settings.prompt, library)?;
        Ok((settings, agent))
    };
    read().map_err(wrong(player))
}

fn unknown_game(game: &str) -> String {
    format!("there is no game \"{game}\"")
}

/// What is wrong with a player.
fn wrong(player: &PlayerSpec) -> impl Fn(String) -> AgentError {
    |message| AgentError::Settings {
        player: player.name.clone(),
        message,
    }
}

/// Refuses settings that do not exist, or not for this agent.
fn check_names(player: &PlayerSpec, agent: &AgentInfo) -> Result<(), String> {
    let own = agent.settings.iter().copied();
    let known: Vec<&str> = settings::names().chain(own).collect();
    for name in player.settings.keys() {
        if known.contains(&name.as_str()) {
            continue;
        }
        let takers = names_of(|agent| agent.settings.contains(&name.as_str()));
        let whose = match takers.is_empty() {
            true => String::new(),
            false => format!(
                " (\"{name}\" is a setting of the agent {})",
                takers.join(", ")
            ),
        };
        return Err(unknown("setting", name, &known) + &whose);
    }
    let mut of_conversations = OF_CONVERSATIONS.iter();
    match of_conversations.find(|name| player.settings.contains_key(**name)) {
        Some(name) if !agent.converses => Err(format!(
            "{name} is a setting of the agents {}, not of \"{}\"",
            names_of(|agent| agent.converses).join(", "),
            agent.name
        )),
        _ => Ok(()),
    }
}

fn check_game(agent: &AgentInfo, game: &str) -> Result<(), String> {
    if agent.plays(game) {
        return Ok(());
    }
    Err(format!(
        "agent \"{}\" cannot play {game}, where not everything that others see is public; it plays {}",
        agent.name,
        agent.games.unwrap_or_default().join(", ")
    ))
}

fn check_prompts(
    agent: &AgentInfo,
    game: &str,
    prompt: &str,
    library: &PromptLibrary,
) -> Result<(), String> {
    let folder = agent.folder(game, library);
    let versions = library.versions(&folder);
    if versions.is_empty() {
        let whose = match agent.own_prompts {
            true => format!(" with the agent \"{}\"", agent.name),
            false => String::new(),
        };
        return Err(format!(
            "there are no prompts for the game \"{game}\"{whose}"
        ));
    }
    if versions.contains(&prompt) {
        return Ok(());
    }
    let what = format!("prompt version for {folder}");
    Err(unknown(&what, prompt, &versions))
}

/// The agent of a player.
fn agent_of(player: &PlayerSpec) -> Result<&'static AgentInfo, String> {
    let name = player.settings.get("agent").and_then(Value::as_str);
    find(name.unwrap_or(DEFAULT_AGENT))
}

/// Names of the agents that something holds of.
fn names_of(holds: impl Fn(&AgentInfo) -> bool) -> Vec<&'static str> {
    let agents = AGENTS.iter().filter(|agent| holds(agent));
    agents.map(|agent| agent.name).collect()
}

/// The agent of a name.
///
/// # Errors
/// There is none; says which there are.
pub fn find(name: &str) -> Result<&'static AgentInfo, String> {
    let agent = AGENTS.iter().find(|agent| agent.name == name);
    agent.ok_or_else(|| unknown("agent", name, &names_of(|_| true)))
}

#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
