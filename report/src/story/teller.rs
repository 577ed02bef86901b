//! What telling any session needs: its record, what is wanted of it, names of seats,
//! the replies behind refused answers, and the text so far. Called by the files that
//! tell one part each.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use agon_engine::game::player_name;
use agon_engine::record::{StoredMove, StoredRecord};
use agon_engine::{Event, Foul, RecordedDecision, Seat, Value};

use super::Telling;
use super::turns::{self, Turns};
use super::words::one_line;
use crate::attempts;

/// The event that every game starts with.
const BRIEFING: &str = "briefing";

/// The agent of people.
const PERSON: &str = "person";

/// Why a reply ended that a stand-in gave.
const TIME_IS_UP: &str = "deadline";

/// Longest part of a refused reply that is shown.
const LONGEST_REPLY: usize = 300;

/// A session being told.
pub struct Teller<'a> {
    /// What is told.
    pub record: &'a StoredRecord,
    /// What of it.
    pub telling: Telling,
    /// Each event in the words of the game, for the only seat that is told of; empty where
    /// events are told by their facts.
    pub told: Vec<String>,
    /// Its turns, where they can be found.
    pub turns: Option<Arc<Turns>>,
    /// Replies to the asks of each seat, in order, where every one can be told.
    replies: BTreeMap<Seat, Vec<&'a RecordedDecision>>,
    /// For each move: how many answers its seat had given before it, refused ones included.
    attempts: Vec<usize>,
    text: String,
}

impl<'a> Teller<'a> {
    /// Nothing told yet.
    pub fn new(record: &'a StoredRecord, telling: Telling) -> Self {
        Self::with_turns(record, telling, Turns::of(record).map(Arc::new))
    }

    /// The same, when its turns have been looked for before.
    pub fn with_turns(
        record: &'a StoredRecord,
        telling: Telling,
        turns: Option<Arc<Turns>>,
    ) -> Self {
        Self {
            record,
            telling,
            told: Vec::new(),
            turns,
            replies: attempts::replies(record),
            attempts: attempts::before(record),
            text: String::new(),
        }
    }

    /// Adds a line, so many steps to the right.
    pub fn line(&mut self, steps: usize, text: impl Display) {
        let text = format!("{}{text}", "  ".repeat(steps));
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text.trim_end().to_owned()
    }

    /// Whether what concerns this seat alone is told.
    pub fn shows(&self, seat: Seat) -> bool {
        self.telling.seat.is_none_or(|only| only == seat)
    }

    /// A seat by its name in the game and its player's in the experiment; what sits
    /// at other seats is nothing that a seat may know.
    pub fn name(&self, seat: Seat) -> String {
        let name = self.name_in_game(seat);
        if !self.shows(seat) || self.telling.anonymous {
            return name;
        }
        let player = self.record.spec.seats.get(seat);
        let player = player.map_or("nobody", |player| &player.name);
        format!("{name} {player}")
    }

    /// The name that the game gives a seat, where it has names for its seats.
    pub fn name_in_game(&self, seat: Seat) -> String {
        let names = self
            .events_of(BRIEFING)
            .and_then(|event| event.get("names"));
        let name = names.map(|names| names.entry(seat));
        let name = name.as_ref().and_then(Value::text).map(one_line);
        name.unwrap_or_else(|| player_name(seat))
    }

    /// Whether the game has names for its seats.
    pub fn has_names(&self) -> bool {
        let briefing = self.events_of(BRIEFING);
        briefing.is_some_and(|event| event.get("names").is_some())
    }

    /// What was said in the answer that counted, where it is wanted.
    pub fn tell_reply(&mut self, steps: usize, place: usize, made: &StoredMove) {
        let attempt = self.attempts[place] + made.fouls.len();
        let replies = self.replies.get(&made.seat);
        let reply = replies.and_then(|replies| replies.get(attempt));
        if let Some(reply) = reply.filter(|_| self.telling.replies && !made.forfeited) {
            let reply = one_line(&reply.reply);
            self.line(steps, format!("said: {reply}"));
        }
    }

