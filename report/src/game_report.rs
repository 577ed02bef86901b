//! The contract of a report: what is measured of the sessions of some games, as tables, as JSON
//! and beside what is published. The list of reports is `reports.rs`.

use agon_engine::record::StoredRecord;

use crate::basis::explained;
use crate::gathered::{Gathered, Setting};
use crate::grouping::Section;
use crate::layout::Layout;
use crate::observation::SessionObservations;
use crate::published::{Compared, Papers, beside};
use crate::row::Row;
use crate::settings::{BySetting, SettingHead};
use crate::table::paragraphs;

/// Measures of the finished sessions of some games, gathered one by one.
pub trait GameReport {
    /// Registered names of the games whose records it takes in.
    fn games(&self) -> &'static [&'static str];

    /// The observations of a finished session; `None` of one that cannot be measured.
    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>>;

    /// Takes in a finished session, in the order of the experiment. Returns whether it was
    /// one that could be measured.
    fn add(&mut self, record: &StoredRecord) -> bool;

    /// Whether nothing was taken in.
    fn is_empty(&self) -> bool;

    /// The tables in this layout; empty when nothing was taken in.
    fn render(&self, layout: Layout) -> String;

    /// All measures, one JSON object per setting, in the order in which settings came first.
    ///
    /// # Errors
    /// None that is known: measures are plain numbers and words.
    fn settings_as_json(&self) -> serde_json::Result<Vec<String>>;

    /// Names of the published tables that its measures can be set beside.
    fn published_tables(&self) -> Vec<&'static str>;

    /// The published table of this name with one's own figures, and the published findings
    /// with their sources, in this layout; `None` when it has no such table.
    fn beside_published(&self, name: &str, layout: Layout) -> Option<String>;

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

/// What a paper measures of the sessions of some games; a [`GameReport`] follows from it.
pub(crate) trait Paper: Compared + Send + Sync {
    /// As [`GameReport::games`].
    const GAMES: &'static [&'static str];

    /// What the papers about these games published.
    const PAPERS: &'static Papers;

    /// The sections into which observations are gathered.
    const SECTIONS: &'static [&'static Section];

    /// What is kept of a setting beside sums.
    type Kept: Default + Send;

    /// The observations of a session; `None` where it cannot be measured.
    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>>;

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

    /// The tables of these settings, at least one, in this layout.
    fn tables(settings: &[Setting], layout: Layout) -> String;

    /// A table over all settings taken together, for what papers measure that way.
    fn overall(_all: &Setting, _layout: Layout) -> Option<String> {
        None
    }
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

    /// The settings that stand in tables and beside what is published.
    fn shown(&self) -> Vec<Setting> {
        if P::POOLS.is_empty() {
            return self.settings();
        }
        let pools = P::POOLS.iter();
        let pools = pools.filter_map(|pool| self.pooled(pool, |head| P::pool(head) == *pool));
        pools.collect()
    }

    /// All settings taken together.
    fn all(&self) -> Option<Setting> {
        self.pooled("all settings", |_| true)
    }

    /// These settings taken together; `None` without one.
    fn pooled(
        &self,
        name: &'static str,
        belongs: impl Fn(&SettingHead) -> bool,
    ) -> Option<Setting> {
        let mut pooled = Gathered::new(P::SECTIONS);
        let mut head = SettingHead {
            game: P::GAMES.first().copied().unwrap_or_default().to_owned(),
            setting: name.to_owned(),
            ..SettingHead::default()
        };
        for (one, gathered) in self.settings.iter().filter(|(one, _)| belongs(one)) {
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

impl<P: Paper> GameReport for Report<P> {
    fn games(&self) -> &'static [&'static str] {
        P::GAMES
    }

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        self.paper.observe(record)
    }

    fn add(&mut self, record: &StoredRecord) -> bool {
        let Some(session) = self.paper.observe(record) else {
            return false;
        };
        let new = || Gathered::new(P::SECTIONS);
        let gathered = self.settings.count(&session, new);
        gathered.add(&session);
        P::keep(gathered, &session);
        true
    }

    fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    fn render(&self, layout: Layout) -> String {
        let settings = self.shown();
        if settings.is_empty() {
            return String::new();
        }
        let notes = settings.iter().flat_map(|one| one.head.notes());
        let overall = self.all().and_then(|all| P::overall(&all, layout));
        let tables = P::tables(&settings, layout);
        paragraphs([Some(tables), overall, explained(notes, layout)])
    }

    fn settings_as_json(&self) -> serde_json::Result<Vec<String>> {
        self.settings().iter().map(serde_json::to_string).collect()
    }

    fn published_tables(&self) -> Vec<&'static str> {
        P::PAPERS.names().collect()
    }

    fn beside_published(&self, name: &str, layout: Layout) -> Option<String> {
        let all = self.all();
        beside::<P>(P::PAPERS, &self.shown(), all.as_slice(), name, layout)
    }
}
