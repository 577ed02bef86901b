//! The sessions that a page is made of, setting by setting: where the points of its figures lead. Called
//! by `agon report -o`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::folded;
use crate::axes::{Axes, AxisNames, axes_of};
use crate::layout::Layout;
use crate::session::Session;
use crate::table::{Column, TextTable, counted, number};

/// Sessions of a setting that are listed one by one.
const MOST_LISTED: usize = 100;

/// Settings whose sessions are listed.
const MOST_SETTINGS: usize = 500;

/// What was played, setting by setting.
#[derive(Debug, Default)]
pub struct SessionList {
    names: AxisNames,
    settings: BTreeMap<(String, String), Setting>,
}

#[derive(Debug, Default)]
struct Setting {
    axes: Axes,
    sessions: u64,
    /// Session, players, what it came to; of the first ones.
    listed: Vec<[String; 3]>,
}

/// Where the sessions of a game's setting are listed, without the hash sign.
pub fn anchor(game: &str, setting: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (game, setting).hash(&mut hasher);
    format!("setting-{:016x}", hasher.finish())
}

impl SessionList {
    /// Takes in a session.
    pub fn add(&mut self, session: &Session) {
        self.names.add(&session.spec);
        let axes = axes_of(&session.spec);
        let key = serde_json::to_string(&axes).unwrap_or_default();
        let key = (session.spec.game.clone(), key);
        let setting = self.settings.entry(key).or_insert_with(|| Setting {
            axes,
            ..Setting::default()
        });
        setting.sessions += 1;
        if setting.listed.len() < MOST_LISTED {
            let id = session.session.clone();
            setting
                .listed
                .push([id, session.players(), came_to(session)]);
        }
    }

    /// The list, each setting folded.
    pub fn html(&self) -> String {
        let settings = self.settings.iter().take(MOST_SETTINGS);
        let parts = settings.map(|((game, key), setting)| {
            let headings = ["session", "players", "came to"].map(Column::key);
            let mut table = TextTable::new(headings.to_vec());
            for row in &setting.listed {
                table.row(row.clone());
            }
            let axes = self.names.join(setting.axes.iter());
            let axes = match axes.is_empty() {
                true => String::new(),
                false => format!(" [{axes}]"),
            };
            let summary = format!("{game}{axes}: {}", counted(setting.sessions, "session"));
            let more = setting.sessions.saturating_sub(setting.listed.len() as u64);
            let more = (more > 0).then(|| format!("<p>{} more</p>", counted(more, "session")));
            let html = table.fitted(Layout::Html) + &more.unwrap_or_default();
            folded(&summary, &anchor(game, key), &html)
        });
        let how = "Points of figures lead here, to the sessions of their setting. `agon show SESSION` \
                   shows one move by move; `--results DIR` says where its records are if they are not in \
                   the data folder.";
        let left_out = self.settings.len().saturating_sub(MOST_SETTINGS);
        let left_out = (left_out > 0)
            .then(|| format!("<p>{} not listed</p>", counted(left_out as u64, "setting")));
        let parts = std::iter::once(format!("<p>{}</p>", Layout::Html.escaped(how))).chain(parts);
        parts.chain(left_out).collect::<Vec<_>>().join("\n")
    }
}

/// Scores, or else what players were paid.
fn came_to(session: &Session) -> String {
    let scores = session.scores();
    if !scores.is_empty() {
        let scores = scores.into_iter();
        let scores = scores.map(|(scheme, score)| format!("{scheme} {}", number(Some(score), 2)));
        return scores.collect::<Vec<_>>().join(", ");
    }
    let paid = session.paid().into_iter();
    let paid = paid.map(|paid| format!("{} {}", paid.player, number(paid.payoff, 2)));
    paid.collect::<Vec<_>>().join(", ")
}
