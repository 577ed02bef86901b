//! One course of play, to be followed again in a game that differs in a secret. Answers are
//! held fixed, so whatever changes for a seat then, it has learnt of the secret. Used by the
//! properties of secrecy, and by those who hold prompts to the same.

use std::sync::Arc;

use super::Case;
use super::table::{Manners, Table, illegal};
use crate::ask::{Action, Ask, Foul, Seat};
use crate::chance::{Chance, Draw, STREAMS};
use crate::event::Event;
use crate::game::Game;
use crate::moves::Move;
use crate::play::{Play, Reaction};

/// Turns in which it is compared why answers would be refused.
const CHECKED_TURNS: usize = 3;

/// A finished course of play.
pub struct Course {
    pub(super) turns: Vec<Turn>,
    pub(super) events: Vec<Event>,
    pub(super) draws: Vec<Draw>,
    moves: Vec<Move>,
}

/// What was open in one turn.
pub(super) struct Turn {
    /// How many events there were.
    pub(super) events: usize,
    /// Who was asked what.
    pub(super) asks: Vec<Ask>,
    /// What the game says to answers that the forms do not allow, by ask.
    pub(super) checked: Vec<Vec<Result<(), Foul>>>,
}

impl Course {
    /// Plays a case from outside, all seats at random, with some asks forfeited; `answers`
    /// chooses among courses.
    ///
    /// # Errors
    /// The game does not come to its end, or refuses a legal answer.
    pub fn of(case: &Case<'_>, answers: u64) -> Result<Self, String> {
        let manners = Manners {
            fouls: 0,
            forfeits: 4,
        };
        let mut table = Table::open(case, manners, answers);
        let mut turns = Vec::new();
        while !table.play.is_finished() {
            let asks = table.asks();
            let checked = match turns.len() < CHECKED_TURNS {
                true => asks.iter().map(|ask| checks(&table.play, ask)).collect(),
                false => Vec::new(),
            };
            turns.push(Turn {
                events: table.play.log().all().len(),
                asks: asks.clone(),
                checked,
            });
            for ask in &asks {
                table.serve(ask)?;
            }
        }
        Ok(Self {
            turns,
            events: table.play.log().all().to_vec(),
            draws: table.play.chance().draws().to_vec(),
            moves: table.play.moves().to_vec(),
        })
    }

    /// All draws, in order.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// How many turns there are.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Begins to follow the course in a game with these draws.
    pub fn follow(&self, game: &Arc<dyn Game>, draws: &[Draw]) -> Following<'_> {
        let script = draws.iter().filter_map(|draw| {
            let stream = STREAMS.into_iter().find(|known| known.0 == draw.stream)?;
            Some((stream, draw.at, draw.value.clone()))
        });
        let outside = (0..game.seats()).map(|_| None).collect();
        Following {
            course: self,
            play: Play::start(Arc::clone(game), Chance::scripted(script), outside),
            turn: 0,
            moves: self.moves.iter(),
        }
    }
}

/// What a game says to answers that an ask's form does not allow.
pub(super) fn checks(play: &Play, ask: &Ask) -> Vec<Result<(), Foul>> {
    let offers = illegal(&ask.form).into_iter();
    offers.map(|offer| play.check(ask.seat, &offer)).collect()
}

/// A course that is followed.
pub struct Following<'a> {
    course: &'a Course,
    play: Play,
    turn: usize,
    moves: std::slice::Iter<'a, Move>,
}

/// Where a turn of the course led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the next one.
    On,
    /// To its end.
    Over,
    /// Away from it: an answer that was given there cannot be given here.
    Apart,
}

impl Following<'_> {
    /// The play so far.
    pub fn play(&self) -> &Play {
        &self.play
    }

    /// Which turn of the course is open, from 0.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// What was asked in this turn of the course; nothing after its end.
    pub fn asks(&self) -> &[Ask] {
        let turn = self.course.turns.get(self.turn);
        turn.map_or(&[], |turn| &turn.asks)
    }

    /// Gives the answers of this turn. Those of `changed` seats may be impossible here,
    /// and those of all seats where that is nobody.
    ///
    /// # Errors
    /// The game reacts to another seat in another way than it did.
    pub fn step(&mut self, changed: &[Seat]) -> Result<Step, String> {
        let asks = self.asks().len();
        if asks == 0 {
            return Ok(Step::Over);
        }
        let may_differ = |seat: Seat| changed.is_empty() || changed.contains(&seat);
        let before = self.play.turn();
        for made in self.moves.by_ref().take(asks) {
            let reaction = answer(&mut self.play, made);
            let is_same = match reaction {
                Reaction::Taken => !made.forfeited,
                Reaction::Forfeited { .. } => made.forfeited,
                Reaction::Refused { .. } | Reaction::NotAsked => false,
            };
            match reaction {
                _ if is_same => {}
                _ if may_differ(made.seat) => return Ok(Step::Apart),
                reaction => {
                    let Move { turn, seat, .. } = made;
                    return Err(format!(
                        "seat {seat}: the same answer in turn {turn} led to {reaction:?}"
                    ));
                }
            }
        }
        self.turn += 1;
        let still_asked = self.play.waiting().map(|ask| ask.seat);
        match self.play.turn() == before {
            true => match still_asked.into_iter().find(|seat| !may_differ(*seat)) {
                Some(seat) => Err(format!("seat {seat}: it is asked in turn {before}")),
                None => Ok(Step::Apart),
            },
            false => Ok(Step::On),
        }
    }
}

fn answer(play: &mut Play, made: &Move) -> Reaction {
    if let Some(action) = &made.action {
        return play.answer(made.seat, Ok(Action::clone(action)));
    }
    loop {
        let foul = Foul::new(crate::FoulKind::Unreadable, "nothing was said");
        match play.answer(made.seat, Err(foul)) {
            Reaction::Refused { .. } => {}
            reaction => return reaction,
        }
    }
}
