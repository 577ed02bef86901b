//! The measures of auctions as text: one table of each kind, with rows for every player
//! of every setting. A table without a row is left out; what tables have no room for
//! stays in the JSON.

mod market;
mod plans;
mod rivals;

use crate::gathered::Setting;
use crate::layout::Layout;
use crate::row::Row;
use crate::table::{
    Cell, Line, NONE, SettingTables, cells_of, columns, count, headings, in_json, mean_and_spread,
    paragraphs, percent, sessions_of,
};

/// The six actions of Harbor, section 3.5.
const CHOICES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// How the first table is read.
const PLAYERS: &str = "Players: n, how often a player sat; profit, items won and profit ratio of one \
    seat in one session; \u{b1}, standard deviation over these, although seats of one session depend \
    on each other; TrueSkill, mean \u{b1} uncertainty after all auctions in order, each counting as \
    independent; of one, mean of the ratings that each auction alone would give; CFR, \
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

/// The tables of these settings in this layout.
pub(super) fn render(settings: &[Setting], layout: Layout) -> String {
    let title = format!("Measures of {}", sessions_of(settings, "auction"));
    let rest = "Items by name, densities and what tables have no room for";
    let tables = SettingTables { settings, layout };
    paragraphs([
        Some(title),
        players(&tables),
        learning(&tables),
        market::increments(&tables),
        market::starting_prices(&tables),
        market::engagements(&tables),
        market::winning_bids(&tables),
        beliefs(&tables),
        plans::plans(&tables),
        plans::heat_maps(&tables),
        rivals::profiles(&tables),
        rivals::predictions(&tables),
        strategies(&tables),
        Some(in_json(rest, layout)),
    ])
}

/// The tables over all settings taken together.
pub(super) fn overall(all: &Setting, layout: Layout) -> Option<String> {
    let tables = SettingTables {
        settings: std::slice::from_ref(all),
        layout,
    };
    let parts = [plans::pooled(&tables), rivals::profile_ends(&tables)];
    let shown = parts.iter().any(Option::is_some);
    shown.then(|| paragraphs(parts))
}

const PLAYER: [(&str, Cell); 10] = [
    ("n", Cell::PartOf("n", "sat")),
    ("profit", Cell::Spread("profit", "profit_sd", 1)),
    ("items won", Cell::Number("items_won", 2)),
    ("TrueSkill", Cell::Made(rated)),
    ("of one", Cell::Number("single_trueskill", 2)),
    ("failed bids", Cell::Count("failed_bids")),
    ("CFR %", Cell::Percent("failed_bid_rate", 2)),
    ("bids/item", Cell::Number("engagements_per_item", 2)),
    ("profit ratio %", Cell::Number("profit_ratio", 2)),
    ("matched won", Cell::Made(matched)),
];

const PLACE: [(&str, Cell); 6] = [
    ("place", Cell::Count("place")),
    ("n", Cell::PartOf("n", "sat")),
    ("profit", Cell::Spread("profit", "profit_sd", 1)),
    ("items won", Cell::Number("items_won", 2)),
    ("CFR %", Cell::Percent("failed_bid_rate", 2)),
    ("lessons", Cell::Number("lessons", 2)),
];

const BELIEF: [(&str, Cell); 12] = [
    ("updates", Cell::Count("updates")),
    ("unreadable", Cell::Count("unreadable")),
    ("shape errors", Cell::Count("shape_errors")),
    ("corrected", Cell::Count("corrected")),
    ("put right", Cell::Count("put_right")),
    (
        "wrong",
        Cell::Made(|row| {
            let all = row.inner("all");
            format!(
                "{} of {}",
                count(all.count("wrong")),
                count(all.count("checked"))
            )
        }),
    ),
    ("CFR %", Cell::Made(|row| failure_rate(row, "all"))),
    ("own %", Cell::Made(|row| failure_rate(row, "own"))),
    ("others %", Cell::Made(|row| failure_rate(row, "others"))),
    ("budget %", Cell::Made(|row| failure_rate(row, "budget"))),
    ("profit %", Cell::Made(|row| failure_rate(row, "profit"))),
    ("wins %", Cell::Made(|row| failure_rate(row, "wins"))),
];

fn players(tables: &SettingTables<'_>) -> Option<String> {
    tables.players_table(PLAYERS, &PLAYER, |setting| setting.rows("players"))
}

fn learning(tables: &SettingTables<'_>) -> Option<String> {
    tables.table(LEARNING, columns("player", headings(&PLACE)), |setting| {
        let rows = setting.rows("learning").iter();
        rows.map(|row| {
            let answers = row.basis("answers");
            Line::resting_on(answers, row.word("player"), cells_of(row, &PLACE))
        })
        .collect()
    })
}

fn beliefs(tables: &SettingTables<'_>) -> Option<String> {
    tables.players_table(BELIEFS, &BELIEF, |setting| setting.rows("beliefs"))
}

fn strategies(tables: &SettingTables<'_>) -> Option<String> {
    let mut headings = vec!["choices", "unreadable"];
    headings.extend(CHOICES);
    headings.push("by profile");
    tables.table(CHOICES_IN_WORDS, columns("player", headings), |setting| {
        let rows = setting.rows("strategies").iter().map(|row| {
            let choices = row.count("choices");
            let mut cells = vec![count(choices), count(row.count("unreadable"))];
            // A letter that was never chosen is 0, not unknown, once there is a choice.
            let shares = row.inner("shares");
            let shares = CHOICES.map(|letter| {
                let share = shares.number(letter).unwrap_or_default();
                (choices > 0).then_some(share)
            });
            cells.extend(shares.map(|share| percent(share, 1)));
            cells.push(percent(row.number("uses_profile"), 1));
            Line::player(row.word("player"), cells)
        });
        rows.collect()
    })
}

/// One line per seat of the name.
fn rated(player: &Row) -> String {
    let rated = player.rows("trueskill").iter();
    let rated = rated.map(|one| mean_and_spread(one.number("mu"), one.number("sigma"), 2));
    let rated: Vec<String> = rated.collect();
    if rated.is_empty() {
        NONE.to_owned()
    } else {
        rated.join("\n")
    }
}

/// Empty where nothing could have suited the player.
fn matched(player: &Row) -> String {
    let [won, offered] = ["matched_won", "matched_offered"].map(|name| count(player.count(name)));
    let share = player.number("acquisition");
    share.map_or_else(String::new, |share| {
        format!("{won} of {offered} = {share:.2}")
    })
}

fn failure_rate(row: &Row, facts: &str) -> String {
    percent(row.inner(facts).number("failure_rate"), 2)
}
