//! Who answered the asks of one session, and how the models that did were called: counted once
//! from its record. Decides what is too little. Called by `basis.rs`, by sessions and by what
//! reads records for reports.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::record::StoredRecord;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec, Seat, SessionSpec};
use serde::Serialize;

use super::Basis;
use super::notes::Note;

/// The note that an agent leaves for every answer that a stand-in gave in a person's place.
pub(crate) const STAND_IN: &str = "stand_in";

/// Of two answers, at least one must be a player's own: where more than half were forfeited or
/// given by a stand-in, a number tells what the rules of the game do rather than what the
/// player does.
const LARGEST_SHARE: f64 = 0.5;

/// Why nothing is measured in a session.
const NOT_MEASURED: &str = "not measured: more than half of the answers were forfeited or given \
    by a stand-in";

/// The settings of players that a provider may refuse, by what records call them.
const SETTINGS: [(&str, &str); 6] = [
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("reasoning_effort", "reasoning_effort"),
    ("stop_sequences", "stop_sequences"),
    ("logprobs", "logprobs"),
    ("reply_format", "reply"),
];

/// The asks that some seats of one session were asked, who answered them, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// Asks that were answered or forfeited.
    pub asks: u64,
    /// Those that were forfeited: the rules of the game took the place of an answer.
    pub forfeited: u64,
    /// Those that a stand-in answered for a person whose time was up.
    pub by_stand_in: u64,
    /// Settings of the players that were left out of calls, because a provider does not take
    /// them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_sent: BTreeSet<String>,
    /// Where the answers of models came from, by the names that the players use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, BTreeSet<String>>,
}

impl Answers {
    /// Takes in other answers.
    pub(super) fn add(&mut self, other: &Self) {
        self.asks += other.asks;
        self.forfeited += other.forfeited;
        self.by_stand_in += other.by_stand_in;
        self.not_sent.extend(other.not_sent.iter().cloned());
        for (model, origins) in &other.origins {
            let known = self.origins.entry(model.clone()).or_default();
            known.extend(origins.iter().cloned());
        }
    }

    /// Of how many places the answers of one model are.
    pub(super) fn places(&self) -> usize {
        let places = self.origins.values().map(BTreeSet::len);
        places.max().unwrap_or(0)
    }

    /// Share of the asks that the player itself did not answer, from 0 to 1.
    pub fn unanswered(&self) -> f64 {
        let unanswered = (self.forfeited + self.by_stand_in).min(self.asks);
        unanswered as f64 / self.asks.max(1) as f64
    }

    /// Whether enough was answered for anything to be measured.
    pub fn suffice(&self) -> bool {
        self.unanswered() <= LARGEST_SHARE
    }
}

/// Who answered in one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionAnswers {
    seats: Vec<Answers>,
    /// Of the whole session.
    all: Answers,
    is_simulated: bool,
}

/// The parts of a record that tell who answered.
pub(crate) struct Sources<'a> {
    pub spec: &'a SessionSpec,
    pub forfeits: &'a [u32],
    pub is_simulated: bool,
}

impl SessionAnswers {
    /// Of a record.
    pub fn of(record: &StoredRecord) -> Self {
        let sources = Sources {
            spec: &record.spec,
            forfeits: &record.outcome.forfeits,
            is_simulated: record.simulated,
        };
        let stand_ins = record.notes.iter().filter(|note| note.note == STAND_IN);
        let omitted = record.decisions.iter().filter_map(|decision| {
            let applied = decision.applied.as_ref()?;
            Some((decision.seat, applied.omitted.as_slice()))
        });
        Self::counted(
            &sources,
            record.moves.iter().map(|made| made.seat),
            stand_ins.map(|note| note.seat),
            omitted,
        )
    }

