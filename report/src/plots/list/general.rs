//! Figures of any game: payoffs, scores, refused answers. What papers draw of their own games stands
//! in the files beside this one.

use super::gamma_bench::GAMMA;
use super::plot;
use crate::plots::spec::Shape::{Bars, Boxes, Dots, Heat, Profiles, Skills, Stacked, Strengths};
use crate::plots::spec::Value::{Mean, Of, Percent};
use crate::plots::spec::{By, Plot, PlotPanel};

pub(super) static PLOTS: &[Plot] = &[
    plot(
        "payoffs",
        "Payoffs by player",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Dots)
            .over(By::Player, "player")
            .series(By::Setting)
            .split(By::Game)
            .measuring("payoff", "")],
    ),
    plot(
        "payoff-distribution",
        "Payoffs by player, session by session",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Boxes)
            .over(By::Player, "player")
            .split(By::Game)
            .measuring("mean payoff in a session", "")],
    ),
    plot(
        "scores",
        "Scores by setting",
        "",
        &[],
        &[PlotPanel::new(Mean("score"), Dots)
            .over(By::Setting, "")
            .series(By::Category)
            .split(By::Game)
            .measuring("score", "")],
    ),
    plot(
        "score-grid",
        "Scores by game and player",
        "",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Heat)
            .over(By::Player, "")
            .series(By::Game)
            .measuring("score (iclr2025)", "")
            .range(0.0, 100.0)],
    ),
    plot(
        "performance-profiles",
        "Sessions above each score, by player",
        "the performance profiles of arXiv 2108.13264",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Profiles)
            .over(By::Game, "game")
            .series(By::Player)
            .measuring("score (iclr2025)", "")
            .range(0.0, 100.0)],
    ),
    plot(
        "strengths",
        "Strength of players who met, by game",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Strengths)
            .measuring("strength", "points, 400 are odds of 10 to 1")
            .beside(&[("middle", 1000.0)])],
    ),
    plot(
        "trueskill",
        "TrueSkill of players who met, by game",
        "figures 2 and 7 of AucArena",
        &[],
        &[PlotPanel::new(Mean("paid"), Skills)
            .measuring("TrueSkill", "mu")
            .beside(&[("at first", 25.0)])],
    ),
    plot(
        "fouls",
        "Refused answers per ask, by player",
        "",
        &[],
        &[PlotPanel::new(Percent("fouls", &["asks"]), Bars)
            .over(By::Player, "player")
            .split(By::Game)
            .measuring("refused answers", "% of asks")
            .from_zero()],
    ),
    plot(
        "conditions",
        "Payoffs of each player, setting beside setting",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Dots)
            .over(By::Setting, "")
            .series(By::Player)
            .split(By::Game)
            .measuring("payoff", "")],
    ),
    plot(
        "payoff-shares",
        "How the payoffs of a game are divided",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Stacked)
            .over(By::Setting, "")
            .series(By::Player)
            .split(By::Game)
            .measuring("mean payoff", "")],
    ),
];
