//! Where the points of a figure lead: to a list on the same page, or to the sessions that they rest on.
//! Called where marks are made.

use super::gathering::{ALL_PLAYERS, Gathered, Key, OfSetting, Place, PlotData, SIMULATED};
use super::spec::By;
use crate::page::anchor;
use crate::selection::Selection;

/// Where points of a figure lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Nowhere.
    None,
    /// To the list of sessions of the same page.
    Anchors,
    /// To the sessions that they rest on, as JSON of a [`Selection`].
    Selections,
}

impl PlotData {
    /// Where points lead to.
    pub(super) fn links(&self) -> Links {
        match self.is_linked {
            true => Links::Anchors,
            false => Links::None,
        }
    }

    /// What leads to the sessions of a place; `None` where nothing does.
    pub(super) fn link_of(
        &self,
        links: Links,
        place: &Place,
        gathered: &Gathered,
    ) -> Option<String> {
        let setting = match gathered.setting {
            OfSetting::One(setting) => self.settings.get(setting),
            _ => None,
        };
        match links {
            Links::None => None,
            Links::Anchors => {
                let (game, axes) = setting?;
                let key = serde_json::to_string(axes).unwrap_or_default();
                Some(format!("#{}", anchor(game, &key)))
            }
            Links::Selections => {
                let mut sessions = match setting {
                    Some((game, axes)) => Selection::of_game(game).setting(axes),
                    None => self.game_of(place).unwrap_or_default(),
                };
                if let Some(player) = self.player_of(place) {
                    sessions = match player.strip_suffix(SIMULATED) {
                        Some(player) => sessions.player(player).simulated(true),
                        None => sessions.player(&player).simulated(false),
                    };
                }
                serde_json::to_string(&sessions).ok()
            }
        }
    }

    /// The game of a place that has sessions of several settings.
    fn game_of(&self, place: &Place) -> Option<Selection> {
        let game = match self.key_by(place, By::Game) {
            Some(key) => self.words_of(key),
            None => {
                let (first, _) = self.settings.first()?;
                let is_one = self.settings.iter().all(|(game, _)| game == first);
                is_one.then(|| first.clone())?
            }
        };
        Some(Selection::of_game(&game))
    }

    /// The player of a place; `None` where it has several.
    fn player_of(&self, place: &Place) -> Option<String> {
        let player = self.words_of(self.key_by(place, By::Player)?);
        let name = player.strip_suffix(SIMULATED).unwrap_or(&player);
        (name != ALL_PLAYERS).then_some(player)
    }

    fn key_by<'a>(&self, place: &'a Place, by: By) -> Option<&'a Key> {
        let panel = self.plot.panels.get(place.panel)?;
        let keys = [
            (panel.split, &place.split),
            (panel.series, &place.series),
            (panel.x, &place.x),
        ];
        let key = keys.into_iter().find(|(own, _)| *own == by)?.1;
        Some(match key {
            Key::Simulated(of) => of,
            key => key,
        })
    }
}
