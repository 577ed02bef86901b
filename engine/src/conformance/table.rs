//! A session that the kit plays from outside: every seat answers at random, now
//! and then with a foul. The answers depend on seat and turn only, not on the
//! order in which seats are served, so orders can be compared.

use crate::ask::{Action, Ask, Form, Foul, FoulKind, Seat};
use crate::chance::{Chance, Generator, Luck};
use crate::play::{Play, Reaction};
use crate::rule_player::{Random, RulePlayer};

use super::{Case, ensure};

/// Keeps the kit's answers apart from the luck of the session itself.
const ANSWERS: u64 = 0x05ee_d0fa_11a5_3e75;

/// A game that ends needs far fewer turns than this; one that does not is a
/// fault and must not hang the tests.
const MOST_TURNS: u32 = 100_000;

/// How the seats behave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manners {
    /// Percentage of asks that begin with fouls.
    pub(super) fouls: u64,
    /// Percentage of asks that are fouled until they are forfeited.
    pub(super) forfeits: u64,
}

/// A session in the hands of the kit.
pub(super) struct Table {
    pub(super) play: Play,
    manners: Manners,
    answers: u64,
}

impl Table {
    /// Opens the case's session; `answers` chooses among courses of play.
    pub(super) fn open(case: &Case<'_>, manners: Manners, answers: u64) -> Self {
        let outside = (0..case.game.seats()).map(|_| None).collect();
        let chance = Chance::seeded(case.luck);
        let play = Play::start(std::sync::Arc::clone(&case.game), chance, outside);
        Self {
            play,
            manners,
            answers,
        }
    }

    /// The same, played to the end.
    pub(super) fn played(case: &Case<'_>, manners: Manners, answers: u64) -> Result<Self, String> {
        let mut table = Self::open(case, manners, answers);
        table.finish(|_, _| {})?;
        Ok(table)
    }

    /// The open asks.
    pub(super) fn asks(&self) -> Vec<Ask> {
        self.play.waiting().cloned().collect()
    }

    /// Plays to the end, serving the open asks in the order that `arrange`
    /// leaves them in.
    pub(super) fn finish(&mut self, arrange: impl Fn(u32, &mut Vec<Ask>)) -> Result<(), String> {
        while !self.play.is_finished() {
            let turn = self.play.turn();
            ensure!(turn <= MOST_TURNS, "no end after {MOST_TURNS} turns");
            let mut asks = self.asks();
            arrange(turn, &mut asks);
            for ask in asks {
                self.serve(&ask)?;
            }
        }
        Ok(())
    }

    /// Answers one ask, fouls included.
    pub(super) fn serve(&mut self, ask: &Ask) -> Result<(), String> {
        let mut luck = self.luck_of(ask.seat);
        let allowance = u64::from(ask.foul_allowance);
        let fouls = if luck.below(100) < self.manners.forfeits {
            allowance + 1
        } else if luck.below(100) < self.manners.fouls {
            luck.below(allowance + 1)
        } else {
            0
        };
        for _ in 0..fouls {
            let offer = self.foul(ask, &mut luck);
            if let Reaction::Forfeited { .. } = self.play.answer(ask.seat, offer) {
                return Ok(());
            }
        }
        let action = self.legal_answer(ask);
        match self.play.answer(ask.seat, Ok(action.clone())) {
            Reaction::Taken => Ok(()),
            other => Err(format!(
                "turn {}: the legal {} {action:?} of seat {} led to {other:?}",
                self.play.turn(),
                ask.kind,
                ask.seat
            )),
        }
    }

    /// The legal answer that the seat gives in this turn.
    pub(super) fn legal_answer(&self, ask: &Ask) -> Action {
        let mut luck = self.luck_of(ask.seat);
        // Away from the numbers that decided about fouls.
        luck.below(u64::MAX);
        if luck.below(4) == 0 {
            let corners = corners(&ask.form);
            if !corners.is_empty() {
                return corners[luck.below(corners.len() as u64) as usize].clone();
            }
        }
        Random.act(ask, &self.play.view(ask.seat), &mut luck)
    }

    fn foul(&self, ask: &Ask, luck: &mut Generator) -> Result<Action, Foul> {
        let mut illegal = illegal(&ask.form);
        // Lenient games take some answers that their form does not state.
        illegal.retain(|offer| self.play.check(ask.seat, offer).is_err());
        // The last place stands for a reply in which no answer was found.
        let place = luck.below(illegal.len() as u64 + 1) as usize;
        let none = || Foul::new(FoulKind::Unreadable, "no answer was found in the reply");
        illegal.get(place).cloned().ok_or_else(none)
    }

