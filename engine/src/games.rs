//! The games, one file each: rules in prose, parameters, state, measures.
//! Also what several games have in common: checks of parameters, columns, and
//! the rounds of simultaneous games (`rounds.rs`).

use crate::arithmetic::smaller;
use crate::ask::Seat;
use crate::event::{Event, EventLog, Value};
use crate::game::{ExpectedScore, GameInfo, ParameterError};
use crate::measures::{mean, standard_deviation};

pub mod ascending_auction;
pub mod battle_royale;
pub mod beauty_contest;
pub mod diners_dilemma;
pub mod divide_dollar;
pub mod el_farol;
pub mod english_auction;
pub mod guess_to_survive;
pub mod guess_two_thirds;
pub mod judging;
pub mod pirate;
mod private_values;
pub mod public_goods;
mod rationality;
mod rounds;
pub mod sealed_bid_auction;
pub mod second_price_auction;
mod survival;
#[cfg(test)]
mod testing;
pub mod water_allocation;

/// Players of a vanilla game of gamma-Bench.
const PLAYERS: usize = 10;

/// Rounds of a vanilla game of gamma-Bench.
const ROUNDS: u32 = 20;

/// The authors ask again without limit; three more tries are enough for any
/// model that can answer at all, and bound what a broken one costs.
const DEFAULT_FOUL_ALLOWANCE: u32 = 3;

/// More tries than any model needs; each is a call that somebody pays.
const MOST_FOULS: u32 = 100;

/// Longest session: more rounds than any published one, and few enough that a
/// record stays in memory.
const MOST_ROUNDS: u32 = 10_000;

/// Largest amount that a parameter may name: sums of it over seats stay whole
/// numbers of 64 bits, and its products with a share stay exact.
const LARGEST_AMOUNT: i64 = 1_000_000_000;

/// How far sums of rounded numbers may stray from the product that bounds them.
const SUM_SLACK: f64 = 1e-9;

/// The rule by which everybody knows most parameters.
const BRIEFED: &str = "the briefing tells everybody";

/// The rule by which some need not be told.
const ALIKE: &str = "it holds for all seats alike and is nobody's secret";

/// Room for the rounding of scores that are exact in theory.
const EXACT: f64 = 1e-9;

/// A score that equilibrium play has in every session.
fn exact(scheme: &'static str, value: f64) -> ExpectedScore {
    ExpectedScore {
        scheme,
        value,
        tolerance: EXACT,
    }
}

fn check_table(info: &GameInfo, players: usize, rounds: u32) -> Result<(), ParameterError> {
    check_seats(info, players)?;
    check_between("rounds", i64::from(rounds), 1, i64::from(MOST_ROUNDS))
}

fn check_seats(info: &GameInfo, players: usize) -> Result<(), ParameterError> {
    let (fewest, most) = info.seats;
    if (fewest..=most).contains(&players) {
        return Ok(());
    }
    let message = format!(
        "{} needs {fewest} to {most} players, not {players}",
        info.name
    );
    Err(ParameterError::new("players", message))
}

/// Every game forgives fouls, and none without end.
fn check_fouls(allowance: u32) -> Result<(), ParameterError> {
    let (allowance, most) = (i64::from(allowance), i64::from(MOST_FOULS));
    check_between("foul_allowance", allowance, 0, most)
}

fn check_between(name: &str, value: i64, low: i64, high: i64) -> Result<(), ParameterError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let message = format!("{name} must be from {low} to {high}, not {value}");
    Err(ParameterError::new(name, message))
}

/// Letters that steer a terminal, or end a line for some reader.
fn ends_a_line(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// A column of what seats answered; a seat that forfeited has no entry. A plain
/// list when nobody is missing.
fn column<T>(entries: impl Iterator<Item = Option<T>> + Clone) -> Value
where
    Value: From<Vec<T>> + From<Option<T>>,
{
    let mut all = Vec::with_capacity(entries.size_hint().0);
    for entry in entries.clone() {
        match entry {
            Some(value) => all.push(value),
            None => return Value::List(entries.map(Value::from).collect()),
        }
    }
    all.into()
}

/// The sum of amounts; it stops at the ends of the range, which only lenient
/// replays can reach.
fn total(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::saturating_add)
}

