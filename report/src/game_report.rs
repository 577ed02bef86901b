//! The contract of a report: what is measured of the sessions of some games, as tables, as JSON
//! and beside what is published. The list of reports is `reports.rs`.

use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::basis::explained;
use crate::gathered::{Gathered, Setting};
use crate::grouping::Section;
use crate::observation::SessionObservations;
use crate::published::{Compared, Papers, beside};
use crate::row::Row;
use crate::settings::{BySetting, OfSetting, SettingHead};
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
    type Measures: OfSetting + Serialize;

    /// How these stand beside what is published.
    type Paper: Compared<Setting = Self::Measures>;

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
        beside::<R::Paper>(R::PAPERS, &self.shown(), name, width)
    }
}

/// What a paper measures of the sessions of some games; a [`GameReport`] follows from it.
pub(crate) trait Paper: Compared<Setting = Setting> + Send + Sync {
    /// As [`GameReport::games`].
    const GAMES: &'static [&'static str];

    /// What the papers about these games published.
    const PAPERS: &'static Papers;

    /// The sections into which observations are gathered.
    const SECTIONS: &'static [&'static Section];

    /// What is kept of a setting beside sums.
    type Kept: Default + Send;

    /// The observations of a session; `None` where it cannot be measured.
    fn observe(record: &StoredRecord) -> Option<SessionObservations<'_>>;

    /// Keeps what sums do not hold, after they have taken in a session.
    fn keep(_gathered: &mut Gathered<Self::Kept>, _session: &SessionObservations<'_>) {}

    /// The measures of a setting, in the order of the JSON.
    fn measures(&self, gathered: &Gathered<Self::Kept>) -> Row;

    /// Fills in what follows from several settings.
    fn compare(_settings: &mut [Setting]) {}

    /// What tables take together, and what is published stands beside, under names of its own;
    /// nothing where each setting stands for itself.
    const POOLS: &'static [&'static str] = &[];

    /// To which of these a setting belongs.
    fn pool(_head: &SettingHead) -> &'static str {
        ""
    }

    /// The tables of these settings, at least one, in at most `width` columns.
    fn tables(settings: &[Setting], width: u16) -> String;
}

/// What a paper measures, gathered session by session and grouped by setting.
pub(crate) struct Report<P: Paper> {
    paper: P,
    settings: BySetting<Gathered<P::Kept>>,
}

impl<P: Paper> Report<P> {
    /// No session yet.
    pub fn new(paper: P) -> Self {
        Self {
            paper,
            settings: BySetting::default(),
        }
    }

    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<Setting> {
        let settings = self.settings.iter();
        let settings =
            settings.map(|(head, gathered)| gathered.setting(head, self.paper.measures(gathered)));
        let mut settings = settings.collect::<Vec<_>>();
        P::compare(&mut settings);
        settings
    }

    /// All settings of a pool taken together; `None` without one.
    fn pooled(&self, pool: &'static str) -> Option<Setting> {
        let mut pooled = Gathered::new(P::SECTIONS);
        let mut head = SettingHead {
            game: P::GAMES.first().copied().unwrap_or_default().to_owned(),
            setting: pool.to_owned(),
            ..SettingHead::default()
        };
        for (one, gathered) in self.settings.iter().filter(|(one, _)| P::pool(one) == pool) {
            head.merge(&one);
            pooled.merge(gathered);
        }
        (pooled.sessions > 0).then(|| pooled.setting(head, self.paper.measures(&pooled)))
    }
}

impl<P: Paper + Default> Default for Report<P> {
    fn default() -> Self {
        Self::new(P::default())
    }
}

impl<P: Paper> SettingReport for Report<P> {
    type Paper = P;
    type Measures = Setting;

    const GAMES: &'static [&'static str] = P::GAMES;

    const PAPERS: &'static Papers = P::PAPERS;

    fn take_in(&mut self, record: &StoredRecord) -> bool {
        let Some(session) = P::observe(record) else {
            return false;
        };
        let gathered = self
            .settings
            .count_or(record, || Gathered::new(P::SECTIONS));
        gathered.add(&session);
        P::keep(gathered, &session);
        true
    }

    fn has_nothing(&self) -> bool {
        self.settings.is_empty()
    }

    fn measured(&self) -> Vec<Setting> {
        self.settings()
    }

    fn shown(&self) -> Vec<Setting> {
        if P::POOLS.is_empty() {
            return self.settings();
        }
        let pools = P::POOLS.iter().filter_map(|pool| self.pooled(pool));
        pools.collect()
    }

    fn tables(settings: &[Setting], width: u16) -> String {
        P::tables(settings, width)
    }
}
