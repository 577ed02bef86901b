//! Notes beside numbers: a few words for a cell, and a sentence that explains them once below
//! the tables. A new kind of note is a variant here, counted by `Basis`.

use agon_outlets::line;

use crate::layout::Layout;
use crate::wrapping::prose;

/// Something that must be said of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// Sessions in which a simulated model answered.
    Simulated { simulated: u64, sessions: u64 },
    /// Asks that were forfeited.
    Forfeited { forfeited: u64, asks: u64 },
    /// Asks that a stand-in answered.
    ByStandIn { by_stand_in: u64, asks: u64 },
    /// Sessions in which too little was answered.
    LeftOut { left_out: u64, sessions: u64 },
    /// Settings of the player that were left out of calls.
    NotSent(Vec<String>),
    /// Calls that were answered by these fall-backs of the player's model.
    ByFallback {
        models: Vec<String>,
        answered: u64,
        decisions: u64,
    },
    /// Answers of one model that came from so many places.
    Places(usize),
    /// So many names under which one model says that it answered.
    Names(usize),
    /// Parameters and settings that are not the same in all sessions, and no axes.
    Differing(Vec<String>),
}

impl Note {
    /// A few words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Simulated {
                simulated,
                sessions,
            } if simulated < sessions => format!("{simulated} of {sessions} simulated"),
            Self::Simulated { .. } => "simulated".to_owned(),
            Self::Forfeited { forfeited, asks } => {
                format!("{} forfeited", share(*forfeited, *asks))
            }
            Self::ByStandIn { by_stand_in, asks } => {
                format!("{} by stand-in", share(*by_stand_in, *asks))
            }
            Self::LeftOut { left_out, sessions } => format!("{left_out} of {sessions} left out"),
            Self::NotSent(settings) => format!("{} not sent", settings.join(" and ")),
            Self::ByFallback {
                models,
                answered,
                decisions,
            } => {
                let models: Vec<String> =
                    models.iter().map(|name| line(name).to_string()).collect();
                let share = share(*answered, *decisions);
                format!("{share} by fall-back {}", models.join(" and "))
            }
            Self::Places(places) => format!("from {places} endpoints"),
            Self::Names(names) => format!("answered as {names} models"),
            Self::Differing(terms) => {
                let terms: Vec<String> = terms.iter().map(|name| line(name).to_string()).collect();
                format!("differing {}", terms.join(" and "))
            }
        }
    }

    /// What these words mean.
    fn explanation(&self) -> &'static str {
        match self {
            Self::Simulated { .. } => {
                "simulated: a SIMULATED model answered; the numbers say nothing about any real one"
            }
            Self::Forfeited { .. } => {
                "forfeited: share of the answers that were forfeited after too many fouls; the \
                 rules of the game took their place, which is no player's choice"
            }
            Self::ByStandIn { .. } => {
                "by stand-in: share of the answers that a rule gave in the place of a person \
                 whose time was up"
            }
            Self::LeftOut { .. } => {
                "left out: sessions in which more than half of the answers were forfeited or given \
                 by a stand-in; nothing but fouls is counted of them"
            }
            Self::NotSent(_) => {
                "not sent: a setting that was asked for and left out of calls, because the provider \
                 does not take it; the model was played without it"
            }
            Self::Places(_) => {
                "endpoints: the answers of one model came from several places, which may serve \
                 different models under the same name"
            }
            Self::ByFallback { .. } => {
                "by fall-back: share of the calls that another model answered, because the player's \
                 own did not; the numbers are of both"
            }
            Self::Names(_) => {
                "answered as several models: one name was answered by models that call themselves \
                 differently, such as two releases of one"
            }
            Self::Differing(_) => {
                "differing: sessions of several experiments or labels were taken together, which were \
                 played with different values of these parameters or settings; reports of single runs \
                 tell them apart"
            }
        }
    }
}

/// The notes of some rows explained, each kind once; `None` without a note.
pub(crate) fn explained(notes: impl IntoIterator<Item = Note>, layout: Layout) -> Option<String> {
    let mut sentences: Vec<&str> = Vec::new();
    for note in notes {
        let sentence = note.explanation();
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let lines = sentences
        .into_iter()
        .map(|sentence| prose(sentence, layout));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join(layout.next_note()))
}

/// A share in whole percent that says neither none of some nor all of not all.
fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        ..0.5 => "under 1 %".to_owned(),
        99.5.. if part < whole => "over 99 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}
