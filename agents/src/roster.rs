//! The only list of agents: what there is, and how one is built for a seat.
//! The worker builds; the coordinator and `agon check` check early.

use agon_engine::spec::prompts::joint_version;
use agon_engine::{Carried, PlayerKind, PlayerSpec, Seat, SessionSpec};
use serde_json::{Map, Value};

use crate::agent::{Agent, AgentError};
use crate::bdi::{self, Bdi};
use crate::chain_of_thought::ChainOfThought;
use crate::dialogue::Dialogue;
use crate::direct::Direct;
use crate::elicitation::Elicitation;
use crate::harbor::{self, Harbor};
use crate::k_level::{self, KLevel};
use crate::library::PromptLibrary;
use crate::person::{self, Person, StandIn};
use crate::prediction_chain_of_thought::PredictionChainOfThought;
use crate::reflexion::{self, Reflexion};
use crate::self_refine::{self, SelfRefine};
use crate::settings::{PlayerSettings, ReplyStyle, unknown};
use crate::templates;

/// How one kind of agent is known and built.
#[derive(Debug, Clone, Copy)]
pub struct AgentInfo {
    /// Name in experiment files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Names of the settings that it takes besides those of every model player.
    pub settings: &'static [&'static str],
    /// Whether it words its own calls, in templates of its own
    /// ([`templates::folder`]), and so plays only games that have these.
    pub own_prompts: bool,
    /// Settings that between them reach all of its templates, as JSON objects.
    pub rehearsals: &'static [&'static str],
    /// The only games that it can play, if it cannot play all that have its prompts.
    pub games: Option<&'static [&'static str]>,
    check: fn(&Map<String, Value>) -> Result<(), String>,
    build: fn(Seating) -> Box<dyn Agent>,
}

/// Where an agent is to sit.
pub struct Seating<'a> {
    /// Its settings, checked.
    pub settings: &'a PlayerSettings,
    /// The game.
    pub game: &'a str,
    /// Its seat.
    pub seat: Seat,
    /// The templates.
    pub library: &'a PromptLibrary,
    /// Who answers for a person that takes too long, if anybody.
    pub stand_in: Option<StandIn>,
    /// What it took along from the session before, in a series.
    pub carried: Option<&'a Carried>,
}

impl Seating<'_> {
    /// What its seat took along of a kind.
    pub fn carried(&self, note: &str) -> Option<&Value> {
        self.carried?.of(self.seat, note)
    }

    /// A conversation for its seat.
    pub fn dialogue(&self) -> Dialogue {
        Dialogue::new(self.settings, self.game, self.seat, self.library.clone())
    }
}

impl AgentInfo {
    /// Whether it talks with a model in the words of its game, turn by turn, so that
    /// what every such conversation can have is a matter of its settings. A person is
    /// told the same, but sums nothing up.
    pub fn converses(&self) -> bool {
        !self.own_prompts && self.name != person::NAME
    }
}

/// For agents without settings of their own.
fn nothing_to_check(_: &Map<String, Value>) -> Result<(), String> {
    Ok(())
}

