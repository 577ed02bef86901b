//! What auction agents are written with: the seat's own picture of the auction,
//! the reading of bids and priority lists from replies, and the bidder
//! that all of them share. Everything here knows what its seat was shown and
//! nothing else.
//!
//! Used by [`crate::agents::bdi`] and other agents of the game `english_auction`.

pub mod beliefs;
mod believing;
pub mod bidder;
pub mod bids;
pub mod detail;
pub mod picture;
pub mod priorities;

pub use bidder::{Again, Bidder};
pub use bids::{BidReading, read_bid};
pub use detail::Detail;
pub use picture::{Happened, Item, Picture, Standing};
pub use priorities::{priorities_schema, read_priorities};

#[cfg(test)]
mod tests;
