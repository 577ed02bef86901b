//! What auction agents are written with: the seat's own picture of the auction,
//! the reading of bids and priority lists from replies, and the bidder
//! that all of them share. Everything here knows what its seat was shown and
//! nothing else.
//!
//! Used by [`crate::agents::bdi`] and other agents of the game `english_auction`.

pub mod beliefs;
pub mod bidder;
mod bids;
mod detail;
pub mod picture;
mod plan;
pub mod rows;
mod simulated;

pub use bidder::{Bidder, Bids};
pub use bids::{BidReading, read_bid};
pub use detail::Detail;
pub use picture::{Happened, Item, Picture, Standing};

#[cfg(test)]
pub mod tests;
