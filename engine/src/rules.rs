//! The rule players, by game, and the ones that every game has.

pub mod battle_royale;
pub mod common;
pub mod diners_dilemma;
pub mod divide_dollar;
pub mod el_farol;
pub mod guess_two_thirds;
pub mod pirate;
pub mod public_goods;
pub mod sealed_bid_auction;
