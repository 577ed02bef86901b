//! Money as people and programs read it. Sums are whole nano-dollars until they are shown; nothing
//! is computed with what is shown. Called by tables, exports and the command line.

use crate::session::Usage;
use crate::table::{NONE, rounded};

const NANODOLLARS_PER_DOLLAR: u64 = 1_000_000_000;

/// What several sessions cost, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KnownCost {
    /// `None` when nothing is known.
    nanodollars: Option<u64>,
    /// Whether decisions of unknown price come on top.
    is_least: bool,
}

impl KnownCost {
    /// Takes in a session; simulated models have no price, and where nothing was paid beside them
    /// there is nothing to show.
    pub fn add(&mut self, usage: &Usage, is_simulated: bool) {
        let cost = usage.known_cost();
        if let Some(cost) = cost.filter(|cost| *cost > 0 || !is_simulated) {
            let before = self.nanodollars.unwrap_or_default();
            self.nanodollars = Some(before.saturating_add(cost));
        }
        self.is_least |= usage.unpriced_decisions > 0;
    }

    /// As a cell shows it: `$0.0014`, or `≥ $0.0014` where something has no known price.
    pub fn in_words(&self) -> String {
        match self.nanodollars {
            None => NONE.to_owned(),
            Some(cost) if self.is_least => format!("\u{2265} {}", dollars(cost)),
            Some(cost) => dollars(cost),
        }
    }
}

/// Money for people: `$1,234.50`, and more digits only where cents say little (`$0.0123`,
/// `$0.000012`).
pub fn dollars(nanodollars: u64) -> String {
    let dollars = nanodollars as f64 / NANODOLLARS_PER_DOLLAR as f64;
    match nanodollars {
        0 | NANODOLLARS_PER_DOLLAR.. => format!("${}", rounded(dollars, 2)),
        1_000_000.. => format!("${dollars:.4}"),
        1_000.. => format!("${dollars:.6}"),
        _ => format!("${dollars:.9}"),
    }
}

/// Money for programs: dollars with all nine decimals and no sign.
pub fn exact_dollars(nanodollars: u64) -> String {
    let (whole, rest) = (
        nanodollars / NANODOLLARS_PER_DOLLAR,
        nanodollars % NANODOLLARS_PER_DOLLAR,
    );
    format!("{whole}.{rest:09}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_without_all_prices_is_a_least_one() {
        let usage = |cost_nanodollars, unpriced_decisions| Usage {
            cost_nanodollars,
            unpriced_decisions,
            ..Usage::default()
        };
        let shown = |sessions: &[(Usage, bool)]| {
            let mut cost = KnownCost::default();
            for (usage, is_simulated) in sessions {
                cost.add(usage, *is_simulated);
            }
            cost.in_words()
        };
        let priced = (usage(Some(1_400_000), 0), false);
        let nothing_known = (usage(Some(0), 12), false);
        assert_eq!(shown(&[]), "-");
        assert_eq!(shown(&[priced, priced]), "$0.0028");
        assert_eq!(shown(&[nothing_known]), "-");
        assert_eq!(shown(&[priced, nothing_known]), "\u{2265} $0.0014");
        let some = (usage(Some(1_400_000), 3), false);
        assert_eq!(shown(&[some, priced]), "\u{2265} $0.0028");
        let simulated = (usage(Some(0), 0), true);
        assert_eq!(shown(&[simulated]), "-");
        assert_eq!(shown(&[priced, simulated]), "$0.0014");
        let beside_a_real_one = (usage(Some(0), 3), true);
        assert_eq!(shown(&[priced, beside_a_real_one]), "\u{2265} $0.0014");
    }

    #[test]
    fn small_amounts_keep_their_first_digits() {
        let amounts = [0, 1, 1_230, 12_300_000, 999_000_000, 12_340_000_000];
        let shown = amounts.map(dollars);
        let expected = [
            "$0.00",
            "$0.000000001",
            "$0.000001",
            "$0.0123",
            "$0.9990",
            "$12.34",
        ];
        assert_eq!(shown, expected);
        assert_eq!(dollars(1_234_560_000_000), "$1,234.56");
        assert_eq!(exact_dollars(1_000_000_001), "1.000000001");
    }
}
