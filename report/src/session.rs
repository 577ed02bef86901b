//! What tables need of one session: the relevant parts of its record, and of the
//! telemetry beside it. Hands out no score that rests mostly on forfeits.

use std::collections::BTreeMap;

use agon_engine::extent::TooLarge;
use agon_engine::measures::mean;
use agon_engine::record::{AppliedParameters, StoredRecord, check_size};
use agon_engine::versions;
use agon_engine::{Measures, Outcome, PlayerKind, PlayerSpec, Seat, SessionSpec};
use agon_outlets::line;
use serde::Deserialize;

use crate::basis::{Answers, Made, STAND_IN, SessionAnswers, Sources};

/// One finished session, as tables see it.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub session: String,
    /// Whether any answer came from a simulated model.
    pub simulated: bool,
    /// What was played.
    pub spec: SessionSpec,
    /// How it ended.
    pub outcome: Outcome,
    measures: Measures,
    decisions: usize,
    asks: u64,
    answers: SessionAnswers,
}

/// The parts of a record's line that are read.
#[derive(Deserialize)]
struct Line {
    agon_record: u32,
    session: String,
    simulated: bool,
    spec: SessionSpec,
    outcome: Outcome,
    measures: Measures,
    #[serde(default)]
    decisions: Vec<Decision>,
    #[serde(default)]
    moves: Vec<OfSeat>,
    #[serde(default)]
    notes: Vec<OfSeat>,
}

/// A move or a note.
#[derive(Deserialize)]
struct OfSeat {
    seat: Seat,
    #[serde(default)]
    note: String,
}

/// As much of a decision as tells how it was asked for and who answered.
#[derive(Deserialize)]
struct Decision {
    seat: Seat,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    answered_by: String,
    #[serde(default)]
    applied: AppliedParameters,
}

/// What one player of a session was paid.
#[derive(Debug, Clone, PartialEq)]
pub struct Paid<'a> {
    /// Its name.
    pub player: &'a str,
    /// Mean payoff of its seats; `None` where it answered too little for that to be its own.
    pub payoff: Option<f64>,
    /// What it answered.
    pub answers: Answers,
}

/// What a session cost; beside the record, never in it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Telemetry {
    /// Wall time from lease to record.
    #[serde(default)]
    pub seconds: f64,
    /// Which try it was, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// Tokens and waiting.
    #[serde(default)]
    pub usage: Usage,
}

/// Tokens and cost of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens received.
    #[serde(default)]
    pub output_tokens: u64,
    /// What its decisions cost, as far as their prices are known; `None` where nobody counted.
    #[serde(default)]
    pub cost_nanodollars: Option<u64>,
    /// Decisions of unknown price.
    #[serde(default)]
    pub unpriced_decisions: u64,
    /// Decisions whose tokens are estimates: nobody said, or what was said cannot be true.
    #[serde(default)]
    pub estimated_decisions: u64,
}

impl Usage {
    /// What is known of the cost, in nano-dollars: `None` when nothing is.
    pub fn known_cost(&self) -> Option<u64> {
        let nothing_known = self.unpriced_decisions > 0;
        self.cost_nanodollars
            .filter(|cost| *cost > 0 || !nothing_known)
    }
}

