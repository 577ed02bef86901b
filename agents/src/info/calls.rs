//! How many calls an agent makes for itself in a game, besides those that answer an ask: for
//! plans of what an experiment will cost.

/// Calls that an agent makes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCalls {
    /// In the whole game.
    pub once: u64,
    /// About each item that is sold.
    pub per_item: u64,
    /// About each rival, for each item that is sold.
    pub per_item_and_rival: u64,
    /// Behind every round but the last.
    pub per_round_over: u64,
    /// Before each answer.
    pub per_ask: u64,
    /// About each rival, before each answer.
    pub per_ask_and_rival: u64,
    /// How often each of them is put at most.
    pub tries: u64,
    /// Whether replies to them are long.
    pub reason: bool,
}

/// The size of a game, for one seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Most asks of the seat.
    pub asks: u64,
    /// Asks of the seat in a usual game.
    pub usual_asks: u64,
    /// Seats.
    pub seats: u64,
    /// Items, in games that sell some.
    pub items: u64,
    /// Rounds that the game has at most.
    pub rounds: u64,
}

impl OwnCalls {
    /// None at all.
    pub const NONE: Self = Self {
        once: 0,
        per_item: 0,
        per_item_and_rival: 0,
        per_round_over: 0,
        per_ask: 0,
        per_ask_and_rival: 0,
        tries: 1,
        reason: true,
    };

    /// Calls in a usual game in which each is put once, and the most that there can be.
    pub fn in_game(&self, table: &Table) -> (u64, u64) {
        let rivals = table.seats.saturating_sub(1);
        let of_items = self
            .per_item
            .saturating_add(self.per_item_and_rival.saturating_mul(rivals))
            .saturating_mul(table.items);
        let of_ask = self
            .per_ask
            .saturating_add(self.per_ask_and_rival.saturating_mul(rivals));
        let with = |asks: u64, rounds: u64| {
            self.once
                .saturating_add(of_items)
                .saturating_add(of_ask.saturating_mul(asks))
                .saturating_add(self.per_round_over.saturating_mul(rounds.saturating_sub(1)))
        };
        let rounds = table.rounds.min(table.asks);
        let expected = with(table.usual_asks, rounds.min(table.usual_asks));
        let most = with(table.asks, rounds);
        (expected, most.saturating_mul(self.tries))
    }
}

#[cfg(test)]
mod tests;
