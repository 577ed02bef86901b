//! A request for a rule player: which strategy, with which settings, at which seat. Reads
//! the settings and says what is wrong with them. Handed to whatever makes the player.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;

use super::{Made, RulePlayer, StrategyError, StrategySettings};
use crate::ask::{Action, Ask, Seat};
use crate::chance::Generator;
use crate::view::View;

/// What is asked for.
pub struct Request<'a> {
    /// Name of the strategy.
    pub strategy: &'a str,
    /// Where the player will sit.
    pub seat: Seat,
    settings: &'a StrategySettings,
    /// The settings that were looked for.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Request<'a> {
    /// A strategy by its name, with its settings, at a seat.
    pub const fn new(strategy: &'a str, settings: &'a StrategySettings, seat: Seat) -> Self {
        Self {
            strategy,
            seat,
            settings,
            known: RefCell::new(Vec::new()),
        }
    }

    /// The player of a strategy whose settings were read.
    ///
    /// # Errors
    /// There are settings that the strategy does not take.
    pub fn made(&self, player: impl RulePlayer + 'static) -> Made {
        let known = self.known.borrow();
        let Some(other) = self
            .settings
            .keys()
            .find(|key| !known.contains(&key.as_str()))
        else {
            return Ok(Box::new(player));
        };
        if known.is_empty() {
            return Err(self.wrong(format!("takes no settings, but \"{other}\" is given")));
        }
        let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let expected = names.join(" or ");
        Err(self.wrong(format!(
            "{other}: unknown field `{other}`, expected {expected}"
        )))
    }

    /// As [`Self::made`], for a player that is one function.
    ///
    /// # Errors
    /// As [`Self::made`].
    pub fn plays<F>(&self, act: F) -> Made
    where
        F: FnMut(&Ask, &View<'_>, &mut Generator) -> Action + Send + Sync + 'static,
    {
        self.made(Function(act))
    }

    /// A setting, or its default.
    ///
    /// # Errors
    /// It is of the wrong type.
    pub fn get<T: DeserializeOwned>(
        &self,
        name: &'static str,
        default: T,
    ) -> Result<T, StrategyError> {
        self.known.borrow_mut().push(name);
        let read = self.settings.get(name).map(T::deserialize);
        let read = read.unwrap_or(Ok(default));
        read.map_err(|error| self.wrong(format!("{name}: {error}")))
    }

    /// A setting in a range, or its default.
    ///
    /// # Errors
    /// It is of the wrong type, or outside of the range.
    pub fn get_within<T>(
        &self,
        name: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> Result<T, StrategyError>
    where
        T: DeserializeOwned + PartialOrd + Display,
    {
        let value = self.get(name, default)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (low, high) = (range.start(), range.end());
        Err(self.wrong(format!("{name} must be from {low} to {high}, not {value}")))
    }

    /// An error about the settings.
    pub fn wrong(&self, message: impl Into<String>) -> StrategyError {
        StrategyError::Settings {
            name: self.strategy.to_owned(),
            message: message.into(),
        }
    }
}

/// A rule player that is one function.
struct Function<F>(F);

impl<F> RulePlayer for Function<F>
where
    F: FnMut(&Ask, &View<'_>, &mut Generator) -> Action + Send + Sync,
{
    fn act(&mut self, ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action {
        (self.0)(ask, view, luck)
    }
}
