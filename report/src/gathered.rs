//! What is kept of the sessions of a setting, and the setting as it is shown: sections of rows
//! with what every report says of a setting.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::grouping::{Groups, Label, Section};
use crate::observation::SessionObservations;
use crate::row::Row;
use crate::settings::SettingHead;

/// What is kept of the sessions of one setting.
#[derive(Clone)]
pub(crate) struct Gathered<K> {
    /// How many sessions there were.
    pub sessions: u64,
    /// What is kept beside the sums.
    pub kept: K,
    sections: Vec<Groups>,
    facts: BTreeMap<&'static str, String>,
}

impl<K: Default> Gathered<K> {
    /// Nothing yet.
    pub fn new(sections: &[&'static Section]) -> Self {
        Self {
            sessions: 0,
            kept: K::default(),
            sections: sections.iter().map(|one| Groups::new(one)).collect(),
            facts: BTreeMap::new(),
        }
    }
}

impl<K> Gathered<K> {
    /// Takes in a session.
    pub fn add(&mut self, session: &SessionObservations<'_>) {
        self.sessions += 1;
        self.facts.clone_from(session.facts());
        for groups in &mut self.sections {
            groups.add(session);
        }
    }

    /// Takes in what was gathered of another setting.
    pub fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.facts.clone_from(&other.facts);
        for (groups, others) in self.sections.iter_mut().zip(&other.sections) {
            groups.merge(others);
        }
    }

    /// The rows of a section.
    pub fn rows(&self, name: &str) -> Vec<Row> {
        let groups = self.groups(name);
        groups.map_or_else(Vec::new, Groups::rows)
    }

    /// The only row of a section that makes one group of everything.
    pub fn all(&self, name: &str) -> Row {
        let empty = || self.empty(name, &[]);
        self.rows(name).into_iter().next().unwrap_or_else(empty)
    }

    /// The row of a group of a section that nothing belongs to.
    pub fn empty(&self, name: &str, labels: &[Label]) -> Row {
        let groups = self.groups(name);
        groups.map_or_else(Row::default, |groups| groups.empty(labels))
    }

    /// A word that the report derived from the last session; empty without one.
    pub fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }

    fn groups(&self, name: &str) -> Option<&Groups> {
        self.sections.iter().find(|one| one.name() == name)
    }

    /// The setting as it is shown.
    pub fn setting(&self, head: SettingHead, measures: Row) -> Setting {
        Setting {
            head,
            measures,
            facts: self.facts.clone(),
        }
    }
}

/// The measures of one setting, for tables, charts and other programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Setting {
    /// Which setting, and how many sessions it had.
    #[serde(flatten)]
    pub head: SettingHead,
    /// Everything that was measured, section by section.
    #[serde(flatten)]
    pub measures: Row,
    /// Words that the report derived from its last session.
    #[serde(skip)]
    facts: BTreeMap<&'static str, String>,
}

impl Setting {
    /// The rows of a section.
    pub fn rows(&self, name: &str) -> &[Row] {
        self.measures.rows(name)
    }

    /// The row of a section that has this word; `None` without one.
    pub fn row(&self, section: &str, label: &str, word: &str) -> Option<&Row> {
        let mut rows = self.rows(section).iter();
        rows.find(|row| row.word(label) == word)
    }

    /// A number of a player's row in a section, with what it weighs in a mean over settings.
    pub fn weighed(
        &self,
        section: &str,
        player: &str,
        number: &str,
        weight: &str,
    ) -> Option<(f64, f64)> {
        let row = self.row(section, "player", player)?;
        Some((row.number(number)?, row.count(weight) as f64))
    }

    /// The same where all settings weigh alike.
    pub fn alike(&self, section: &str, player: &str, number: &str) -> Option<(f64, f64)> {
        let row = self.row(section, "player", player)?;
        Some((row.number(number)?, 1.0))
    }

    /// The names of its players, in the order of its rows.
    pub fn players(&self) -> Vec<&str> {
        let rows = self.rows("players").iter();
        rows.map(|row| row.word("player")).collect()
    }

    /// A word that the report derived from its last session; empty without one.
    pub fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }
}
