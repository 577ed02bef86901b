//! Figures of EconArena, of contests and second-price auctions, and of the paper on K-level
//! reasoning.

use super::plot;
use crate::plots::spec::Shape::{Densities, Dots, Heat, Lines};
use crate::plots::spec::Value::{Mean, OfFirstSeat};
use crate::plots::spec::{By, Plot, PlotPanel};

const ECON: &[&str] = &[
    "beauty_contest",
    "second_price_auction",
    "ascending_auction",
];

pub(super) static PLOTS: &[Plot] = &[
    plot(
        "econarena-melee",
        "Contests and auctions: payoff by model",
        "figures 1a and 2a of EconArena",
        ECON,
        &[PlotPanel::new(Mean("payoff"), Dots)
            .over(By::Player, "player")
            .split(By::Game)
            .measuring("payoff of a run", "")],
    ),
    plot(
        "econarena-rational",
        "Contests and auctions: deviation from rational play",
        "figures 1b and 2b of EconArena",
        ECON,
        &[PlotPanel::new(Mean("deviation"), Densities)
            .over(By::Nothing, "")
            .series(By::Player)
            .split(By::Game)
            .measuring("mean deviation of a session", "share of the range")],
    ),
    plot(
        "econarena-configurations",
        "Contests and auctions: deviation from rational play by configuration",
        "figures 3 and 6 of EconArena",
        ECON,
        &[PlotPanel::new(Mean("deviation"), Dots)
            .over(By::Setting, "")
            .series(By::Player)
            .split(By::Game)
            .measuring("deviation", "share of the range")
            .from_zero()],
    ),
    plot(
        "econarena-history",
        "Contests and auctions: deviation from rational play as runs go by",
        "figures 4 and 5 of EconArena",
        ECON,
        &[PlotPanel::new(Mean("deviation"), Lines)
            .over(By::Round, "run")
            .series(By::Setting)
            .split(By::Game)
            .measuring("deviation", "share of the range")
            .from_zero()],
    ),
    plot(
        "econarena-rule-breaking",
        "Contests and auctions: rule breaking by model",
        "table 2 of EconArena",
        ECON,
        &[PlotPanel::new(Mean("rule_breaking"), Heat)
            .over(By::Player, "")
            .series(By::Setting)
            .split(By::Game)
            .measuring("broken rules", "%")
            .range(0.0, 100.0)],
    ),
    plot(
        "k-level-win-rate",
        "K-level reasoning: rounds that a method wins against each opponent",
        "tables of the paper on K-level reasoning",
        &["guess_to_survive", "water_allocation"],
        &[PlotPanel::new(OfFirstSeat("win_rate"), Heat)
            .over(By::Axis("seats[0]"), "method, against opponents")
            .series(By::Label)
            .split(By::Game)
            .measuring("rounds won", "share")
            .range(0.0, 1.0)],
    ),
];
