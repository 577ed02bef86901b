//! Dollars as an experiment file writes them: decimal text, read exactly into nano-dollars. Knows
//! no prices and spends nothing: budgets are kept by the gateway. Called when a document is read.

const NANODOLLARS_PER_DOLLAR: u64 = 1_000_000_000;

/// Digits after the point that a nano-dollar takes.
const MOST_DECIMALS: usize = 9;

/// Nano-dollars of `"25"` or `"0.23"`; `None` for anything else, and beyond eighteen billion
/// dollars.
pub fn nanodollars(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(rest) || rest.len() > MOST_DECIMALS {
        return None;
    }
    let rest: u64 = format!("{rest:0<MOST_DECIMALS$}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(NANODOLLARS_PER_DOLLAR)
        .and_then(|nano| nano.checked_add(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_exactly_or_not_at_all() {
        assert_eq!(nanodollars("25.00"), Some(25_000_000_000));
        assert_eq!(nanodollars("0.000000001"), Some(1));
        assert_eq!(nanodollars("12"), Some(12_000_000_000));
        for wrong in [
            "",
            ".5",
            "1.",
            "-1",
            "1e3",
            "$1",
            "0.0000000001",
            "99999999999999999999",
        ] {
            assert_eq!(nanodollars(wrong), None, "{wrong}");
        }
    }
}
