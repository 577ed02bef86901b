//! Whole numbers as they are typed: refused with what is allowed, also where a minus sign makes them
//! look like an option. Called by the arguments of commands.

/// Reads a whole number from `least` to `most`; an option that takes it allows negative numbers, so
/// that they are refused here.
pub fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: Copy + std::fmt::Display + std::str::FromStr + PartialOrd,
{
    move |text| {
        let number: Option<T> = text.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_such_number_is_refused_with_what_is_allowed() {
        let read = whole(1_u32, 10);
        assert_eq!((read("1"), read("10")), (Ok(1), Ok(10)));
        for wrong in ["0", "11", "-3", "five", "1.5", "", "99999999999"] {
            let told = "must be a whole number from 1 to 10".to_owned();
            assert_eq!(read(wrong), Err(told), "{wrong}");
        }
    }
}
