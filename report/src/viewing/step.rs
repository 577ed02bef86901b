//! One step of a session: the answers of a turn, or an event. What a viewer could not see is not in it.
//! Knows what its viewer saw and no more. Called by `viewing.rs`.

use agon_engine::record::StoredMove;
use agon_engine::{Audience, Event, Seat, Value, View};
use serde::Serialize;
use utoipa::ToSchema;

use super::sentences::Sentences;
use super::{Neighbours, Place, Viewing};
use crate::board::{Board, Seen, Stated};
use crate::story::{self, Teller, note_lines};

/// Notes that say how a reply was read, and no more.
const OF_READING: [&str; 3] = ["bid", "reading", "stand_in"];

/// A step of a session: the answers of a turn, or an event.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Step {
    /// Its place among all steps, from 0.
    pub step: usize,
    /// Its turn; 0 before the first.
    pub turn: u32,
    /// Its round; 0 before the first, and for answers.
    pub round: u32,
    /// `answers`, the kind of an event, or `unseen`.
    pub kind: String,
    /// What it is, in a few words.
    pub title: String,
    /// The seats that could see it; null if everybody could.
    pub to: Option<Vec<Seat>>,
    /// What happened, in one sentence.
    pub says: String,
    /// What all who could see it saw.
    pub facts: Vec<Stated>,
    /// Values of which each seat saw only its own.
    pub own: Vec<Column>,
    /// What nobody in play saw.
    pub hidden: Vec<Stated>,
    /// The answers of a turn; empty for an event.
    pub answers: Vec<Answer>,
    /// What players concluded in this turn; empty for an event.
    pub notes: Vec<Note>,
}

/// A step and the table after it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Shown {
    /// The step.
    #[serde(flatten)]
    pub step: Step,
    /// The table after the step.
    pub board: Board,
}

/// One value per seat; null where there is none, or it is not seen.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Column {
    /// Of what.
    pub name: String,
    /// In the order of the seats.
    pub values: Vec<Option<String>>,
}

/// An answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Answer {
    /// Who answered.
    pub seat: Seat,
    /// What kind of decision was asked for.
    pub ask: String,
    /// The answer that counted; null if the seat forfeited.
    pub answer: Option<String>,
    /// Answers that were refused before it.
    pub fouls: Vec<Refused>,
    /// Indices of the calls that led to it, with those in which the agent only thought.
    pub decisions: Vec<u32>,
    /// Who answered in the player's place; null if the player answered.
    pub stood_in: Option<String>,
}

/// A refused answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Refused {
    /// In what way it was wrong.
    pub kind: String,
    /// What the player was told.
    pub reason: String,
    /// What the player had said; null where that cannot be told.
    pub said: Option<String>,
}

/// What a player concluded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Note {
    /// Whose it is.
    pub seat: Seat,
    /// "plan", "belief" and so on.
    pub kind: String,
    /// The conclusion in words, line by line.
    pub text: String,
}

impl Step {
    /// Whether a text in small letters stands in its words.
    pub(super) fn contains(&self, wanted: &str) -> bool {
        let answers = self.answers.iter().flat_map(|answer| {
            let fouls = answer.fouls.iter();
            let fouls = fouls.flat_map(|foul| foul.said.iter().chain([&foul.reason]));
            answer.answer.iter().chain(fouls)
        });
        let stated = self.facts.iter().chain(&self.hidden);
        let stated = stated.flat_map(|fact| [&fact.name, &fact.value]);
        let own = self.own.iter().flat_map(|column| {
            let values = column.values.iter().flatten();
            std::iter::once(&column.name).chain(values)
        });
        let notes = self.notes.iter().map(|note| &note.text);
        let mut words = [&self.says, &self.title]
            .into_iter()
            .chain(answers)
            .chain(stated)
            .chain(own)
            .chain(notes);
        words.any(|text| text.to_lowercase().contains(wanted))
    }
}

impl Viewing {
    pub(super) fn step(&self, teller: &Teller<'_>, step: usize, place: Place) -> Step {
        let empty = Step {
            step,
            turn: 0,
            round: 0,
            kind: String::new(),
            title: String::new(),
            to: None,
            says: String::new(),
            facts: Vec::new(),
            own: Vec::new(),
            hidden: Vec::new(),
            answers: Vec::new(),
            notes: Vec::new(),
        };
        match place {
            Place::Answers(turn) => self.answers(teller, turn, empty),
            Place::Event(event, turn) => {
                let event = &self.record.events[event];
                let step = Step { turn, ..empty };
                match teller.telling.seat {
                    None => whole(teller, event, step),
                    Some(seat) => seen(teller, event, seat, step),
                }
            }
        }
    }

    fn answers(&self, teller: &Teller<'_>, turn: u32, step: Step) -> Step {
        let moves = teller.moves_of(turn).into_iter();
        let moves = moves.filter(|(_, made)| teller.shows(made.seat));
        let answers: Vec<Answer> = moves
            .map(|(place, made)| self.answer(teller, place, made))
            .collect();
        let notes = self.notes.get(&turn).into_iter().flatten();
        let notes = notes.map(|place| &self.record.notes[*place]);
        let notes = notes.filter(|note| teller.shows(note.seat));
        // How a reply was read shows in the answer.
        let notes = notes.filter(|note| !OF_READING.contains(&note.note.as_str()));
        let notes = notes.map(|note| Note {
            seat: note.seat,
            kind: note.note.replace('_', " "),
            text: note_lines(teller, note).join("\n"),
        });
        let said = answers.iter().map(|answer| {
            let name = teller.name_in_game(answer.seat);
            match &answer.answer {
                Some(said) => format!("{name}: {said}"),
                None => format!("{name} forfeits"),
            }
        });
        Step {
            turn,
            kind: "answers".to_owned(),
            title: format!("Turn {turn}: answers"),
            says: said.collect::<Vec<_>>().join("; "),
            notes: notes.collect(),
            answers,
            ..step
        }
    }

