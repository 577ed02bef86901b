//! The rule players that every game has: uniform random and fixed answers.
//! Also the reading of strategy settings, shared by all rule players.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Form};
use crate::chance::Generator;
use crate::game::GameInfo;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::view::View;

/// Entry of [`Random`] for a game's list.
pub const RANDOM: StrategyInfo = StrategyInfo {
    name: "random",
    summary: "every legal answer with the same probability",
};

/// Entry of [`Specified`] for a game's list.
pub const SPECIFIED: StrategyInfo = StrategyInfo {
    name: "specified",
    summary: "fixed answers, repeated in turn: answers = [..]",
};

/// Draws uniformly from the form of each ask.
pub struct Random;

/// Width of the range that stands in for an open end of an integer form.
const OPEN_RANGE: i64 = 100;

impl Rule for Random {
    fn act(&mut self, ask: &Ask, _view: &View<'_>, luck: &mut Generator) -> Action {
        match &ask.form {
            Form::Integer { min, max, pass } => {
                let low =
                    min.unwrap_or_else(|| max.map_or(0, |max| max.saturating_sub(OPEN_RANGE)));
                let high = max.unwrap_or_else(|| low.saturating_add(OPEN_RANGE));
                // A seat that may pass does so half of the time: ranges of
                // amounts are wide and would drown the pass otherwise.
                if pass.is_some() && (luck.below(2) == 0 || low > high) {
                    return Action::Pass;
                }
                Action::Integer(luck.between(low, high))
            }
            Form::Amount { min, max } => {
                let high = max.unwrap_or_else(|| min.saturating_add(OPEN_RANGE));
                Action::Integer(luck.between(*min, high))
            }
            Form::Number { min, max } => Action::Number(min + luck.unit() * (max - min)),
            Form::Choice { options } => {
                let option = options[luck.below(options.len() as u64) as usize];
                Action::Choice(option.into())
            }
            Form::Target { seats, pass } => {
                let count = seats.len() + usize::from(pass.is_some());
                let place = luck.below(count as u64) as usize;
                seats
                    .get(place)
                    .map_or(Action::Pass, |seat| Action::Target(*seat))
            }
            Form::Division { parts, total } => {
                Action::Division(random_division(*parts, *total, luck))
            }
        }
    }
}

/// Gives one answer for ever.
pub struct Always(pub Action);

impl Rule for Always {
    fn act(&mut self, _ask: &Ask, _view: &View<'_>, _luck: &mut Generator) -> Action {
        self.0.clone()
    }
}

/// Cuts `0..=total` at random places: every division is possible.
fn random_division(parts: usize, total: i64, luck: &mut Generator) -> Vec<i64> {
    let mut cuts: Vec<i64> = (1..parts).map(|_| luck.between(0, total)).collect();
    cuts.sort_unstable();
    cuts.push(total);
    let mut previous = 0;
    let mut amounts = Vec::with_capacity(parts);
    for cut in cuts {
        amounts.push(cut - previous);
        previous = cut;
    }
    amounts
}

/// Says fixed answers one after another and starts again at the end.
pub struct Specified {
    answers: Vec<Value>,
    next: usize,
}

/// Settings of [`Specified`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecifiedSettings {
    answers: Vec<Value>,
}

impl Specified {
    /// Reads the settings.
    ///
    /// # Errors
    /// `answers` is missing or empty.
    pub fn new(settings: &Map<String, Value>) -> Result<Self, StrategyError> {
        let SpecifiedSettings { answers } = read_settings(SPECIFIED.name, settings)?;
        if answers.is_empty() {
            return Err(StrategyError::Settings {
                name: SPECIFIED.name.to_owned(),
                message: "answers must hold at least one answer".to_owned(),
            });
        }
        Ok(Self { answers, next: 0 })
    }
}

impl Rule for Specified {
    fn act(&mut self, ask: &Ask, _view: &View<'_>, _luck: &mut Generator) -> Action {
        let answer = &self.answers[self.next % self.answers.len()];
        self.next += 1;
        // An answer of another type is left to the check, which says so.
        ask.form.read(answer).unwrap_or(Action::Pass)
    }
}

/// The strategies that every game has; `None` for any other name.
pub fn make(
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "random" => plain(strategy, settings, Random),
        "specified" => made(Specified::new(settings)),
        _ => None,
    }
}

/// A rule player that was made, or not, from its settings.
pub fn made<R: Rule + 'static>(
    rule: Result<R, StrategyError>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    Some(rule.map(|rule| Box::new(rule) as _))
}

/// A rule player that takes no settings.
pub fn plain<R: Rule + 'static>(
    strategy: &str,
    settings: &Map<String, Value>,
    rule: R,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    made(no_settings(strategy, settings).map(|()| rule))
}

/// A setting that is a share, refused outside 0 to 1.
///
/// # Errors
/// It is not between 0 and 1.
pub fn check_share(strategy: &str, setting: &str, value: f64) -> Result<(), StrategyError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(StrategyError::Settings {
        name: strategy.to_owned(),
        message: format!("{setting} must be from 0 to 1, not {value}"),
    })
}

/// The setting of a level-k player (Nagel 1995): `k`, 1 unless it is set.
///
/// # Errors
/// As [`read_settings`].
pub fn level(settings: &Map<String, Value>) -> Result<u32, StrategyError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Level {
        #[serde(default = "one")]
        k: u32,
    }
    /// Most people are level 1 or 2.
    fn one() -> u32 {
        1
    }
    read_settings("level_k", settings).map(|Level { k }| k)
}

/// The setting of a bidder that shades: `factor`, a share of what the item is worth to it,
/// 0.9 unless it is set.
///
/// # Errors
/// As [`read_settings`] and [`check_share`].
pub fn shade(settings: &Map<String, Value>) -> Result<f64, StrategyError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shade {
        #[serde(default = "ten_bidders")]
        factor: f64,
    }
    /// What ten bidders shade by in the first-price equilibrium; at second price enough
    /// to lose an item now and then.
    fn ten_bidders() -> f64 {
        0.9
    }
    let Shade { factor } = read_settings("shade", settings)?;
    check_share("shade", "factor", factor)?;
    Ok(factor)
}

/// Reads a strategy's settings into its struct.
///
/// # Errors
/// A setting is unknown, missing or of the wrong type.
pub fn read_settings<T: DeserializeOwned>(
    name: &str,
    settings: &Map<String, Value>,
) -> Result<T, StrategyError> {
    serde_path_to_error::deserialize(Value::Object(settings.clone())).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        let message = if path == "." {
            cause.to_string()
        } else {
            format!("{path}: {cause}")
        };
        StrategyError::Settings {
            name: name.to_owned(),
            message,
        }
    })
}

/// Refuses settings where a strategy takes none.
///
/// # Errors
/// There are settings.
pub fn no_settings(name: &str, settings: &Map<String, Value>) -> Result<(), StrategyError> {
    match settings.keys().next() {
        None => Ok(()),
        Some(key) => Err(StrategyError::Settings {
            name: name.to_owned(),
            message: format!("takes no settings, but \"{key}\" is given"),
        }),
    }
}

/// The error for a name that a game does not know.
pub fn unknown(info: &GameInfo, strategy: &str, strategies: &[StrategyInfo]) -> StrategyError {
    let known: Vec<&str> = strategies.iter().map(|entry| entry.name).collect();
    StrategyError::Unknown {
        name: strategy.to_owned(),
        game: info.name,
        known: known.join(", "),
    }
}
