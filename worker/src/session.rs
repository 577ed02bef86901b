//! The actor of one session: owns the play, puts its asks to the seats, and ends
//! with a record or with the reason why there is none. Started by the supervisor
//! under a lease, and by verification on a record.

mod actor;
mod state;
#[cfg(test)]
mod tests;

pub use actor::{SessionPlan, run};

use agon_engine::Record;
use agon_engine::extent::TooLarge;

use crate::mind::{DecisionUsage, Usage};

/// How a try to play a session ended.
#[derive(Debug)]
pub enum SessionEnd {
    /// It was played to its end.
    Finished {
        /// The record.
        record: Box<Record>,
        /// What its decisions cost.
        usage: Usage,
        /// The same decision by decision.
        each: Vec<DecisionUsage>,
    },
    /// The outside did not answer within the gateway's patience.
    Parked(String),
    /// A budget is spent; played again once that is raised, it goes on here.
    BudgetSpent(String),
    /// It can never be played as it is written.
    Impossible(String),
    /// It produces more than its record may hold.
    TooLarge(TooLarge),
    /// It was planned with other rules or prompts than this program has.
    Unplayable(String),
    /// A seat panicked: a fault of the program, worth another try elsewhere.
    Crashed(String),
    /// It was given up: the worker stops, or the lease was lost.
    GivenUp,
}
