//! The settings of a `bdi` bidder, read from its player and checked.
//! Unknown names were refused before; see `settings.rs`.

use serde::Deserialize;

use crate::agents::auction::bidder::check_tries;
use crate::info::OwnSettings;
use crate::settings::{read_table, settings};

/// More lessons than this are no lessons; they stand in every call.
const MOST_TIPS: usize = 50;

settings! {
    /// What a bidder is set to.
    Options {
        /// Which of its four functions it has.
        strategy: Strategy = Strategy::Adaptive,
        /// What it is told to be out for; what the game counts for its seat when
        /// absent.
        desire: Option<Desire> = None,
        /// Whether wrong beliefs are put right, or only counted.
        correct_beliefs: bool = true,
        /// How often a plan or a belief is asked for at most.
        tries: u32 = 4,
        /// Whether it writes lessons down after the auction.
        learn: bool = false,
        /// Lessons from earlier auctions; in a series those of the first.
        tips: Vec<String> = Vec::new(),
    }
}

/// Which functions a bidder has (arXiv 2310.05746, section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Plans, and plans again after every item.
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