/// A number from every event of a kind, in order.
fn series_of(log: &EventLog, kind: &str, name: &str) -> Vec<f64> {
    log.of_kind(kind)
        .filter_map(|event| event.get(name)?.number())
        .collect()
}

/// Mean and standard deviation of a list in each event of a kind; events whose
/// list holds no number are left out.
fn spread_of(log: &EventLog, kind: &str, name: &str) -> (Vec<f64>, Vec<f64>) {
    log.of_kind(kind)
        .filter_map(|event| Some(event.get(name)?.numbers()))
        .filter(|numbers| !numbers.is_empty())
        .map(|numbers| (mean(numbers.iter().copied()), standard_deviation(&numbers)))
        .unzip()
}

/// The bounds of a payoff that has these bounds in every round.
fn bounds_over(rounds: u32, low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low * f64::from(rounds), high * f64::from(rounds));
    (low - low.abs() * SUM_SLACK, high + high.abs() * SUM_SLACK)
}

/// The briefing of a game of rounds, to which the game adds its parameters.
fn briefing(players: usize, rounds: u32) -> Event {
    Event::new("briefing", 0)
        .fact("players", players)
        .fact("rounds", rounds)
}

/// The result of a round, with facts for everybody, or for the record alone where
/// nobody `is_told`.
fn round_result(
    round: u32,
    is_told: bool,
    facts: impl IntoIterator<Item = (&'static str, Value)>,
) -> Event {
    let add = if is_told { Event::fact } else { Event::hidden };
    let told = |event, (name, value)| add(event, name, value);
    facts
        .into_iter()
        .fold(Event::new("round_result", round), told)
}

/// Distances closer than this share of the largest number are the same distance.
const SAME_DISTANCE: f64 = 1e-12;

/// The seats whose number is closest to the target, in order, on either side of it.
/// `largest` is the largest number that can be said.
fn closest(choices: &[Option<f64>], target: f64, largest: f64) -> Vec<Seat> {
    let distance = |choice: &Option<f64>| choice.map(|number| (number - target).abs());
    let least = choices.iter().filter_map(distance).reduce(smaller);
    let Some(least) = least else {
        return Vec::new();
    };
    let slack = largest * SAME_DISTANCE;
    let seats = choices.iter().enumerate();
    let close = seats
        .filter(|(_, choice)| distance(choice).is_some_and(|distance| distance <= least + slack));
    close.map(|(seat, _)| seat).collect()
}

/// The best of sealed bids.
struct TopBids<T> {
    /// Whose bid is the highest: the lowest seat of equal ones.
    seat: Seat,
    highest: T,
    /// The second highest, equal to the highest after a tie; `None` when nobody
    /// else bid.
    second: Option<T>,
}

/// The best of bids by seat; `None` when nobody bid.
fn top_bids<T: PartialOrd + Copy>(bids: impl Iterator<Item = Option<T>>) -> Option<TopBids<T>> {
    let mut best: Option<TopBids<T>> = None;
    for (seat, bid) in bids.enumerate() {
        let Some(bid) = bid else {
            continue;
        };
        best = Some(match best {
            Some(best) if bid <= best.highest => TopBids {
                second: best.second.filter(|second| *second >= bid).or(Some(bid)),
                ..best
            },
            beaten => TopBids {
                seat,
                highest: bid,
                second: beaten.map(|beaten| beaten.highest),
            },
        });
    }
    best
}

/// Larger factors of means and pots are slips, and their products leave what
/// JSON can hold.
const LARGEST_RATIO: f64 = 1000.0;

/// A factor that means or sums are multiplied by.
fn check_ratio(ratio: f64) -> Result<(), ParameterError> {
    if (0.0..=LARGEST_RATIO).contains(&ratio) {
        return Ok(());
    }
    let message = format!("ratio must be from 0 to {LARGEST_RATIO}, not {ratio}");
    Err(ParameterError::new("ratio", message))
}
