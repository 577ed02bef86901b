//! What is wrong with an experiment, by path, and how near names are found.
//!
//! Checks collect [`Fault`]s instead of stopping at the first, so that one look at the message
//! is enough to mend a file. Places in a file are added later, by whoever has the file.

use std::collections::BTreeSet;
use std::fmt;

use super::path::TreePath;

/// More than anybody mends at once; a grid could otherwise repeat itself for pages.
const MOST_FAULTS: usize = 50;

/// Longest message and path that are told: the names in them may be megabytes.
const LONGEST_TOLD: usize = 2_000;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What it is about.
    pub at: TreePath,
    /// Whether it is about the key rather than about its value.
    pub about_key: bool,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, message, .. } = self;
        if at.steps().is_empty() {
            write!(out, "{message}")
        } else {
            write!(out, "{at}: {message}")
        }
    }
}

/// Everything that is wrong with an experiment document. Never empty when it is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(BTreeSet<Fault>);

impl Faults {
    /// Notes a fault of a value.
    pub fn value(&mut self, at: &TreePath, message: impl Into<String>) {
        self.add(at.clone(), false, message.into());
    }

    /// Notes a fault of a key.
    pub fn key(&mut self, at: &TreePath, message: impl Into<String>) {
        self.add(at.clone(), true, message.into());
    }

    /// Takes over what was found elsewhere.
    pub fn extend(&mut self, other: Self) {
        for fault in other.0 {
            self.add(fault.at, fault.about_key, fault.message);
        }
    }

    /// The faults, by path.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }

    /// Whether something is wrong exactly there.
    pub fn has(&self, at: &TreePath) -> bool {
        self.0.iter().any(|fault| fault.at == *at)
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no more faults are taken, so that looking further is of no use.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST_FAULTS
    }

    /// The value when nothing is wrong.
    ///
    /// # Errors
    /// Something is.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    fn add(&mut self, at: TreePath, about_key: bool, message: String) {
        if !self.is_full() {
            self.0.insert(Fault {
                at,
                about_key,
                message: shortened(&message),
            });
        }
    }
}

/// A text without what is too long to be told.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_TOLD {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST_TOLD);
    format!("{}...", &text[..end])
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            write!(out, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
