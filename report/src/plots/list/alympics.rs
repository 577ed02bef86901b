//! Figures of Alympics (Mao et al., arXiv 2311.03220): the water allocation challenge day by day, and
//! marks of judges.

use super::plot;
use crate::plots::spec::Shape::{Boxes, Dots, Heat, Lines};
use crate::plots::spec::Value::{Each, Mean};
use crate::plots::spec::{By, Plot, PlotPanel};

const WATER: &[&str] = &["water_allocation"];

/// A number of a resident by day.
const fn by_day(measure: &'static str, y_title: &'static str, unit: &'static str) -> PlotPanel {
    PlotPanel::new(Mean(measure), Lines)
        .over(By::Round, "day")
        .series(By::Player)
        .measuring(y_title, unit)
}

pub(super) static PLOTS: &[Plot] = &[
    plot(
        "alympics-bids",
        "Water allocation: bids of all residents by day",
        "figure 4 of Alympics",
        WATER,
        &[PlotPanel::new(Each("bid"), Boxes)
            .over(By::Round, "day")
            .split(By::Setting)
            .measuring("bid", "$")],
    ),
    plot(
        "alympics-trajectories",
        "Water allocation: health, money and bids by day",
        "figures 7 to 9 of Alympics",
        WATER,
        &[
            by_day("health", "health", "points")
                .from_zero()
                .title("health"),
            by_day("balance", "balance", "$")
                .from_zero()
                .title("balance"),
            by_day("bid", "bid", "$").from_zero().title("bid"),
            by_day("rsr", "supply satisfied", "share")
                .from_zero()
                .title("satisfaction"),
        ],
    ),
    plot(
        "alympics-survival",
        "Water allocation: share of sessions that a resident survives",
        "table 2 of Alympics",
        WATER,
        &[PlotPanel::new(Mean("survived"), Heat)
            .over(By::Setting, "")
            .series(By::Player)
            .measuring("survival", "share")
            .range(0.0, 1.0)],
    ),
    plot(
        "alympics-marks",
        "Marks of judges by criterion",
        "figure 5 of Alympics",
        &["judging"],
        &[PlotPanel::new(Mean("mark"), Dots)
            .over(By::Item, "")
            .measuring("mark", "")
            .range(1.0, 5.0)],
    ),
];
