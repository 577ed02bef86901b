//! A bid or a withdrawal in a reply, and the note of what was said and what it was read as.
//! Ranges are checked by the game.

use agon_engine::{Action, Ask, Foul};
use serde_json::Value;

use crate::mind::Reply;
use crate::notes::Bid;
use crate::reading;

/// A reply to a bid's ask.
#[derive(Debug, Clone, PartialEq)]
pub struct BidReading {
    /// What was said, as it stood in the reply: an amount, a text, or none.
    pub said: Value,
    /// What it was read as, or the foul that reading ended in.
    pub read: Result<Action, Foul>,
}

impl BidReading {
    /// The note of it: one per reply, refused ones too. `item` and
    /// `round` are the place in the order of sale and the bid round, from 1; `problem`
    /// is what the game said of a bid that does not count.
    pub fn note(&self, item: usize, round: u32, problem: Option<&str>) -> Bid {
        Bid {
            item,
            round,
            said: self.said.clone(),
            read: noted(&self.read).unwrap_or_default(),
            problem: problem.map(str::to_owned),
        }
    }
}

/// Reads a reply to the ask of a bid.
pub fn read_bid(ask: &Ask, reply: &Reply) -> BidReading {
    let (said, read) = reading::read_said(ask, &[], reply);
    let read = read.map(|reading| reading.action);
    let said = said.map(|said| said.value()).or_else(|| noted(&read));
    BidReading {
        said: said.unwrap_or_default(),
        read,
    }
}

/// An answer as notes hold it; none where there is none.
fn noted(read: &Result<Action, Foul>) -> Option<Value> {
    match read {
        Ok(Action::Integer(amount)) => Some(Value::from(*amount)),
        Ok(Action::Pass) => Some(Value::from("withdraw")),
        _ => None,
    }
}
