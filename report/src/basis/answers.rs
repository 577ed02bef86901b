//! Who answered the asks of one session, and how the models that did were called: counted once
//! from its record. Decides what is too little. Called by `basis.rs`, by sessions and by what
//! reads records for reports.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::record::StoredRecord;
use agon_engine::spec::{Origin, Settings};
use agon_engine::{PlayerKind, PlayerSpec, Seat, SessionSpec};
use serde::{Serialize, Serializer};

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

/// Where people and other programs are asked, among the kinds of providers.
const DOOR: &str = "door";

type Origins = BTreeMap<String, Origin>;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Of all these seats.
    all: Asks,
    /// Of those among them that rule players sit on.
    by_rules: Asks,
    /// Calls to models, and those of them that a fall-back answered, by its name.
    decisions: u64,
    by_fallback: BTreeMap<String, u64>,
    /// What models called themselves, by the names that the players use.
    called: BTreeMap<String, BTreeSet<String>>,
    /// Settings of the players that were left out of calls, because a provider does not take
    /// them.
    pub(super) not_sent: BTreeSet<String>,
    /// Where the answers of models came from, by the names that the players use.
    origins: BTreeMap<String, BTreeSet<String>>,
}

/// Asks, and who answered them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asks {
    /// Asks that were answered or forfeited.
    pub asks: u64,
    /// Those that were forfeited: the rules of the game took the place of an answer.
    pub forfeited: u64,
    /// Those that a stand-in answered for a person whose time was up.
    pub by_stand_in: u64,
}

impl Asks {
    fn add(&mut self, other: Self) {
        self.asks += other.asks;
        self.forfeited += other.forfeited;
        self.by_stand_in += other.by_stand_in;
    }

    fn without(self, part: Self) -> Self {
        Self {
            asks: self.asks - part.asks,
            forfeited: self.forfeited - part.forfeited,
            by_stand_in: self.by_stand_in - part.by_stand_in,
        }
    }

    /// From 0 to 1.
    fn unanswered(self) -> f64 {
        let unanswered = (self.forfeited + self.by_stand_in).min(self.asks);
        unanswered as f64 / self.asks.max(1) as f64
    }
}

impl Serialize for Answers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// As documented in `docs/measures.md`.
        #[derive(Serialize)]
        struct Shown<'a> {
            asks: u64,
            forfeited: u64,
            by_stand_in: u64,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            by_fallback: &'a BTreeMap<String, u64>,
            #[serde(skip_serializing_if = "BTreeSet::is_empty")]
            not_sent: &'a BTreeSet<String>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            origins: &'a BTreeMap<String, BTreeSet<String>>,
        }
        let asks = self.asks();
        let shown = Shown {
            asks: asks.asks,
            forfeited: asks.forfeited,
            by_stand_in: asks.by_stand_in,
            by_fallback: &self.by_fallback,
            not_sent: &self.not_sent,
            origins: &self.origins,
        };
        shown.serialize(serializer)
    }
}

impl Answers {
    /// Takes in other answers.
    pub(crate) fn add(&mut self, other: &Self) {
        self.all.add(other.all);
        self.by_rules.add(other.by_rules);
        self.decisions += other.decisions;
        for (model, answered) in &other.by_fallback {
            *self.by_fallback.entry(model.clone()).or_default() += answered;
        }
        self.not_sent.extend(other.not_sent.iter().cloned());
        add_all(&mut self.called, &other.called);
        add_all(&mut self.origins, &other.origins);
    }

    /// The asks that count: of all seats, or without those of rule players, whichever were
    /// answered less. Nine rules that always answer do not hide a model that never does.
    pub fn asks(&self) -> Asks {
        match self.is_without_rules() {
            true => self.all.without(self.by_rules),
            false => self.all,
        }
    }

    /// Whether the asks of rule players do not count.
    pub(crate) fn is_without_rules(&self) -> bool {
        self.all.without(self.by_rules).unanswered() > self.all.unanswered()
    }

    /// Of how many places the answers of one model are.
    pub(super) fn places(&self) -> usize {
        most(&self.origins)
    }

    /// By how many names one model answered.
    pub(super) fn names(&self) -> usize {
        most(&self.called)
    }

    /// Which fall-backs answered how many calls, and how many calls there were.
    pub(super) fn by_fallback(&self) -> (&BTreeMap<String, u64>, u64) {
        (&self.by_fallback, self.decisions)
    }

    /// Share of the asks that the player itself did not answer, from 0 to 1.
    pub fn unanswered(&self) -> f64 {
        self.asks().unanswered()
    }

