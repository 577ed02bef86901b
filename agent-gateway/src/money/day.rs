//! A calendar day in UTC, by which prices and costs are dated. Refuses texts that
//! are no day. Called by the price table and by everything that keeps costs.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer};

const SECONDS_PER_DAY: u64 = 86_400;

/// Days from 0000-03-01 to 1970-01-01. Years that begin in March have their
/// leap day at the end, which makes the arithmetic below a matter of divisions
/// (Howard Hinnant, "chrono-compatible low-level date algorithms").
const DAYS_BEFORE_1970: u64 = 719_468;
const DAYS_PER_ERA: u64 = 146_097;

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// The day it is now, on this machine's clock.
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self::at(since.unwrap_or_default())
    }

    /// The day at this time since 1970.
    pub fn at(since_1970: Duration) -> Self {
        Self(u32::try_from(since_1970.as_secs() / SECONDS_PER_DAY).unwrap_or(u32::MAX))
    }

    fn of(year: u64, month: u64, day: u64) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let longest = match month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if day == 0 || day > longest {
            return None;
        }
        let year = if month > 2 {
            year
        } else {
            year.checked_sub(1)?
        };
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (era * DAYS_PER_ERA + day_of_era).checked_sub(DAYS_BEFORE_1970)?;
        Some(Self(u32::try_from(days).ok()?))
    }

    fn parts(self) -> (u64, u64, u64) {
        let days = u64::from(self.0) + DAYS_BEFORE_1970;
        let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
        let leaps = day_of_era / 1_460 + day_of_era / 146_096 - day_of_era / 36_524;
        let year_of_era = (day_of_era - leaps) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        (year, month, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A text that is no day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a day, write \"2026-11-21\"")]
pub struct DayError {
    text: String,
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let read = || {
            let mut parts = text.split('-');
            let mut part = |digits: usize| {
                let part = parts.next()?;
                let fits = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
                fits.then(|| part.parse().ok()).flatten()
            };
            let (year, month, day) = (part(4)?, part(2)?, part(2)?);
            parts.next().is_none().then_some((year, month, day))
        };
        read()
            .and_then(|(year, month, day)| Self::of(year, month, day))
            .ok_or_else(|| DayError {
                text: text.to_owned(),
            })
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_thousand_years_is_read_as_it_is_written() {
        for number in 0..365_243 {
            let day = Day(number);
            assert_eq!(day.to_string().parse(), Ok(day), "{day}");
        }
        assert_eq!(Day(0).to_string(), "1970-01-01");
        assert_eq!("2000-03-01".parse(), Ok(Day(11_017)));
        let late = Duration::from_secs(1_795_219_199);
        assert_eq!(Day::at(late).to_string(), "2026-11-20");
        assert_eq!(
            Day::at(late + Duration::from_secs(1)).to_string(),
            "2026-11-21"
        );
    }

    #[test]
    fn days_that_never_were_are_refused() {
        for wrong in [
            "",
            "2026-11-31",
            "2025-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-1-1",
            "1969-12-31",
            "2026-11-21T00",
            "2026-11-21-1",
            "+026-11-21",
            "yesterday",
        ] {
            assert!(wrong.parse::<Day>().is_err(), "{wrong}");
        }
        assert!("2024-02-29".parse::<Day>().is_ok());
    }
}
