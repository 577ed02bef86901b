//! What each player came to over the sessions of a setting: payoffs, rationality degree,
//! actions, deviation, wins, rule breaking (appendices A.2 and A.3).

use agon_engine::Seat;
use serde::Serialize;

use super::reading::{Played, Taken};
use crate::accumulator::Accumulator;
use crate::by_player::ByPlayer;

/// After so many sessions the paper looks at payoffs (table 1).
const FIRST_SESSIONS: [u64; 3] = [20, 60, 100];

/// One player over the sessions of a setting. Numbers of payoffs are means of one run of a
/// seat, over seats and sessions; void runs count for nothing but rule breaking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerRow {
    /// Its name; all its seats are taken together.
    pub player: String,
    /// How often it sat: seats times sessions.
    pub sat: u64,
    /// How many of these its payoffs are means of: those in which it answered enough and a run
    /// had a result.
    pub n: u64,
    /// Mean payoff of a run: the prize won, or in auctions what it is left with.
    pub payoff: Option<f64>,
    /// Standard deviation (n - 1) of that over seats and sessions.
    pub payoff_sd: Option<f64>,
    /// What it would be if all played the equilibrium.
    pub equilibrium_payoff: Option<f64>,
    /// The first less the second.
    pub payoff_gap: Option<f64>,
    /// Rationality degree: the first over the second (formula 1, or 4 with history).
    pub rationality: Option<f64>,
    /// In auctions the same: final assets over those in equilibrium.
    pub final_over_equilibrium: Option<f64>,
    /// In auctions: final assets over those at the start.
    pub final_over_initial: Option<f64>,
    /// Share of runs won, from 0 to 1, ties included.
    pub wins: Option<f64>,
    /// Percentage of runs in which it broke the rules.
    pub rule_breaking: Option<f64>,
    /// Its valid actions.
    pub actions: u64,
    /// Mean of what it said.
    pub action: Option<f64>,
    /// Standard deviation (n - 1) of that.
    pub action_sd: Option<f64>,
    /// Mean of it over the bound (contests) or over the private value (auctions).
    pub relative_action: Option<f64>,
    /// Mean deviation distance (formulas 2 and 3); in contests over the bound.
    pub deviation: Option<f64>,
    /// Standard deviation (n - 1) of that over actions.
    pub deviation_sd: Option<f64>,
    /// Payoffs after 20, 60 and 100 sessions, as far as there are as many.
    pub first_sessions: Vec<FirstSessions>,
}

/// Payoffs of the first sessions of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstSessions {
    /// How many sessions.
    pub sessions: u64,
    /// Mean payoff of a run.
    pub payoff: Option<f64>,
    /// Rationality degree.
    pub rationality: Option<f64>,
}

/// All players so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Players {
    sessions: u64,
    sums: ByPlayer<Sums>,
}

/// Sums of one player.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    pub sat: u64,
    pub payoff: Accumulator,
    equilibrium_payoff: Accumulator,
    gap: Accumulator,
    pub rationality: Accumulator,
    is_auction: bool,
    initial: Accumulator,
    pub wins: Accumulator,
    rule_breaking: Accumulator,
    pub action: Accumulator,
    pub relative: Accumulator,
    pub deviation: Accumulator,
    first: Vec<FirstSessions>,
}

impl Players {
    pub fn add(&mut self, played: &Played<'_>) {
        self.sessions += 1;
        for (seat, player) in played.players.iter().enumerate() {
            self.sums.of(player).add_seat(played, seat);
        }
        for taken in &played.actions {
            self.sums.of(played.players[taken.seat]).add_action(taken);
        }
        if FIRST_SESSIONS.contains(&self.sessions) {
            for sums in self.sums.iter_mut() {
                sums.first.push(FirstSessions {
                    sessions: self.sessions,
                    payoff: sums.payoff.mean(),
                    rationality: sums.rationality.mean(),
                });
            }
        }
    }

    pub fn rows(&self) -> Vec<PlayerRow> {
        let rows = self.sums.iter();
        rows.map(|(player, sums)| sums.row(player)).collect()
    }
}

impl Sums {
    /// Takes in what a seat came to.
    pub fn add_seat(&mut self, played: &Played<'_>, seat: Seat) {
        self.sat += 1;
        self.is_auction = played.is_auction;
        let number = |series: &str| played.number(series, seat);
        let (payoff, equilibrium) = (number("payoff"), number("equilibrium_payoff"));
        self.payoff.add_known(payoff);
        self.equilibrium_payoff.add_known(equilibrium);
        let gap = payoff.zip(equilibrium);
        self.gap.add_known(gap.map(|(payoff, best)| payoff - best));
        self.rationality.add_known(number("rationality"));
        self.initial.add_known(number("assets"));
        self.wins.add_known(number("wins"));
        let rule_breaking = played.of_any("rule_breaking", seat);
        self.rule_breaking.add_known(rule_breaking);
    }

    /// Takes in what one said.
    pub fn add_action(&mut self, taken: &Taken) {
        self.action.add(taken.action);
        self.deviation.add(taken.deviation);
        self.relative.add_known(taken.relative);
    }

    fn row(&self, player: &str) -> PlayerRow {
        let rationality = self.rationality.mean();
        PlayerRow {
            player: player.to_owned(),
            sat: self.sat,
            n: self.payoff.count(),
            payoff: self.payoff.mean(),
            payoff_sd: self.payoff.standard_deviation(),
            equilibrium_payoff: self.equilibrium_payoff.mean(),
            payoff_gap: self.gap.mean(),
            rationality,
            final_over_equilibrium: rationality.filter(|_| self.is_auction),
            final_over_initial: self.initial.mean(),
            wins: self.wins.mean(),
            rule_breaking: self.rule_breaking.mean(),
            actions: self.action.count(),
            action: self.action.mean(),
            action_sd: self.action.standard_deviation(),
            relative_action: self.relative.mean(),
            deviation: self.deviation.mean(),
            deviation_sd: self.deviation.standard_deviation(),
            first_sessions: self.first.clone(),
        }
    }
}
