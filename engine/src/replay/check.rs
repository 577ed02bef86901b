//! Compares recorded values with computed ones and words the differences.
//! Whole numbers must be equal; where either side is real, they may differ by
//! [`TOLERANCE`]. Used by every family of recorded games.

use crate::event::Value;

/// Largest difference between a recorded and a computed real number.
const TOLERANCE: f64 = 1e-6;

/// Collects differences, each with the place that was set last.
#[derive(Default)]
pub(super) struct Check {
    place: String,
    mismatches: Vec<String>,
}

impl Check {
    /// Says where the next comparisons are ("round 3"); empty for the game as a
    /// whole.
    pub(super) fn at(&mut self, place: impl Into<String>) {
        self.place = place.into();
    }

    /// Compares one value; lists entry by entry. `computed` is `None` when our
    /// game has no such value.
    pub(super) fn same(
        &mut self,
        what: &str,
        recorded: impl Into<Value>,
        computed: Option<impl Into<Value>>,
    ) {
        let recorded = recorded.into();
        match computed {
            Some(computed) => self.compare(what, &recorded, &computed.into()),
            None => self.fault(format!(
                "{what}: recorded {}, computed nothing",
                text(&recorded)
            )),
        }
    }

    /// Notes a difference that is not between two values.
    pub(super) fn fault(&mut self, message: impl std::fmt::Display) {
        let line = if self.place.is_empty() {
            message.to_string()
        } else {
            format!("{}: {message}", self.place)
        };
        self.mismatches.push(line);
    }

    /// Everything that was noted.
    pub(super) fn finish(self) -> Vec<String> {
        self.mismatches
    }

    fn compare(&mut self, what: &str, recorded: &Value, computed: &Value) {
        let lists = is_list(recorded) && is_list(computed);
        if lists && recorded.len() == computed.len() {
            for place in 0..recorded.len() {
                let name = format!("{what}[{place}]");
                self.compare(&name, &recorded.entry(place), &computed.entry(place));
            }
        } else if lists || !equal(recorded, computed) {
            let (recorded, computed) = (text(recorded), text(computed));
            self.fault(format!("{what}: recorded {recorded}, computed {computed}"));
        }
    }
}

fn is_list(value: &Value) -> bool {
    matches!(
        value,
        Value::Integers(_) | Value::Numbers(_) | Value::List(_)
    )
}

fn equal(recorded: &Value, computed: &Value) -> bool {
    match (recorded, computed) {
        (Value::Integer(recorded), Value::Integer(computed)) => recorded == computed,
        _ => match (recorded.number(), computed.number()) {
            (Some(recorded), Some(computed)) => (recorded - computed).abs() <= TOLERANCE,
            _ => recorded == computed,
        },
    }
}

fn text(value: &Value) -> String {
    // Plain data; only a number that is not finite cannot be written.
    serde_json::to_string(value).unwrap_or_else(|_| format!("{value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatches(recorded: impl Into<Value>, computed: impl Into<Value>) -> Vec<String> {
        let mut check = Check::default();
        check.at("round 2");
        check.same("price", recorded, Some(computed));
        check.finish()
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_real_one() {
        assert!(mismatches(13_i64, 13.0).is_empty());
        assert!(mismatches(vec![1_i64, 2], vec![1.0, 2.000_000_5]).is_empty());
    }

    #[test]
    fn whole_numbers_are_compared_exactly() {
        assert_eq!(
            mismatches(7_i64, 8_i64),
            ["round 2: price: recorded 7, computed 8"]
        );
        let large = 9_007_199_254_740_993_i64;
        assert_eq!(mismatches(large, large - 1).len(), 1);
    }

    #[test]
    fn a_difference_in_a_list_names_the_entry() {
        let found = mismatches(vec![1_i64, 2, 3], vec![1_i64, 5, 3]);
        assert_eq!(found, ["round 2: price[1]: recorded 2, computed 5"]);
        let found = mismatches(vec![1_i64, 2], vec![1_i64]);
        assert_eq!(found, ["round 2: price: recorded [1,2], computed [1]"]);
    }

    #[test]
    fn a_number_that_is_not_finite_never_matches() {
        assert_eq!(mismatches(1.0, f64::NAN).len(), 1);
        assert_eq!(mismatches(f64::INFINITY, f64::INFINITY).len(), 1);
    }

    #[test]
    fn a_missing_value_is_a_difference() {
        let mut check = Check::default();
        check.same("S", 1.5, None::<f64>);
        assert_eq!(check.finish(), ["S: recorded 1.5, computed nothing"]);
    }
}
