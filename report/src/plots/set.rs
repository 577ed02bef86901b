//! All figures that some sessions have anything for, gathered in one go: each begins with the first
//! session of its games. Called by the report's page and by pages of results.

use agon_engine::record::StoredRecord;

use super::gathering::{PlotData, observed};
use super::spec::Plot;
use crate::reports::Reports;

/// Which figures sessions of these games have something for.
type Choice = fn(&[&str]) -> Vec<&'static Plot>;

/// See the module.
pub struct PlotSet {
    choice: Choice,
    is_linked: bool,
    plots: Vec<PlotData>,
    games: Vec<String>,
    reports: Reports,
}

impl PlotSet {
    /// No session yet.
    pub fn new(choice: Choice) -> Self {
        Self {
            choice,
            is_linked: false,
            plots: Vec::new(),
            games: Vec::new(),
            reports: Reports::default(),
        }
    }

    /// With points that lead to a page's list of sessions.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.is_linked = true;
        self
    }

    /// Takes in a session.
    pub fn add(&mut self, record: &StoredRecord) {
        let game = &record.spec.game;
        if !self.games.contains(game) {
            self.games.push(game.clone());
            // Sessions before this one were of other games, so that these figures have missed none,
            // unless they take in any game; those are there from the first session on.
            for plot in (self.choice)(&[game]) {
                if self.plots.iter().all(|known| known.name() != plot.name) {
                    let new = PlotData::new(plot);
                    let new = if self.is_linked { new.linked() } else { new };
                    self.plots.push(new);
                }
            }
        }
        let observed = observed(record, &self.reports);
        for plot in &mut self.plots {
            plot.take(record, &observed);
        }
    }

    /// Figures that have something to show.
    pub fn iter(&self) -> impl Iterator<Item = &PlotData> + Clone {
        self.plots.iter().filter(|plot| !plot.is_empty())
    }
}
