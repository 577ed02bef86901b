//! A session step by step, for pages: what was answered and what happened, in order, with the table
//! after each, as everybody who reads the record sees it or as one seat saw it. Answers from a parsed
//! record; asks nobody and draws nothing. Called by the web server.

mod live;
mod sentences;
mod series;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::record::{RecordError, StoredRecord};
use agon_engine::session::info_of;
use agon_engine::{PlayerKind, Seat};
use serde::Serialize;
use utoipa::ToSchema;

use crate::attempts;
pub use crate::board::Stated;
use crate::board::Table;
use crate::story::{self, Teller, Telling, Turns, json_in_words};
pub use live::{Live, Told};
pub use step::{Answer, Column, Note, Refused, Shown, Step};

/// About what a move, an event, a decision or a note takes.
const BYTES_OF_PART: usize = 1_500;

/// What a page says of a whole session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Head {
    /// Its id.
    pub session: String,
    /// The experiment that it belongs to.
    pub experiment: String,
    /// Registered name of the game.
    pub game: String,
    /// What the game is, in one sentence.
    pub about: String,
    /// Its cell of the grid.
    pub setting: Vec<Stated>,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The place in its series, from 0.
    pub place: u32,
    /// The version of the rules.
    pub rules_version: String,
    /// The version of agents and built-in templates; null where no model plays.
    pub prompts_version: Option<String>,
    /// Whether an answer came from a simulated model.
    pub simulated: bool,
    /// Parameters of the game.
    pub params: Vec<Stated>,
    /// Who sat where, in the order of the seats.
    pub seats: Vec<HeadSeat>,
    /// How many steps it has.
    pub steps: usize,
    /// The first step of each turn.
    pub turns: Vec<usize>,
    /// Scores by scheme.
    pub scores: Vec<Stated>,
    /// Numbers by round or turn.
    pub series: Vec<Series>,
    /// Remarks that a reader of the record needs.
    pub notes: Vec<String>,
}

/// Who sat at a seat.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeadSeat {
    /// The seat.
    pub seat: Seat,
    /// Its name in the game.
    pub name: String,
    /// Its player in the experiment.
    pub player: String,
    /// What plays there.
    pub kind: SeatKind,
    /// The strategy of a rule player; the model and the agent of a model.
    pub plays: String,
    /// Who it was told to be; null for nobody in particular.
    pub persona: Option<String>,
    /// What it was paid; null if the record does not say.
    pub payoff: Option<f64>,
    /// How many of its answers were refused.
    pub fouls: u32,
    /// How many questions it left without an answer.
    pub forfeits: u32,
    /// How many calls of it are recorded.
    pub decisions: usize,
}

/// What plays at a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    /// A strategy of its own.
    Rule,
    /// A model.
    Model,
}

/// Numbers by round or turn.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Series {
    /// What the numbers are.
    pub name: String,
    /// In order; null where a number is not finite.
    #[schema(value_type = Vec<Option<f64>>)]
    pub values: Vec<f64>,
}

/// What a step shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The answers of a turn.
    Answers(u32),
    /// An event, by its place, in a turn; 0 before the first.
    Event(usize, u32),
}

/// Where a move stands among those of its seat.
#[derive(Debug, Clone, Copy, Default)]
struct Neighbours {
    /// Place of the one before it among all moves.
    before: Option<usize>,
    is_last: bool,
}

/// Steps in whose words a text was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Hits {
    /// Places of the steps, in order, at most 1,000.
    pub steps: Vec<usize>,
    /// How many steps there are in all.
    pub total: usize,
}

/// A session with its steps.
pub struct Viewing {
    record: Arc<StoredRecord>,
    places: Vec<Place>,
    turns: Vec<usize>,
    /// Which events are of which turn; `None` where answers stand after all events.
    found: Option<Arc<Turns>>,
    /// Indices of all calls, by seat.
    calls: BTreeMap<Seat, Vec<u32>>,
    /// Of each move.
    neighbours: Vec<Neighbours>,
    /// Places of notes, by turn.
    notes: BTreeMap<u32, Vec<usize>>,
}

