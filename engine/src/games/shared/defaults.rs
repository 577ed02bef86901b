//! Values that parameters and strategies of several games begin with. A value that one
//! game alone has stands in that game.

/// Players of a vanilla game of gamma-Bench.
pub const PLAYERS: usize = 10;

/// Rounds of a vanilla game of gamma-Bench.
pub const ROUNDS: u32 = 20;

/// The authors ask again without limit; three more tries are enough for any
/// model that can answer at all, and bound what a broken one costs.
pub const FOUL_ALLOWANCE: u32 = 3;

/// The level of a level-k player: most people are level 1 or 2 (Nagel 1995).
pub const LEVEL: u32 = 1;

/// What a bidder that shades bids of its value: what ten bidders do in the first-price
/// equilibrium; at second price enough to lose an item now and then.
pub const SHADE: f64 = 0.9;
