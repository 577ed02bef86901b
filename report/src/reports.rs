//! All reports, walked together at the end of a run and by `agon show --measures`. A new report
//! is named in [`Reports::of_auctions`] and nowhere else; what a report is stands in
//! `game_report.rs`.

use agon_engine::record::StoredRecord;

use crate::alympics::AlympicsReport;
use crate::auction::{AuctionReport, Auctions};
use crate::econarena::EconArenaReport;
use crate::game_report::GameReport;
use crate::judging::JudgingReport;
use crate::k_level::KLevelReport;
use crate::layout::Layout;
use crate::observation::SessionObservations;

/// All reports.
pub struct Reports {
    reports: Vec<Box<dyn GameReport + Send>>,
}

impl Default for Reports {
    fn default() -> Self {
        Self::of_auctions(Auctions::default())
    }
}

impl Reports {
    /// No session yet; auctions will be measured like this.
    pub fn of_auctions(auctions: Auctions) -> Self {
        Self {
            reports: vec![
                Box::new(AuctionReport::new(auctions)),
                Box::<EconArenaReport>::default(),
                Box::<AlympicsReport>::default(),
                Box::<JudgingReport>::default(),
                Box::<KLevelReport>::default(),
            ],
        }
    }

    /// Names of all games that are measured.
    pub fn games(&self) -> Vec<&'static str> {
        let mut games: Vec<&str> = Vec::new();
        for game in self.reports.iter().flat_map(|report| report.games()) {
            if !games.contains(game) {
                games.push(game);
            }
        }
        games
    }

    /// Whether sessions of this game are measured.
    pub fn measures(&self, game: &str) -> bool {
        let mut reports = self.reports.iter();
        reports.any(|report| report.games().contains(&game))
    }

    /// Takes in a finished session, in the order of the experiment. Returns whether any
    /// report could measure it.
    pub fn add(&mut self, record: &StoredRecord) -> bool {
        let game = &*record.spec.game;
        let mut taken = false;
        for report in &mut self.reports {
            if report.games().contains(&game) {
                taken |= report.add(record);
            }
        }
        taken
    }

    /// The observations of a finished session, report by report that can measure it.
    pub fn observe<'a>(&self, record: &'a StoredRecord) -> Vec<SessionObservations<'a>> {
        let game = &*record.spec.game;
        let reports = self.reports.iter();
        let reports = reports.filter(|report| report.games().contains(&game));
        reports
            .filter_map(|report| report.observe(record))
            .collect()
    }

    /// Whether nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.reports.iter().all(|report| report.is_empty())
    }

    /// The tables of all reports that took something in, in this layout.
    pub fn render(&self, layout: Layout) -> String {
        let filled = self.reports.iter().filter(|report| !report.is_empty());
        let tables: Vec<String> = filled.map(|report| report.render(layout)).collect();
        tables.join("\n\n")
    }

    /// All measures as one JSON list of settings, report by report.
    ///
    /// # Errors
    /// None that is known: measures are plain numbers and words.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut settings = Vec::new();
        for report in &self.reports {
            settings.extend(report.settings_as_json()?);
        }
        Ok(format!("[{}]", settings.join(",")))
    }

    /// Names of all published tables.
    pub fn published_tables(&self) -> Vec<&'static str> {
        let reports = self.reports.iter();
        reports
            .flat_map(|report| report.published_tables())
            .collect()
    }

    /// The published table of this name, as [`GameReport::beside_published`]; `None` when no
    /// report has it.
    pub fn beside_published(&self, name: &str, layout: Layout) -> Option<String> {
        let mut reports = self.reports.iter();
        reports.find_map(|report| report.beside_published(name, layout))
    }
}
