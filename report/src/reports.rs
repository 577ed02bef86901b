//! What there is to measure: one report for each family of games, walked together at the
//! end of a run and by `agon show --measures`. A new report is named in [`Reports::with_bins`]
//! and nowhere else.

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::alympics::AlympicsReport;
use crate::auction::{AuctionReport, IncrementBins};
use crate::basis::explained;
use crate::econarena::EconArenaReport;
use crate::judging::JudgingReport;
use crate::k_level::KLevelReport;
use crate::published::{Compared, Papers, beside};
use crate::settings::OfSetting;
use crate::table::paragraphs;

/// Measures of the finished sessions of some games, gathered one by one.
pub trait GameReport {
    /// Registered names of the games whose records it takes in.
    fn games(&self) -> &'static [&'static str];

    /// Takes in a finished session, in the order of the experiment. Returns whether it was
    /// one that could be measured.
    fn add(&mut self, record: &StoredRecord) -> bool;

    /// Whether nothing was taken in.
    fn is_empty(&self) -> bool;

    /// The tables in at most `width` columns; empty when nothing was taken in.
    fn render(&self, width: u16) -> String;

    /// All measures, one JSON object per setting, in the order in which settings came first.
    ///
    /// # Errors
    /// None that is known: measures are plain numbers and words.
    fn settings_as_json(&self) -> serde_json::Result<Vec<String>>;

    /// Names of the published tables that its measures can be set beside.
    fn published_tables(&self) -> Vec<&'static str>;

    /// The published table of this name with one's own figures, and the published findings
    /// with their sources, in at most `width` columns; `None` when it has no such table.
    fn beside_published(&self, name: &str, width: u16) -> Option<String>;

    /// The measures of these sessions.
    fn of<'a>(sessions: impl IntoIterator<Item = &'a StoredRecord>) -> Self
    where
        Self: Sized + Default,
    {
        let mut report = Self::default();
        for session in sessions {
            report.add(session);
        }
        report
    }
}

/// A report that measures setting by setting, as all of them do; the rest of a
/// [`GameReport`] follows from it.
pub(crate) trait SettingReport {
    /// The measures of one setting.
    type Measures: Compared + Serialize;

    /// As [`GameReport::games`].
    const GAMES: &'static [&'static str];

    /// What the papers about these games published.
    const PAPERS: &'static Papers;

    /// As [`GameReport::add`].
    fn take_in(&mut self, record: &StoredRecord) -> bool;

    /// As [`GameReport::is_empty`].
    fn has_nothing(&self) -> bool;

    /// The measures of every setting, in the order in which settings came first.
    fn measured(&self) -> Vec<Self::Measures>;

    /// Those that stand in tables and beside what is published.
    fn shown(&self) -> Vec<Self::Measures> {
        self.measured()
    }

    /// The tables of these settings, at least one, in at most `width` columns.
    fn tables(settings: &[Self::Measures], width: u16) -> String;
}

impl<R: SettingReport> GameReport for R {
    fn games(&self) -> &'static [&'static str] {
        R::GAMES
    }

    fn add(&mut self, record: &StoredRecord) -> bool {
        self.take_in(record)
    }

    fn is_empty(&self) -> bool {
        self.has_nothing()
    }

    fn render(&self, width: u16) -> String {
        let settings = self.shown();
        if settings.is_empty() {
            return String::new();
        }
        let notes = settings.iter().flat_map(|one| one.head().notes());
        paragraphs([Some(R::tables(&settings, width)), explained(notes, width)])
    }

    fn settings_as_json(&self) -> serde_json::Result<Vec<String>> {
        let settings = self.measured();
        settings.iter().map(serde_json::to_string).collect()
    }

    fn published_tables(&self) -> Vec<&'static str> {
        R::PAPERS.names().collect()
    }

    fn beside_published(&self, name: &str, width: u16) -> Option<String> {
        beside(R::PAPERS, &self.shown(), name, width)
    }
}

/// All reports.
pub struct Reports {
    reports: Vec<Box<dyn GameReport + Send>>,
}

impl Default for Reports {
    fn default() -> Self {
        Self::with_bins(IncrementBins::default())
    }
}

impl Reports {
    /// No session yet; bid increments of auctions will be sorted into these bins.
    pub fn with_bins(bins: IncrementBins) -> Self {
        Self {
            reports: vec![
                Box::new(AuctionReport::with_bins(bins)),
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

    /// Whether nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.reports.iter().all(|report| report.is_empty())
    }

    /// The tables of all reports that took something in, in at most `width` columns.
    pub fn render(&self, width: u16) -> String {
        let filled = self.reports.iter().filter(|report| !report.is_empty());
        let tables: Vec<String> = filled.map(|report| report.render(width)).collect();
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
    pub fn beside_published(&self, name: &str, width: u16) -> Option<String> {
        let mut reports = self.reports.iter();
        reports.find_map(|report| report.beside_published(name, width))
    }
}
