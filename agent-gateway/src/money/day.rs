//! A calendar day in UTC, by which prices and costs are dated. Refuses texts that
//! are no day. Called by the price table and by everything that keeps costs.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};

/// A day since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The day it is now, on this machine's clock.
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self::at(since.unwrap_or_default())
    }

    /// The day at this time since 1970.
    pub fn at(since_1970: Duration) -> Self {
        let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
        let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        Self(TimeZone::UTC.to_datetime(time).date())
    }
}

impl Default for Day {
    fn default() -> Self {
        Self::at(Duration::ZERO)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
        let day = text.parse().map(Self).ok();
        // Other spellings of a day are none here.
        let day = day.filter(|day| *day >= Self::default() && day.to_string() == text);
        day.ok_or_else(|| DayError {
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
        let day = |number: u64| Day::at(Duration::from_secs(number * 86_400));
        for day in (0..365_243).map(day) {
            assert_eq!(day.to_string().parse(), Ok(day), "{day}");
        }
        assert_eq!(day(0).to_string(), "1970-01-01");
        assert_eq!("2000-03-01".parse(), Ok(day(11_017)));
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
            "20261121",
        ] {
            assert!(wrong.parse::<Day>().is_err(), "{wrong}");
        }
        assert!("2024-02-29".parse::<Day>().is_ok());
    }
}
