//! Figures of gamma-Bench (Huang et al., arXiv 2403.11807): trajectories of its eight games, scores by
//! setting and by game.

use super::plot;
use crate::plots::spec::Shape::{Dots, Heat, Lines, Radar};
use crate::plots::spec::Value::{Mean, Of};
use crate::plots::spec::{By, Plot, PlotPanel};

pub(super) const GAMMA: &[&str] = &[
    "guess_two_thirds",
    "el_farol",
    "divide_dollar",
    "public_goods",
    "diners_dilemma",
    "sealed_bid_auction",
    "battle_royale",
    "pirate",
];

/// A series of a gamma-Bench game by round.
const fn by_round(category: &'static str, y_title: &'static str, unit: &'static str) -> PlotPanel {
    PlotPanel::new(Of("series", category), Lines)
        .over(By::Round, "round")
        .series(By::Player)
        .measuring(y_title, unit)
}

/// The score of gamma-Bench's games over settings.
const fn scores_over(x: By, x_title: &'static str) -> PlotPanel {
    PlotPanel::new(Of("score", "arxiv2024"), Dots)
        .over(x, x_title)
        .series(By::Player)
        .split(By::Game)
        .measuring("score (arxiv2024)", "at most 100")
        .range(0.0, 100.0)
}

pub(super) static PLOTS: &[Plot] = &[
    plot(
        "gamma-bench-guessing",
        "Guess 2/3 of the average: numbers by round",
        "figure 2 of gamma-Bench",
        &["guess_two_thirds"],
        &[
            by_round("mean", "mean number", "")
                .title("mean")
                .range(0.0, 100.0),
            by_round("sd", "spread of the numbers", "sd")
                .title("spread")
                .range(0.0, 50.0),
        ],
    ),
    plot(
        "gamma-bench-bar",
        "El Farol bar: share of players who go, by round",
        "figure 3 of gamma-Bench",
        &["el_farol"],
        &[by_round("mean", "share who go", "")
            .range(0.0, 1.0)
            .split(By::Setting)
            .beside(&[("good up to", 0.6)])],
    ),
    plot(
        "gamma-bench-dollar",
        "Divide the dollar: sum of all bids by round",
        "figure 4 of gamma-Bench",
        &["divide_dollar"],
        &[by_round("total", "sum of bids", "coins")
            .from_zero()
            .beside(&[("coins to divide", 100.0)])],
    ),
    plot(
        "gamma-bench-goods",
        "Public goods: contributions by round",
        "figure 5 of gamma-Bench",
        &["public_goods"],
        &[
            by_round("mean", "mean contribution", "tokens")
                .from_zero()
                .title("contribution"),
            by_round("returns", "return of the pot", "tokens")
                .from_zero()
                .title("return"),
        ],
    ),
    plot(
        "gamma-bench-diner",
        "Diner's dilemma: share of costly dishes by round",
        "figure 6 of gamma-Bench",
        &["diners_dilemma"],
        &[by_round("mean", "share of costly dishes", "").range(0.0, 1.0)],
    ),
    plot(
        "gamma-bench-auction",
        "Sealed-bid auction: how far bids stay below valuations, by round",
        "figure 7 of gamma-Bench",
        &["sealed_bid_auction"],
        &[by_round("mean", "mean shading of bids", "share of the valuation").split(By::Setting)],
    ),
    plot(
        "gamma-bench-battle",
        "Battle royale: shots at the strongest rival, and players alive, by round",
        "figure 8 of gamma-Bench",
        &["battle_royale"],
        &[
            by_round("at_strongest", "shots at the strongest so far", "share").range(0.0, 1.0),
            by_round("remaining", "players alive", "players").from_zero(),
        ],
    ),
    plot(
        "gamma-bench-shots",
        "Battle royale: who shot whom",
        "figure 8 of gamma-Bench",
        &["battle_royale"],
        &[PlotPanel::new(Mean("shots_at"), Heat)
            .over(By::Seat, "who shot (columns: at whom)")
            .series(By::About)
            .split(By::Player)
            .measuring("shots in a session", "")
            .from_zero()
            .digits(1)],
    ),
    plot(
        "gamma-bench-pirate",
        "Pirate game: proposals and votes by round",
        "table 4 of gamma-Bench",
        &["pirate"],
        &[
            by_round("distance", "distance from the rational proposal", "coins").from_zero(),
            by_round("vote_accuracy", "rational votes", "share").range(0.0, 1.0),
        ],
    ),
    plot(
        "gamma-bench-settings",
        "gamma-Bench: scores by setting",
        "figures 9 to 13 of gamma-Bench",
        GAMMA,
        &[scores_over(By::Setting, "")],
    ),
    plot(
        "gamma-bench-leaderboard",
        "gamma-Bench: scores by game",
        "figure 14 of gamma-Bench",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Dots)
            .over(By::Game, "game")
            .series(By::Player)
            .measuring("score (iclr2025)", "")
            .range(0.0, 100.0)],
    ),
    plot(
        "gamma-bench-radar",
        "gamma-Bench: scores by game",
        "figure 14 of gamma-Bench",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Radar)
            .over(By::Game, "")
            .split(By::Player)
            .measuring("score (iclr2025)", "")
            .range(0.0, 100.0)],
    ),
];
