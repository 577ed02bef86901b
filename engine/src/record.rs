//! The session record: what is kept for ever, and nothing that depends on
//! timing, machines or who was faster (`docs/record.md` holds its JSON Schema).

use std::collections::BTreeMap;
use std::io::Write;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize};

use crate::ask::{Foul, FoulKind, Seat};
use crate::chance::Draw;
use crate::event::{Event, check_finite};
use crate::extent::{self, TooLarge};
use crate::measures::Measures;
use crate::moves::Move;
use crate::outside::{OutsideReply, RecordedReply};
use crate::play::{Play, Played};
use crate::registry;
use crate::series::Carried;
use crate::spec::{SessionId, SessionSpec};
use crate::versions;

mod brief;
mod handover;
mod known;

pub use self::known::Whose;
pub use crate::versions::RECORD_VERSION;

/// The first version; it has no `model` of decisions.
pub const FIRST_VERSION: u32 = 1;

/// The version with `model` of decisions; it knows no series.
const FALLBACK_VERSION: u32 = 2;

/// The version with series; it does not say with which parameters decisions were made, nor
/// where models are.
const SERIES_VERSION: u32 = 3;

/// The version with parameters and origins; it knows no probabilities of tokens, and nothing that
/// a configuration adds to requests.
const PARAMETERS_VERSION: u32 = 4;

/// The version with probabilities; it knows no games that are played elsewhere.
const PROBABILITIES_VERSION: u32 = 5;

/// What records call the wish to know how likely tokens were.
const LOGPROBS: &str = "logprobs";

/// A finished session; `M` is what its moves are, as made by this program or as read back, `D` what
/// its decisions are, `S` its spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<M = Move, D = RecordedDecision, S = SessionSpec> {
    /// Version of its form, [`RECORD_VERSION`] at most.
    pub agon_record: u32,
    /// Id of the spec.
    pub session: SessionId,
    /// Whether any answer came from a simulated model.
    #[serde(default)]
    pub simulated: bool,
    /// What was played.
    pub spec: S,
    /// What its players took along from the session before it in its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// How it ended.
    pub outcome: Outcome,
    /// Scores, their parts, and series per round.
    pub measures: Measures,
    /// Every answered ask, by turn and seat.
    pub moves: Vec<M>,
    /// Every event, with what was hidden.
    pub events: Vec<Event>,
    /// What a game that is played elsewhere said, reply by reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<RecordedReply>,
    /// Every draw of chance; not read back, since they follow from the rest.
    #[serde(skip_deserializing)]
    pub draws: Vec<Draw>,
    /// Every answer from outside, by seat and index.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<D>,
    /// What agents concluded, by seat and order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<SeatNote>,
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Payoff of each seat.
    pub payoffs: Vec<f64>,
    /// Fouls of each seat by class; empty maps where there were none.
    pub fouls: Vec<BTreeMap<FoulKind, u32>>,
    /// Asks that each seat forfeited.
    pub forfeits: Vec<u32>,
}

impl Outcome {
    /// Fouls of a seat, of all classes; none of a seat that there is not.
    pub fn fouls_of(&self, seat: Seat) -> u32 {
        let classes = self.fouls.get(seat).into_iter().flat_map(BTreeMap::values);
        classes.fold(0, |sum, fouls| sum.saturating_add(*fouls))
    }
}

/// One answer from outside, under its decision address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// Which seat asked.
    pub seat: Seat,
    /// Position among the seat's decisions, from 0.
    pub index: u32,
    /// What the call was for ("act").
    pub purpose: String,
    /// Digest of the request, as the gateway computed it.
    pub request: String,
    /// The configured model that answered, when it was not the player's own but one of its
    /// fall-backs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that says it answered.
    pub answered_by: String,
    /// Why the reply ended ("stop", "length").
    pub finish_reason: String,
    /// The raw reply.
    pub reply: String,
    /// What the model thought before it answered, where its provider shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The parameters that the provider was really sent; absent for answers of people and in
    /// older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedParameters>,
    /// How likely the tokens of the reply were, in their order, where that was asked for and the
    /// provider says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<TokenLogprob>,
    /// Whether it came from a simulated server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// A token, and the logarithm of its probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token.
    pub token: String,
    /// The logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens in its place, which have none of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TokenLogprob>,
}

/// The parameters of a call as they were sent, after everything that the model does not take
/// was left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AppliedParameters {
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Seed of the sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_seed: Option<u64>,
    /// The most tokens to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// How the form of the reply was enforced: `json_schema`, `json_object`, `tool` or
    /// `offered_tool`; empty when it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reply_format: String,
    /// How long to think, as the provider was told; empty when it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning_effort: String,
    /// Whether stop sequences were sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_sequences: bool,
    /// How many likely tokens were asked for with each token of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<u32>,
    /// What was asked for and was not sent: `temperature`, `top_p`, `sampling_seed`,
    /// `reply_format`, `reasoning_effort`, `stop_sequences`, `logprobs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
}

