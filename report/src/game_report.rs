//! The contract of a report: what is measured of the sessions of some games, as tables, as JSON
//! and beside what is published. The list of reports is `reports.rs`.

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::basis::explained;
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
