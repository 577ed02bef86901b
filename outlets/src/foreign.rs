//! The type of text that others wrote: whatever is made of it can be shown. Knows only one outlet,
//! a line, since that is what messages are made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::shown::line;

/// Text that others wrote. `Display` and `Debug` show it as one harmless line, so that no message
/// can be made of it otherwise; what it truly says is for programs ([`Foreign::as_written`],
/// serde).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Foreign(String);

impl Foreign {
    /// What it says, escape codes and all; not for eyes.
    pub fn as_written(&self) -> &str {
        &self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Foreign {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Foreign {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(&self.0).fmt(out)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{self}\"")
    }
}