    /// The luck of a seat in this turn.
    fn luck_of(&self, seat: Seat) -> Generator {
        let luck = Luck::new(ANSWERS ^ self.answers, self.play.turn());
        Chance::seeded(luck).for_rule_player(seat)
    }
}

/// The extreme legal answers of a form.
fn corners(form: &Form) -> Vec<Action> {
    let candidates = match form {
        Form::Integer { min, max, .. } => min
            .iter()
            .chain(max)
            .copied()
            .map(Action::Integer)
            .collect(),
        Form::Amount { min, max } => {
            let ends = [Some(*min), *max].into_iter().flatten();
            let cents = [
                Action::Number(*min as f64 + 0.01),
                Action::Number(*min as f64 + 67.25),
            ];
            ends.map(Action::Integer).chain(cents).collect()
        }
        Form::Number { min, max } => vec![Action::Number(*min), Action::Number(*max)],
        Form::Choice { options } => options
            .iter()
            .map(|word| Action::Choice(word.clone()))
            .collect(),
        Form::Target { seats, .. } => seats.iter().copied().map(Action::Target).collect(),
        Form::Division { parts, total } => (0..*parts)
            .map(|place| {
                let all_here = |part| if part == place { *total } else { 0 };
                Action::Division((0..*parts).map(all_here).collect())
            })
            .collect(),
    };
    let mut corners: Vec<Action> = candidates;
    corners.push(Action::Pass);
    corners.retain(|action| form.check(action).is_ok());
    corners
}

/// Answers that a form refuses: just outside, far outside, of other types.
pub(super) fn illegal(form: &Form) -> Vec<Action> {
    let mut offers = vec![
        Action::Integer(i64::MIN),
        Action::Integer(-1),
        Action::Integer(0),
        Action::Integer(i64::MAX),
        Action::Number(0.5),
        Action::Number(f64::NAN),
        Action::Number(f64::INFINITY),
        Action::Choice("".into()),
        Action::Choice("neither".into()),
        Action::Target(0),
        Action::Target(Seat::MAX),
        Action::Division(Vec::new()),
        Action::Division(vec![1, -1]),
        Action::Pass,
    ];
    match form {
        Form::Integer { min, max, .. } => {
            offers.extend(min.and_then(|min| min.checked_sub(1)).map(Action::Integer));
            offers.extend(max.and_then(|max| max.checked_add(1)).map(Action::Integer));
        }
        Form::Amount { min, max } => {
            offers.extend(min.checked_sub(1).map(Action::Integer));
            offers.extend(max.and_then(|max| max.checked_add(1)).map(Action::Integer));
            offers.push(Action::Number(*min as f64 + 0.125));
            offers.push(Action::Number(*min as f64 + 1.0));
        }
        Form::Number { min, max } => {
            offers.push(Action::Number(min - 1.0));
            offers.push(Action::Number(max + 1.0));
        }
        Form::Choice { options } => {
            let longer = options
                .iter()
                .map(|word| Action::Choice(format!("{word} please").into()));
            offers.extend(longer);
        }
        Form::Target { seats, .. } => {
            let past = seats.iter().max().map_or(0, |seat| seat + 1);
            offers.extend((0..=past).map(Action::Target));
        }
        Form::Division { parts, total } => offers.extend(near_divisions(*parts, *total)),
    }
    offers.retain(|action| form.check(action).is_err());
    offers
}

/// Divisions that are one step from being legal.
fn near_divisions(parts: usize, total: i64) -> Vec<Action> {
    let with_first = |first: i64, parts: usize| {
        let mut amounts = vec![0; parts];
        if let Some(place) = amounts.first_mut() {
            *place = first;
        }
        amounts
    };
    let mut negative = with_first(total.saturating_add(1), parts);
    if let Some(last) = negative.last_mut() {
        *last -= 1;
    }
    let near = [
        with_first(total.saturating_add(1), parts),
        with_first(total.saturating_sub(1), parts),
        with_first(total, parts + 1),
        with_first(total, parts.saturating_sub(1)),
        negative,
    ];
    near.into_iter().map(Action::Division).collect()
}