    /// Of the seats that were asked, those that a stand-in answered for, once each time, and
    /// what was left out of the calls of some.
    pub(crate) fn counted<'a>(
        sources: &Sources<'_>,
        asked: impl Iterator<Item = Seat>,
        by_stand_in: impl Iterator<Item = Seat>,
        omitted: impl Iterator<Item = (Seat, &'a [String])>,
    ) -> Self {
        let players = &sources.spec.seats;
        let mut seats: Vec<Answers> = players.iter().map(|_| Answers::default()).collect();
        for (answers, forfeited) in seats.iter_mut().zip(sources.forfeits) {
            answers.forfeited = u64::from(*forfeited);
        }
        for seat in asked {
            if let Some(answers) = seats.get_mut(seat) {
                answers.asks += 1;
            }
        }
        for seat in by_stand_in {
            if let Some(answers) = seats.get_mut(seat) {
                answers.by_stand_in += 1;
            }
        }
        for (seat, parameters) in omitted {
            if let (Some(answers), Some(player)) = (seats.get_mut(seat), players.get(seat)) {
                answers
                    .not_sent
                    .extend(asked_for(&player.settings, parameters));
            }
        }
        for (answers, player) in seats.iter_mut().zip(players) {
            let model = player
                .settings
                .get("model")
                .and_then(|model| model.as_str());
            if let Some((model, origin)) =
                model.and_then(|model| sources.spec.origins.get_key_value(model))
            {
                let origins = BTreeSet::from([origin.to_string()]);
                answers.origins.insert(model.clone(), origins);
            }
        }
        Self {
            all: whole(players, &seats),
            is_simulated: sources.is_simulated,
            seats,
        }
    }

    /// Asks of all seats that a stand-in answered.
    pub fn by_stand_in(&self) -> u64 {
        self.seats.iter().map(|seat| seat.by_stand_in).sum()
    }

    /// Of the whole session, rule players left out where they answered more than the others.
    pub fn all(&self) -> &Answers {
        &self.all
    }

    /// Whether any answer came from a simulated model.
    pub(super) fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    /// What must be said of the numbers of this session alone, in words; empty where every
    /// answer was a player's own.
    pub(crate) fn notes(&self) -> String {
        let mut basis = Basis::default();
        basis.add(self, &self.all);
        let notes = basis.notes().into_iter().map(|note| match note {
            Note::LeftOut { .. } => NOT_MEASURED.to_owned(),
            note => note.in_words(),
        });
        notes.collect::<Vec<_>>().join(", ")
    }

    /// Which seats' players answered enough for anything of theirs to be measured.
    pub(crate) fn measured_seats(&self, seats: &[PlayerSpec]) -> Vec<bool> {
        let seats_of = |player: &PlayerSpec| self.of_player(seats, &player.name);
        seats
            .iter()
            .map(|player| seats_of(player).suffice())
            .collect()
    }

    /// Of one seat; nothing of a seat that there is not.
    pub fn of_seat(&self, seat: Seat) -> Answers {
        self.seats.get(seat).cloned().unwrap_or_default()
    }

    /// Of all seats of one name.
    pub fn of_player(&self, seats: &[PlayerSpec], name: &str) -> Answers {
        let own = seats.iter().zip(&self.seats);
        sum(own.filter(|(player, _)| player.name == name))
    }
}

/// All seats together, or those of rules left out, whichever answered less: nine rules that
/// always answer do not hide a model that never does.
fn whole(players: &[PlayerSpec], answers: &[Answers]) -> Answers {
    let all = sum(players.iter().zip(answers));
    let others = players.iter().zip(answers);
    let others = sum(others.filter(|(player, _)| player.kind != PlayerKind::Rule));
    if others.unanswered() > all.unanswered() {
        others
    } else {
        all
    }
}

/// The settings of a player among parameters that were left out: only what was asked for is
/// missed.
fn asked_for<'a>(
    settings: &'a Settings,
    parameters: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    let omitted = SETTINGS.iter().filter(|(parameter, setting)| {
        parameters.iter().any(|one| one == parameter) && settings.contains_key(*setting)
    });
    omitted.map(|(_, setting)| (*setting).to_owned())
}

fn sum<'a>(seats: impl Iterator<Item = (&'a PlayerSpec, &'a Answers)>) -> Answers {
    let mut sum = Answers::default();
    for (_, answers) in seats {
        sum.add(answers);
    }
    sum
}
