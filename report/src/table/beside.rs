//! What is known of a row beside its cells: the sessions that it rests on, and its number as a bar. Only
//! pages show it.

use crate::blocks::Bar;
use crate::selection::Selection;
use crate::statistics::Interval;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    /// The sessions that the row rests on.
    pub sessions: Option<Selection>,
    /// Its first number.
    pub bar: Option<Bar>,
}

impl Beside {
    /// Of these sessions.
    pub fn of(sessions: Selection) -> Self {
        Self {
            sessions: Some(sessions),
            bar: None,
        }
    }

    /// With a number and its interval.
    #[must_use]
    pub fn bar(mut self, value: Option<f64>, interval: Option<Interval>) -> Self {
        let value = value.filter(|value| value.is_finite());
        let interval = interval.map(|interval| [interval.low, interval.high]);
        let interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
        self.bar = value.map(|value| Bar { value, interval });
        self
    }
}
