//! Measures of the Water Allocation Challenge of Alympics (Mao et al., arXiv 2311.03220,
//! sections 4 and 5), gathered session by session and grouped by setting: who survives, how
//! scarce water is, what it costs, and how bids, balances and health go from day to day.
//! Definitions with their formulas stand in `docs/measures.md`.

mod days;
mod published;
mod reading;
mod residents;
mod tables;
mod trajectories;

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::accumulator::Accumulator;
use crate::game_report::SettingReport;
use crate::published::Papers;
use crate::settings::{BySetting, OfSetting, SettingHead};
use days::Days;
use published::PAPERS;
use reading::Town;
use residents::Residents;
use trajectories::Trajectories;

pub use days::{DayRow, MinimumBidRow};
pub use residents::ResidentRow;
pub use trajectories::{TrajectoryPoint, TrajectoryRow};

/// The game whose records are measured.
pub const WATER_ALLOCATION: &str = "water_allocation";

/// Measures of any number of sessions; other games are passed over.
#[derive(Debug, Clone, Default)]
pub struct AlympicsReport {
    settings: BySetting<Gathered>,
}

/// What is kept of the sessions of one setting.
#[derive(Debug, Clone, Default)]
struct Gathered {
    supply: (i64, i64),
    residents: Residents,
    survivors: Vec<u64>,
    /// The same numbers, to compute with.
    counted: Accumulator,
    rsr_start: Accumulator,
    rsr_end: Accumulator,
    overbids: Accumulator,
    days: Days,
    trajectories: Trajectories,
}

/// The measures of one setting, for tables, charts and other programs. Lists of residents
/// are in order of seats; what is not defined is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingMeasures {
    /// Which setting, and how many sessions it had.
    #[serde(flatten)]
    pub head: SettingHead,
    /// The least and the most water that a day can bring, in units.
    pub supply: (i64, i64),
    /// Who survives, resident by resident.
    pub residents: Vec<ResidentRow>,
    /// How many lived at the end, session by session, of those in which enough was answered.
    pub survivors: Vec<u64>,
    /// Mean of that.
    pub survivors_mean: Option<f64>,
    /// Standard deviation (n - 1) of that.
    pub survivors_sd: Option<f64>,
    /// Share of all residents of all sessions that lived at the end, from 0 to 1.
    pub survival_rate: Option<f64>,
    /// Mean resource satisfaction rate before the first day (formula 2).
    pub rsr_start: Option<f64>,
    /// The same after the last day, over sessions in which somebody lived.
    pub rsr_end: Option<f64>,
    /// How many these are.
    pub rsr_end_sessions: u64,
    /// Mean number of bids above the bidder's balance in a session.
    pub overbids: Option<f64>,
    /// The lowest bid that won, day by day.
    pub minimum_bids: Vec<MinimumBidRow>,
    /// Mean of its daily medians.
    pub minimum_bid_medians: Option<f64>,
    /// Resource satisfaction and the living, day by day.
    pub days: Vec<DayRow>,
    /// Bids, balances and health, resident by resident and day by day.
    pub trajectories: Vec<TrajectoryRow>,
}

impl AlympicsReport {
    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<SettingMeasures> {
        let settings = self.settings.iter();
        let measures = settings.map(|(head, gathered)| {
            let minimum_bids = gathered.days.minimum_bids();
            let mut medians = Accumulator::default();
            for row in &minimum_bids {
                medians.add(row.bids.median);
            }
            SettingMeasures {
                head,
                supply: gathered.supply,
                residents: gathered.residents.rows(),
                survivors: gathered.survivors.clone(),
                survivors_mean: gathered.counted.mean(),
                survivors_sd: gathered.counted.standard_deviation(),
                survival_rate: gathered.residents.survival_rate(),
                rsr_start: gathered.rsr_start.mean(),
                rsr_end: gathered.rsr_end.mean(),
                rsr_end_sessions: gathered.rsr_end.count(),
                overbids: gathered.overbids.mean(),
                minimum_bids,
                minimum_bid_medians: medians.mean(),
                days: gathered.days.rows(),
                trajectories: gathered.trajectories.rows(),
            }
        });
        measures.collect()
    }
}

impl OfSetting for SettingMeasures {
    fn head(&self) -> &SettingHead {
        &self.head
    }
}

impl SettingReport for AlympicsReport {
    type Measures = SettingMeasures;

    const GAMES: &'static [&'static str] = &[WATER_ALLOCATION];

    const PAPERS: &'static Papers = &PAPERS;

    fn take_in(&mut self, record: &StoredRecord) -> bool {
        let Some(town) = Town::read(record) else {
            return false;
        };
        let gathered = self.settings.count(record);
        gathered.supply = town.supply;
        gathered.residents.add(&town);
        gathered.trajectories.add(&town);
        if !town.is_measured {
            return true;
        }
        let survivors = town.residents.iter().filter(|one| one.survived).count() as u64;
        gathered.survivors.push(survivors);
        gathered.counted.add(survivors as f64);
        let parts = [
            (&mut gathered.rsr_start, "rsr_start"),
            (&mut gathered.rsr_end, "rsr_end"),
            (&mut gathered.overbids, "overbids"),
        ];
        for (accumulator, part) in parts {
            accumulator.add_known(town.part(part));
        }
        gathered.days.add(&town);
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
