//! How a command fails: one clear line (or a few) on standard error and an exit
//! code that scripts can tell apart.

use std::fmt;

use agon_service_kit::tasks::with_causes;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The work was done, and its result is bad news: a mismatch, sessions that
    /// were set aside. Exit code 1.
    BadNews(String),
    /// The input is wrong and must be changed. Exit code 2.
    BadInput(String),
    /// Something around us is missing: a port, a server, disk space. Exit code 3.
    Surroundings(String),
    /// A budget is spent; says how to go on. Exit code 4.
    Paused(String),
    /// Stopped by the user; says how to go on. Exit code 130.
    Interrupted(String),
}

/// What the exit codes mean, for `agon --help`.
pub const EXIT_CODES: &str = "Exit codes:
  0    done
  1    done, with bad news (a mismatch, sessions set aside)
  2    wrong input or usage
  3    something outside is missing (a server, a port, disk space)
  4    paused: a budget is spent; the message says how to go on
  130  stopped by Ctrl-C; the message says how to go on";

/// Exit code when something outside is missing.
pub const SURROUNDINGS: u8 = 3;

/// Exit code of a run that paused.
const PAUSED: u8 = 4;

/// Exit code of a command that was stopped by a signal.
pub const INTERRUPTED: i32 = 130;

impl Failure {
    /// How it ended, with more bad news: as that was, or as something outside that is missing.
    pub fn and(ended: Result<(), Self>, more: &str) -> Self {
        let both = |text: String| format!("{text}; {more}");
        match ended {
            Ok(()) => Self::Surroundings(more.to_owned()),
            Err(Self::BadNews(text)) => Self::BadNews(both(text)),
            Err(Self::BadInput(text)) => Self::BadInput(both(text)),
            Err(Self::Surroundings(text)) => Self::Surroundings(both(text)),
            Err(Self::Paused(text)) => Self::Paused(both(text)),
            Err(Self::Interrupted(text)) => Self::Interrupted(both(text)),
        }
    }

    /// Its exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::BadNews(_) => 1,
            Self::BadInput(_) => 2,
            Self::Surroundings(_) => SURROUNDINGS,
            Self::Paused(_) => PAUSED,
            Self::Interrupted(_) => INTERRUPTED as u8,
        }
    }

    /// For `map_err`: wrong input, with the error's causes.
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::BadInput(with_causes(error.into().as_ref()))
    }

    /// For `map_err`: missing surroundings, with the error's causes.
    pub fn surroundings(error: impl Into<anyhow::Error>) -> Self {
        Self::Surroundings(with_causes(error.into().as_ref()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadNews(text)
            | Self::BadInput(text)
            | Self::Surroundings(text)
            | Self::Paused(text)
            | Self::Interrupted(text) => formatter.write_str(text),
        }
    }
}
