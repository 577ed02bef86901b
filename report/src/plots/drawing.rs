//! Makes a figure of what was gathered: its panels side by side, and a caption that says what n
//! counts, how intervals were made and what was taken together. Panels are drawn in `panel.rs`.

use std::collections::BTreeSet;

use agon_figures::{Figure, Palette};

use super::gathering::{Key, MOST_VALUES, PlotData};
use super::links::Links;
use super::spec::{PlotPanel, Shape, Value};
use super::{panel, points};
use crate::blocks::Table;
use crate::standings::melee::{Melee, SKILLS};
use crate::statistics::mean_interval::CAVEAT;
use crate::table::{count, counted};

/// Sessions below which a caption says how often intervals cover; [`CAVEAT`] names the same.
const FEW: usize = 10;

impl PlotData {
    /// Names of the series, for a palette over several figures.
    pub fn series(&self) -> BTreeSet<String> {
        let series = self.places.keys().map(|place| self.words_of(&place.series));
        series.filter(|name| !name.is_empty()).collect()
    }

    /// The figure.
    pub fn figure(&self) -> Figure {
        self.linked_figure(self.links())
    }

    /// The figure's numbers as a table, each with the sessions that it rests on; those of the CSV, shown
    /// with four digits behind the point.
    pub fn points(&self) -> Table {
        points::table(&self.linked_figure(Links::Selections).csv())
    }

    fn linked_figure(&self, links: Links) -> Figure {
        let mut panels = Vec::new();
        for (number, panel) in self.plot.panels.iter().enumerate() {
            if panel.shape.rates_players() {
                for ((game, simulated), melee) in &self.melees {
                    let simulated = if *simulated { " (simulated)" } else { "" };
                    let drawn = panel::ratings(panel, melee);
                    panels.push(drawn.title(format!("{game}{simulated}")));
                }
                continue;
            }
            let places = self.places.keys().filter(|place| place.panel == number);
            let splits: BTreeSet<&Key> = places.map(|place| &place.split).collect();
            for split in splits {
                let drawn = panel::drawn(self, number, split, links);
                let words = self.words_of(split);
                let title = if words.is_empty() {
                    panel.title
                } else {
                    &words
                };
                panels.push(match title {
                    "" => drawn,
                    title => drawn.title(title),
                });
            }
        }
        let columns = match panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ if self
                .plot
                .panels
                .iter()
                .any(|panel| panel.shape == Shape::Radar) =>
            {
                2
            }
            _ => 3,
        };
        let figure = Figure::new(panels)
            .title(self.plot.about)
            .caption(self.caption())
            .columns(columns)
            .palette(Palette::of(self.series()));
        if columns > 1 { figure.wide() } else { figure }
    }

    fn caption(&self) -> String {
        let sentences = [
            Some(format!("n = {}; {}.", self.n(), self.what())),
            self.is_few()
                .then(|| format!("Intervals: {CAVEAT}, of rates 92 to 98 %.")),
            self.is_thinned().then(|| {
                let most = count(MOST_VALUES as u64);
                format!("Of more than {most} points one in two, four ... is drawn.")
            }),
            self.pooled(),
            Some(format!("Like {}.", self.plot.source)).filter(|_| !self.plot.source.is_empty()),
            self.simulation(),
        ];
        sentences
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// From the fewest to the most sessions or series behind a number.
    fn n(&self) -> String {
        let places = self.places.values().map(|one| one.clusters.len());
        let melees = self.melees.values().map(Melee::sessions);
        let counts = places.chain(melees);
        match (counts.clone().min(), counts.max()) {
            (Some(least), Some(most)) if least < most => {
                format!("{least}\u{2013}{most} sessions or series")
            }
            (Some(1), _) => "1 session or series".to_owned(),
            (least, _) => format!("{} sessions or series", least.unwrap_or(0)),
        }
    }

    /// Whether intervals are drawn of so few sessions that they may cover less than they say.
    fn is_few(&self) -> bool {
        let mut panels = self.plot.panels.iter();
        let is_interval = |panel: &PlotPanel| {
            let shape = panel.shape;
            !shape.is_distribution() && !shape.hides_intervals() && !shape.rates_players()
        };
        let mut counts = self.places.values().map(|one| one.clusters.len());
        panels.any(is_interval) && counts.any(|n| (2..FEW).contains(&n))
    }

    /// What a mark stands for.
    fn what(&self) -> &'static str {
        let mut panels = self.plot.panels.iter();
        if panels
            .clone()
            .any(|panel| matches!(panel.value, Value::Each(_)))
        {
            "every observation by itself; those of one session depend on each other"
        } else if panels.clone().any(|panel| panel.shape == Shape::Skills) {
            SKILLS
        } else if panels.clone().any(|panel| panel.shape.rates_players()) {
            "strengths by what sessions paid, with their 95 % intervals, which are wider than need be \
             below 30 sessions (97 to 100 %; docs/statistics.md)"
        } else if panels.clone().any(|panel| panel.shape == Shape::Profiles) {
            "sessions above each number, the mean share over games, with its 95 % interval (t \
             corrected for skewness) from 5 sessions of each game on; players without a session of \
             every game are left out"
        } else if panels.clone().all(|panel| panel.shape.is_distribution()) {
            "a point is the mean of a session"
        } else if panels.all(|panel| panel.shape.hides_intervals()) {
            "mean over sessions; the data have its 95 % interval"
        } else {
            "mean over sessions with its 95 % interval (t corrected for skewness, Wilson's for rates)"
        }
    }

    fn is_thinned(&self) -> bool {
        self.places.values().any(|one| one.seen > one.values.len())
    }

    fn pooled(&self) -> Option<String> {
        let settings = self.pooled_settings();
        (settings > 1)
            .then(|| format!("Sessions of up to {settings} settings of a game are drawn as one."))
    }

    fn simulation(&self) -> Option<String> {
        match self.simulated {
            0 => None,
            all if all == self.sessions => Some(
                "SIMULATED models answered: the numbers say nothing about real ones.".to_owned(),
            ),
            some => Some(format!(
                "{} with SIMULATED models, shown apart.",
                counted(some, "session")
            )),
        }
    }
}
