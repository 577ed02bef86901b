//! Gathers what figures show, session by session: of each panel, series and place the sums of every
//! session or series, which are what is independent.

use std::collections::BTreeMap;

use agon_engine::record::StoredRecord;

use super::spec::{By, Plot, PlotPanel, Value};
use crate::axes::{Axes, AxisNames, LABEL, axes_of, in_words};
use crate::common;
use crate::observation::{Observation, SessionObservations};
use crate::players::{player_of, players_of};
use crate::reports::Reports;
use crate::session::cluster_number;
use crate::session::{Session, cluster_of};
use crate::standings::made_by_players;
use crate::standings::melee::Melee;

/// Values that a distribution keeps of one series; beyond, only every second, fourth ... is kept.
pub(super) const MOST_VALUES: usize = 2_000;

/// What a setting without axes is called where the game is clear.
const PLAIN: &str = "plain setting";

/// Behind the name of a player that was simulated.
pub(super) const SIMULATED: &str = " (simulated)";

/// What is drawn where it is nobody's and simulated models played.
const SIMULATED_MODELS: &str = "simulated models";

/// What players are called where no single one is meant.
pub(super) const ALL_PLAYERS: &str = "all players";

/// Something on an axis, ordered as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Key {
    /// Nothing.
    None,
    /// A number.
    Number(f64),
    /// A setting, by its place among all.
    Setting(usize),
    /// A word, by its place among all that came.
    Word(usize),
    /// One of these, of sessions in which a simulated model answered.
    Simulated(Box<Key>),
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_kind = self.kind().cmp(&other.kind());
        by_kind.then_with(|| match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Setting(one), Self::Setting(two)) | (Self::Word(one), Self::Word(two)) => {
                one.cmp(two)
            }
            (Self::Simulated(one), Self::Simulated(two)) => one.cmp(two),
            _ => std::cmp::Ordering::Equal,
        })
    }
}

impl Key {
    fn kind(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Number(_) => 1,
            Self::Setting(_) => 2,
            Self::Word(_) => 3,
            Self::Simulated(_) => 4,
        }
    }
}

/// A place in a figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The panel's number.
    pub panel: usize,
    /// What it is split by.
    pub split: Key,
    pub series: Key,
    /// Where on the axis of places.
    pub x: Key,
}

/// Of which setting something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OfSetting {
    /// Of none yet.
    #[default]
    None,
    /// Of this one alone.
    One(usize),
    /// Of several.
    Several,
}

impl OfSetting {
    fn add(&mut self, setting: usize) {
        *self = match *self {
            Self::None => Self::One(setting),
            Self::One(own) if own == setting => Self::One(own),
            _ => Self::Several,
        };
    }
}

/// What was gathered at a place.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Numerator and denominator by cluster.
    pub clusters: BTreeMap<u32, (f64, f64)>,
    /// The setting of its sessions.
    pub setting: OfSetting,
    /// Single values, of distributions.
    pub values: Vec<f64>,
    /// Of how many values one is kept.
    every: usize,
    /// Values that came, kept or not.
    pub seen: usize,
}

impl Gathered {
    fn add(&mut self, cluster: u32, numerator: f64, denominator: f64) {
        let sums = self.clusters.entry(cluster).or_default();
        sums.0 += numerator;
        sums.1 += denominator;
    }

    fn keep(&mut self, value: f64) {
        if self.values.len() == MOST_VALUES {
            let mut place = 0;
            self.values.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every = self.every.max(1) * 2;
        }
        if self.seen.is_multiple_of(self.every.max(1)) {
            self.values.push(value);
        }
        self.seen += 1;
    }
}

/// A figure whose sessions are being gathered.
pub struct PlotData {
    pub(super) plot: &'static Plot,
    pub(super) places: BTreeMap<Place, Gathered>,
    pub(super) words: Words,
    /// Game and axes of each setting.
    pub(super) settings: Vec<(String, Axes)>,
    /// Where the setting of a game and its axes as JSON is.
    setting_places: BTreeMap<(String, String), usize>,
    pub(super) names: AxisNames,
    clusters: BTreeMap<String, u32>,
    /// Whether points lead to the list of sessions of a page.
    pub(super) is_linked: bool,
    /// Sessions in which players met, by game and whether models were simulated.
    pub(super) melees: BTreeMap<(String, bool), Melee>,
    /// Sessions that had anything to show, and how many of them were simulated.
    pub(super) sessions: u64,
    pub(super) simulated: u64,
}

