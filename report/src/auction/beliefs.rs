//! Belief errors (arXiv 2310.05746, section 4.2): facts of the auction that bidders hold
//! wrongly in the first try of a belief update, by what and whom they are about. Reads
//! the `belief` notes of the agent.

use serde::Serialize;
use serde_json::Value;

use super::reading::Auction;
use crate::by_player::ByPlayer;
use crate::statistics::corrected_failure_rate;

/// Belief updates of one player. Facts count in the first try of an update only, and not
/// where that try could not be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BeliefRow {
    /// Its name.
    pub player: String,
    /// Belief updates.
    pub updates: u64,
    /// Updates whose first try could not be read: nothing was compared.
    pub unreadable: u64,
    /// Replies of the wrong shape in all tries.
    pub shape_errors: u64,
    /// Updates that had errors and ended with the truth by the player's own doing.
    pub corrected: u64,
    /// Updates that were wrong to the last try and that the auctioneer put right.
    pub put_right: u64,
    /// All facts.
    pub all: Facts,
    /// Facts about itself: budget, own profit, own wins.
    pub own: Facts,
    /// Facts about the others: their profits and wins.
    pub others: Facts,
    /// The remaining budget.
    pub budget: Facts,
    /// Profits, its own and the others'.
    pub profit: Facts,
    /// Lists of wins, its own and the others'.
    pub wins: Facts,
}

/// Facts compared with the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Facts {
    /// How many were compared. All of them are right in the end: C.
    pub checked: u64,
    /// How many of them were wrong at first: F.
    pub wrong: u64,
    /// F / (C + F).
    pub failure_rate: Option<f64>,
}

impl Facts {
    fn rated(checked: u64, wrong: u64) -> Self {
        Self {
            checked,
            wrong,
            failure_rate: corrected_failure_rate(wrong, checked),
        }
    }
}

/// Belief updates so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Beliefs {
    players: ByPlayer<Counted>,
}

#[derive(Debug, Clone, Default)]
struct Counted {
    updates: u64,
    unreadable: u64,
    shape_errors: u64,
    corrected: u64,
    put_right: u64,
    /// Bidders in the updates that were read, one by one.
    bidders: u64,
    wrong_budgets: u64,
    wrong_profits: Sides,
    wrong_wins: Sides,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sides {
    own: u64,
    others: u64,
}

impl Beliefs {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, belief) in auction.notes("belief") {
            let counted = self.players.of(auction.players[seat]);
            if auction.is_measured(seat) {
                counted.add(belief);
            }
        }
    }

    pub fn rows(&self) -> Vec<BeliefRow> {
        let rows = self.players.iter();
        rows.map(|(player, counted)| counted.row(player)).collect()
    }
}

impl Counted {
    fn add(&mut self, belief: &Value) {
        self.updates += 1;
        // What the auctioneer forces is the truth as well, and a belief that is kept may be.
        match belief["source"].as_str() {
            Some("auctioneer") => self.put_right += 1,
            Some("kept") => {}
            _ => self.corrected += u64::from(belief["corrected"] == true),
        }
        // One budget, and of every bidder a profit and a list of wins.
        let checked = belief["checked"].as_u64().unwrap_or(0);
        self.unreadable += u64::from(checked == 0);
        self.bidders += checked.saturating_sub(1) / 2;
        for error in belief["errors"].as_array().into_iter().flatten() {
            let kind = error["kind"].as_str().unwrap_or_default();
            if kind == "shape" {
                self.shape_errors += 1;
            } else if checked > 0 && error["try"] == 1 {
                let sides = match kind {
                    "budget" => {
                        self.wrong_budgets += 1;
                        continue;
                    }
                    "profit" => &mut self.wrong_profits,
                    "wins" => &mut self.wrong_wins,
                    _ => continue,
                };
                match error["about"].as_str() {
                    Some("self") => sides.own += 1,
                    _ => sides.others += 1,
                }
            }
        }
    }

    fn row(&self, player: &str) -> BeliefRow {
        let read = self.updates - self.unreadable;
        let own = self.wrong_budgets + self.wrong_profits.own + self.wrong_wins.own;
        let others = self.wrong_profits.others + self.wrong_wins.others;
        let wrong = |sides: Sides| sides.own + sides.others;
        BeliefRow {
            player: player.to_owned(),
            updates: self.updates,
            unreadable: self.unreadable,
            shape_errors: self.shape_errors,
            corrected: self.corrected,
            put_right: self.put_right,
            all: Facts::rated(read + 2 * self.bidders, own + others),
            own: Facts::rated(3 * read, own),
            others: Facts::rated(2 * self.bidders.saturating_sub(read), others),
            budget: Facts::rated(read, self.wrong_budgets),
            profit: Facts::rated(self.bidders, wrong(self.wrong_profits)),
            wins: Facts::rated(self.bidders, wrong(self.wrong_wins)),
        }
    }
}
