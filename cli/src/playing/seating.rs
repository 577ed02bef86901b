//! One session of an experiment, with a person at one of its seats, as an experiment of
//! its own. Its name follows from its content, so the same words on the command line
//! come back to the same session, and other words never touch it. Called by `agon play`.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::time::Duration;

use agon_agents::models_of;
use agon_coordinator::experiment::{
    Cell, ExperimentDocument, GameDefinition, ReportDefinition, expand,
};
use agon_engine::session::game_of;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec, Seat, SessionSpec};
use agon_proto::v1::ModelOrigin;
use serde_json::{Map, Value, json};

use crate::experiment_arguments::{CheckedExperiment, prompts_of};
use crate::failure::Failure;
use crate::inviting::model_of;

/// The agent of people.
const PERSON: &str = "person";

/// The setting with the time for each answer.
const DEADLINE: &str = "deadline";

/// Who answers for a person when nobody else is named.
const STAND_IN: &str = "equilibrium";

/// The same in a game that has no such strategy.
const STAND_IN_ANYWHERE: &str = "random";

/// Digits of the content that stand in the name.
const DIGITS: usize = 8;

/// What names of games with a person in them begin with.
const PREFIX: &str = "play-";

/// Longest part of the experiment's own name that stands in it; names end at 100.
const LONGEST: usize = 70;

/// How a person sits down.
pub struct Chair<'a> {
    /// The seat.
    pub seat: Seat,
    /// The person's name.
    pub person: &'a str,
    /// Another time for each answer than the experiment's.
    pub deadline: Option<Limit>,
    /// Another rule player that answers when time is up than the experiment's.
    pub stand_in: Option<&'a str>,
    /// Only settings of this game.
    pub game: Option<&'a str>,
    /// Which setting, from 1.
    pub setting: usize,
}

/// How long an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// As long as the person likes.
    None,
    /// So long.
    After(Duration),
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            return Ok(Self::None);
        }
        let time = humantime::parse_duration(text)
            .map_err(|error| format!("{error}; write a time such as 90s or 2m, or none"))?;
        agon_agents::check_deadline(time).map(|()| Self::After(time))
    }
}

/// A session with a person in it.
pub struct Seated {
    /// The experiment, complete.
    pub checked: CheckedExperiment,
    /// Its only session.
    pub spec: SessionSpec,
    /// How many settings there were to choose from.
    pub settings: usize,
}

/// Seats the person.
///
/// # Errors
/// There is no such setting, seat or stand-in, or the name is taken.
pub fn seat(checked: &CheckedExperiment, chair: &Chair<'_>) -> Result<Seated, Failure> {
    check_name(chair.person)?;
    let (mut spec, settings) = choose(&checked.document, chair)?;
    if chair.seat >= spec.seats.len() {
        return Err(Failure::BadInput(format!(
            "there is no seat {}: {} has seats 0 to {}",
            chair.seat,
            spec.game,
            spec.seats.len().saturating_sub(1)
        )));
    }
    let seated = person(chair, &spec);
    check_stand_in(&spec, chair, &seated)?;
    let others = spec.seats.iter().enumerate();
    let taken = others.filter(|(seat, _)| *seat != chair.seat);
    if taken
        .into_iter()
        .any(|(_, player)| player.name == chair.person)
    {
        let person = chair.person;
        let text = format!("the experiment has a player \"{person}\"; choose another --name");
        return Err(Failure::BadInput(text));
    }
    spec.seats[chair.seat] = seated;
    let document = document(checked, &spec)?;
    let mut models = checked.models.clone();
    models.retain(|model| asks(&spec, model));
    models.insert(model_of(chair.person));
    let checked = CheckedExperiment {
        document,
        models,
        settings: 1,
        ..checked.clone()
    };
    let expansion = expand(&checked.document).map_err(Failure::input)?;
    let session = expansion.into_sessions().next();
    let session = session.ok_or_else(|| Failure::BadInput("there is no session".to_owned()))?;
    Ok(Seated {
        checked,
        spec: session.spec,
        settings,
    })
}

impl Seated {
    /// The id of its session, once it is known where its models are.
    ///
    /// # Errors
    /// There is no session.
    pub fn session_id(&self, origins: &[ModelOrigin]) -> Result<String, Failure> {
        let document = ExperimentDocument {
            origins: agon_coordinator::origins(origins),
            ..self.checked.document.clone()
        };
        let expansion = expand(&document).map_err(Failure::input)?;
        let session = expansion.into_sessions().next();
        let session = session.ok_or_else(|| Failure::BadInput("there is no session".to_owned()))?;
        Ok(session.spec.id().to_string())
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let mut letters = name.chars();
    let starts = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    if starts && letters.all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "--name {name}: a name starts with a letter and has letters, digits, - and _"
    )))
}

