//! Observations: one long table of numbers, each with what it is of. The reports read it and
//! nothing else; their `reading.rs` writes it. Only the rows of one session are in memory, and
//! their words are borrowed from its record. `grouping.rs` folds them into sums; exports write
//! every row.

use std::collections::BTreeMap;

use agon_engine::record::StoredRecord;
use agon_engine::{Luck, Seat, SessionId};
use serde::Serialize;
use serde_json::Value as Json;

use crate::axes::axes;
use crate::basis::SessionAnswers;

/// Measures that are counted whoever answered: what the session was, who sat in it, what was
/// sold, and what went wrong. Every other measure is left out of means where the player gave too
/// few of its answers itself.
const COUNTED_ALWAYS: [&str; 23] = [
    "asks",
    "fouls",
    "forfeits",
    "rounds",
    "is_survival_auction",
    "history_shown",
    "runs",
    "supply_min",
    "supply_max",
    "void_rounds",
    "sat",
    "rule_breaking",
    "failed_bids",
    "correct_actions",
    "overbids",
    "place",
    "put_up",
    "sold_for",
    "out_for",
    "plans_left_out",
    "profiles_left_out",
    "mark_spread",
    "judges",
];

/// One number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// What it measures; `docs/measures.md` says how.
    pub measure: &'a str,
    /// What it is of.
    pub at: At<'a>,
    /// The number, in the unit of the measure.
    pub value: f64,
    /// Whether more than half of the answers behind it were forfeited or given by a stand-in.
    pub forfeited: bool,
}

/// What an observation is of; nothing of what does not apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct At<'a> {
    /// Whose it is; `None` of the whole session.
    pub seat: Option<Seat>,
    /// The other seat that it is about.
    pub about: Option<Seat>,
    /// Round, run or day as the game counts them, or how many items were over.
    pub round: Option<u32>,
    /// What was sold or rated.
    pub item: Option<&'a str>,
    /// Starting price of the item.
    pub price: Option<i64>,
    /// Place of the item in the order of sale, from 0.
    pub lot: Option<u32>,
    /// A word that it belongs to: what the seat is out for, or what it chose.
    pub category: Option<&'a str>,
}

/// One row of the table with all its columns, for exports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObservationRow<'a> {
    /// Name of the experiment.
    pub experiment: &'a str,
    /// Axes of the setting with their values, the label among them.
    pub axes: BTreeMap<&'a str, &'a Json>,
    /// Seed, repeat and place in a series: sessions of the same luck can be compared in pairs.
    #[serde(flatten)]
    pub luck: Luck,
    /// Id of the session.
    pub session: SessionId,
    /// Registered name of the game.
    pub game: &'a str,
    /// Name of the player; `None` of the whole session.
    pub player: Option<&'a str>,
    /// What it is of.
    #[serde(flatten)]
    pub at: At<'a>,
    /// What it measures.
    pub measure: &'a str,
    /// The number.
    pub value: f64,
    /// Whether any answer of the session came from a simulated model.
    pub simulated: bool,
    /// Whether more than half of the answers behind it were forfeited or given by a stand-in.
    pub forfeited: bool,
    /// Whether players were asked with other prompts than those that come with the program.
    pub unpublished: bool,
}

/// The observations of one session.
#[derive(Debug, Clone)]
pub struct SessionObservations<'a> {
    /// The session.
    pub record: &'a StoredRecord,
    /// Who answered in it.
    pub answers: SessionAnswers,
    /// By seat, whether its player answered enough to be measured.
    measured: Vec<bool>,
    /// Words that the report derives from the record, such as the method of a player.
    facts: BTreeMap<&'static str, String>,
    observations: Vec<Observation<'a>>,
}

impl<'a> At<'a> {
    /// Of a seat.
    pub fn seat(seat: Seat) -> Self {
        Self {
            seat: Some(seat),
            ..Self::default()
        }
    }

    /// The same in a round.
    pub fn round(self, round: u32) -> Self {
        let round = Some(round);
        Self { round, ..self }
    }

    /// The same about another seat.
    pub fn about(self, seat: Seat) -> Self {
        let about = Some(seat);
        Self { about, ..self }
    }

    /// The same of an item.
    pub fn item(self, name: &'a str, price: Option<i64>) -> Self {
        let item = Some(name);
        Self {
            item,
            price,
            ..self
        }
    }

    /// The same in a category.
    pub fn category(self, category: Option<&'a str>) -> Self {
        Self { category, ..self }
    }
}

impl Observation<'_> {
    /// Whether means take it in.
    pub(crate) fn counts(&self) -> bool {
        !self.forfeited || COUNTED_ALWAYS.contains(&self.measure)
    }
}

