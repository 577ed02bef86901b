//! Teams: who pays, with which share and how much at most. Called by
//! `config.rs`; read by fairness and budgets.

use agon_service_kit::team_name::TeamName;

use super::ConfigError;
use super::sections::TeamSection;
use crate::money::NanoDollars;

/// What is said to a configuration that holds tokens.
const MOVED: &str = "tokens stand in the file that --identity names, or are made with \
                     `agon token create`: move them there";

/// A team, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// Its name, as workers and tokens tell it.
    pub name: String,
    /// Share of contended quota, relative to other teams.
    pub weight: f64,
    /// The most it may spend in all.
    pub budget: Option<NanoDollars>,
}

impl Team {
    /// A team that nobody configured.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            weight: 1.0,
            budget: None,
        }
    }

    pub(super) fn check(name: &str, section: TeamSection) -> Result<Self, ConfigError> {
        let wrong = |reason: String| ConfigError::Team {
            team: name.to_owned(),
            reason,
        };
        TeamName::read(name.to_owned()).map_err(|error| wrong(error.to_string()))?;
        let weight = section.weight.unwrap_or(1.0);
        if !(0.001..=1_000.0).contains(&weight) {
            return Err(wrong(format!(
                "weight must be from 0.001 to 1000, not {weight}"
            )));
        }
        let budget = section.budget_dollars.map(|dollars| dollars.parse());
        if section.tokens.is_some() {
            return Err(wrong(MOVED.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            weight,
            budget: budget
                .transpose()
                .map_err(|error: crate::money::MoneyError| wrong(error.to_string()))?,
        })
    }
}