    /// Whether enough was answered for anything to be measured.
    pub fn suffice(&self) -> bool {
        self.unanswered() <= LARGEST_SHARE
    }
}

/// A call to a model or to somebody at a door.
pub(crate) struct Made<'a> {
    pub seat: Seat,
    /// The model that answered in place of the player's own.
    pub fallback: Option<&'a str>,
    /// What answered calls itself.
    pub answered_by: &'a str,
    /// Parameters that were left out.
    pub omitted: &'a [String],
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
        let decisions = record.decisions.iter().map(|made| Made {
            seat: made.seat,
            fallback: made.model.as_deref(),
            answered_by: &made.answered_by,
            omitted: made
                .applied
                .as_ref()
                .map_or(&[], |applied| &applied.omitted),
        });
        Self::counted(
            &sources,
            record.moves.iter().map(|made| made.seat),
            stand_ins.map(|note| note.seat),
            decisions,
        )
    }

    /// Of the seats that were asked, those that a stand-in answered for, once each time, and
    /// the calls that some made.
    pub(crate) fn counted<'a>(
        sources: &Sources<'_>,
        asked: impl Iterator<Item = Seat>,
        by_stand_in: impl Iterator<Item = Seat>,
        decisions: impl Iterator<Item = Made<'a>>,
    ) -> Self {
        let players = &sources.spec.seats;
        let mut seats: Vec<Answers> = players.iter().map(|_| Answers::default()).collect();
        for (answers, forfeited) in seats.iter_mut().zip(sources.forfeits) {
            answers.all.forfeited = u64::from(*forfeited);
        }
        for seat in asked {
            if let Some(answers) = seats.get_mut(seat) {
                answers.all.asks += 1;
            }
        }
        for seat in by_stand_in {
            if let Some(answers) = seats.get_mut(seat) {
                answers.all.by_stand_in += 1;
            }
        }
        for made in decisions {
            if let (Some(answers), Some(player)) =
                (seats.get_mut(made.seat), players.get(made.seat))
            {
                answers.take_in(&made, player, &sources.spec.origins);
            }
        }
        for (answers, player) in seats.iter_mut().zip(players) {
            if player.kind == PlayerKind::Rule {
                answers.by_rules = answers.all;
            }
            if let Some((model, origin)) =
                model_of(player).and_then(|model| sources.spec.origins.get_key_value(model))
            {
                let origins = BTreeSet::from([origin.to_string()]);
                answers.origins.insert(model.clone(), origins);
            }
        }
        Self {
            all: sum(seats.iter()),
            is_simulated: sources.is_simulated,
            seats,
        }
    }

    /// Asks of all seats that a stand-in answered.
    pub fn by_stand_in(&self) -> u64 {
        self.all.all.by_stand_in
    }

    /// Of the whole session.
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
        basis.add_answers(self, &self.all);
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
        let own = own.filter(|(player, _)| player.name == name);
        sum(own.map(|(_, answers)| answers))
    }
}

impl Answers {
    /// Takes in a call of a player.
    fn take_in(&mut self, made: &Made<'_>, player: &PlayerSpec, origins: &Origins) {
        self.decisions += 1;
        self.not_sent
            .extend(asked_for(&player.settings, made.omitted));
        if let Some(fallback) = made.fallback {
            *self.by_fallback.entry(fallback.to_owned()).or_default() += 1;
            return;
        }
        let model = model_of(player).and_then(|model| origins.get_key_value(model));
        // People behind a door are named there, and so are their stand-ins.
        if let Some((model, _)) = model.filter(|(_, origin)| origin.provider_kind != DOOR) {
            let called = match self.called.get_mut(model) {
                Some(called) => called,
                None => self.called.entry(model.clone()).or_default(),
            };
            if !called.contains(made.answered_by) {
                called.insert(made.answered_by.to_owned());
            }
        }
    }
}

fn model_of(player: &PlayerSpec) -> Option<&str> {
    player.settings.get("model")?.as_str()
}

/// Takes in other names, key by key.
fn add_all(
    into: &mut BTreeMap<String, BTreeSet<String>>,
    other: &BTreeMap<String, BTreeSet<String>>,
) {
    for (model, names) in other {
        let known = into.entry(model.clone()).or_default();
        known.extend(names.iter().cloned());
    }
}

/// The size of the largest set.
fn most(sets: &BTreeMap<String, BTreeSet<String>>) -> usize {
    sets.values().map(BTreeSet::len).max().unwrap_or(0)
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

fn sum<'a>(seats: impl Iterator<Item = &'a Answers>) -> Answers {
    let mut sum = Answers::default();
    for answers in seats {
        sum.add(answers);
    }
    sum
}
