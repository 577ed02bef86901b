//! The measures of auctions as text: one table of each kind, with rows for every player
//! of every setting. A table without a row is left out; what tables have no room for
//! stays in the JSON.

mod market;
mod plans;
mod rivals;

use super::{AuctionReport, BeliefRow, Facts, PlayerRow, SettingMeasures};
use crate::table::{
    NO_BREAK, NONE, align_right, mark, plain_table, simulated_note, trimmed, with_spread,
};

/// The six actions of Harbor, section 3.5.
const CHOICES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// What they are.
const CHOICES_IN_WORDS: &str = "Strategy mix in percent: A raise, top priority; B raise, drain \
    a rival; C raise, budget allows;\nD quit, save; E quit, no margin; F quit, avoid a war";

/// Where the rest is.
const REST: &str = "Of one seat in one session: mean \u{b1} sd of profit, mean of items won and profit \
    ratio. CFR = F / (C + F).\nItems by name, densities and what tables have no room for: \
    agon show EXPERIMENT --measures --json";

/// The columns of a table that hold words: setting and player.
const WORDS: usize = 2;

/// Headings of columns of names among those of numbers.
const ITEM: &str = "item";

/// As above.
const MEASURE: &str = "measure";

/// Cells of one row.
type Cells = Vec<String>;

