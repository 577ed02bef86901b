//! Measures of the games of "Economics Arena for Large Language Models" (sections 3.2 and 4,
//! appendix A.3), gathered session by session and grouped by setting: payoffs and rationality
//! against the Nash equilibrium, actions, convergence over runs, what history and opponents
//! change. Definitions with their formulas stand in `docs/measures.md`.

mod convergence;
mod history;
mod opponents;
mod players;
mod published;
mod reading;
mod tables;

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::game_report::SettingReport;
use crate::published::Papers;
use crate::settings::{BySetting, OfSetting, SettingHead};
use convergence::Paths;
use opponents::Opponents;
use players::Players;
use published::PAPERS;
use reading::Played;

pub use convergence::{PathPoint, PathRow};
pub use history::HistoryRow;
pub use opponents::OpponentsRow;
pub use players::{FirstSessions, PlayerRow};

/// The games whose records are measured, with what tables call them.
const GAMES: [(&str, &str); 3] = [
    ("beauty_contest", "Beauty contest"),
    ("second_price_auction", "Second-price auction"),
    ("ascending_auction", "Ascending auction"),
];

/// Measures of any number of sessions; other games are passed over.
#[derive(Debug, Clone, Default)]
pub struct EconArenaReport {
    settings: BySetting<Gathered>,
}

/// What is kept of the sessions of one setting.
#[derive(Debug, Clone, Default)]
struct Gathered {
    rounds: u32,
    history_shown: u32,
    /// What else the setting is, in words that equal those of the same without history.
    otherwise: String,
    void_rounds: u64,
    players: Players,
    paths: Paths,
    opponents: Opponents,
}

/// The measures of one setting, for tables, charts and other programs. Lists of players are
/// in order of first seats; what is not defined is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingMeasures {
    /// Which setting, and how many sessions it had.
    #[serde(flatten)]
    pub head: SettingHead,
    /// Runs of a session.
    pub rounds: u32,
    /// How many past runs a player is shown at most; 0 where a session has no past run.
    pub history_shown: u32,
    /// Runs of all its sessions without a result, because too few answers were valid.
    pub void_rounds: u64,
    /// Payoffs, rationality, actions and rule breaking of each player.
    pub players: Vec<PlayerRow>,
    /// Actions and their distance from the equilibrium run by run, where sessions have several.
    pub paths: Vec<PathRow>,
    /// What history changed, where the same is played without it.
    pub history: Vec<HistoryRow>,
    /// The same measures by who else sat at the table.
    pub opponents: Vec<OpponentsRow>,
    #[serde(skip)]
    otherwise: String,
}

impl EconArenaReport {
    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<SettingMeasures> {
        let settings = self.settings.iter();
        let measures = settings.map(|(head, gathered)| SettingMeasures {
            head,
            rounds: gathered.rounds,
            history_shown: gathered.history_shown,
            void_rounds: gathered.void_rounds,
            players: gathered.players.rows(),
            paths: gathered.paths.rows(),
            history: Vec::new(),
            opponents: gathered.opponents.rows(),
            otherwise: gathered.otherwise.clone(),
        });
        let mut measures: Vec<SettingMeasures> = measures.collect();
        history::compare(&mut measures);
        measures
    }
}

impl OfSetting for SettingMeasures {
    fn head(&self) -> &SettingHead {
        &self.head
    }
}

impl SettingReport for EconArenaReport {
    type Measures = SettingMeasures;

    const GAMES: &'static [&'static str] = &[GAMES[0].0, GAMES[1].0, GAMES[2].0];

    const PAPERS: &'static Papers = &PAPERS;

    fn take_in(&mut self, record: &StoredRecord) -> bool {
        let Some(played) = Played::read(record) else {
            return false;
        };
        let gathered = self.settings.count(record);
        gathered.rounds = played.rounds;
        gathered.history_shown = played.history_shown;
        gathered.otherwise = history::otherwise(&record.spec);
        gathered.void_rounds += played.void_rounds;
        gathered.players.add(&played);
        gathered.paths.add(&played);
        gathered.opponents.add(&played);
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
