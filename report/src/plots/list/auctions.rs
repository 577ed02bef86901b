//! Figures of AucArena (Chen et al., arXiv 2310.05746) and of Harbor: bids, profits, beliefs and
//! profiles of bidders.

use super::plot;
use crate::plots::spec::Shape::{Bars, Densities, Dots, Heat, Histograms, Lines, Skills};
use crate::plots::spec::Value::{Each, Mean, Percent, Ratio};
use crate::plots::spec::{By, Plot, PlotPanel};

const AUCTION: &[&str] = &["english_auction"];

/// Facts of a kind that first beliefs had wrong.
const fn belief_errors(
    title: &'static str,
    wrong: &'static str,
    facts: &'static [&'static str],
) -> PlotPanel {
    PlotPanel::new(Percent(wrong, facts), Bars)
        .title(title)
        .measuring("wrong facts", "%")
        .range(0.0, 100.0)
}

pub(super) static PLOTS: &[Plot] = &[
    plot(
        "aucarena-competition",
        "Auctions: profit and items won by bidder",
        "figure 2 of AucArena, in profit",
        AUCTION,
        &[
            PlotPanel::new(Mean("profit"), Dots)
                .over(By::Player, "bidder")
                .measuring("profit of an auction", "$")
                .beside(&[("no profit", 0.0)]),
            PlotPanel::new(Mean("items_won"), Dots)
                .over(By::Player, "bidder")
                .measuring("items won", "items")
                .from_zero(),
        ],
    ),
    plot(
        "aucarena-ratings",
        "Auctions: TrueSkill of bidders",
        "figure 2 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("paid"), Skills)
            .measuring("TrueSkill", "mu")
            .beside(&[("at first", 25.0)])],
    ),
    plot(
        "aucarena-correlations",
        "Auctions: how priorities of items go with bids for them and with winning them",
        "figure 6 of AucArena, which takes all auctions together",
        AUCTION,
        &[PlotPanel::new(Mean("plan_correlation"), Dots)
            .over(By::Category, "plan and action")
            .series(By::Player)
            .measuring("Spearman's rho of an auction", "")
            .range(-1.0, 1.0)
            .beside(&[("no relation", 0.0)])],
    ),
    plot(
        "aucarena-faithfulness",
        "Auctions: failed bids and wrong beliefs by bidder",
        "figure 3 of AucArena",
        AUCTION,
        &[
            PlotPanel::new(
                Percent("failed_bids", &["failed_bids", "correct_actions"]),
                Bars,
            )
            .title("failed bids")
            .measuring("failed bids", "%")
            .range(0.0, 100.0),
            belief_errors("beliefs about oneself", "wrong_own_facts", &["own_facts"]),
            belief_errors(
                "beliefs about others",
                "wrong_others_facts",
                &["others_facts"],
            ),
        ],
    ),
    plot(
        "aucarena-increments",
        "Auctions: increments of accepted bids",
        "figure 5 of AucArena",
        AUCTION,
        &[PlotPanel::new(Each("increment"), Histograms)
            .series(By::Player)
            .over(By::Nothing, "")
            .measuring("increment", "% of the own last bid")],
    ),
    plot(
        "aucarena-engagement",
        "Auctions: accepted bids by starting price",
        "figures 10 to 13 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("bids"), Dots)
            .over(By::Price, "starting price in $")
            .series(By::Player)
            .split(By::Setting)
            .measuring("bids for an item", "bids")
            .from_zero()],
    ),
    plot(
        "aucarena-priorities",
        "Auctions: priorities of items by starting price",
        "figures 4 and 9 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("initial_priority"), Heat)
            .over(By::Price, "")
            .series(By::Player)
            .measuring("first priority", "")
            .range(1.0, 3.0)],
    ),
    plot(
        "aucarena-module-ablation",
        "Auctions: profit by setting",
        "figure 7 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("profit"), Dots)
            .over(By::Setting, "")
            .series(By::Player)
            .measuring("profit of an auction", "$")],
    ),
    plot(
        "aucarena-niche",
        "Auctions: winning bids by bidder",
        "figure 8 of AucArena",
        AUCTION,
        &[PlotPanel::new(Each("winning_bid"), Densities)
            .series(By::Category)
            .over(By::Nothing, "")
            .measuring("winning bid", "$")],
    ),
    plot(
        "harbor-engagement",
        "House auctions: bids per house by bidder",
        "figures 3 and 4 of Harbor",
        AUCTION,
        &[PlotPanel::new(Ratio("engagements", &["items"]), Dots)
            .over(By::Player, "bidder")
            .series(By::Label)
            .measuring("bids per house", "bids")
            .from_zero()],
    ),
    plot(
        "harbor-profiling",
        "House auctions: how far profiles of rivals are from the truth, as houses go by",
        "figure 5 of Harbor",
        AUCTION,
        &[
            PlotPanel::new(Mean("divergence"), Lines)
                .over(By::Round, "houses sold")
                .series(By::Player)
                .measuring("divergence of the profile", "nats")
                .from_zero(),
            PlotPanel::new(Mean("baseline"), Lines)
                .over(By::Round, "houses sold")
                .series(By::Player)
                .measuring("divergence of knowing nothing", "nats")
                .from_zero(),
        ],
    ),
    plot(
        "harbor-theory-of-mind",
        "House auctions: profit by condition",
        "table 3 of Harbor",
        AUCTION,
        &[PlotPanel::new(Mean("profit_ratio"), Dots)
            .over(By::Label, "condition")
            .series(By::Player)
            .measuring("profit", "% of what there was")],
    ),
];
