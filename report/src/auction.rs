//! Measures of finished English auctions, gathered session by session and grouped by
//! setting in the order of the experiment: what AucArena (arXiv 2310.05746, section 4)
//! and Harbor ("Exploring Persona Dynamics in Multi-Agent Competition") report.
//! Definitions with their formulas stand in `docs/measures.md`.

mod faithfulness;
mod increments;
mod minds;
mod plans;
mod profiles;
mod published;
mod reading;
mod sale;
mod sections;
mod tables;
mod winning_bids;

use std::collections::BTreeMap;

use agon_engine::record::StoredRecord;

use crate::accumulator::Accumulator;
use crate::basis::Basis;
use crate::game_report::{Paper, Report};
use crate::gathered::{Gathered, Setting};
use crate::grouping::Section;
use crate::layout::Layout;
use crate::observation::SessionObservations;
use crate::published::Papers;
use crate::ratings::Ratings;
use crate::row::{Row, list};
use crate::statistics::corrected_failure_rate;
use crate::statistics::trueskill::{Rating, rate};
use sections::{
    BELIEFS, CHOICES, DIVERGENCES, GROUPS, INCREMENTS, ITEM_PLAYERS, ITEM_PRIORITIES, ITEMS,
    LEARNING, MEMBERS, PLANNED_ITEMS, PLANS, PLAYERS, PREDICTIONS, PRICE_PLAYERS, PRICES,
    PRIORITIES, PROFILE_ENDS, PROFILES, SERIES, STRATEGIES, WINNERS,
};

pub use increments::IncrementBins;
pub use profiles::Smoothing;

/// The game whose records are measured.
const ENGLISH_AUCTION: &str = "english_auction";

/// Measures of any number of auctions; other games are passed over.
pub(crate) type AuctionReport = Report<Auctions>;

/// Both papers, and what may be measured otherwise than they do.
#[derive(Debug, Default)]
pub struct Auctions {
    /// Into which bid increments are sorted.
    pub bins: IncrementBins,
    /// What is added to every share of a profile before it is compared.
    pub smoothing: Smoothing,
}

/// What is kept of a setting beside sums.
#[derive(Default)]
pub(crate) struct Kept {
    /// By profit, in the order of the experiment.
    ratings: Ratings,
    /// Ratings after one auction alone, of all seats of a player.
    single: BTreeMap<String, Accumulator>,
    /// How many seats a player has at most.
    seats: BTreeMap<String, usize>,
    /// Answers of a player at a place of its series.
    answers: BTreeMap<(String, u64), Basis>,
}

impl Paper for Auctions {
    const GAMES: &'static [&'static str] = &[ENGLISH_AUCTION];

    const PAPERS: &'static Papers = &published::PAPERS;

    const SECTIONS: &'static [&'static Section] = &[
        &PLAYERS,
        &SERIES,
        &LEARNING,
        &INCREMENTS,
        &ITEMS,
        &PRICES,
        &ITEM_PLAYERS,
        &PRICE_PLAYERS,
        &WINNERS,
        &GROUPS,
        &MEMBERS,
        &BELIEFS,
        &PLANS,
        &PRIORITIES,
        &ITEM_PRIORITIES,
        &PLANNED_ITEMS,
        &PROFILES,
        &DIVERGENCES,
        &PROFILE_ENDS,
        &PREDICTIONS,
        &STRATEGIES,
        &CHOICES,
    ];

    type Kept = Kept;

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        reading::observe(record, self.smoothing)
    }

    fn keep(gathered: &mut Gathered<Kept>, session: &SessionObservations<'_>) {
        gathered.kept.add(session);
    }

    fn measures(&self, gathered: &Gathered<Kept>) -> Row {
        let players = gathered.rows(PLAYERS.name).into_iter().map(|row| {
            let player = row.word("player");
            let (rated, single) = (gathered.kept.rated(player), gathered.kept.single(player));
            let (fares, rest) = row.split(6);
            let rated = fares.with("trueskill", rated);
            rated.with("single_trueskill", single).and(rest)
        });
        Row::default()
            .with(PLAYERS.name, players.collect::<Vec<_>>())
            .with(LEARNING.name, learning(gathered))
            .with("increment_bins", list(self.bins.edges().to_vec()))
            .with(INCREMENTS.name, increments::rows(gathered, &self.bins))
            .with(ITEMS.name, items(gathered, &ITEMS, &ITEM_PLAYERS))
            .with(PRICES.name, items(gathered, &PRICES, &PRICE_PLAYERS))
            .with("winning_bids", winning_bids::table(gathered))
            .with(BELIEFS.name, beliefs(gathered))
            .with(PLANS.name, plans::rows(gathered))
            .with(PROFILES.name, profiles::rows(gathered))
            .with(PROFILE_ENDS.name, profiles::ends(gathered))
            .with(PREDICTIONS.name, gathered.rows(PREDICTIONS.name))
            .with(STRATEGIES.name, strategies(gathered))
    }

    fn tables(settings: &[Setting], layout: Layout) -> String {
        tables::render(settings, layout)
    }

    fn overall(all: &Setting, layout: Layout) -> Option<String> {
        tables::overall(all, layout)
    }
}

