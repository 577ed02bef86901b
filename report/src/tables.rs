//! Everything that is made of the sessions of one run or of several in one go, and shown one after
//! the other: the summary, the leaderboards, the reports of the papers, and what is published
//! beside them. The command line hands in each session once.

use agon_engine::record::StoredRecord;

use crate::layout::Layout;
use crate::leaderboard::Leaderboard;
use crate::pivots::{self, Pivots};
use crate::reports::Reports;
use crate::results::ResultColumns;
use crate::session::{Session, Telemetry};
use crate::standings::Standings;
use crate::summary::Summary;
use crate::table::paragraphs;

/// The published table that is the leaderboard of gamma-Bench.
pub const LEADERBOARD: &str = "gamma-bench";

/// All tables of some sessions.
#[derive(Default)]
pub struct Tables {
    summary: Summary,
    leaderboard: Leaderboard,
    standings: Standings,
    pivots: Pivots,
    reports: Reports,
    columns: ResultColumns,
}

impl Tables {
    /// Takes in a session with what it cost.
    pub fn add(&mut self, record: &StoredRecord, telemetry: &Telemetry) {
        self.add_session(record, &Session::of(record), telemetry);
    }

    /// As [`Self::add`], with the session of the record; whether `results.csv` has more columns now.
    pub fn add_session(
        &mut self,
        record: &StoredRecord,
        session: &Session,
        telemetry: &Telemetry,
    ) -> bool {
        if self.reports.measures(&record.spec.game) {
            self.reports.add(record);
        }
        self.summary.add(session, telemetry);
        self.leaderboard.add(session);
        self.standings.add(session);
        self.pivots.add(session);
        self.columns.gather(session)
    }

    /// Whether a session of the leaderboard's games was taken in.
    pub fn has_leaderboard(&self) -> bool {
        !self.leaderboard.is_empty()
    }

    /// Who did best, game by game and over all of them.
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// Whether no session was taken in.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty()
    }

    /// The columns of `results.csv`.
    pub fn columns(&self) -> &ResultColumns {
        &self.columns
    }

    /// The summary, and the tables of all papers whose games were played.
    pub fn render(&self, layout: Layout) -> String {
        if self.summary.is_empty() {
            return "no session is done yet".to_owned();
        }
        let reports = (!self.reports.is_empty()).then(|| self.reports.render(layout));
        paragraphs([Some(self.summary.render(layout)), reports])
    }

    /// The published table of this name with one's own figures; `None` where there is no such
    /// table.
    pub fn beside_published(&self, name: &str, layout: Layout) -> Option<String> {
        match name {
            LEADERBOARD => Some(self.leaderboard.render(layout)),
            _ => {
                let pivots = self.pivots.beside_published(name, layout);
                pivots.or_else(|| self.reports.beside_published(name, layout))
            }
        }
    }

    /// Names of all published tables.
    pub fn published_tables(&self) -> Vec<&'static str> {
        let own = [LEADERBOARD].into_iter().chain(pivots::names());
        own.chain(self.reports.published_tables()).collect()
    }
}
