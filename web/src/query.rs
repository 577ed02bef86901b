//! What addresses ask for, within bounds.
//! Whatever is out of bounds is brought within them; nothing here looks anything up.

use agon_engine::Seat;
use serde::Deserialize;

/// Most rows or steps of an answer.
const MOST: usize = 200;

/// Rows of an answer that does not say how many.
const BY_DEFAULT: usize = 100;

/// Which sessions of a run.
#[derive(Debug, Default, Deserialize)]
pub struct SessionQuery {
    /// Of this cell.
    pub cell: Option<u32>,
    /// With this text in what is listed.
    #[serde(default)]
    pub search: String,
    /// From this row on: what the page before handed out.
    #[serde(default)]
    pub cursor: String,
    /// So many.
    pub count: Option<usize>,
}

impl SessionQuery {
    /// The first row.
    pub fn from(&self) -> usize {
        self.cursor.parse().unwrap_or(0)
    }

    /// So many rows.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// Which of many sessions.
#[derive(Debug, Default, Deserialize)]
pub struct PageQuery {
    /// From this one on: what the page before handed out.
    #[serde(default)]
    pub cursor: String,
    /// So many.
    pub count: Option<usize>,
}

impl PageQuery {
    /// The first one.
    pub fn from(&self) -> usize {
        self.cursor.parse().unwrap_or(0)
    }

    /// So many.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// Which steps of a session, and as whom.
#[derive(Debug, Default, Deserialize)]
pub struct StepQuery {
    /// The first one.
    #[serde(default)]
    pub from: usize,
    /// So many.
    pub count: Option<usize>,
    /// As this seat saw it.
    pub seat: Option<Seat>,
}

impl StepQuery {
    /// So many steps.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// A text to look for in a session.
#[derive(Debug, Default, Deserialize)]
pub struct TextQuery {
    /// The text.
    #[serde(default)]
    pub q: String,
    /// In what this seat saw.
    pub seat: Option<Seat>,
}