impl Kept {
    fn add(&mut self, session: &SessionObservations<'_>) {
        let seats = &session.record.spec.seats;
        let place = session.record.spec.luck.place.into();
        for (seat, player) in seats.iter().enumerate() {
            if seats[..seat]
                .iter()
                .any(|before| before.name == player.name)
            {
                continue;
            }
            let own = seats.iter().filter(|one| one.name == player.name).count();
            let most = self.seats.entry(player.name.clone()).or_default();
            *most = own.max(*most);
            let answers = session.answers.of_player(seats, &player.name);
            let basis = self.answers.entry((player.name.clone(), place));
            basis
                .or_default()
                .add(&session.record.spec, &session.answers, &answers);
        }
        let measured = (0..seats.len()).filter(|seat| session.is_measured(*seat));
        let paid = measured.map(|seat| Some((&*seats[seat].name, session.number("profit", seat)?)));
        if let Some(paid) = paid.collect::<Option<Vec<_>>>() {
            let (players, profits): (Vec<&str>, Vec<f64>) = paid.into_iter().unzip();
            // What cannot be rated (a single bidder) leaves the ratings as they were.
            let _ = self.ratings.rate(&players, &profits);
            let unrated = vec![Rating::default(); players.len()];
            let alone = rate(&unrated, &profits).unwrap_or_default();
            for (player, rating) in players.into_iter().zip(alone) {
                let ratings = self.single.entry(player.to_owned()).or_default();
                ratings.add(rating.mu);
            }
        }
    }

    /// The mean over auctions of the rating that each alone would give.
    fn single(&self, player: &str) -> Option<f64> {
        self.single.get(player).and_then(Accumulator::mean)
    }

    /// TrueSkill after the last session, one row per seat that the player has.
    fn rated(&self, player: &str) -> Vec<Row> {
        let seats = self.seats.get(player).copied().unwrap_or(0);
        let rated = (1..=seats).filter_map(|seat| {
            let name = match seat {
                1 => player.to_owned(),
                _ => format!("{player} ({seat})"),
            };
            let rating = self.ratings.rating(&name)?;
            let row = Row::default().with("name", name);
            Some(row.with("mu", rating.mu).with("sigma", rating.sigma))
        });
        rated.collect()
    }
}

/// Empty where no session is a later one of a series.
fn learning(gathered: &Gathered<Kept>) -> Vec<Row> {
    if gathered.all(SERIES.name).count("last_place") == 0 {
        return Vec::new();
    }
    let mut rows = gathered.rows(LEARNING.name);
    rows.sort_by_key(|row| row.count("place"));
    let players = gathered.rows(PLAYERS.name).into_iter().flat_map(|player| {
        let own = rows
            .iter()
            .filter(|row| row.get("player") == player.get("player"));
        own.cloned().collect::<Vec<_>>()
    });
    let rows = players.map(|row| {
        let key = (row.word("player").to_owned(), row.count("place"));
        let answers = gathered.kept.answers.get(&key).cloned();
        let (counts, fares) = row.split(4);
        counts
            .with("answers", answers.unwrap_or_default())
            .and(fares)
    });
    rows.collect()
}

/// Items by starting price, then name, with what each player did about them.
fn items(gathered: &Gathered<Kept>, items: &Section, players: &Section) -> Vec<Row> {
    let labels = items.labels.len();
    let mut rows = gathered.rows(items.name);
    rows.sort_by_cached_key(|row| (row.count("starting_price"), row.word("item").to_owned()));
    let players = gathered.rows(players.name).into_iter();
    let players: Vec<(Row, Row)> = players.map(|row| row.split(labels)).collect();
    let rows = rows.into_iter().map(|row| {
        let (item, counts) = row.split(labels);
        let own = players.iter().filter(|(of, _)| *of == item);
        let own: Vec<Row> = own.map(|(_, row)| row.clone()).collect();
        Row::default()
            .with("item", item.get("item").clone())
            .with("starting_price", item.get("starting_price").clone())
            .and(counts)
            .with("players", own)
    });
    rows.collect()
}

/// Facts of each kind: how many were checked, C, all of them right in the end, and how many were
/// wrong at first, F, with F / (C + F).
fn beliefs(gathered: &Gathered<Kept>) -> Vec<Row> {
    let kinds = [
        ("all", "wrong_all"),
        ("own", "wrong_own"),
        ("others", "wrong_others"),
        ("budget", "wrong_budget"),
        ("profit", "wrong_profit"),
        ("wins", "wrong_wins"),
    ];
    let rows = gathered.rows(BELIEFS.name).into_iter().map(|row| {
        let (updates, facts) = row.split(6);
        kinds.into_iter().fold(updates, |row, (kind, wrong)| {
            let (checked, wrong) = (facts.count(kind), facts.count(wrong));
            let of_kind = Row::default().with("checked", checked).with("wrong", wrong);
            let rate = corrected_failure_rate(wrong, checked);
            row.with(kind, of_kind.with("failure_rate", rate))
        })
    });
    rows.collect()
}

/// Letters that were never chosen are left out.
fn strategies(gathered: &Gathered<Kept>) -> Vec<Row> {
    let chosen = gathered.rows(CHOICES.name);
    let rows = gathered.rows(STRATEGIES.name).into_iter().map(|row| {
        let own = chosen.iter();
        let own = own.filter(|one| one.get("player") == row.get("player"));
        let mut own: Vec<(&str, u64)> = own
            .map(|one| (one.word("choice"), one.count("count")))
            .collect();
        own.sort_unstable();
        let choices = row.count("choices") as f64;
        let (mut counts, mut shares) = (Row::default(), Row::default());
        for (letter, count) in own {
            counts = counts.with(letter.to_owned(), count);
            shares = shares.with(letter.to_owned(), count as f64 / choices);
        }
        let (made, uses_profile) = row.split(3);
        made.with("counts", counts)
            .with("shares", shares)
            .and(uses_profile)
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