/// The chosen setting, and how many there were.
fn choose(
    document: &ExperimentDocument,
    chair: &Chair<'_>,
) -> Result<(SessionSpec, usize), Failure> {
    let expansion = expand(document).map_err(Failure::input)?;
    let mut games: BTreeSet<String> = BTreeSet::new();
    let (mut chosen, mut settings) = (None, 0);
    // The first session of each: of a series too, because a person sits down once.
    for Cell { spec, .. } in expansion.into_cells() {
        if chair.game.is_none_or(|game| spec.game == game) {
            settings += 1;
            if settings == chair.setting {
                chosen = Some(spec);
                continue;
            }
        }
        games.insert(spec.game);
    }
    if settings == 0 {
        let games: Vec<&str> = games.iter().map(String::as_str).collect();
        return Err(Failure::BadInput(format!(
            "the experiment does not play {}; it plays {}",
            chair.game.unwrap_or_default(),
            games.join(", ")
        )));
    }
    let chosen = chosen.ok_or_else(|| {
        let there = match settings {
            1 => "there is only setting 1".to_owned(),
            several => format!("there are settings 1 to {several}"),
        };
        Failure::BadInput(format!("--setting {}: {there}", chair.setting))
    })?;
    Ok((chosen, settings))
}

/// A wrong stand-in would only show when the session is set up, and one without a deadline
/// would never answer.
fn check_stand_in(
    spec: &SessionSpec,
    chair: &Chair<'_>,
    seated: &PlayerSpec,
) -> Result<(), Failure> {
    let Some(stand_in) = chair.stand_in else {
        return Ok(());
    };
    let game = game_of(spec).map_err(Failure::input)?;
    let made = game.rule_player(stand_in, &Map::new(), chair.seat);
    made.map_err(|error| Failure::BadInput(format!("--stand-in: {error}")))?;
    if seated.settings.contains_key(DEADLINE) {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "--stand-in {stand_in} has no effect without a deadline; add one, such as --deadline 2m"
    )))
}

/// The person: on the experiment's terms, where it has a person at this seat, apart from what the
/// command line says.
fn person(chair: &Chair<'_>, spec: &SessionSpec) -> PlayerSpec {
    let seat = &spec.seats[chair.seat];
    let is_person = seat.settings.get("agent").and_then(Value::as_str) == Some(PERSON);
    let rule = |name: &str| seat.settings.get(name).filter(|_| is_person).cloned();
    let stand_in = chair.stand_in.map(|name| json!(name));
    let stand_in = stand_in.or_else(|| rule("stand_in"));
    // A game that is played elsewhere states no equilibrium.
    let usual = match spec.outside {
        Some(_) => STAND_IN_ANYWHERE,
        None => STAND_IN,
    };
    let deadline = match chair.deadline {
        None => rule(DEADLINE),
        Some(Limit::None) => None,
        Some(Limit::After(time)) => Some(json!(humantime::format_duration(time).to_string())),
    };
    let settings = [
        ("model", Some(json!(model_of(chair.person)))),
        ("agent", Some(json!(PERSON))),
        ("stand_in", stand_in.or_else(|| Some(json!(usual)))),
        (DEADLINE, deadline),
        ("world", world(seat)),
        ("persona", seat.settings.get("persona").cloned()),
        ("others", seat.settings.get("others").cloned()),
    ];
    PlayerSpec {
        name: chair.person.to_owned(),
        kind: PlayerKind::Model,
        settings: settings
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect(),
    }
}

/// What the person is told of the world's personas: what the player of this seat was told about
/// itself, about the others where it was, and about further kinds of buyers if it profiled them.
fn world(seat: &PlayerSpec) -> Option<Value> {
    let mut world = seat.settings.get("world")?.clone();
    let is = |name: &str, value: Value| seat.settings.get(name) == Some(&value);
    if is("agent", json!(PERSON)) {
        return Some(world);
    }
    if !is("theory_of_mind", json!("true")) {
        world.as_object_mut()?.remove("seats");
    }
    if !is("profile", json!(true)) {
        let worn = [world.get("own"), world.get("seats")];
        let worn = worn.into_iter().flatten().cloned().collect::<Vec<_>>();
        let worn = Value::Array(worn).to_string();
        let kinds = world.get_mut("personas")?.as_array_mut()?;
        kinds.retain(|kind| worn.contains(&kind["name"].to_string()));
    }
    Some(world)
}

/// Whether any seat may ask this model.
fn asks(spec: &SessionSpec, model: &str) -> bool {
    let mut asked = spec.seats.iter().flat_map(models_of);
    asked.any(|asked| asked == model)
}

/// The experiment of this one session.
fn document(
    checked: &CheckedExperiment,
    spec: &SessionSpec,
) -> Result<ExperimentDocument, Failure> {
    let of = &checked.document;
    let mut players = BTreeMap::new();
    for player in &spec.seats {
        let mut settings = player.settings.clone();
        let kind = serde_json::to_value(player.kind).map_err(Failure::surroundings)?;
        settings.insert("kind".to_owned(), kind);
        players.insert(player.name.clone(), settings);
    }
    let names: Vec<&str> = spec.seats.iter().map(|player| &*player.name).collect();
    let mut params: Settings = spec.params.clone();
    // It follows from the seats.
    params.remove("players");
    let game = GameDefinition {
        game: Some(spec.game.clone()),
        params,
        seats: Some(json!(names)),
        ..GameDefinition::default()
    };
    let id = spec.id();
    let digits = &id.as_str()[..DIGITS];
    let name: String = of.name.chars().take(LONGEST).collect();
    Ok(ExperimentDocument {
        name: format!("{PREFIX}{name}-{digits}"),
        seed: spec.luck.seed,
        repeats: 1,
        series: None,
        players,
        model: Settings::new(),
        games: vec![game],
        grid: BTreeMap::new(),
        rows: Vec::new(),
        report: ReportDefinition::default(),
        prompts: prompts_of(spec, &checked.library),
        ..of.clone()
    })
}
