//! How much the record of a session holds, estimated before it is played: experiments that no
//! record has room for are refused by it. Where a game itself decides how long it lasts, a usual
//! session counts; one that grows beyond what a record may hold is stopped by [`crate::Play`].

use super::Game;
use crate::extent::Extent;

/// What a round leaves behind beside that.
const ROUND: Extent = Extent {
    bytes: 200,
    values: 12,
    tables: 3,
};

/// What is recorded of one answer from outside besides, with the shortest of replies.
const DECISION: Extent = Extent {
    bytes: 250,
    values: 8,
    tables: 1,
};

/// Bytes of a value with its key or comma, in numbers of usual length.
const BYTES_PER_VALUE: u64 = 9;

/// A move is a table of its own; columns have none.
const VALUES_PER_TABLE: u64 = 6;

/// What a usual session comes to, rather more than less; `models` of its seats are answered from
/// outside.
pub fn usual_extent(game: &dyn Game, models: usize) -> Extent {
    let rounds = u64::from(game.usual_asks_per_seat());
    let asks = rounds.saturating_mul(game.seats() as u64);
    let values = asks.saturating_mul(game.values_per_ask());
    let decisions = rounds.saturating_mul(models as u64);
    let with = |own: u64, of: fn(&Extent) -> u64| {
        let rounds = rounds.saturating_mul(of(&ROUND));
        let decisions = decisions.saturating_mul(of(&DECISION));
        own.saturating_add(rounds).saturating_add(decisions)
    };
    Extent {
        bytes: with(values.saturating_mul(BYTES_PER_VALUE), |part| part.bytes),
        values: with(values, |part| part.values),
        tables: with(values / VALUES_PER_TABLE, |part| part.tables),
    }
}
