//! The rule players, by game, and the ones that every game has.

pub mod common;
pub mod divide_dollar;
pub mod guess_two_thirds;
