//! Which sessions `--where` takes, and what there would be when it takes none. Called by
//! `gathering.rs`.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::SessionSpec;
use agon_engine::names::among;
use agon_outlets::InLine as _;
use agon_report::AxisNames;
use agon_report::leaderboard::names_in;
use agon_report::selection::{SeveralAxes, value_of};

use crate::failure::Failure;

/// What `--where` calls somebody who sits in a session.
const PLAYER: &str = "player";

/// What it calls the game.
const GAME: &str = "game";

/// Values of an axis that are named; there may be thousands.
const MOST_VALUES: usize = 20;

/// What a session's setting must be.
pub struct Filter {
    axis: String,
    value: String,
}

impl Filter {
    /// From the command line.
    ///
    /// # Errors
    /// It is no axis with a value.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let (axis, value) = text.split_once('=').ok_or_else(|| {
            Failure::BadInput(format!(
                "--where {}: expected AXIS=VALUE, as temperature=0.2 or variant=",
                text.in_line()
            ))
        })?;
        Ok(Self {
            axis: axis.to_owned(),
            value: value.to_owned(),
        })
    }

    /// Whether a session is one of those.
    ///
    /// # Errors
    /// Several of its axes may be meant.
    fn fits(&self, spec: &SessionSpec) -> Result<bool, SeveralAxes> {
        if self.axis == PLAYER && names_in(&spec.seats).contains(&self.value) {
            return Ok(true);
        }
        Ok(is_same(&value_of(spec, &self.axis)?, &self.value))
    }

    fn refusal(&self, several: &SeveralAxes) -> Failure {
        let values = several.names.iter();
        let values = values.map(|name| format!("--where {}", name.in_line()));
        let values: Vec<String> = values
            .map(|axis| format!("{axis}={}", self.value.in_line()))
            .collect();
        Failure::BadInput(format!(
            "--where {}={}: {several}; type {}",
            self.axis.in_line(),
            self.value.in_line(),
            values.join(" or ")
        ))
    }
}

/// Whether a session fits all filters.
///
/// # Errors
/// It fits all others, and of one nobody can tell.
pub fn fits_all(filters: &[Filter], spec: &SessionSpec) -> Result<bool, Failure> {
    let mut refusal = None;
    for filter in filters {
        match filter.fits(spec) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(several) => refusal = Some(filter.refusal(&several)),
        }
    }
    refusal.map_or(Ok(true), Err)
}

/// Numbers may be written in several ways.
fn is_same(value: &str, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    value == wanted || number(value).is_some_and(|value| number(wanted) == Some(value))
}

/// What the sessions have that were left out.
#[derive(Default)]
pub struct LeftOut {
    names: AxisNames,
    values: BTreeMap<String, BTreeSet<String>>,
    /// Filters that one of them fits, by place.
    fitted: BTreeSet<usize>,
}

impl LeftOut {
    /// Takes in a session.
    pub fn add(&mut self, filters: &[Filter], spec: &SessionSpec) {
        self.names.add(spec);
        let mut add = |axis: &str, value: String| {
            let values = self.values.entry(axis.to_owned()).or_default();
            // One more says that there are more.
            if values.len() <= MOST_VALUES {
                values.insert(value);
            }
        };
        for axis in spec.setting.keys().filter(|axis| *axis != GAME) {
            add(axis, value_of(spec, axis).unwrap_or_default());
        }
        add(GAME, spec.game.clone());
        for player in names_in(&spec.seats) {
            add(PLAYER, player);
        }
        let fitting = filters.iter().enumerate();
        let fitting = fitting.filter(|(_, filter)| filter.fits(spec).unwrap_or(false));
        self.fitted.extend(fitting.map(|(place, _)| place));
    }

    /// Why no session fits: which filter is fitted by none, and what there is instead.
    pub fn why(&self, filters: &[Filter]) -> String {
        let mut unfitted = filters.iter().enumerate();
        let unfitted = unfitted.find(|(place, _)| !self.fitted.contains(place));
        let Some((_, Filter { axis, value })) = unfitted else {
            return "each of them fits some, but none fits all".to_owned();
        };
        let suffix = format!(".{axis}");
        let mut values = self.values.iter();
        let found = values.find(|(name, _)| *name == axis || name.ends_with(&suffix));
        let (axis, value) = (axis.in_line(), value.in_line());
        match found {
            None => {
                let names = self.values.keys().map(|name| self.names.name(name));
                let names: Vec<&str> = names.collect();
                format!("no axis \"{axis}\"{}", among(&axis.to_string(), names))
            }
            Some((_, values)) => {
                let shown: Vec<String> = values
                    .iter()
                    .take(MOST_VALUES)
                    .map(|value| value.in_line().to_string())
                    .collect();
                let more = if values.len() > MOST_VALUES {
                    ", ..."
                } else {
                    ""
                };
                format!(
                    "{axis} is never \"{value}\"; its values are {}{more}",
                    shown.join(", ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers_and_words_as_words() {
        for (value, wanted) in [
            ("0.5", "0.50"),
            ("1e3", "1000"),
            ("-2", "-2.0"),
            ("m", "m"),
            ("", ""),
        ] {
            assert!(is_same(value, wanted), "{value} {wanted}");
        }
        for (value, wanted) in [
            ("0.5", "0.51"),
            ("m", "M"),
            ("", "0"),
            ("0.5", ""),
            ("true", "1"),
        ] {
            assert!(!is_same(value, wanted), "{value} {wanted}");
        }
    }
}
