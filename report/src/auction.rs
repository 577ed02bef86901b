//! Measures of finished English auctions, gathered session by session and grouped by
//! setting in the order of the experiment: what AucArena (arXiv 2310.05746, section 4)
//! and Harbor ("Exploring Persona Dynamics in Multi-Agent Competition") report.
//! Definitions with their formulas stand in `docs/measures.md`.

mod beliefs;
mod faithfulness;
mod fares;
mod increments;
mod items;
mod learning;
mod plans;
mod players;
mod predictions;
mod profiles;
mod published;
mod reading;
mod strategies;
mod tables;
mod winning_bids;

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::game_report::SettingReport;
use crate::published::Papers;
use crate::settings::{BySetting, OfSetting, SettingHead};
use beliefs::Beliefs;
use increments::Increments;
use items::Items;
use learning::Learning;
use plans::Plans;
use players::Players;
use predictions::Predictions;
use profiles::Profiles;
use published::PAPERS;
use reading::Auction;
use strategies::Strategies;
use winning_bids::WinningBids;

pub use beliefs::{BeliefRow, Facts};
pub use faithfulness::Faithfulness;
pub use increments::{IncrementBins, IncrementRow};
pub use items::{ItemPlayer, ItemRow};
pub use learning::LearningRow;
pub use plans::{ItemPriorities, PlanRow};
pub use players::{PlayerRow, Rated};
pub use predictions::PredictionRow;
pub use profiles::{ProfileEndRow, ProfileRow};
pub use strategies::StrategyRow;
pub use winning_bids::{WinningBidGroup, WinningBidRow, WinningBidTable};

/// The game whose records are measured.
pub const ENGLISH_AUCTION: &str = "english_auction";

/// Measures of any number of auctions; other games are passed over.
#[derive(Debug, Clone, Default)]
pub struct AuctionReport {
    bins: IncrementBins,
    settings: BySetting<Gathered>,
}

/// What is kept of the sessions of one setting.
#[derive(Debug, Clone, Default)]
struct Gathered {
    players: Players,
    learning: Learning,
    increments: Increments,
    items: Items,
    winning_bids: WinningBids,
    beliefs: Beliefs,
    plans: Plans,
    profiles: Profiles,
    predictions: Predictions,
    strategies: Strategies,
}

/// The measures of one setting, for tables, charts and other programs. Lists of
/// players are in order of first seats; what is not defined is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingMeasures {
    /// Which setting, and how many sessions it had.
    #[serde(flatten)]
    pub head: SettingHead,
    /// Profit, items, ratings and failed bids of each player.
    pub players: Vec<PlayerRow>,
    /// The same from place to place, where sessions form series.
    pub learning: Vec<LearningRow>,
    /// Where the bins of increments begin, in percent.
    pub increment_bins: Vec<f64>,
    /// Bid increments of each player.
    pub increments: Vec<IncrementRow>,
    /// Each item by name and starting price.
    pub items: Vec<ItemRow>,
    /// The same, items of one starting price taken together.
    pub starting_prices: Vec<ItemRow>,
    /// Winning bids of each player and of each group.
    pub winning_bids: WinningBidTable,
    /// Belief errors of each player that keeps beliefs.
    pub beliefs: Vec<BeliefRow>,
    /// Plans of each player that makes them.
    pub plans: Vec<PlanRow>,
    /// Profiling error of each player that profiles its rivals.
    pub profiles: Vec<ProfileRow>,
    /// The same after the last item, by number of rivals and of items that suit the rival.
    pub profile_ends: Vec<ProfileEndRow>,
    /// How often each player that predicts its rivals was right.
    pub predictions: Vec<PredictionRow>,
    /// Strategy mix of each player that chooses among the six actions.
    pub strategies: Vec<StrategyRow>,
}

impl AuctionReport {
    /// No session yet; increments will be sorted into these bins.
    pub fn with_bins(bins: IncrementBins) -> Self {
        Self {
            bins,
            settings: BySetting::default(),
        }
    }

    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<SettingMeasures> {
        let settings = self.settings.iter();
        let measures = settings.map(|(head, gathered)| SettingMeasures {
            head,
            players: gathered.players.rows(),
            learning: gathered.learning.rows(),
            increment_bins: self.bins.edges().to_vec(),
            increments: gathered.increments.rows(&self.bins),
            items: gathered.items.by_name(),
            starting_prices: gathered.items.by_starting_price(),
            winning_bids: gathered.winning_bids.table(),
            beliefs: gathered.beliefs.rows(),
            plans: gathered.plans.rows(),
            profiles: gathered.profiles.rows(),
            profile_ends: gathered.profiles.ends(),
            predictions: gathered.predictions.rows(),
            strategies: gathered.strategies.rows(),
        });
        measures.collect()
    }
}

impl OfSetting for SettingMeasures {
    fn head(&self) -> &SettingHead {
        &self.head
    }
}

impl SettingReport for AuctionReport {
    type Measures = SettingMeasures;
    type Paper = SettingMeasures;

    const GAMES: &'static [&'static str] = &[ENGLISH_AUCTION];

    const PAPERS: &'static Papers = &PAPERS;

    /// Ratings depend on the order.
    fn take_in(&mut self, record: &StoredRecord) -> bool {
        let Some(auction) = Auction::read(record) else {
            return false;
        };
        let gathered = self.settings.count(record);
        gathered.players.add(&auction);
        gathered.learning.add(&auction);
        gathered.increments.add(&auction, &self.bins);
        gathered.items.add(&auction);
        gathered.winning_bids.add(&auction);
        gathered.beliefs.add(&auction);
        gathered.plans.add(&auction);
        gathered.profiles.add(&auction);
        gathered.predictions.add(&auction);
        gathered.strategies.add(&auction);
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