impl Viewing {
    /// Finds the steps of a session in the line of its record, and keeps of what models said in it only
    /// what was refused: steps show no more. Says about how many bytes it takes, too.
    ///
    /// # Errors
    /// The line is no record.
    pub fn read(line: &str) -> Result<(Self, u64), RecordError> {
        let record = StoredRecord::brief(line, attempts::refused)?;
        let kept = [
            record.moves.len(),
            record.events.len(),
            record.decisions.len(),
            record.notes.len(),
        ];
        // Replies apart, a line takes a few times its length, and each part of it a table or two.
        let said: usize = record.decisions.iter().map(|one| one.reply.len()).sum();
        let bytes = kept.iter().sum::<usize>() * BYTES_OF_PART + said;
        Ok((Self::new(Arc::new(record)), bytes as u64))
    }

    /// Finds the steps of a session.
    pub fn new(record: Arc<StoredRecord>) -> Self {
        let found = Turns::of(&record).map(Arc::new);
        let (mut places, mut turns) = (Vec::new(), Vec::new());
        // Where nobody can say which event is of which turn, answers come after all events.
        let mut answered: Vec<u32> = record.moves.iter().map(|made| made.turn).collect();
        answered.dedup();
        let (begin, numbers) = match &found {
            Some(found) => (found.begin.clone(), (1..).take(found.begin.len()).collect()),
            None => (vec![record.events.len(); answered.len()], answered),
        };
        let ends = begin.iter().skip(1).copied().chain([record.events.len()]);
        let first = begin.first().copied().unwrap_or(record.events.len());
        places.extend((0..first).map(|event| Place::Event(event, 0)));
        for (turn, (from, to)) in numbers.into_iter().zip(begin.iter().copied().zip(ends)) {
            turns.push(places.len());
            places.push(Place::Answers(turn));
            places.extend((from..to).map(|event| Place::Event(event, turn)));
        }
        let mut calls: BTreeMap<Seat, Vec<u32>> = BTreeMap::new();
        for decision in &record.decisions {
            calls.entry(decision.seat).or_default().push(decision.index);
        }
        let mut notes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, note) in record.notes.iter().enumerate() {
            notes.entry(note.turn).or_default().push(place);
        }
        Self {
            neighbours: neighbours(&record),
            record,
            places,
            turns,
            found,
            calls,
            notes,
        }
    }

    /// The record behind it.
    pub fn record(&self) -> &Arc<StoredRecord> {
        &self.record
    }

    /// How many steps it has.
    pub fn steps(&self) -> usize {
        self.places.len()
    }

    /// What is said of the whole session.
    pub fn head(&self) -> Head {
        let record = &*self.record;
        let spec = &record.spec;
        let about = info_of(spec).map(|info| as_sentence(&info.summary));
        let teller = self.teller(None);
        let mut notes = Vec::new();
        if self.found.is_none() {
            notes.push(
                "This program plays by other rules than the record: answers stand after all events."
                    .to_owned(),
            );
        }
        Head {
            session: record.session.as_str().to_owned(),
            experiment: spec.experiment.clone(),
            game: spec.game.clone(),
            about: about.unwrap_or_default(),
            setting: in_words(&spec.setting),
            repeat: spec.luck.repeat,
            place: spec.luck.place,
            rules_version: spec.rules_version.to_string(),
            prompts_version: spec.prompts_version.clone(),
            simulated: record.simulated,
            params: in_words(&spec.params),
            seats: (0..spec.seats.len())
                .map(|seat| self.seat(&teller, seat))
                .collect(),
            steps: self.places.len(),
            turns: self.turns.clone(),
            scores: numbers(&record.measures.scores),
            series: series::by_round(record),
            notes,
        }
    }

    fn seat(&self, teller: &Teller<'_>, seat: Seat) -> HeadSeat {
        let record = &*self.record;
        let player = &record.spec.seats[seat];
        let setting = |name: &str| {
            let value = player.settings.get(name)?;
            value.as_str().map(str::to_owned)
        };
        let (kind, plays) = match player.kind {
            PlayerKind::Rule => {
                let strategy = setting("strategy").unwrap_or_default();
                (SeatKind::Rule, strategy)
            }
            PlayerKind::Model => {
                let parts = [setting("model"), setting("agent")];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                (SeatKind::Model, parts.join(", "))
            }
        };
        HeadSeat {
            seat,
            name: teller.name_in_game(seat),
            player: player.name.clone(),
            kind,
            plays,
            persona: story::persona(player),
            payoff: record.outcome.payoffs.get(seat).copied(),
            fouls: record.outcome.fouls_of(seat),
            forfeits: record.outcome.forfeits.get(seat).copied().unwrap_or(0),
            decisions: self.calls.get(&seat).map_or(0, Vec::len),
        }
    }

    fn teller(&self, viewer: Option<Seat>) -> Teller<'_> {
        let telling = Telling {
            seat: viewer,
            ..Telling::default()
        };
        Teller::with_turns(&self.record, telling, self.found.clone())
    }

    /// So many steps from one on, as everybody sees them or as one seat does.
    pub fn from(&self, from: usize, count: usize, viewer: Option<Seat>) -> Vec<Shown> {
        let spec = &self.record.spec;
        let teller = self.teller(viewer);
        let mut table = Table::new(&spec.game, &spec.params, spec.seats.len(), viewer);
        let to = from.saturating_add(count).min(self.places.len());
        let mut steps = Vec::new();
        for (step, place) in self.places[..to].iter().enumerate() {
            if let Place::Event(event, _) = place {
                table.see(&self.record.events[*event]);
            }
            if step >= from {
                let (step, board) = (self.step(&teller, step, *place), table.board());
                steps.push(Shown { step, board });
            }
        }
        steps
    }

    /// Steps in whose words a text is found, whatever its capitals; the first `most` by their places.
    pub fn search(&self, wanted: &str, viewer: Option<Seat>, most: usize) -> Hits {
        let wanted = wanted.to_lowercase();
        let mut hits = Hits::default();
        if wanted.is_empty() {
            return hits;
        }
        let teller = self.teller(viewer);
        for (step, place) in self.places.iter().enumerate() {
            if self.step(&teller, step, *place).contains(&wanted) {
                hits.total += 1;
                if hits.steps.len() < most {
                    hits.steps.push(step);
                }
            }
        }
        hits
    }
}

fn neighbours(record: &StoredRecord) -> Vec<Neighbours> {
    let mut all: Vec<Neighbours> = Vec::with_capacity(record.moves.len());
    let mut last: BTreeMap<Seat, usize> = BTreeMap::new();
    for (place, made) in record.moves.iter().enumerate() {
        let before = last.insert(made.seat, place);
        if let Some(before) = before {
            all[before].is_last = false;
        }
        let is_last = true;
        all.push(Neighbours { before, is_last });
    }
    all
}

/// With a capital and a full stop.
fn as_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.map_or_else(String::new, |first| format!("{first}{}.", letters.as_str()))
}

/// Settings and parameters in words.
pub fn in_words(settings: &agon_engine::spec::Settings) -> Vec<Stated> {
    let all = settings.iter().map(|(name, value)| Stated {
        name: name.replace('_', " "),
        value: json_in_words(value),
    });
    all.collect()
}

fn numbers(scores: &BTreeMap<String, f64>) -> Vec<Stated> {
    let all = scores.iter().map(|(name, value)| Stated {
        name: name.clone(),
        value: story::number(*value),
    });
    all.collect()
}

#[cfg(test)]
mod tests;