/// Every agent there is.
pub const AGENTS: &[AgentInfo] = &[
    AgentInfo {
        name: "direct",
        summary: "asks the model once and takes its answer",
        settings: &[],
        own_prompts: false,
        rehearsals: &["{}"],
        games: None,
        check: nothing_to_check,
        build: |seating| Box::new(Direct::new(seating.dialogue())),
    },
    AgentInfo {
        name: "chain_of_thought",
        summary: "has the model think step by step before it answers, in one call",
        settings: &[],
        own_prompts: false,
        rehearsals: &["{}"],
        games: None,
        check: nothing_to_check,
        build: |seating| Box::new(ChainOfThought::new(seating.dialogue())),
    },
    AgentInfo {
        name: "elicitation",
        summary: "has the model state its understanding, beliefs and reasons around its answer, in one call",
        settings: &[],
        own_prompts: false,
        rehearsals: &["{}"],
        games: None,
        check: nothing_to_check,
        build: |seating| Box::new(Elicitation::new(seating.dialogue())),
    },
    AgentInfo {
        name: "bdi",
        summary: "plans, bids, keeps its beliefs up to date and plans again, in auctions",
        settings: bdi::SETTINGS,
        own_prompts: true,
        rehearsals: &[
            "{}",
            r#"{ "strategy": "static", "desire": "maximize_items", "tips": ["Wait."], "learn": true }"#,
            r#"{ "strategy": "none", "reply": "text", "correct_beliefs": false, "learn": true }"#,
        ],
        games: None,
        check: bdi::check,
        build: |seating| Box::new(Bdi::new(seating)),
    },
    AgentInfo {
        name: "harbor",
        summary: "bids for houses with a persona, profiles its rivals and reads their minds",
        settings: harbor::SETTINGS,
        own_prompts: true,
        rehearsals: &[
            "{}",
            r#"{ "beliefs": true, "profile": true, "theory_of_mind": "inferred", "strategic": true, "second_order": true,
                "world": { "own": ["a"], "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
            r#"{ "plan": false, "beliefs": true, "theory_of_mind": "true", "strategic": true, "reply": "text",
                "world": { "own": ["a", "b"], "seats": [["a", "b"], ["a"], []],
                "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
            r#"{ "profile": true, "strategic": true, "second_order": true, "reply": "text",
                "world": { "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
        ],
        games: None,
        check: harbor::check,
        build: |seating| Box::new(Harbor::new(seating)),
    },
    AgentInfo {
        name: "k_level",
        summary: "predicts what every rival will do, level by level, and answers in view of that",
        settings: k_level::SETTINGS,
        own_prompts: false,
        rehearsals: &["{}", r#"{ "depth": 3, "reply": "text" }"#],
        games: Some(k_level::GAMES),
        check: k_level::check,
        build: |seating| Box::new(KLevel::new(&seating)),
    },
    AgentInfo {
        name: "prediction_chain_of_thought",
        summary: "has the model predict every rival before it answers, in one call",
        settings: &[],
        own_prompts: false,
        rehearsals: &["{}", r#"{ "reply": "text" }"#],
        games: None,
        check: nothing_to_check,
        build: |seating| Box::new(PredictionChainOfThought::new(&seating)),
    },
    AgentInfo {
        name: "reflexion",
        summary: "has the model review every round that is over, and keeps what it sums up",
        settings: reflexion::SETTINGS,
        own_prompts: false,
        rehearsals: &["{}"],
        games: None,
        check: reflexion::check,
        build: |seating| Box::new(Reflexion::new(&seating)),
    },
    AgentInfo {
        name: "self_refine",
        summary: "drafts an answer, has it judged as by an expert, and answers again",
        settings: self_refine::SETTINGS,
        own_prompts: false,
        rehearsals: &["{}", r#"{ "rounds": 2 }"#],
        games: None,
        check: self_refine::check,
        build: |seating| Box::new(SelfRefine::new(&seating)),
    },
    AgentInfo {
        name: person::NAME,
        summary: "tells a person at a door what there is to know, and takes the answer",
        settings: person::SETTINGS,
        own_prompts: false,
        rehearsals: &["{}"],
        games: None,
        check: person::check,
        build: |place| {
            let settings = PlayerSettings {
                reply: ReplyStyle::Typed,
                ..place.settings.clone()
            };
            let typed = Seating {
                settings: &settings,
                stand_in: None,
                ..place
            };
            let preface = person::preface(&place.settings.own, place.seat);
            Box::new(Person::new(typed.dialogue(), place.stand_in, preface))
        },
    },
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
    let stand_in = StandIn::of(&settings.own, session, seat);
    let stand_in = stand_in.map_err(|message| AgentError::Settings {
        player: player.name.clone(),
        message,
    })?;
    Ok((agent.build)(Seating {
        settings: &settings,
        game: &session.game,
        seat,
        library,
        stand_in,
        carried,
    }))
}

/// Builds the agent of a model player for one seat of a game, to try templates out:
/// nobody stands in for it.
pub(crate) fn build_for(
    player: &PlayerSpec,
    game: &str,
    seat: Seat,
    library: &PromptLibrary,
) -> Result<Box<dyn Agent>, AgentError> {
    let (settings, agent) = read(player, game, library)?;
    Ok((agent.build)(Seating {
        settings: &settings,
        game,
        seat,
        library,
        stand_in: None,
        carried: None,
    }))
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
    let (settings, _) = read(player, &session.game, library)?;
    let stand_in = StandIn::of(&settings.own, session, seat);
    let wrong = |message| AgentError::Settings {
        player: player.name.clone(),
        message,
    };
    stand_in.map(|_| ()).map_err(wrong)
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
    let folder = folder_of(agent, game);
    Ok(vec![format!("{folder}/{}/", settings.prompt)])
}

/// The folder that holds an agent's templates for a game.
fn folder_of(agent: &AgentInfo, game: &str) -> String {
    if agent.own_prompts {
        templates::folder(game, agent.name)
    } else {
        game.to_owned()
    }
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
    let agent = find(&settings.agent).map_err(wrong)?;
    (agent.check)(&settings.own).map_err(wrong)?;
    if let Some(games) = agent.games.filter(|games| !games.contains(&game)) {
        return Err(wrong(format!(
            "agent \"{}\" cannot play {game}, where not everything that others see is public; it plays {}",
            agent.name,
            games.join(", ")
        )));
    }
    let folder = folder_of(agent, game);
    let versions = library.versions(&folder);
    if versions.is_empty() {
        let whose = if agent.own_prompts {
            format!(" with the agent \"{}\"", agent.name)
        } else {
            String::new()
        };
        return Err(wrong(format!(
            "there are no prompts for the game \"{game}\"{whose}"
        )));
    }
    if !versions.contains(&&*settings.prompt) {
        let what = format!("prompt version for {folder}");
        return Err(wrong(unknown(&what, &settings.prompt, &versions)));
    }
    Ok((settings, agent))
}

/// The agent of a name.
///
/// # Errors
/// There is none; says which there are.
pub fn find(name: &str) -> Result<&'static AgentInfo, String> {
    let agent = AGENTS.iter().find(|agent| agent.name == name);
    agent.ok_or_else(|| {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        unknown("agent", name, &names)
    })
}

#[cfg(test)]
mod tests;
