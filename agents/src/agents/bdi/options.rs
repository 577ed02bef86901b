//! The settings of a `bdi` bidder, read from its player and checked.
//! Unknown names were refused before; see `settings.rs`.

use serde::Deserialize;

use crate::agents::auction::bidder::check_tries;
use crate::info::OwnSettings;
use crate::settings::read_table;

/// Names of the settings, for the roster.
pub const NAMES: &[&str] = &[
    "strategy",
    "desire",
    "correct_beliefs",
    "tries",
    "learn",
    "tips",
];

/// More lessons than this are no lessons; they stand in every call.
const MOST_TIPS: usize = 50;

/// What a bidder is set to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Which of its four functions it has.
    pub strategy: Strategy,
    /// What it is told to be out for; what the game counts for its seat when
    /// absent.
    pub desire: Option<Desire>,
    /// Whether wrong beliefs are put right, or only counted.
    pub correct_beliefs: bool,
    /// How often a plan or a belief is asked for at most.
    pub tries: u32,
    /// Whether it writes lessons down after the auction.
    pub learn: bool,
    /// Lessons from earlier auctions; in a series those of the first.
    pub tips: Vec<String>,
}

/// Which functions a bidder has (arXiv 2310.05746, section 4.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Plans, and plans again after every item.
    #[default]
    Adaptive,
    /// Plans once.
    Static,
    /// Has no plan.
    None,
}

/// What a bidder is out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Desire {
    /// The highest profit.
    MaximizeProfit,
    /// The most items.
    MaximizeItems,
}

impl Desire {
    /// Its name in settings and templates, the game's own word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaximizeProfit => "maximize_profit",
            Self::MaximizeItems => "maximize_items",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            desire: None,
            correct_beliefs: true,
            tries: 4,
            learn: false,
            tips: Vec::new(),
        }
    }
}

impl Options {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// One is impossible; says what would be right.
    pub fn read(own: &OwnSettings) -> Result<Self, String> {
        let options: Self = read_table(own.clone())?;
        check_tries(options.tries)?;
        let empty = options.tips.iter().any(|tip| tip.trim().is_empty());
        if empty || options.tips.len() > MOST_TIPS {
            return Err(format!(
                "tips must be at most {MOST_TIPS} texts, none of them empty"
            ));
        }
        Ok(options)
    }
}
