//! The game that a cell names: one of this program, or one that is played elsewhere and that the
//! document describes.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::LazyLock;

use agon_engine::names::{among, meant};
use agon_engine::registry::{self, Built, Registration};
use agon_engine::spec::Settings;
use serde_json::Value;

use super::Checking;
use crate::experiment::path::TreePath;
use crate::experiment::values::kind_of;

/// Every game as it is without parameters; a grid has many cells and few games.
static DEFAULTS: LazyLock<BTreeMap<&str, Built>> = LazyLock::new(|| {
    let built = registry::GAMES.iter().filter_map(|game| {
        let built = game.build(&Settings::new()).ok()?;
        Some((&*game.info.name, built))
    });
    built.collect()
});

/// A game that a cell names.
pub(super) enum Found {
    BuiltIn(&'static Registration),
    Outside(Box<Registration>),
}

impl Deref for Found {
    type Target = Registration;

    fn deref(&self) -> &Registration {
        match self {
            Self::BuiltIn(registration) => registration,
            Self::Outside(registration) => registration,
        }
    }
}

/// A game as it is without parameters.
pub(super) enum Defaults {
    BuiltIn(&'static Built),
    Outside(Built),
}

impl Deref for Defaults {
    type Target = Built;

    fn deref(&self) -> &Built {
        match self {
            Self::BuiltIn(built) => built,
            Self::Outside(built) => built,
        }
    }
}

impl Found {
    /// The game as it is without parameters. Of a sound description the defaults make a game.
    pub(super) fn defaults(&self) -> Option<Defaults> {
        match self {
            Self::BuiltIn(game) => DEFAULTS.get(&*game.info.name).map(Defaults::BuiltIn),
            Self::Outside(game) => game.build(&Settings::new()).ok().map(Defaults::Outside),
        }
    }
}

impl Checking<'_> {
    /// The game of the cell.
    pub(super) fn registration(&mut self, game: Option<&Value>) -> Option<Found> {
        let document = self.document;
        let known = || {
            let built_in = registry::GAMES.iter().map(|game| &*game.info.name);
            built_in.chain(document.outside.keys().map(String::as_str))
        };
        let at = TreePath::root().key("game");
        match game {
            Some(Value::String(name)) => {
                let outside = document.outside.get(name);
                let outside = outside.map(|game| Found::Outside(Box::new(game.registration())));
                let found = outside.or_else(|| registry::find(name).ok().map(Found::BuiltIn));
                if found.is_none() {
                    let mut message = format!("no game \"{name}\"{}", among(name, known()));
                    if meant(name, known()).is_none() {
                        message += &format!(
                            ". If it is played elsewhere, say where with --game-at {name}=URL"
                        );
                    }
                    self.fault(&at, message);
                }
                found
            }
            Some(other) => {
                self.fault(
                    &at,
                    format!("must be the name of a game, not {}", kind_of(other)),
                );
                None
            }
            None => {
                self.fault(&at, format!("needs a game{}", among("", known())));
                None
            }
        }
    }
}
