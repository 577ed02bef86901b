//! Replay: games that other programs recorded, played again by our rules.
//! A recorded game is one line of JSON. [`RecordedGame::from_json`] reads it and
//! refuses what it cannot read with a typed error; [`replay`] plays it and lists
//! every difference; [`import`] keeps it as a session. No files here: `agon replay` and the tests read those.
//! Each family of records is one file beside this one; a new family adds its
//! readers to `FAMILIES` and changes nothing else.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::ask::{Action, Ask, Foul};
use crate::chance::{Chance, Stream};
use crate::event::Value;
use crate::game::{Built, ParameterError};
use crate::play::Play;
use crate::record::Record;
use crate::registry;
use crate::rule_player::RulePlayer;
use crate::spec::{PlayerSpec, Settings};
use about::{About, Imported};
use check::Check;

mod about;
mod auction;
mod check;
mod econarena;
mod gamma;
mod water;

/// The families of recorded games, each with a reader per game.
const FAMILIES: &[&[Reader]] = &[
    gamma::READERS,
    auction::READERS,
    water::READERS,
    econarena::READERS,
];

/// Plays a recorded game and compares everything that the record states.
pub fn replay(recorded: &RecordedGame) -> Verdict {
    Verdict {
        id: recorded.id.clone(),
        mismatches: recorded.game.replay().mismatches,
        record_fault: recorded.game.record_fault(),
    }
}

/// Plays a recorded game and keeps it as a session of an experiment of this name, so that tables
/// take it in as their own. Its chance is that of the record and not of a seed.
///
/// # Errors
/// Our rules do not reproduce the game, or it did not come to its end; one line per difference.
pub fn import(recorded: &RecordedGame, experiment: &str) -> Result<Record, Vec<String>> {
    let Replayed {
        play,
        mut mismatches,
    } = recorded.game.replay();
    mismatches.extend(recorded.game.record_fault());
    if !mismatches.is_empty() {
        return Err(mismatches);
    }
    if !play.is_finished() {
        return Err(vec!["the record ends before the game does".to_owned()]);
    }
    let played = registry::find(recorded.name).map_err(|error| vec![error.to_string()])?;
    let defaults = played
        .build(&Settings::new())
        .map_or_else(|_| Settings::new(), |built| built.params);
    let spec = recorded.about.spec(Imported {
        experiment,
        id: &recorded.id,
        game: &played.info.name,
        rules_version: played.info.rules_version,
        params: &recorded.game.built().params,
        defaults: &defaults,
        adjusted: recorded.game.adjusted(),
        seats: recorded.game.seats(),
    });
    Ok(Record::new(spec, play, Vec::new(), Vec::new()))
}

/// What came out of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Id of the recorded game.
    pub id: String,
    /// One line per difference: where, what, recorded and computed values.
    pub mismatches: Vec<String>,
    /// What is wrong with the record itself, and from where on nothing was compared
    /// for it; `None` for a sound record. Such games are counted apart.
    pub record_fault: Option<String>,
}

impl Verdict {
    /// Whether our rules reproduce the record.
    pub fn matched(&self) -> bool {
        self.mismatches.is_empty()
    }
}

/// A recorded game that can be played.
pub struct RecordedGame {
    id: String,
    name: &'static str,
    about: About,
    game: Box<dyn Recorded>,
}

impl RecordedGame {
    /// Reads one line.
    ///
    /// # Errors
    /// The line is not JSON, is of no known game, or one of its fields is
    /// missing, of the wrong type or impossible; names the field.
    pub fn from_json(line: &str) -> Result<Self, RecordedError> {
        let header: Header = read(line)?;
        let mut readers = FAMILIES.iter().copied().flatten();
        let known = readers.clone().map(|reader| reader.game);
        let Some(reader) = readers.find(|reader| reader.game == header.game) else {
            return Err(RecordedError::UnknownGame {
                name: header.game,
                known: known.collect::<Vec<&str>>().join(", "),
            });
        };
        let game = (reader.read)(line)?;
        Ok(Self {
            id: header.id,
            name: reader.game,
            about: read(line)?,
            game,
        })
    }

    /// Reads the replies that the record holds once more and plays on with what `read`
    /// makes of them, where that is an answer; elsewhere with the recorded answer. What
    /// became of each reply, in the record's order; nothing for a game whose record has
    /// no replies in prose.
    pub fn reread(&mut self, read: &mut ReadReply<'_>) -> Vec<Reread> {
        self.game.reread(read)
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Name of the game in the record.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Reads a reply to an ask, as [`RecordedGame::reread`] needs it.
pub type ReadReply<'a> = dyn FnMut(&Ask, &str) -> Result<Action, Foul> + 'a;

/// A recorded reply, read once more.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// Where it stands ("day 3, Alex").
    pub place: String,
    /// The answer that was taken from it when it was recorded.
    pub used: Action,
    /// What it was read as now.
    pub read: Result<Action, Foul>,
}

impl Reread {
    /// Whether it was read as the answer that was used.
    pub fn is_same(&self) -> bool {
        self.read.as_ref() == Ok(&self.used)
    }
}

/// A single reply of a recorded game, with the answer that was taken from it.
pub struct RecordedReply(water::Reply);

impl RecordedReply {
    /// Reads one line; `None` when it is no such reply.
    pub fn from_json(line: &str) -> Option<Self> {
        read(line).ok().map(Self)
    }

