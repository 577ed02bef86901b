//! Measures of the K-level paper (arXiv 2402.01521, appendix C), gathered session by session
//! and grouped by setting: win rates, how long players last, how they adapt, how deep their
//! first choice is, and how well they predict. Definitions stand in `docs/measures.md`.

mod players;
mod predictions;
mod published;
mod reading;
mod tables;

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::by_player::ByPlayer;
use crate::game_report::SettingReport;
use crate::published::Papers;
use crate::settings::{BySetting, OfSetting, SettingHead};
use players::Sums;
use published::PAPERS;
use reading::Played;

pub use players::{PlayerRow, PredictionRow};

/// The guessing game.
pub const GUESS_TO_SURVIVE: &str = "guess_to_survive";

/// The game that is a survival auction when it has water for one of equal residents.
pub const SURVIVAL_AUCTION: &str = "water_allocation";

/// Measures of any number of sessions; other games are passed over, and towns that are no
/// survival auction, unless a player predicts in them.
#[derive(Debug, Clone, Default)]
pub struct KLevelReport {
    settings: BySetting<Gathered>,
}

/// What is kept of the sessions of one setting.
#[derive(Debug, Clone, Default)]
struct Gathered {
    rounds: u32,
    is_survival_auction: bool,
    opponents: String,
    first_player: String,
    players: ByPlayer<Sums>,
    first_seat: ByPlayer<Sums>,
}

/// The measures of one setting, for tables, charts and other programs. Lists of players are
/// in order of first seats; what is not defined is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingMeasures {
    /// Which setting, and how many sessions it had.
    #[serde(flatten)]
    pub head: SettingHead,
    /// Rounds that a session can have.
    pub rounds: u32,
    /// Whether it is a water game with the paper's rules; other towns are read where
    /// somebody predicts.
    pub is_survival_auction: bool,
    /// The method of the seats after the first: the label, or else their names.
    pub opponents: String,
    /// What each player came to, all its seats taken together.
    pub players: Vec<PlayerRow>,
    /// The same of the first seat alone, under the name of its method: the one player
    /// against opponents of one method that the paper's tables are about.
    pub first_seat: Vec<PlayerRow>,
    /// Whose answers these rest on.
    #[serde(skip)]
    first_player: String,
}

impl KLevelReport {
    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<SettingMeasures> {
        let settings = self.settings.iter();
        let rows = |players: &ByPlayer<Sums>| {
            let rows = players.iter();
            rows.map(|(player, sums)| sums.row(player)).collect()
        };
        let measures = settings.map(|(head, gathered)| SettingMeasures {
            head,
            rounds: gathered.rounds,
            is_survival_auction: gathered.is_survival_auction,
            opponents: gathered.opponents.clone(),
            players: rows(&gathered.players),
            first_seat: rows(&gathered.first_seat),
            first_player: gathered.first_player.clone(),
        });
        measures.collect()
    }
}

impl OfSetting for SettingMeasures {
    fn head(&self) -> &SettingHead {
        &self.head
    }
}

impl SettingReport for KLevelReport {
    type Measures = SettingMeasures;

    const GAMES: &'static [&'static str] = &[GUESS_TO_SURVIVE, SURVIVAL_AUCTION];

    const PAPERS: &'static Papers = &PAPERS;

    fn take_in(&mut self, record: &StoredRecord) -> bool {
        let Some(played) = Played::read(record) else {
            return false;
        };
        let gathered = self.settings.count(record);
        gathered.rounds = played.rounds;
        gathered.is_survival_auction = played.is_survival_auction;
        gathered.opponents = played.opponents();
        gathered.first_player = played
            .players
            .first()
            .copied()
            .unwrap_or_default()
            .to_owned();
        for (seat, player) in played.players.iter().enumerate() {
            gathered.players.of(player).add(&played, seat);
        }
        let method = played.method();
        gathered.first_seat.of(&method).add(&played, 0);
        true
    }

    fn has_nothing(&self) -> bool {
        self.settings.is_empty()
    }

    fn measured(&self) -> Vec<SettingMeasures> {
        self.settings()
    }

    fn tables(settings: &[SettingMeasures], width: u16) -> String {
        tables::render(settings, width)
    }
}

#[cfg(test)]
mod tests;