/// Everything that figures may show of a session.
pub(super) fn observed<'a>(
    record: &'a StoredRecord,
    reports: &Reports,
) -> Vec<SessionObservations<'a>> {
    let mut all = vec![common::observe(record)];
    all.extend(reports.observe(record));
    all
}

/// Words in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Words {
    places: BTreeMap<String, usize>,
    pub all: Vec<String>,
}

impl Words {
    fn key(&mut self, word: &str) -> Key {
        if let Some(place) = self.places.get(word) {
            return Key::Word(*place);
        }
        self.places.insert(word.to_owned(), self.all.len());
        self.all.push(word.to_owned());
        Key::Word(self.all.len() - 1)
    }
}

impl PlotData {
    /// No session yet.
    pub fn new(plot: &'static Plot) -> Self {
        Self {
            plot,
            places: BTreeMap::new(),
            words: Words::default(),
            settings: Vec::new(),
            setting_places: BTreeMap::new(),
            names: AxisNames::default(),
            clusters: BTreeMap::new(),
            is_linked: false,
            melees: BTreeMap::new(),
            sessions: 0,
            simulated: 0,
        }
    }

    /// With points that lead to a page's list of sessions.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.is_linked = true;
        self
    }

    /// What it shows.
    pub fn plot(&self) -> &'static Plot {
        self.plot
    }

    /// What the figure is called.
    pub fn name(&self) -> &'static str {
        self.plot.name
    }

    /// Takes in a session; one of another game is passed over.
    pub fn add(&mut self, record: &StoredRecord, reports: &Reports) {
        self.take(record, &observed(record, reports));
    }

    /// The same of a session that was observed before.
    pub(super) fn take(&mut self, record: &StoredRecord, all: &[SessionObservations<'_>]) {
        let game = &record.spec.game;
        if !self.plot.games.is_empty() && !self.plot.games.contains(&&**game) {
            return;
        }
        self.names.add(&record.spec);
        let axes = axes_of(&record.spec);
        let key = serde_json::to_string(&axes).unwrap_or_default();
        let next = self.settings.len();
        let setting = *self
            .setting_places
            .entry((game.clone(), key))
            .or_insert(next);
        if setting == next {
            self.settings.push((game.clone(), axes));
        }
        let next = self.clusters.len() as u32;
        let cluster = *self
            .clusters
            .entry(cluster_of(record.session.as_str(), &record.spec))
            .or_insert(next);
        let mut has_any = self.meet(record);
        for session in all {
            for (number, panel) in self.plot.panels.iter().enumerate() {
                has_any |= self.panel(number, panel, session, setting, cluster);
            }
        }
        if has_any {
            self.sessions += 1;
            self.simulated += u64::from(record.simulated);
        }
    }

    /// Takes in who met in a session, if the figure rates players; answers whether anyone did.
    fn meet(&mut self, record: &StoredRecord) -> bool {
        let mut panels = self.plot.panels.iter();
        if !panels.any(|panel| panel.shape.rates_players()) {
            return false;
        }
        let session = Session::of(record);
        let made = made_by_players(&session);
        if made.len() < 2 {
            return false;
        }
        let game = (record.spec.game.clone(), record.simulated);
        let melee = self.melees.entry(game).or_default();
        melee.add(cluster_number(&session), &made);
        true
    }

    /// Settings of a game that are drawn as one, because the figure tells none apart.
    pub(super) fn pooled_settings(&self) -> usize {
        let by = |panel: &PlotPanel| [panel.x, panel.series, panel.split];
        let mut all = self.plot.panels.iter().flat_map(by);
        if all.any(|by| matches!(by, By::Setting | By::Label | By::Axis(_))) {
            return 1;
        }
        let games = self.settings.iter().map(|(game, _)| game);
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for game in games {
            *counts.entry(game).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }

    /// Whether nothing was there to show.
    pub fn is_empty(&self) -> bool {
        self.sessions == 0
    }

    fn panel(
        &mut self,
        number: usize,
        panel: &PlotPanel,
        session: &SessionObservations<'_>,
        setting: usize,
        cluster: u32,
    ) -> bool {
        let mut own: BTreeMap<Place, (f64, f64)> = BTreeMap::new();
        let mut has_any = false;
        for one in session.iter().filter(|one| one.counts()) {
            if panel.shape.rates_players() {
                break;
            }
            let Some((numerator, denominator)) = panel.value.parts(one) else {
                continue;
            };
            let keys = [panel.split, panel.series, panel.x];
            let keys = keys.map(|by| self.key(by, session, one, setting));
            let [Some(split), Some(mut series), Some(x)] = keys else {
                continue;
            };
            // What is simulated is never taken together with what is not; players say so themselves.
            let by = [panel.split, panel.series, panel.x];
            if session.record.simulated && !by.contains(&By::Player) {
                series = Key::Simulated(Box::new(series));
            }
            has_any = true;
            let place = Place {
                panel: number,
                split,
                series,
                x,
            };
            if panel.shape.is_distribution() && matches!(panel.value, Value::Each(_)) {
                let gathered = self.places.entry(place).or_default();
                gathered.setting.add(setting);
                gathered.add(cluster, one.value, 1.0);
                gathered.keep(one.value);
                continue;
            }
            let sums = own.entry(place).or_default();
            sums.0 += numerator;
            sums.1 += denominator;
        }
        for (place, (numerator, denominator)) in own {
            let gathered = self.places.entry(place).or_default();
            let (numerator, denominator) = match panel.value.is_mean() {
                true => (numerator / denominator, 1.0),
                false => (numerator, denominator),
            };
            gathered.setting.add(setting);
            gathered.add(cluster, numerator, denominator);
            if panel.shape.needs_values() && denominator > 0.0 {
                gathered.keep(panel.value.scale() * numerator / denominator);
            }
        }
        has_any
    }

    fn key(
        &mut self,
        by: By,
        session: &SessionObservations<'_>,
        one: &Observation<'_>,
        setting: usize,
    ) -> Option<Key> {
        let spec = &session.record.spec;
        Some(match by {
            By::Nothing => Key::None,
            By::Game => self.words.key(&spec.game),
            By::Setting => Key::Setting(setting),
            By::Label => match self.settings[setting].1.get(LABEL).map(in_words) {
                Some(label) => self.words.key(&label),
                None => Key::Setting(setting),
            },
            By::Player => {
                let mut player = match one.at.seat.and_then(|seat| spec.seats.get(seat)) {
                    Some(seat) => player_of(seat, &spec.seats),
                    None => match players_of(&spec.seats) {
                        several if several.contains(" + ") => ALL_PLAYERS.to_owned(),
                        only => only,
                    },
                };
                // What is simulated is never taken together with what is not.
                if session.record.simulated {
                    player.push_str(SIMULATED);
                }
                self.words.key(&player)
            }
            By::Seat => Key::Number(one.at.seat? as f64),
            By::About => Key::Number(one.at.about? as f64),
            By::Round => Key::Number(f64::from(one.at.round?)),
            By::Category => self.words.key(one.at.category?),
            By::Item => self.words.key(&one.at.item?.replace('_', " ")),
            By::Price => Key::Number(one.at.price? as f64),
            By::Axis(name) => {
                let axes = &self.settings[setting].1;
                let is_it = |axis: &str| axis == name || axis.ends_with(&format!(".{name}"));
                let (_, value) = axes.iter().find(|(axis, _)| is_it(axis))?;
                match value.as_f64() {
                    Some(number) => Key::Number(number),
                    None => self.words.key(&in_words(value)),
                }
            }
        })
    }

    /// A key in words.
    pub(super) fn words_of(&self, key: &Key) -> String {
        match key {
            Key::None => String::new(),
            Key::Number(number) => number.to_string(),
            Key::Word(place) => self.words.all[*place].clone(),
            Key::Simulated(of) => match self.words_of(of).as_str() {
                "" => SIMULATED_MODELS.to_owned(),
                words => format!("{words}{SIMULATED}"),
            },
            Key::Setting(place) => {
                let (game, axes) = &self.settings[*place];
                let words = self.names.join(axes.iter());
                let is_clear = self.settings.iter().all(|(other, _)| other == game)
                    || self.plot.panels.iter().all(|panel| panel.split == By::Game);
                match words.is_empty() {
                    true if is_clear => PLAIN.to_owned(),
                    true => game.clone(),
                    false => words,
                }
            }
        }
    }
}
