//! Backward induction of the pirate game, for any number of pirates and any
//! amount of gold, and the reference plan that the source scores against.
//! Called by the game and by its equilibrium player.

use crate::games::prelude::*;

/// What becomes of one pirate: its gold, or `None` overboard.
pub(crate) type Fate = Option<i64>;

/// What becomes of everybody when 1, 2, .. pirates are left and all of them see
/// through the game: first to survive, then to have more gold, then to see
/// others go overboard.
#[derive(Debug, PartialEq)]
pub struct Theory {
    /// By the number of pirates left, less one; most senior pirate first.
    fates: Vec<Vec<Fate>>,
}

impl Theory {
    /// Solves the game for up to `players` pirates.
    pub(crate) fn new(players: usize, gold: i64) -> Self {
        let mut fates: Vec<Vec<Fate>> = Vec::with_capacity(players);
        // The last one left keeps everything.
        let mut left = vec![Some(gold)];
        for _ in 1..players {
            let next = with_one_more(&left, gold);
            fates.push(left);
            left = next;
        }
        fates.push(left);
        Self { fates }
    }

    /// What becomes of `alive` pirates, most senior first.
    pub(crate) fn fates(&self, alive: usize) -> &[Fate] {
        &self.fates[alive - 1]
    }

    /// What the proposer of `alive` pirates proposes. Nothing saves a proposer
    /// whose votes cost more than there is; it may as well ask for everything.
    pub(crate) fn plan(&self, alive: usize, gold: i64) -> Vec<i64> {
        let fates = self.fates(alive);
        if fates[0].is_some() {
            return fates.iter().map(|fate| fate.unwrap_or(0)).collect();
        }
        let mut plan = vec![0; alive];
        plan[0] = gold;
        plan
    }

    /// Whether the pirate at an offset from the proposer, of `alive` pirates,
    /// votes for a plan that gives it this share.
    pub(crate) fn accepts(&self, alive: usize, offset: Seat, share: i64) -> bool {
        match self.fates(alive - 1)[offset - 1] {
            None => true,
            Some(otherwise) => share > otherwise,
        }
    }
}

/// The fates when one more senior pirate proposes: it buys the cheapest votes it
/// needs, each for one gold more than its owner has otherwise, or for nothing
/// when its owner would not survive otherwise. Of equally cheap votes it buys
/// those at even offsets first, as the reference plan does, then by seniority.
fn with_one_more(otherwise: &[Fate], gold: i64) -> Vec<Fate> {
    let mut prices: Vec<(i64, usize, usize)> = otherwise
        .iter()
        .enumerate()
        .map(|(place, fate)| {
            let offset = place + 1;
            (fate.map_or(0, |has| has + 1), offset % 2, offset)
        })
        .collect();
    prices.sort_unstable();
    let alive = otherwise.len() + 1;
    // At least half of all votes, one of which is the proposer's own.
    let needed = alive.div_ceil(2) - 1;
    prices.truncate(needed);
    let cost: i64 = prices.iter().map(|(price, _, _)| price).sum();
    if cost > gold {
        return std::iter::once(None)
            .chain(otherwise.iter().copied())
            .collect();
    }
    let mut fates = vec![Some(0); alive];
    fates[0] = Some(gold - cost);
    for (price, _, offset) in prices {
        fates[offset] = Some(price);
    }
    fates
}

/// The plan that the source counts as right for so many pirates: 1 for the
/// voters at even offsets from the proposer, the rest for the proposer. Where the
/// gold does not reach that far, the rest is negative, as in the authors' code.
pub(crate) fn reference_plan(alive: usize, gold: i64) -> Vec<i64> {
    let mut plan: Vec<i64> = (0..alive)
        .map(|offset| i64::from(offset % 2 == 0))
        .collect();
    let bought: i64 = plan.iter().skip(1).sum();
    plan[0] = gold - bought;
    plan
}

#[cfg(test)]
mod tests;
