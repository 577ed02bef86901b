//! The measures of auctions as text: one table of each kind, with rows for every player
//! of every setting. A table without a row is left out; what tables have no room for
//! stays in the JSON.

mod market;
mod plans;
mod rivals;

use super::{BeliefRow, Facts, PlayerRow, SettingMeasures};
use crate::table::{
    Cells, Line, NONE, SettingTables, columns, count, in_json, mean_and_spread, number, paragraphs,
    part_of, percent, sessions_of,
};

/// The six actions of Harbor, section 3.5.
const CHOICES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// How the first table is read.
const PLAYERS: &str = "Players: n, how often a player sat; profit, items won and profit ratio of one \
    seat in one session; \u{b1}, standard deviation over these, although seats of one session depend \
    on each other; TrueSkill, mean \u{b1} uncertainty, every auction counting as independent; CFR, \
    corrected failure rate F / (C + F) of bids";

/// How places in a series are compared.
const LEARNING: &str = "From place to place of a series: n, how often a player sat there; lessons, \
    how many it had taken along; auctions of one series depend on each other";

/// What is counted of beliefs.
const BELIEFS: &str = "Belief errors: facts that were wrong at the first try, and corrected failure \
    rates; updates that the player corrected itself, or that the auctioneer put right";

/// What the actions are.
const CHOICES_IN_WORDS: &str = "Strategy mix in percent: A raise, top priority; B raise, drain a \
    rival; C raise, budget allows; D quit, save; E quit, no margin; F quit, avoid a war";

type Tables<'a> = SettingTables<'a, SettingMeasures>;

/// The tables of these settings in at most `width` columns.
pub(super) fn render(settings: &[SettingMeasures], width: u16) -> String {
    let title = format!("Measures of {}", sessions_of(settings, "auction"));
    let rest = "Items by name, densities and what tables have no room for";
    let tables = Tables { settings, width };
    paragraphs([
        Some(title),
        tables.players(),
        tables.learning(),
        tables.increments(),
        tables.starting_prices(),
        tables.engagements(),
        tables.winning_bids(),
        tables.beliefs(),
        tables.plans(),
        tables.heat_maps(),
        tables.profiles(),
        tables.profile_ends(),
        tables.predictions(),
        tables.strategies(),
        Some(in_json(rest, width)),
    ])
}

impl Tables<'_> {
    fn players(&self) -> Option<String> {
        let headings = [
            "n",
            "profit",
            "items won",
            "TrueSkill",
            "failed bids",
            "CFR %",
            "bids/item",
            "profit ratio %",
            "matched won",
        ];
        self.table(PLAYERS, columns("player", headings), |setting| {
            let rows = setting.players.iter();
            rows.map(|row| Line::player(&row.player, player_cells(row)))
                .collect()
        })
    }

    fn learning(&self) -> Option<String> {
        let headings = ["place", "n", "profit", "items won", "CFR %", "lessons"];
        self.table(LEARNING, columns("player", headings), |setting| {
            let rows = setting.learning.iter().map(|row| {
                let cells = vec![
                    row.place.to_string(),
                    part_of(row.n, row.sat),
                    mean_and_spread(row.profit, row.profit_sd, 1),
                    number(row.items_won, 2),
                    percent(row.failed_bid_rate, 2),
                    number(row.lessons, 2),
                ];
                Line::resting_on(row.answers.clone(), &row.player, cells)
            });
            rows.collect()
        })
    }

    fn beliefs(&self) -> Option<String> {
        let headings = [
            "updates",
            "unreadable",
            "shape errors",
            "corrected",
            "put right",
            "wrong",
            "CFR %",
            "own %",
            "others %",
            "budget %",
            "profit %",
            "wins %",
        ];
        self.table(BELIEFS, columns("player", headings), |setting| {
            let rows = setting.beliefs.iter();
            rows.map(|row| Line::player(&row.player, belief_cells(row)))
                .collect()
        })
    }

    fn strategies(&self) -> Option<String> {
        let mut headings = vec!["choices", "unreadable"];
        headings.extend(CHOICES);
        headings.push("by profile");
        self.table(CHOICES_IN_WORDS, columns("player", headings), |setting| {
            let rows = setting.strategies.iter().map(|row| {
                let mut cells = vec![count(row.choices), count(row.unreadable)];
                // A letter that was never chosen is 0, not unknown, once there is a choice.
                let shares = CHOICES.iter().map(|letter| {
                    let share = row.shares.get(*letter).copied().unwrap_or_default();
                    (row.choices > 0).then_some(100.0 * share)
                });
                cells.extend(shares.map(|share| number(share, 1)));
                cells.push(percent(row.uses_profile, 1));
                Line::player(&row.player, cells)
            });
            rows.collect()
        })
    }
}

fn player_cells(player: &PlayerRow) -> Cells {
    let rated = player.trueskill.iter();
    // One line per seat of the name.
    let rated: Vec<String> = rated
        .map(|rated| mean_and_spread(Some(rated.mu), Some(rated.sigma), 2))
        .collect();
    vec![
        part_of(player.n, player.sat),
        mean_and_spread(player.profit, player.profit_sd, 1),
        number(player.items_won, 2),
        if rated.is_empty() {
            NONE.to_owned()
        } else {
            rated.join("\n")
        },
        count(player.failed_bids),
        percent(player.failed_bid_rate, 2),
        number(player.engagements_per_item, 2),
        number(player.profit_ratio, 2),
        matched(player),
    ]
}

/// Empty where nothing could have suited the player.
fn matched(player: &PlayerRow) -> String {
    let (won, offered) = (count(player.matched_won), count(player.matched_offered));
    let share = player.acquisition;
    share.map_or_else(String::new, |share| {
        format!("{won} of {offered} = {share:.2}")
    })
}

fn belief_cells(row: &BeliefRow) -> Cells {
    let rate = |facts: &Facts| percent(facts.failure_rate, 2);
    let mut cells: Cells = [
        row.updates,
        row.unreadable,
        row.shape_errors,
        row.corrected,
        row.put_right,
    ]
    .map(count)
    .into();
    cells.push(format!(
        "{} of {}",
        count(row.all.wrong),
        count(row.all.checked)
    ));
    let facts = [
        &row.all,
        &row.own,
        &row.others,
        &row.budget,
        &row.profit,
        &row.wins,
    ];
    cells.extend(facts.map(rate));
    cells
}
