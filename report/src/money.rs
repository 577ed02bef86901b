//! Money as people and programs read it. Sums are whole nano-dollars until they are shown; nothing
//! is computed with what is shown. Called by tables, exports and the command line.

use crate::table::rounded;

const NANODOLLARS_PER_DOLLAR: u64 = 1_000_000_000;

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
