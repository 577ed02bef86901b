//! Properties that whoever works out what could happen relies on: clones, listed answers
//! and listed outcomes of chance. Called through the list in `conformance.rs`.

use super::{Case, ensure};
use crate::ask::{Action, Answer, Ask};
use crate::chance::{Chance, Draw, Generator};
use crate::event::EventLog;
use crate::game::State;
use crate::rule_player::{Random, RulePlayer};
use crate::view::View;

/// Turns that are looked at per case; later ones are of the same kinds.
const TURNS: usize = 12;

/// Answers and outcomes that are listed at most.
const MOST: usize = 300;

/// Room for the rounding of sums of probabilities.
const ROUNDING: f64 = 1e-9;

/// A game in progress, without anybody around it.
#[derive(Clone)]
struct Position {
    state: Box<dyn State>,
    chance: Chance,
    log: EventLog,
}

impl Position {
    fn start(case: &Case<'_>) -> Self {
        let mut chance = Chance::seeded(case.luck);
        let mut log = EventLog::default();
        let state = case.game.start(&mut chance, &mut log);
        Self { state, chance, log }
    }

    fn advance(&mut self, answers: &[Answer]) {
        self.state.advance(answers, &mut self.chance, &mut self.log);
    }

    /// A random answer to each open ask; a forfeit where it is no legal one.
    fn answers(&self, luck: &mut Generator) -> Vec<Answer> {
        let asks = self.state.asks().iter();
        asks.map(|ask| {
            self.answer(ask, luck)
                .map_or(Answer::Forfeited, Answer::Given)
        })
        .collect()
    }

    fn answer(&self, ask: &Ask, luck: &mut Generator) -> Option<Action> {
        let view = View::new(ask.seat, self.log.all());
        let action = Random.act(ask, &view, luck);
        self.state.check(ask, &action).is_ok().then_some(action)
    }

    fn looks_like(&self, other: &Self) -> bool {
        self.log == other.log
            && self.state.asks() == other.state.asks()
            && self.state.payoffs() == other.state.payoffs()
            && self.chance.draws() == other.chance.draws()
    }
}

/// Plays a clone of every position on, once otherwise and once alike.
pub(super) fn clones_play_on_alike(case: &Case<'_>) -> Result<(), String> {
    each_turn(case, |position, answers, luck| {
        let before = position.clone();
        let mut otherwise = position.clone();
        let other_answers = otherwise.answers(luck);
        otherwise.advance(&other_answers);
        let is_same = position.looks_like(&before);
        ensure!(is_same, "playing a clone on changes the original");
        let (mut one, mut other) = (position.clone(), before);
        one.advance(answers);
        other.advance(answers);
        ensure!(one.looks_like(&other), "two clones play on differently");
        Ok(())
    })
}

/// Compares the listed answers with the checks and with random ones.
pub(super) fn listed_answers_are_the_legal_ones(case: &Case<'_>) -> Result<(), String> {
    each_turn(case, |position, answers, _| {
        for (ask, answer) in position.state.asks().iter().zip(answers) {
            let Some(listed) = position.state.answers(ask, MOST) else {
                continue;
            };
            for action in &listed {
                if let Err(foul) = position.state.check(ask, action) {
                    return Err(format!("{action:?} is listed, but {}", foul.reason));
                }
            }
            if let Some(action) = answer.action().filter(|action| !listed.contains(action)) {
                return Err(format!("{action:?} is legal, but not listed"));
            }
        }
        Ok(())
    })
}

/// Compares the listed outcomes of each step with what a seed draws.
pub(super) fn listed_outcomes_are_what_can_be_drawn(case: &Case<'_>) -> Result<(), String> {
    let start = |chance: &mut Chance| {
        case.game.start(chance, &mut EventLog::default());
        chance.draws().to_vec()
    };
    compare(start, &start(&mut Chance::seeded(case.luck)))?;
    each_turn(case, |position, answers, _| {
        let made = position.chance.draws().len();
        let mut drawn = position.clone();
        drawn.advance(answers);
        let step = |chance: &mut Chance| {
            let mut state = position.state.clone();
            state.advance(answers, chance, &mut EventLog::default());
            chance.draws().to_vec()
        };
        compare(step, &drawn.chance.draws()[made..])
    })
}

fn compare(step: impl FnMut(&mut Chance) -> Vec<Draw>, seeded: &[Draw]) -> Result<(), String> {
    let Some(outcomes) = Chance::every_outcome(MOST, step) else {
        return Ok(());
    };
    let whole: f64 = outcomes.iter().map(|(_, probability)| probability).sum();
    let is_certain = (whole - 1.0).abs() <= ROUNDING;
    ensure!(
        is_certain,
        "the probabilities of all outcomes add up to {whole}"
    );
    let is_listed = outcomes.iter().any(|(draws, _)| draws == seeded);
    ensure!(is_listed, "{seeded:?} was drawn, but is not listed");
    Ok(())
}

/// Looks at the first turns of a random course.
fn each_turn(
    case: &Case<'_>,
    look: impl Fn(&Position, &[Answer], &mut Generator) -> Result<(), String>,
) -> Result<(), String> {
    let mut position = Position::start(case);
    let mut luck = position.chance.for_rule_player(0);
    for turn in 1..=TURNS {
        if position.state.asks().is_empty() {
            break;
        }
        let answers = position.answers(&mut luck);
        look(&position, &answers, &mut luck).map_err(|why| format!("turn {turn}: {why}"))?;
        position.advance(&answers);
    }
    Ok(())
}