/// What an agent concluded, typed by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatNote {
    /// Whose note.
    pub seat: Seat,
    /// The turn in which it was made, from 1.
    pub turn: u32,
    /// What it is ("belief", "plan", "prediction").
    pub note: String,
    /// Its content.
    pub body: serde_json::Value,
}

impl Record {
    /// The record of a finished play. `decisions` and `notes` come in any order
    /// and are put in theirs.
    pub fn new(
        spec: SessionSpec,
        play: Play,
        mut decisions: Vec<RecordedDecision>,
        mut notes: Vec<SeatNote>,
    ) -> Self {
        decisions.sort_by_key(|decision| (decision.seat, decision.index));
        // Stable: notes of one seat and turn stay in the order they were made.
        notes.sort_by_key(|note| (note.seat, note.turn));
        let (outcome, measures) = (outcome(&play), play.measures());
        let Played {
            moves,
            events,
            replies,
            draws,
        } = play.into_played();
        Self {
            agon_record: version_of(&spec, &decisions),
            session: spec.id(),
            simulated: decisions.iter().any(|decision| decision.simulated),
            outcome,
            measures,
            moves,
            events,
            replies,
            draws,
            decisions,
            notes,
            spec,
            carried: None,
        }
    }

    /// The same record of players who took something along.
    #[must_use]
    pub fn with_carried(self, carried: Option<Carried>) -> Self {
        Self { carried, ..self }
    }

    /// The record as one line of JSON, without the line break.
    ///
    /// # Errors
    /// A number that JSON cannot hold (not finite) got into it.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        // About the length of a line; growing step by step costs a tenth, and a long one twice its memory.
        let said = self.decisions.iter();
        let said = said.map(|decision| 512 + decision.reply.len() + decision.reasoning.len());
        let said: usize = said.sum();
        let length = 2048 + 64 * self.moves.len() + 384 * self.events.len() + said + said / 16;
        let mut line = Vec::with_capacity(length);
        self.write(&mut line)?;
        String::from_utf8(line).map_err(serde_json::Error::custom)
    }

    /// Writes the same line.
    ///
    /// # Errors
    /// As [`Record::to_line`], or of the writer.
    pub fn write(&self, out: impl Write) -> Result<(), serde_json::Error> {
        let Measures {
            scores,
            parts,
            series,
        } = &self.measures;
        let measured = scores.values().chain(parts.values());
        let measured = measured.chain(series.values().flatten());
        check_finite::<serde_json::Error>(measured.chain(&self.outcome.payoffs))?;
        serde_json::to_writer(out, self)
    }
}

/// The oldest version that has everything that this spec and these decisions have.
fn version_of(spec: &SessionSpec, decisions: &[RecordedDecision]) -> u32 {
    let says_how =
        |decision: &RecordedDecision| decision.applied.is_some() || !decision.reasoning.is_empty();
    let has_logprobs = |decision: &RecordedDecision| {
        let applied = decision.applied.as_ref();
        let is_about = |applied: &AppliedParameters| {
            applied.logprobs.is_some() || applied.omitted.iter().any(|name| name == LOGPROBS)
        };
        !decision.logprobs.is_empty() || applied.is_some_and(is_about)
    };
    let mut origins = spec.origins.values();
    let has_additions = origins.any(|origin| !origin.additions.is_empty());
    if spec.outside.is_some() {
        RECORD_VERSION
    } else if has_additions || decisions.iter().any(has_logprobs) {
        PROBABILITIES_VERSION
    } else if !spec.origins.is_empty() || decisions.iter().any(says_how) {
        PARAMETERS_VERSION
    } else if spec.luck.place > 0 {
        SERIES_VERSION
    } else if decisions.iter().any(|decision| decision.model.is_some()) {
        FALLBACK_VERSION
    } else {
        FIRST_VERSION
    }
}

fn outcome(play: &Play) -> Outcome {
    let seats = play.game().seats();
    let mut fouls = vec![BTreeMap::new(); seats];
    let mut forfeits = vec![0; seats];
    for made in play.moves() {
        for foul in &made.fouls {
            *fouls[made.seat].entry(foul.kind).or_insert(0) += 1;
        }
        forfeits[made.seat] += u32::from(made.forfeited);
    }
    Outcome {
        payoffs: play.payoffs(),
        fouls,
        forfeits,
    }
}

/// A record that was read back.
pub type StoredRecord = Record<StoredMove>;

/// One answered ask, read back. Its action is JSON that the ask's form reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredMove {
    /// Which set of simultaneous asks it belongs to, from 1.
    pub turn: u32,
    /// Who moved.
    pub seat: Seat,
    /// What was asked.
    pub ask: String,
    /// The answer that counted; null for a pass, and for a forfeit.
    #[serde(default)]
    pub action: serde_json::Value,
    /// Whether the ask was forfeited.
    #[serde(default)]
    pub forfeited: bool,
    /// Refused answers before it, oldest first.
    #[serde(default)]
    pub fouls: Vec<Foul>,
}