    /// The seats that are told of.
    pub fn seats(&self) -> Vec<Seat> {
        let all = 0..self.record.spec.seats.len();
        all.filter(|seat| self.shows(*seat)).collect()
    }

    /// The number of the last turn; 0 without one.
    pub fn last_turn(&self) -> u32 {
        self.record.moves.last().map_or(0, |made| made.turn)
    }

    /// The moves of a turn with their places among all moves.
    pub fn moves_of(&self, turn: u32) -> Vec<(usize, &'a StoredMove)> {
        let record = self.record;
        let first = record.moves.partition_point(|made| made.turn < turn);
        let moves = record.moves[first..].iter().enumerate();
        moves
            .take_while(|(_, made)| made.turn == turn)
            .map(|(place, made)| (first + place, made))
            .collect()
    }

    /// An answer as its player would say it.
    pub fn answer(&self, place: usize, made: &StoredMove) -> String {
        let forms = self.turns.as_ref().map(|turns| &turns.forms);
        turns::said(forms.and_then(|forms| forms.get(place)), made)
    }

    /// Who answered in a person's place, to stand behind the answer; nothing else.
    pub fn stood_in(&self, place: usize, made: &StoredMove) -> String {
        // Who answered says who plays.
        if self.telling.anonymous {
            return String::new();
        }
        let Some(player) = self.record.spec.seats.get(made.seat) else {
            return String::new();
        };
        if player
            .settings
            .get("agent")
            .and_then(|agent| agent.as_str())
            != Some(PERSON)
        {
            return String::new();
        }
        let attempt = self.attempts[place] + made.fouls.len();
        let replies = self.replies.get(&made.seat);
        let reply = replies.and_then(|replies| replies.get(attempt));
        let Some(reply) = reply.filter(|_| !made.forfeited) else {
            return String::new();
        };
        let late = if reply.finish_reason == TIME_IS_UP {
            ", time was up"
        } else {
            ""
        };
        match one_line(&reply.answered_by) {
            who if who != player.name => format!(" (answered by {who}{late})"),
            _ => String::new(),
        }
    }

    /// The refused answers of a move.
    pub fn tell_fouls(&mut self, steps: usize, place: usize, made: &StoredMove) {
        let before = self.attempts[place];
        for (nth, foul) in made.fouls.iter().enumerate() {
            let Foul { kind, reason } = foul;
            let kind = serde_json::to_value(kind).unwrap_or_default();
            let kind = kind.as_str().unwrap_or_default().replace('_', " ");
            let name = self.name(made.seat);
            self.line(
                steps,
                format!("{name}: refused, {kind}: {}", one_line(reason)),
            );
            let replies = self.replies.get(&made.seat);
            let reply = replies.and_then(|replies| replies.get(before + nth));
            if self.telling.said
                && let Some(reply) = reply
            {
                let reply = quoted(&reply.reply);
                self.line(steps + 1, format!("said: {reply}"));
            }
        }
    }

    /// The events of a kind.
    pub fn events_of(&self, kind: &str) -> Option<&'a Event> {
        self.record.events.iter().find(|event| event.kind == kind)
    }

    /// The calls that led to the answer of a move, of those by which its seat answers; none where
    /// that cannot be told.
    pub fn calls(&self, place: usize, made: &StoredMove) -> &[&'a RecordedDecision] {
        let before = self.attempts[place];
        let replies = self.replies.get(&made.seat).map(Vec::as_slice);
        let calls = before..before + attempts::of_move(made);
        replies
            .and_then(|replies| replies.get(calls))
            .unwrap_or_default()
    }
}

fn quoted(reply: &str) -> String {
    let reply = one_line(reply);
    if reply.is_empty() {
        return "(nothing)".to_owned();
    }
    let mut letters = reply.chars();
    let shown: String = letters.by_ref().take(LONGEST_REPLY).collect();
    let more = if letters.next().is_some() { " ..." } else { "" };
    format!("{shown}{more}")
}
