//! What a number rests on: how many of the answers behind it the players gave themselves, how
//! their models were really called, in how many sessions so little was answered that nothing
//! was measured, and whether all were played under the same terms. Carried to every table,
//! export and leaderboard as notes in words. Knows no measure.

mod answers;
mod notes;
mod terms;

use std::collections::BTreeSet;

use agon_engine::SessionSpec;
use agon_outlets::line;
use serde::{Serialize, Serializer};

pub use answers::{Answers, SessionAnswers};
pub(crate) use answers::{Made, STAND_IN, Sources};
pub(crate) use notes::{Note, explained};
pub(crate) use terms::PublishedTerms;

use terms::Terms;

/// What a row of a table rests on, session by session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    /// All sessions.
    sessions: u64,
    /// Those in which too little was answered, so that no mean counts them.
    left_out: u64,
    simulated: u64,
    /// Answers of the sessions that count.
    answers: Answers,
    /// Answers of those that do not.
    others: Answers,
    terms: Terms,
}

impl Basis {
    /// Takes in the answers of a session, or of one player in it.
    pub(crate) fn add(&mut self, spec: &SessionSpec, session: &SessionAnswers, answers: &Answers) {
        self.terms.add(spec);
        self.add_answers(session, answers);
    }

    fn add_answers(&mut self, session: &SessionAnswers, answers: &Answers) {
        self.sessions += 1;
        self.simulated += u64::from(session.is_simulated());
        if answers.suffice() {
            self.answers.add(answers);
        } else {
            self.left_out += 1;
            self.others.add(answers);
        }
    }

    /// Takes in what another row rests on.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.left_out += other.left_out;
        self.simulated += other.simulated;
        self.answers.add(&other.answers);
        self.others.add(&other.others);
        self.terms.merge(&other.terms);
    }

    /// The names of parameters and settings that are not the same here as there.
    pub(crate) fn differs_from(&self, other: &Self) -> Vec<String> {
        let mut both = self.terms.clone();
        both.merge(&other.terms);
        let within = [&self.terms, &other.terms].map(Terms::differing);
        let mut differing = both.differing().clone();
        differing.retain(|term| within.iter().all(|known| !known.contains(term)));
        differing
            .into_iter()
            .map(|term| line(&term).to_string())
            .collect()
    }

    /// The names of parameters of games that are neither those of what is published nor those which
    /// they have by default.
    pub(crate) fn unusual(&self, published: &[PublishedTerms]) -> BTreeSet<String> {
        self.terms.unusual(published)
    }

    /// Whether no session counts, because too little was answered in all of them.
    pub(crate) fn is_left_out(&self) -> bool {
        self.left_out > 0 && self.left_out == self.sessions
    }

    /// The answers behind what is shown; where no session counts, those of all sessions.
    fn shown(&self) -> &Answers {
        if self.is_left_out() {
            &self.others
        } else {
            &self.answers
        }
    }

    /// What must be said of numbers that rest on this; nothing where every answer was a
    /// player's own.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let shown = self.shown();
        let asked = shown.asks();
        let (asks, forfeited, by_stand_in) = (asked.asks, asked.forfeited, asked.by_stand_in);
        let (left_out, simulated, sessions) = (self.left_out, self.simulated, self.sessions);
        let (settings, places, names) = (&shown.not_sent, shown.places(), shown.names());
        let (fallbacks, decisions) = shown.by_fallback();
        let differing = self.terms.differing();
        let notes = [
            (simulated > 0).then_some(Note::Simulated {
                simulated,
                sessions,
            }),
            (forfeited > 0).then_some(Note::Forfeited { forfeited, asks }),
            (by_stand_in > 0).then_some(Note::ByStandIn { by_stand_in, asks }),
            (left_out > 0).then_some(Note::LeftOut { left_out, sessions }),
            (!settings.is_empty()).then(|| Note::NotSent(settings.iter().cloned().collect())),
            (!fallbacks.is_empty()).then(|| Note::ByFallback {
                models: fallbacks.keys().cloned().collect(),
                answered: fallbacks.values().sum(),
                decisions,
            }),
            (places > 1).then_some(Note::Places(places)),
            (names > 1).then_some(Note::Names(names)),
            (!differing.is_empty()).then(|| Note::Differing(differing.iter().cloned().collect())),
        ];
        notes.into_iter().flatten().collect()
    }

    /// The same without that sessions are simulated, where a title says so.
    pub(crate) fn notes_below_title(&self) -> Vec<Note> {
        let mut notes = self.notes();
        notes.retain(|note| !matches!(note, Note::Simulated { .. }));
        notes
    }

    /// The notes as a cell shows them.
    pub(crate) fn in_words(&self) -> String {
        let notes = self.notes();
        let words: Vec<String> = notes.iter().map(Note::in_words).collect();
        words.join(", ")
    }
}

impl Serialize for Basis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// As documented in `docs/measures.md`.
        #[derive(Serialize)]
        struct Shown<'a> {
            sessions: u64,
            left_out: u64,
            #[serde(flatten)]
            answers: &'a Answers,
            notes: Vec<String>,
        }
        let shown = Shown {
            sessions: self.sessions,
            left_out: self.left_out,
            answers: self.shown(),
            notes: self.notes().iter().map(Note::in_words).collect(),
        };
        shown.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