    /// Reads the reply once more.
    pub fn reread(&self, read: &mut ReadReply<'_>) -> Reread {
        self.0.reread(read)
    }
}

/// Why a line is not a recorded game.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// It is not JSON, or ends in the middle.
    #[error("not a line of JSON")]
    NotJson(#[source] serde_json::Error),
    /// A field is missing, of the wrong type or has an impossible value.
    #[error("{}{message}", place(path))]
    Field {
        /// Where ("rounds\[3\].actions"); empty for the line as a whole.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// There are no readers for its game.
    #[error("no recorded games of \"{name}\" can be replayed; expected one of: {known}")]
    UnknownGame {
        /// The name in the line.
        name: String,
        /// The names that can be replayed, separated by commas.
        known: String,
    },
}

fn place(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    }
}

/// A recorded game that was played again.
struct Replayed {
    play: Play,
    /// One line per difference.
    mismatches: Vec<String>,
}

/// A recorded game after reading.
trait Recorded: Send + Sync {
    /// Our game, from the record's parameters.
    fn built(&self) -> &Built;

    /// The draws that the record states.
    fn script(&self) -> Vec<Scripted>;

    /// Our rule players, where the record has some: one entry per seat.
    fn rules(&self, _check: &mut Check) -> Vec<Option<Box<dyn RulePlayer>>> {
        (0..self.built().game.seats()).map(|_| None).collect()
    }

    /// Answers every ask from the record and compares what it says of the way; whether its
    /// end can be compared.
    fn feed(&self, play: &mut Play, check: &mut Check) -> bool;

    /// Compares what the record says of the end.
    fn compare_end(&self, play: &Play, check: &mut Check);

    /// Plays it.
    fn replay(&self) -> Replayed {
        let mut check = Check::default();
        let rules = self.rules(&mut check);
        let game = Arc::clone(&self.built().game);
        let mut play = Play::start(game, Chance::scripted(self.script()), rules);
        let is_comparable = self.feed(&mut play, &mut check);
        compare_draws(&play, &mut check);
        if is_comparable {
            check.at("");
            self.compare_end(&play, &mut check);
        }
        Replayed {
            play,
            mismatches: check.finish(),
        }
    }

    /// Parameters that say how the other program played, and nothing about the setting.
    fn adjusted(&self) -> &'static [&'static str] {
        &[]
    }

    /// Who played, by seat, as far as this family of records says.
    fn seats(&self) -> Vec<PlayerSpec> {
        about::numbered(self.built().game.seats())
    }

    /// A fault that the record is known to have, with the place from which it is
    /// not compared.
    fn record_fault(&self) -> Option<String> {
        None
    }

    /// As [`RecordedGame::reread`].
    fn reread(&mut self, _read: &mut ReadReply<'_>) -> Vec<Reread> {
        Vec::new()
    }
}

/// A draw that a record states.
type Scripted = (Stream, u32, Value);

/// Parts of a record; a field that they do not name is refused.
macro_rules! forms {
    ($(
        $(#[$about:meta])*
        struct $name:ident {
            $($(#[$meaning:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(super) struct $name {
                $($(#[$meaning])* pub(super) $field: $type,)*
            }
        )*
    };
}

use forms;

/// How the lines of one game are read.
struct Reader {
    game: &'static str,
    read: fn(&str) -> Result<Box<dyn Recorded>, RecordedError>,
}

/// What every recorded game has, whatever its family.
#[derive(Deserialize)]
struct Header {
    id: String,
    game: String,
}

/// Reads a line into a struct, with the path of the field that is wrong.
fn read<T: DeserializeOwned>(line: &str) -> Result<T, RecordedError> {
    let mut parser = serde_json::Deserializer::from_str(line);
    let value = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        if !cause.is_data() {
            return RecordedError::NotJson(cause);
        }
        let path = if path == "." { String::new() } else { path };
        RecordedError::Field {
            path,
            message: cause.to_string(),
        }
    })?;
    parser.end().map_err(RecordedError::NotJson)?;
    Ok(value)
}

/// The game of a record, from its parameters.
fn build(name: &str, params: &Settings) -> Result<Built, RecordedError> {
    let built = registry::find(name).and_then(|game| game.build(params));
    built.map_err(impossible)
}

/// Parameters of a record that make no game.
fn impossible(error: ParameterError) -> RecordedError {
    let path = match error.path.as_str() {
        "" => "params".to_owned(),
        inner => format!("params.{inner}"),
    };
    let message = error.message;
    RecordedError::Field { path, message }
}

/// Draws that only one side made.
fn compare_draws(play: &Play, check: &mut Check) {
    for (stream, at) in play.chance().unscripted() {
        check.at(format!("round {at}"));
        check.fault(format!(
            "a draw of {} that the record lacks or has impossibly",
            stream.0
        ));
    }
    if !play.is_finished() {
        return;
    }
    for (stream, at, value) in play.chance().unused() {
        check.at(format!("round {at}"));
        let value = serde_json::to_string(value).unwrap_or_default();
        check.fault(format!(
            "recorded a draw of {stream} ({value}) that is never made"
        ));
    }
}