/// Why a line is not a session record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is not JSON, or lacks a part.
    #[error("not a session record")]
    Malformed(#[source] serde_json::Error),
    /// Its session has no id.
    #[error("\"{0}\" is no id of a session: that has 32 hexadecimal digits")]
    NoId(String),
    /// No session has so much of something.
    #[error("not a session record")]
    TooLarge(#[source] TooLarge),
    /// Its parts do not fit each other, as those of every session do.
    #[error("not the record of a session: {0}")]
    Impossible(String),
    /// It was written by a newer Agon.
    #[error(
        "the record has version {found}, this program reads up to {}",
        versions::record()
    )]
    TooNew {
        /// Version found.
        found: u32,
    },
}

impl RecordError {
    /// Why a line is none that cannot be read. A newer form may have other parts; that it is newer is
    /// what matters.
    fn of(line: &str, error: serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Version {
            agon_record: u32,
        }
        let version = serde_json::from_str(line);
        let checked = version.map_or(Ok(()), |Version { agon_record }| check_version(agon_record));
        checked.err().unwrap_or(Self::Malformed(error))
    }
}

/// Most seats of any game.
const MOST_SEATS: u64 = 1_000;

/// Most axes of a setting: those of a grid and of its rows are far fewer.
const MOST_AXES: u64 = 1_000;

/// Refuses specs that no experiment has: what is told of a record grows faster than its seats.
///
/// # Errors
/// Too many seats or axes.
pub fn check_size(spec: &SessionSpec) -> Result<(), TooLarge> {
    extent::check("seats", spec.seats.len() as u64, MOST_SEATS)?;
    extent::check("axes", spec.setting.len() as u64, MOST_AXES)
}

/// Whether this program reads a version.
fn check_version(found: u32) -> Result<(), RecordError> {
    if found > versions::record() {
        return Err(RecordError::TooNew { found });
    }
    Ok(())
}

impl<S> Record<StoredMove, RecordedDecision, S> {
    /// Checks what holds for every session and what readers of records rely on; what was played is
    /// given apart.
    fn check(&self, spec: &SessionSpec) -> Result<(), RecordError> {
        check_version(self.agon_record)?;
        check_size(spec).map_err(RecordError::TooLarge)?;
        self.check_shape(spec).map_err(RecordError::Impossible)?;
        match self.session.is_whole() {
            true => Ok(()),
            false => Err(RecordError::NoId(self.session.to_string())),
        }
    }

    /// Checks that its seats exist and have one result each, and that turns have no gaps.
    fn check_shape(&self, spec: &SessionSpec) -> Result<(), String> {
        let seats = spec.seats.len();
        if spec.outside.is_some() && registry::find(&spec.game).is_ok() {
            return Err(format!("{} is not played elsewhere", spec.game));
        }
        let outcome = &self.outcome;
        let results = [
            ("payoffs", outcome.payoffs.len()),
            ("fouls", outcome.fouls.len()),
            ("forfeits", outcome.forfeits.len()),
        ];
        if let Some((what, found)) = results.iter().find(|(_, found)| *found != seats) {
            return Err(format!("{what} of {found} seats, and the spec has {seats}"));
        }
        let moved = self.moves.iter().map(|made| made.seat);
        let decided = self.decisions.iter().map(|decision| decision.seat);
        let noted = self.notes.iter().map(|note| note.seat);
        if let Some(seat) = moved
            .chain(decided)
            .chain(noted)
            .find(|seat| *seat >= seats)
        {
            return Err(format!("there is no seat {seat}, the spec has {seats}"));
        }
        let mut turn = 0;
        for made in &self.moves {
            if made.turn != turn && made.turn != turn.saturating_add(1) {
                return Err(format!("turn {} comes after turn {turn}", made.turn));
            }
            turn = made.turn;
        }
        // A round leaves an event or a move.
        let most = self.events.len() + self.moves.len();
        let late = self.events.iter().find(|event| event.round as usize > most);
        late.map_or(Ok(()), |event| {
            Err(format!("an event of round {} among {most}", event.round))
        })
    }
}

impl StoredRecord {
    /// What a game that is played elsewhere said, each reply with the turn that it followed.
    ///
    /// # Errors
    /// The record has other events than the replies brought.
    pub fn said(&self) -> Result<Vec<(u32, OutsideReply)>, String> {
        if self.spec.outside.is_none() {
            return Ok(Vec::new());
        }
        let (events, measures) = (self.events.clone(), self.measures.clone());
        RecordedReply::said(self.replies.clone(), events, measures)
    }

    /// Reads one line of a record file.
    ///
    /// # Errors
    /// The line is no record, or of a newer version.
    pub fn from_line(line: &str) -> Result<Self, RecordError> {
        serde_json::from_str::<Self>(line)
            .map_err(|error| RecordError::of(line, error))?
            .checked()
    }

    fn checked(self) -> Result<Self, RecordError> {
        self.check(&self.spec)?;
        Ok(self)
    }
}
