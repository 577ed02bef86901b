//! The entry of an experiment in which one player of one record is judged: what judges are told of it,
//! and the label under which its marks are listed.

use std::collections::BTreeSet;

use agon_agents::narrator::{Narrator, Telling};
use agon_agents::settings::DEFAULT_PROMPT;
use agon_agents::{PlayerSettings, PromptLibrary};
use agon_engine::games::judging::LONGEST_RECORD;
use agon_engine::record::StoredRecord;
use agon_engine::session::info_of;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec, Seat, View};
use agon_report::{SessionAnswers, story};
use serde_json::{Map, Value, json};

use crate::inviting;

/// Digits of a session's id in labels.
const DIGITS: usize = 8;

/// An entry, and what it takes to find its judges.
#[derive(Debug, Clone)]
pub struct Entry {
    /// As it stands in the experiment.
    pub value: Value,
    /// The people who played in the session.
    pub people: BTreeSet<String>,
    /// The person who is judged, if it is one.
    pub person: Option<String>,
    /// The session, its number among those that were found, and the seat.
    pub session: String,
    pub place: (usize, Seat),
}

/// Why a player that was drawn is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Its record is longer than judges are given.
    TooLong,
    /// Most of what it did was done by a stand-in, or by the rules for whoever does not answer.
    NotItsOwn,
    /// Everybody who judges played in that session.
    NoJudge,
}

impl LeftOut {
    /// For a message after how many players it is.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::TooLong => "the record is longer than judges can be given",
            Self::NotItsOwn => "more than half of the answers were a stand-in's, or missing",
            Self::NoJudge => "everybody who judges played in that session",
        }
    }
}

/// The entry for one player of a record, like that of the experiment's file; `own` if the player judges
/// itself.
///
/// # Errors
/// The player is not judged; says why.
pub fn entry_for(
    like: &Value,
    record: &StoredRecord,
    place: (usize, Seat),
    own: bool,
) -> Result<Entry, LeftOut> {
    let (_, seat) = place;
    let seats = &record.spec.seats;
    let people = seats.iter().filter_map(inviting::person).map(str::to_owned);
    let person = seats
        .get(seat)
        .and_then(inviting::person)
        .map(str::to_owned);
    // What a model left unanswered is its own doing.
    if person.is_some() && !SessionAnswers::of(record).of_seat(seat).suffice() {
        return Err(LeftOut::NotItsOwn);
    }
    let name = story::name_in_game(record, seat);
    let yourself = if own {
        format!("You played as {name} in this game. ")
    } else {
        String::new()
    };
    let told = format!("{yourself}{}", told(record, seat, &name));
    if told.chars().count() > LONGEST_RECORD {
        return Err(LeftOut::TooLong);
    }
    let own = json!({
        "record": told,
        "judged": name,
        "has_persona": seats.get(seat).and_then(story::persona).is_some(),
    });
    let id = record.session.to_string();
    let label = format!("{}-{seat}-{}", plain(&name), &id[..DIGITS]);
    let mut entry = like.as_object().cloned().unwrap_or_default();
    let params = entry.entry("params").or_insert_with(|| json!({}));
    let own = own.as_object().cloned().unwrap_or_default();
    let given = params.as_object().cloned().unwrap_or_default();
    *params = Value::Object(given.into_iter().chain(own).collect::<Map<_, _>>());
    // A label of the file's own tells whose marks these are.
    let given = entry.get("label").and_then(Value::as_str);
    let label = match given {
        Some(given) => format!("{given}-{label}"),
        None => label,
    };
    entry.insert("label".to_owned(), label.into());
    Ok(Entry {
        value: Value::Object(entry),
        people: people.collect(),
        person,
        session: id,
        place,
    })
}

/// What judges are told of a player: the rules as players are told them, and what it saw,
/// said and concluded.
fn told(record: &StoredRecord, seat: Seat, name: &str) -> String {
    match in_words(record, seat) {
        Some((rules, told)) => {
            let happened = story::for_judges(record, seat, told);
            format!(
                "This is the game as {name} saw it. In the rules and in what happened, \"you\" is \
                 {name}.\n\n{rules}\n\n{happened}"
            )
        }
        None => story::for_judges(record, seat, Vec::new()),
    }
}

/// The rules in the words of the built-in prompts, of the version that the player had if it was
/// a model, and each event, if the seat was told of it; none for a game without any prompts.
fn in_words(record: &StoredRecord, seat: Seat) -> Option<(String, Vec<String>)> {
    let own = record.spec.seats.get(seat)?.settings.get("prompt");
    let prompt = own.cloned().unwrap_or_else(|| DEFAULT_PROMPT.into());
    let anybody = PlayerSpec {
        name: "anybody".to_owned(),
        kind: PlayerKind::Model,
        settings: Settings::from([
            ("model".to_owned(), "any".into()),
            ("prompt".to_owned(), prompt),
        ]),
    };
    let settings = PlayerSettings::read(&anybody, &[]).ok()?;
    let info = info_of(&record.spec)?;
    let mut narrator = Narrator::new(&settings, &info, seat, PromptLibrary::builtin());
    let mut rules = None;
    let events = record.events.iter().map(|event| {
        let mut told = Vec::new();
        for sight in View::new(seat, std::slice::from_ref(event)).sights() {
            match narrator.tell(&sight.to_event()).ok()? {
                Telling::Rules(text) => rules = Some(text),
                Telling::News(text) | Telling::Result(text) => told.push(text),
                Telling::Nothing => {}
            }
        }
        Some(told.join("\n"))
    });
    let told = events.collect::<Option<Vec<String>>>()?;
    Some((rules?.to_string(), told))
}

/// A name in the letters that labels may have.
fn plain(name: &str) -> String {
    /// Letters of a label that are left for a name.
    const LONGEST: usize = 60;
    let letters = name.chars().take(LONGEST);
    letters
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '_' {
                letter
            } else {
                '-'
            }
        })
        .collect()
}