impl AuctionReport {
    /// The tables in at most `width` columns; empty without an auction.
    pub fn render(&self, width: u16) -> String {
        let settings = self.settings();
        if settings.is_empty() {
            return String::new();
        }
        let sessions: u64 = settings.iter().map(|setting| setting.sessions).sum();
        let simulated: u64 = settings.iter().map(|setting| setting.simulated).sum();
        let noun = if sessions == 1 { "auction" } else { "auctions" };
        let mut title = format!("Measures of {sessions} {noun}");
        title.push_str(&simulated_note(simulated));
        let tables = Tables {
            settings: &settings,
            width,
        };
        let parts = [
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
            Some(REST.to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

struct Tables<'a> {
    settings: &'a [SettingMeasures],
    width: u16,
}

impl Tables<'_> {
    fn players(&self) -> Option<String> {
        let all = || self.settings.iter().flat_map(|setting| &setting.players);
        let has_matches = all().any(|player| player.acquisition.is_some());
        let mut headings = owned(&[
            "sat",
            "profit",
            "items won",
            "TrueSkill",
            "failed bids",
            "CFR %",
            "bids/item",
            "profit ratio %",
        ]);
        headings.extend(has_matches.then(|| "matched won".to_owned()));
        self.table("Players", &headings, |setting| {
            let rows = setting.players.iter().map(|player| {
                let mut cells = player_cells(player);
                cells.extend(has_matches.then(|| matched(player)));
                (player.player.clone(), cells)
            });
            rows.collect()
        })
    }

    fn learning(&self) -> Option<String> {
        let headings = ["place", "sat", "profit", "items won", "CFR %", "lessons"];
        self.table(
            "From place to place of a series",
            &owned(&headings),
            |setting| {
                let rows = setting.learning.iter().map(|row| {
                    let profit = row.profit.map(|mean| spread(mean, row.profit_sd, 1));
                    let cells = vec![
                        row.place.to_string(),
                        row.sat.to_string(),
                        profit.unwrap_or_else(|| NONE.to_owned()),
                        number(row.items_won, 2),
                        percent(row.failed_bid_rate, 2),
                        number(row.lessons, 2),
                    ];
                    (row.player.clone(), cells)
                });
                rows.collect()
            },
        )
    }

    fn beliefs(&self) -> Option<String> {
        let headings = owned(&[
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
        ]);
        let title = "Belief errors: wrong facts of first tries, corrected failure rates; updates that \
                     the player\ncorrected itself, or that the auctioneer put right";
        self.table(title, &headings, |setting| {
            let rows = setting.beliefs.iter();
            rows.map(|row| (row.player.clone(), belief_cells(row)))
                .collect()
        })
    }

    fn strategies(&self) -> Option<String> {
        let mut headings = owned(&["choices", "unreadable"]);
        headings.extend(owned(&CHOICES));
        headings.push("by profile".to_owned());
        self.table(CHOICES_IN_WORDS, &headings, |setting| {
            let rows = setting.strategies.iter().map(|row| {
                let mut cells = vec![row.choices.to_string(), row.unreadable.to_string()];
                // A letter that was never chosen is 0, not unknown, once there is a choice.
                let shares = CHOICES.iter().map(|letter| {
                    let share = row.shares.get(*letter).copied().unwrap_or_default();
                    (row.choices > 0).then_some(100.0 * share)
                });
                cells.extend(shares.map(|share| number(share, 1)));
                cells.push(percent(row.uses_profile, 1));
                (row.player.clone(), cells)
            });
            rows.collect()
        })
    }

    /// A table of what `rows` makes of each setting, each row a player's; `None` when that
    /// is nothing.
    fn table(
        &self,
        title: &str,
        headings: &[String],
        rows: impl Fn(&SettingMeasures) -> Vec<(String, Cells)>,
    ) -> Option<String> {
        self.table_of(title, "player", headings, rows)
    }

    /// The same with rows of something else.
    fn table_of(
        &self,
        title: &str,
        what: &str,
        headings: &[String],
        rows: impl Fn(&SettingMeasures) -> Vec<(String, Cells)>,
    ) -> Option<String> {
        let named = self.settings.iter().any(|one| !one.setting.is_empty());
        let simulated = self.settings.iter().any(|one| one.simulated > 0);
        let words = if named { WORDS } else { WORDS - 1 };
        let mut table = plain_table(self.width);
        let mut heading: Cells = Vec::new();
        heading.extend(named.then(|| "setting".to_owned()));
        heading.push(what.to_owned());
        heading.extend_from_slice(headings);
        heading.extend(simulated.then(String::new));
        table.set_header(heading);
        for setting in self.settings {
            for (place, (player, numbers)) in rows(setting).into_iter().enumerate() {
                let mut cells: Cells = Vec::new();
                // Said once for all its players.
                let shown = if place == 0 { &*setting.setting } else { "" };
                cells.extend(named.then(|| shown.to_owned()));
                cells.push(player);
                cells.extend(numbers);
                cells.extend(simulated.then(|| mark(setting.simulated > 0).to_owned()));
                table.add_row(cells);
            }
        }
        if table.is_empty() {
            return None;
        }
        align_right(&mut table, |place| {
            let heading = place.checked_sub(words).and_then(|at| headings.get(at));
            heading.is_some_and(|heading| heading != ITEM && heading != MEASURE)
        });
        Some(format!("{title}\n\n{}", trimmed(&table)))
    }
}

fn player_cells(player: &PlayerRow) -> Cells {
    let rated = player.trueskill.iter();
    // One line per seat of the name.
    let rated: Vec<String> = rated
        .map(|rated| spread(rated.mu, Some(rated.sigma), 2))
        .collect();
    let profit = player.profit.map(|mean| spread(mean, player.profit_sd, 1));
    vec![
        player.sat.to_string(),
        profit.unwrap_or_else(|| NONE.to_owned()),
        number(player.items_won, 2),
        if rated.is_empty() {
            NONE.to_owned()
        } else {
            rated.join("\n")
        },
        player.failed_bids.to_string(),
        percent(player.failed_bid_rate, 2),
        number(player.engagements_per_item, 2),
        number(player.profit_ratio, 2),
    ]
}

fn matched(player: &PlayerRow) -> String {
    match player.acquisition {
        Some(share) => format!(
            "{} of {} = {share:.2}",
            player.matched_won, player.matched_offered
        )
        .replace(' ', NO_BREAK),
        None => NONE.to_owned(),
    }
}

fn belief_cells(row: &BeliefRow) -> Cells {
    let rate = |facts: &Facts| percent(facts.failure_rate, 2);
    let mut cells = vec![
        row.updates.to_string(),
        row.unreadable.to_string(),
        row.shape_errors.to_string(),
        row.corrected.to_string(),
        row.put_right.to_string(),
        format!("{} of {}", row.all.wrong, row.all.checked).replace(' ', NO_BREAK),
    ];
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

fn owned(words: &[&str]) -> Cells {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn number(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| rounded(number, decimals))
}

/// Without a sign before what rounds to 0.
fn rounded(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|digit| matches!(digit, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

fn percent(share: Option<f64>, decimals: usize) -> String {
    number(share.map(|share| 100.0 * share), decimals)
}

fn spread(mean: f64, sd: Option<f64>, decimals: usize) -> String {
    with_spread(&rounded(mean, decimals), sd, decimals)
}