/// Why a line cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It is no record.
    #[error("not a session record")]
    Malformed(#[source] serde_json::Error),
    /// No session has so much of something.
    #[error("not a session record")]
    TooLarge(#[source] TooLarge),
    /// It was written by a newer Agon.
    #[error("the record has version {0}, this program reads up to {newest}", newest = versions::record())]
    TooNew(u32),
}

impl Session {
    /// Reads a record line.
    ///
    /// # Errors
    /// It is no record, or of a newer version.
    pub fn from_line(line: &[u8]) -> Result<Self, SessionError> {
        let line: Line = serde_json::from_slice(line).map_err(SessionError::Malformed)?;
        if line.agon_record > versions::record() {
            return Err(SessionError::TooNew(line.agon_record));
        }
        check_size(&line.spec).map_err(SessionError::TooLarge)?;
        let sources = Sources {
            spec: &line.spec,
            forfeits: &line.outcome.forfeits,
            is_simulated: line.simulated,
        };
        let stand_ins = line.notes.iter().filter(|note| note.note == STAND_IN);
        let decisions = line.decisions.iter().map(|made| Made {
            seat: made.seat,
            fallback: made.model.as_deref(),
            answered_by: &made.answered_by,
            omitted: &made.applied.omitted,
        });
        let answers = SessionAnswers::counted(
            &sources,
            line.moves.iter().map(|made| made.seat),
            stand_ins.map(|note| note.seat),
            decisions,
        );
        Ok(Self {
            session: line.session,
            simulated: line.simulated,
            spec: line.spec,
            outcome: line.outcome,
            measures: line.measures,
            decisions: line.decisions.len(),
            asks: line.moves.len() as u64,
            answers,
        })
    }

    /// The same of a record that was read whole.
    pub fn of(record: &StoredRecord) -> Self {
        Self {
            answers: SessionAnswers::of(record),
            session: record.session.to_string(),
            simulated: record.simulated,
            decisions: record.decisions.len(),
            asks: record.moves.len() as u64,
            spec: record.spec.clone(),
            outcome: record.outcome.clone(),
            measures: record.measures.clone(),
        }
    }

    /// How many answers came from outside.
    pub fn decisions(&self) -> usize {
        self.decisions
    }

    /// How many asks were answered or forfeited.
    pub fn asks(&self) -> u64 {
        self.asks
    }

    /// Who answered.
    pub fn answers(&self) -> &SessionAnswers {
        &self.answers
    }

    /// Scores by scheme; none where too little was answered.
    pub fn scores(&self) -> BTreeMap<&str, f64> {
        self.answered(&self.measures.scores)
    }

    /// What is behind the scores, in the same way.
    pub fn parts(&self) -> BTreeMap<&str, f64> {
        self.answered(&self.measures.parts)
    }

    fn answered<'a>(&self, numbers: &'a BTreeMap<String, f64>) -> BTreeMap<&'a str, f64> {
        let suffice = self.answers.all().suffice();
        let numbers = numbers.iter().filter(|_| suffice);
        numbers
            .map(|(name, number)| (name.as_str(), *number))
            .collect()
    }

    /// What must be said of its numbers, in words; empty where every answer was a player's
    /// own.
    pub fn notes(&self) -> String {
        self.answers.notes()
    }

    /// What every player was paid, in order of first seats.
    pub fn paid(&self) -> Vec<Paid<'_>> {
        let mut players: Vec<&str> = Vec::new();
        for player in &self.spec.seats {
            if !players.contains(&&*player.name) {
                players.push(&player.name);
            }
        }
        let paid = players.into_iter().map(|player| {
            let seats = self.spec.seats.iter().zip(&self.outcome.payoffs);
            let own = seats.filter(|(one, _)| one.name == player);
            let answers = self.answers.of_player(&self.spec.seats, player);
            let payoff = mean(own.map(|(_, payoff)| *payoff));
            Paid {
                player,
                payoff: answers.suffice().then_some(payoff),
                answers,
            }
        });
        paid.collect()
    }

    /// Fouls of all seats.
    pub fn fouls(&self) -> u32 {
        let seats = 0..self.outcome.fouls.len();
        let fouls = seats.map(|seat| self.outcome.fouls_of(seat));
        fouls.fold(0, u32::saturating_add)
    }

    /// Forfeited asks of all seats.
    pub fn forfeits(&self) -> u32 {
        let forfeits = self.outcome.forfeits.iter();
        forfeits.fold(0, |sum, forfeits| sum.saturating_add(*forfeits))
    }

    /// Mean payoff of a seat.
    pub fn mean_payoff(&self) -> f64 {
        mean(self.outcome.payoffs.iter().copied())
    }

    /// Who sits there, in words: `9 x subject (gpt-4o), 1 x free_rider`. Players
    /// in order of their first seat.
    pub fn players(&self) -> String {
        players_in(&self.spec.seats)
    }

    /// The seats of one player, in the same words.
    pub fn seats_of(&self, player: &str) -> String {
        let seats = self.spec.seats.iter();
        in_words(seats.filter(|seat| seat.name == player))
    }
}

/// What is independent of other sessions: the series that a session belongs to, by the id of its
/// first session, or the session itself.
pub(crate) fn cluster_of(session: &str, spec: &SessionSpec) -> String {
    if spec.luck.place == 0 {
        return session.to_owned();
    }
    let mut first = spec.clone();
    first.luck.place = 0;
    first.id().to_string()
}

/// What is independent of others, as a number.
pub(crate) fn cluster_number(session: &Session) -> u64 {
    let cluster = cluster_of(&session.session, &session.spec);
    // The first half of the digits of a digest tell as many apart as there are.
    let digits = cluster.get(..16).unwrap_or(&cluster);
    u64::from_str_radix(digits, 16).unwrap_or_default()
}

/// As [`Session::players`], of these seats.
pub(crate) fn players_in(seats: &[PlayerSpec]) -> String {
    in_words(seats.iter())
}

/// Who sits on these seats.
fn in_words<'a>(seats: impl Iterator<Item = &'a PlayerSpec>) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for player in seats {
        let model = player.settings.get("model");
        let name = match model.and_then(|model| model.as_str()) {
            Some(model) if player.kind == PlayerKind::Model && model != player.name => {
                format!("{} ({model})", player.name)
            }
            _ => player.name.clone(),
        };
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let parts = counts
        .into_iter()
        .map(|(name, count)| format!("{count} x {}", line(&name)));
    parts.collect::<Vec<_>>().join(", ")
}

impl Telemetry {
    /// Reads a telemetry line; an unreadable one counts as unknown, because a
    /// run's results do not depend on it.
    pub fn from_line(line: &[u8]) -> Self {
        serde_json::from_slice(line).unwrap_or_default()
    }
}