impl<'a> SessionObservations<'a> {
    /// No observation of this session yet.
    pub fn of(record: &'a StoredRecord) -> Self {
        let answers = SessionAnswers::of(record);
        Self {
            measured: answers.measured_seats(&record.spec.seats),
            record,
            answers,
            facts: BTreeMap::new(),
            observations: Vec::new(),
        }
    }

    /// Adds a number where there is one.
    pub fn push(&mut self, at: At<'a>, measure: &'a str, value: impl Into<Option<f64>>) {
        let suffices = match at.seat {
            Some(seat) => self.is_measured(seat),
            None => self.answers.all().suffice(),
        };
        self.observations
            .extend(value.into().map(|value| Observation {
                measure,
                at,
                value,
                forfeited: !suffices,
            }));
    }

    /// Adds numbers of a seat that the game wrote down at its end, under the names that it gave
    /// them.
    pub fn push_series(&mut self, at: At<'a>, measures: &[&'a str]) {
        for measure in measures {
            let number = at.seat.and_then(|seat| self.number(measure, seat));
            self.push(at, measure, number);
        }
    }

    /// Keeps a word that the report derives from the record.
    pub fn note(&mut self, fact: &'static str, word: String) {
        self.facts.insert(fact, word);
    }

    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Observation<'a>> {
        self.observations.iter()
    }

    /// The same with all columns.
    pub fn rows(&self) -> impl Iterator<Item = ObservationRow<'_>> {
        let spec = &self.record.spec;
        self.observations.iter().map(|one| ObservationRow {
            experiment: &spec.experiment,
            axes: axes(spec).map(|(axis, value)| (&**axis, value)).collect(),
            luck: spec.luck,
            session: self.record.session.clone(),
            game: &spec.game,
            player: one.at.seat.and_then(|seat| self.player(seat)),
            at: one.at,
            measure: one.measure,
            value: one.value,
            simulated: self.record.simulated,
            forfeited: one.forfeited,
            unpublished: spec.prompt_bundle.is_some(),
        })
    }

    /// The words that the report derived from the record.
    pub(crate) fn facts(&self) -> &BTreeMap<&'static str, String> {
        &self.facts
    }

    /// How many seats there are.
    pub(crate) fn seats(&self) -> usize {
        self.record.spec.seats.len()
    }

    /// The name of the player in a seat.
    pub(crate) fn player(&self, seat: Seat) -> Option<&'a str> {
        self.record.spec.seats.get(seat).map(|one| &*one.name)
    }

    /// Whether the player of a seat answered enough to be measured.
    pub(crate) fn is_measured(&self, seat: Seat) -> bool {
        self.measured.get(seat).copied().unwrap_or(false)
    }

    /// A number of a seat that the game wrote down at its end.
    pub(crate) fn number(&self, series: &str, seat: Seat) -> Option<f64> {
        self.series(series).get(seat).copied()
    }

    /// Numbers that the game wrote down at its end; none of another name.
    pub(crate) fn series(&self, name: &str) -> &'a [f64] {
        let series = self.record.measures.series.get(name);
        series.map(Vec::as_slice).unwrap_or_default()
    }

    /// The same of a series that has entries for some seats only, listed beside it.
    pub(crate) fn number_listed(&self, series: &str, seats: &str, seat: Seat) -> Option<f64> {
        let mut entries = self.series(seats).iter().zip(self.series(series));
        let entry = entries.find(|(of, _)| **of == seat as f64);
        entry.map(|(_, number)| *number)
    }

    /// Whether a seat bid more than its balance on a day.
    pub(crate) fn is_overbid(&self, day: u32, seat: Seat) -> bool {
        let all = self.series("overbid_days").iter();
        let mut all = all.zip(self.series("overbid_seats"));
        all.any(|(on, by)| *on == f64::from(day) && *by == seat as f64)
    }

    /// A number of the session that the game wrote down at its end.
    pub(crate) fn part(&self, name: &str) -> Option<f64> {
        self.record.measures.parts.get(name).copied()
    }

    /// A parameter that is a whole number.
    pub(crate) fn parameter(&self, name: &str) -> Option<u32> {
        let number = self.record.spec.params.get(name)?.as_u64()?;
        u32::try_from(number).ok()
    }

    /// A number that was added before.
    pub(crate) fn value(&self, at: At<'_>, measure: &str) -> Option<f64> {
        let mut all = self.observations.iter();
        let found = all.find(|one| one.measure == measure && one.at == at);
        found.map(|one| one.value)
    }
}

#[cfg(test)]
mod tests;