    fn answer(&self, teller: &Teller<'_>, place: usize, made: &StoredMove) -> Answer {
        let calls = teller.calls(place, made);
        let fouls = made.fouls.iter().enumerate().map(|(nth, foul)| {
            let kind = serde_json::to_value(foul.kind).unwrap_or_default();
            Refused {
                kind: kind.as_str().unwrap_or_default().replace('_', " "),
                reason: foul.reason.to_string(),
                said: calls.get(nth).map(|call| call.reply.clone()),
            }
        });
        let stood_in = teller.stood_in(place, made);
        let stood_in = stood_in.trim().trim_matches(['(', ')']);
        Answer {
            seat: made.seat,
            ask: made.ask.replace('_', " "),
            answer: (!made.forfeited).then(|| teller.answer(place, made)),
            fouls: fouls.collect(),
            decisions: self.calls_until(teller, place, made),
            stood_in: (!stood_in.is_empty()).then(|| stood_in.to_owned()),
        }
    }

    /// The calls of a move: those after its seat's move before, up to the last by which it answered;
    /// after its last move those that follow as well.
    fn calls_until(&self, teller: &Teller<'_>, place: usize, made: &StoredMove) -> Vec<u32> {
        let last_call = |place: usize, made: &StoredMove| {
            let calls = teller.calls(place, made);
            calls.last().map(|call| call.index)
        };
        let (Some(last), Some(calls)) = (last_call(place, made), self.calls.get(&made.seat)) else {
            return Vec::new();
        };
        let Neighbours { before, is_last } = self.neighbours[place];
        let before = before.and_then(|place| last_call(place, &self.record.moves[place]));
        let of_move = calls.iter().copied().filter(|index| {
            before.is_none_or(|before| *index > before) && (*index <= last || is_last)
        });
        of_move.collect()
    }
}

/// An event as everybody sees it who reads the record.
fn whole(teller: &Teller<'_>, event: &Event, step: Step) -> Step {
    let seats = teller.record.spec.seats.len();
    let own = event.own.iter().map(|(name, column)| Column {
        name: name.replace('_', " "),
        values: (0..seats).map(|seat| entry(column, seat)).collect(),
    });
    let own: Vec<Column> = own.collect();
    let facts = stated(event.facts.iter().map(|(name, value)| (&**name, value)));
    let hidden = stated(event.hidden.iter().map(|(name, value)| (&**name, value)));
    let to = match &event.audience {
        Audience::Everyone => None,
        Audience::Only(to) if to.len() == seats => None,
        Audience::Only(to) => Some(to.clone()),
    };
    Step {
        round: event.round,
        kind: event.kind.to_string(),
        title: title(event),
        says: sentence(teller, event, &facts),
        to,
        facts,
        own,
        hidden,
        ..step
    }
}

/// An event as one seat saw it, if it did.
fn seen(teller: &Teller<'_>, event: &Event, seat: Seat, step: Step) -> Step {
    let view = View::new(seat, std::slice::from_ref(event));
    let Some(sight) = view.sights().next() else {
        let name = teller.name_in_game(seat);
        let says = format!("Not seen by {name}");
        return Step {
            round: event.round,
            kind: "unseen".to_owned(),
            title: says.clone(),
            says,
            ..step
        };
    };
    let facts: Vec<(&str, Value)> = sight.facts().collect();
    let facts = stated(facts.iter().map(|(name, value)| (*name, value)));
    Step {
        round: event.round,
        kind: event.kind.to_string(),
        title: title(event),
        says: sentence(teller, event, &facts),
        facts,
        ..step
    }
}

fn title(event: &Event) -> String {
    let mut kind = event.kind.replace('_', " ");
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    kind
}

/// An event in one sentence: its own, or its facts without what is long.
fn sentence(teller: &Teller<'_>, event: &Event, facts: &[Stated]) -> String {
    let sentences = Sentences {
        name: &|seat| teller.name_in_game(seat),
        seats: teller.record.spec.seats.len(),
    };
    in_sentence(&sentences, event, teller.telling.seat, facts)
}

/// An event in one sentence, as its viewer saw it.
pub(super) fn in_sentence(
    sentences: &Sentences<'_>,
    event: &Event,
    viewer: Option<Seat>,
    facts: &[Stated],
) -> String {
    const MOST: usize = 6;
    const LONGEST: usize = 60;
    let own = Seen::new(event, viewer).and_then(|seen| sentences.of(&seen));
    if let Some(own) = own {
        return own;
    }
    let short = facts.iter().filter(|fact| fact.value.len() <= LONGEST);
    let told: Vec<String> = short
        .take(MOST)
        .map(|fact| format!("{} {}", fact.name, fact.value))
        .collect();
    match told.is_empty() {
        true => title(event),
        false => format!("{}: {}", title(event), told.join(", ")),
    }
}

pub(super) fn stated<'a>(facts: impl Iterator<Item = (&'a str, &'a Value)>) -> Vec<Stated> {
    let facts = facts.map(|(name, value)| Stated {
        name: name.replace('_', " "),
        value: story::value(value),
    });
    facts.collect()
}

fn entry(column: &Value, seat: Seat) -> Option<String> {
    match column.entry(seat) {
        Value::Nothing => None,
        found => Some(story::value(&found)),
    }
}
