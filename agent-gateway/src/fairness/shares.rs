//! Shares of teams over several lines: how much each team has been served by
//! weight, and whether it is far enough ahead of the others that wait to let them
//! go first. Pure, on a clock that is handed in. Called by `admission/limiter/books.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A team that was not heard of for so long does not wait any more.
const WAITS_FOR_MS: f64 = 300.0;

/// After so long nobody remembers what a team was served.
const FORGOTTEN_AFTER_MS: f64 = 7_200_000.0;

/// What teams have been served.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Shares(BTreeMap<String, TeamShare>);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct TeamShare {
    served: f64,
    waited_at_ms: f64,
}

impl Shares {
    /// These teams wait now. Who joins starts level with the least served of
    /// those who wait already.
    pub fn waiting<'a>(&mut self, teams: impl Iterator<Item = &'a str>, now_ms: f64) {
        self.0
            .retain(|_, team| now_ms - team.waited_at_ms <= FORGOTTEN_AFTER_MS);
        let least = self.least_served(now_ms);
        for team in teams {
            match self.0.get_mut(team) {
                Some(known) => {
                    if now_ms - known.waited_at_ms > WAITS_FOR_MS {
                        known.served = known.served.max(least);
                    }
                    known.waited_at_ms = now_ms;
                }
                None => {
                    let joins = TeamShare {
                        served: least,
                        waited_at_ms: now_ms,
                    };
                    self.0.insert(team.to_owned(), joins);
                }
            }
        }
    }

    /// These teams wait for something that nobody else wants: others need not
    /// wait for them.
    pub fn held_up<'a>(&mut self, teams: impl Iterator<Item = &'a str>) {
        for team in teams {
            if let Some(team) = self.0.get_mut(team) {
                team.waited_at_ms -= WAITS_FOR_MS + 1.0;
            }
        }
    }

    /// Whether a team may be served, being at most `slack` ahead of the least
    /// served team that waits.
    pub fn may_go(&self, team: &str, slack: f64, now_ms: f64) -> bool {
        let served = self.0.get(team).map_or(0.0, |team| team.served);
        served <= self.least_served(now_ms) + slack
    }

    /// Counts tokens by weight; negative when less was used than counted.
    pub fn served(&mut self, team: &str, tokens_by_weight: f64) {
        if let Some(team) = self.0.get_mut(team) {
            team.served += tokens_by_weight;
        }
    }

    /// The last time at which a team waited.
    pub fn newest_ms(&self) -> f64 {
        let times = self.0.values().map(|team| team.waited_at_ms);
        times.fold(0.0, f64::max)
    }

    /// Lets its past lie so much later; negative: earlier.
    pub fn shift(&mut self, by_ms: f64) {
        for team in self.0.values_mut() {
            team.waited_at_ms += by_ms;
        }
    }

    fn least_served(&self, now_ms: f64) -> f64 {
        let waiting = self
            .0
            .values()
            .filter(|team| now_ms - team.waited_at_ms <= WAITS_FOR_MS);
        let least = waiting
            .map(|team| team.served)
            .fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }
}

/// How far ahead a team may be: two calls of its own, or a tenth of a second of
/// what all can be served, whichever is more. Less would make lines wait for each
/// other's next look.
pub fn slack(cost: u64, weight: f64, rate: f64, weights: f64) -> f64 {
    (2.0 * cost as f64 / weight).max(rate / 10.0 / weights.max(weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn team_ahead_lets_the_other_go_first_while_it_waits() {
        let mut shares = Shares::default();
        shares.waiting(["a", "b"].into_iter(), 0.0);
        shares.served("a", 100.0);
        assert!(!shares.may_go("a", 50.0, 0.0));
        assert!(shares.may_go("b", 50.0, 0.0));
        // b is not heard of any more.
        shares.waiting(["a"].into_iter(), 400.0);
        assert!(shares.may_go("a", 50.0, 400.0));
    }

    #[test]
    fn newcomer_starts_level() {
        let mut shares = Shares::default();
        shares.waiting(["a"].into_iter(), 0.0);
        shares.served("a", 1_000.0);
        shares.waiting(["a", "b"].into_iter(), 100.0);
        assert!(shares.may_go("a", 1.0, 100.0) && shares.may_go("b", 1.0, 100.0));
        shares.served("b", 10.0);
        assert!(!shares.may_go("b", 1.0, 100.0));
    }
}
