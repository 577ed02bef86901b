//! The games, one folder each: rules in prose, parameters, state, measures, rule players.
//! The contract they keep is in `game.rs`, the list of them in `registry.rs`; what several
//! of them share is in `shared`.

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
mod prelude;
mod private_values;
pub mod public_goods;
pub mod sealed_bid_auction;
pub mod second_price_auction;
mod shared;
#[cfg(test)]
pub(crate) mod testing;
pub mod water_allocation;
