//! The games, one file each: rules in prose, parameters, state, measures.
//! Also what the parameters of several games have in common.

use crate::game::{GameInfo, ParameterError};

pub mod guess_two_thirds;

/// Players of a vanilla game of gamma-Bench.
const PLAYERS: usize = 10;

/// Rounds of a vanilla game of gamma-Bench.
const ROUNDS: u32 = 20;

/// The authors ask again without limit; three more tries are enough for any
/// model that can answer at all, and bound what a broken one costs.
const DEFAULT_FOUL_ALLOWANCE: u32 = 3;

/// Longest session: more rounds than any published one, and few enough that a
/// record stays in memory.
const MOST_ROUNDS: u32 = 10_000;

fn check_seats(info: &GameInfo, players: usize) -> Result<(), ParameterError> {
    let (fewest, most) = info.seats;
    if (fewest..=most).contains(&players) {
        return Ok(());
    }
    let message = format!("{} needs {fewest} to {most} players, not {players}", info.name);
    Err(ParameterError::new("players", message))
}

fn check_rounds(rounds: u32) -> Result<(), ParameterError> {
    if (1..=MOST_ROUNDS).contains(&rounds) {
        return Ok(());
    }
    let message = format!("rounds must be from 1 to {MOST_ROUNDS}, not {rounds}");
    Err(ParameterError::new("rounds", message))
}
