//! Arithmetic with the same result on every platform, in place of the methods whose
//! result std leaves open: powers, and the smaller or larger of two numbers, where std
//! may return either of two zeros. `clippy.toml` bans those methods in this crate;
//! logarithms and the like come from `libm`.

use std::cmp::Ordering;

/// A number times itself.
pub(crate) fn square(number: f64) -> f64 {
    number * number
}

/// A number to a whole power, by repeated squaring; 1 for the power 0.
pub(crate) fn power(number: f64, exponent: u32) -> f64 {
    let (mut result, mut factor, mut left) = (1.0, number, exponent);
    loop {
        if left % 2 == 1 {
            result *= factor;
        }
        left /= 2;
        if left == 0 {
            return result;
        }
        factor *= factor;
    }
}

/// The larger of two numbers, neither of them NaN; -0 is below 0.
pub(crate) fn larger(one: f64, other: f64) -> f64 {
    match one.total_cmp(&other) {
        Ordering::Less => other,
        Ordering::Equal | Ordering::Greater => one,
    }
}

/// The smaller of two numbers, neither of them NaN; -0 is below 0.
pub(crate) fn smaller(one: f64, other: f64) -> f64 {
    match one.total_cmp(&other) {
        Ordering::Greater => other,
        Ordering::Equal | Ordering::Less => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_products() {
        for (exponent, expected) in [(0, 1.0), (1, 1.5), (2, 2.25), (3, 3.375), (4, 5.0625)] {
            assert_eq!(power(1.5, exponent), expected, "{exponent}");
        }
        assert_eq!(power(0.0, 0), 1.0);
        assert_eq!(power(0.5, u32::MAX), 0.0);
        assert_eq!(square(-1.5), 2.25);
    }

    #[test]
    fn of_two_zeros_the_sign_decides_in_any_order() {
        for (one, other) in [(0.0_f64, -0.0_f64), (-0.0, 0.0)] {
            assert!(larger(one, other).is_sign_positive());
            assert!(smaller(one, other).is_sign_negative());
        }
        assert_eq!(larger(1.0, 2.0), 2.0);
        assert_eq!(smaller(1.0, 2.0), 1.0);
        assert_eq!(larger(f64::NEG_INFINITY, -1.0), -1.0);
    }
}
