//! The figures by name: those of the papers with their sources, and general ones. A new figure is a
//! line here; `docs/figures.md` lists them.

use super::spec::Shape::{
    Bars, Boxes, Densities, Dots, Heat, Histograms, Lines, Pairs, Radar, Stacked,
};
use super::spec::Value::{Each, Mean, Of, Percent, Ratio};
use super::spec::{By, Plot, PlotPanel};

const GAMMA: &[&str] = &[
    "guess_two_thirds",
    "el_farol",
    "divide_dollar",
    "public_goods",
    "diners_dilemma",
    "sealed_bid_auction",
    "battle_royale",
    "pirate",
];
const AUCTION: &[&str] = &["english_auction"];
const WATER: &[&str] = &["water_allocation"];
const ECON: &[&str] = &[
    "beauty_contest",
    "second_price_auction",
    "ascending_auction",
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
        .measuring("score (arxiv2024)", "0 to 100")
        .range(0.0, 100.0)
}

/// A number of a resident by day.
const fn by_day(measure: &'static str, y_title: &'static str, unit: &'static str) -> PlotPanel {
    PlotPanel::new(Mean(measure), Lines)
        .over(By::Round, "day")
        .series(By::Player)
        .measuring(y_title, unit)
}

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

const fn plot(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    games: &'static [&'static str],
    panels: &'static [PlotPanel],
) -> Plot {
    Plot {
        name,
        about,
        source,
        games,
        panels,
    }
}

