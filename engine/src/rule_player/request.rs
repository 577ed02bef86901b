//! A request for a rule player: which strategy, with which settings, at which seat. Reads
//! the settings and says what is wrong with them. Handed to whatever makes the player.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;

use super::{Made, RulePlayer, StrategyError, StrategySettings};
use crate::ask::Seat;

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Name of the strategy.
    pub strategy: &'a str,
    /// Its settings.
    pub settings: &'a StrategySettings,
    /// Where the player will sit.
    pub seat: Seat,
}

impl Request<'_> {
    /// The player of a strategy that takes no settings.
    ///
    /// # Errors
    /// There are settings.
    pub fn plain(self, player: impl RulePlayer + 'static) -> Made {
        match self.settings.keys().next() {
            None => self.made(player),
            Some(key) => Err(self.wrong(format!("takes no settings, but \"{key}\" is given"))),
        }
    }

    /// The player of a strategy whose settings were read.
    ///
    /// # Errors
    /// Never; made so that it can end what makes a player.
    pub fn made(self, player: impl RulePlayer + 'static) -> Made {
        Ok(Box::new(player))
    }

    /// Refuses settings that the strategy does not take.
    ///
    /// # Errors
    /// There is one.
    pub fn takes(&self, names: &[&str]) -> Result<(), StrategyError> {
        let known = |key: &str| names.contains(&key);
        let Some(other) = self.settings.keys().find(|key| !known(key)) else {
            return Ok(());
        };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let expected = names.join(" or ");
        Err(self.wrong(format!(
            "{other}: unknown field `{other}`, expected {expected}"
        )))
    }

    /// A setting, or its default.
    ///
    /// # Errors
    /// It is of the wrong type.
    pub fn get<T: DeserializeOwned>(&self, name: &str, default: T) -> Result<T, StrategyError> {
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
        name: &str,
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

    /// As [`Self::get`], for a strategy that takes this setting alone.
    ///
    /// # Errors
    /// As [`Self::get`] and [`Self::takes`].
    pub fn only<T: DeserializeOwned>(&self, name: &str, default: T) -> Result<T, StrategyError> {
        self.takes(&[name])?;
        self.get(name, default)
    }

    /// As [`Self::get_within`], for a strategy that takes this setting alone.
    ///
    /// # Errors
    /// As [`Self::get_within`] and [`Self::takes`].
    pub fn only_within<T>(
        &self,
        name: &str,
        default: T,
        range: RangeInclusive<T>,
    ) -> Result<T, StrategyError>
    where
        T: DeserializeOwned + PartialOrd + Display,
    {
        self.takes(&[name])?;
        self.get_within(name, default, range)
    }

    /// An error about the settings.
    pub fn wrong(&self, message: impl Into<String>) -> StrategyError {
        StrategyError::Settings {
            name: self.strategy.to_owned(),
            message: message.into(),
        }
    }
}