/// All of them.
pub static PLOTS: &[Plot] = &[
    plot(
        "gamma-bench-guessing",
        "Guess 2/3 of the average: numbers by round",
        "figure 2 of gamma-Bench",
        &["guess_two_thirds"],
        &[
            by_round("mean", "mean number", "0 to 100")
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
        &[by_round("mean", "share who go", "0 to 1")
            .range(0.0, 1.0)
            .split(By::Setting)
            .beside(&[("good up to", 0.6)])],
    ),
    plot(
        "gamma-bench-dollar",
        "Divide the dollar: sum of all bids by round",
        "figure 4 of gamma-Bench",
        &["divide_dollar"],
        &[by_round("total", "sum of bids", "coins").beside(&[("coins to divide", 100.0)])],
    ),
    plot(
        "gamma-bench-goods",
        "Public goods: contributions by round",
        "figure 5 of gamma-Bench",
        &["public_goods"],
        &[
            by_round("mean", "mean contribution", "tokens").title("contribution"),
            by_round("returns", "return of the pot", "tokens").title("return"),
        ],
    ),
    plot(
        "gamma-bench-diner",
        "Diner's dilemma: share of costly dishes by round",
        "figure 6 of gamma-Bench",
        &["diners_dilemma"],
        &[by_round("mean", "share of costly dishes", "0 to 1").range(0.0, 1.0)],
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
            by_round("remaining", "players alive", "players"),
        ],
    ),
    plot(
        "gamma-bench-pirate",
        "Pirate game: proposals and votes by round",
        "table 4 of gamma-Bench",
        &["pirate"],
        &[
            by_round("distance", "distance from the rational proposal", "coins"),
            by_round("vote_accuracy", "rational votes", "share").range(0.0, 1.0),
        ],
    ),
    plot(
        "gamma-bench-settings",
        "gamma-Bench: scores by setting",
        "figures 9 to 13 of gamma-Bench",
        GAMMA,
        &[scores_over(By::Setting, "setting")],
    ),
    plot(
        "gamma-bench-leaderboard",
        "gamma-Bench: scores by game",
        "figure 14 of gamma-Bench",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Dots)
            .over(By::Game, "game")
            .series(By::Player)
            .measuring("score (iclr2025)", "0 to 100")
            .range(0.0, 100.0)],
    ),
    plot(
        "gamma-bench-radar",
        "gamma-Bench: scores by game",
        "figure 14 of gamma-Bench",
        GAMMA,
        &[PlotPanel::new(Of("score", "iclr2025"), Radar)
            .over(By::Game, "game")
            .series(By::Player)
            .measuring("score (iclr2025)", "0 to 100")
            .range(0.0, 100.0)],
    ),
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
            by_day("health", "health", "points").title("health"),
            by_day("balance", "balance", "$").title("balance"),
            by_day("bid", "bid", "$").title("bid"),
            by_day("rsr", "supply satisfied", "share").title("satisfaction"),
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
        "Marks of judges by setting",
        "figure 5 of Alympics",
        &["judging"],
        &[PlotPanel::new(Mean("mark"), Dots)
            .over(By::Setting, "setting")
            .measuring("mark", "1 to 5")
            .range(1.0, 5.0)],
    ),
    plot(
        "aucarena-competition",
        "Auctions: profit and items won by bidder",
        "figure 2 of AucArena, in profit and not in ratings",
        AUCTION,
        &[
            PlotPanel::new(Mean("profit"), Dots)
                .over(By::Player, "bidder")
                .measuring("profit of an auction", "$")
                .beside(&[("no profit", 0.0)]),
            PlotPanel::new(Mean("items_won"), Dots)
                .over(By::Player, "bidder")
                .measuring("items won", "items"),
        ],
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
            .measuring("bids for an item", "bids")],
    ),
    plot(
        "aucarena-priorities",
        "Auctions: priorities of items by starting price",
        "figures 4 and 9 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("initial_priority"), Heat)
            .over(By::Price, "")
            .series(By::Player)
            .measuring("first priority", "1 to 3")
            .range(1.0, 3.0)],
    ),
    plot(
        "aucarena-module-ablation",
        "Auctions: profit by setting",
        "figure 7 of AucArena",
        AUCTION,
        &[PlotPanel::new(Mean("profit"), Dots)
            .over(By::Setting, "setting")
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
            .series(By::Setting)
            .measuring("bids per house", "bids")],
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
                .measuring("divergence of the profile", "nats"),
            PlotPanel::new(Mean("baseline"), Lines)
                .over(By::Round, "houses sold")
                .series(By::Player)
                .measuring("divergence of knowing nothing", "nats"),
        ],
    ),
    plot(
        "harbor-theory-of-mind",
        "House auctions: profit by condition",
        "table 3 of Harbor",
        AUCTION,
        &[PlotPanel::new(Mean("profit_ratio"), Dots)
            .over(By::Setting, "condition")
            .series(By::Player)
            .measuring("profit", "% of what there was")],
    ),
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
            .over(By::Setting, "configuration")
            .series(By::Player)
            .split(By::Game)
            .measuring("deviation", "share of the range")],
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
            .measuring("deviation", "share of the range")],
    ),
    plot(
        "econarena-rule-breaking",
        "Contests and auctions: rule breaking by model",
        "table 2 of EconArena",
        ECON,
        &[PlotPanel::new(Mean("rule_breaking"), Heat)
            .over(By::Player, "")
            .series(By::Setting)
            .measuring("broken rules", "%")
            .range(0.0, 100.0)],
    ),
    plot(
        "k-level-win-rate",
        "K-level reasoning: rounds won by method",
        "tables of the paper on K-level reasoning",
        &["guess_to_survive", "water_allocation"],
        &[PlotPanel::new(Mean("win_rate"), Dots)
            .over(By::Player, "player")
            .series(By::Setting)
            .measuring("rounds won", "share")
            .range(0.0, 1.0)],
    ),
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
            .over(By::Setting, "setting")
            .series(By::Category)
            .split(By::Game)
            .measuring("score", "")],
    ),
    plot(
        "score-grid",
        "Scores by game and player",
        "",
        &[],
        &[PlotPanel::new(Mean("score"), Heat)
            .over(By::Player, "")
            .series(By::Game)
            .measuring("score, mean over schemes", "")],
    ),
    plot(
        "fouls",
        "Refused answers per ask, by player",
        "",
        &[],
        &[PlotPanel::new(Percent("fouls", &["asks"]), Bars)
            .over(By::Player, "player")
            .series(By::Game)
            .measuring("refused answers", "% of asks")],
    ),
    plot(
        "conditions",
        "Payoffs of each player, setting beside setting",
        "",
        &[],
        &[PlotPanel::new(Mean("paid"), Pairs)
            .over(By::Setting, "setting")
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
            .over(By::Setting, "setting")
            .series(By::Player)
            .split(By::Game)
            .measuring("mean payoff", "")],
    ),
];

/// The figure of this name.
pub fn find(name: &str) -> Option<&'static Plot> {
    PLOTS.iter().find(|plot| plot.name == name)
}

/// The figures that sessions of these games have something to show in: those of papers, or where a
/// game is of none, general ones.
pub fn for_games(games: &[&str]) -> Vec<&'static Plot> {
    let fits = |plot: &&Plot| plot.games.iter().any(|game| games.contains(game));
    let mut found: Vec<&'static Plot> = PLOTS.iter().filter(fits).collect();
    let general = ["payoffs", "fouls"];
    found.extend(PLOTS.iter().filter(|plot| general.contains(&plot.name)));
    found
}
