//! What the simulated model of any bidder says: that the dear items matter most, and what is
//! true. Called by `bidder.rs`.

use std::collections::BTreeMap;

use agon_engine::{Action, Ask};
use serde_json::json;

use super::Item;
use super::bidder::{Bidder, Bids};
use crate::forms::{answer_value, in_words};
use crate::notes::Status;
use crate::settings::ReplyStyle;

/// What it plans.
const PLAN: &str = "I keep most of my budget for the dear items, where the margin is \
    largest, and take cheap ones only when nobody else wants them.";

/// What it learns.
const TIP: &str = "Stop bidding as soon as the price comes close to the estimate.";

impl<A: Bids> Bidder<A> {
    /// What it says to a question of this purpose.
    pub(super) fn usual_reply(&self, purpose: &str) -> Option<String> {
        let remaining = self.picture.remaining();
        match purpose {
            "plan" | "replan" => {
                let list = remaining.iter();
                let list = list.map(|item| (&*item.name, third(item, remaining)));
                Some(self.planned(PLAN, &json!(list.collect::<BTreeMap<_, _>>())))
            }
            "belief" => Some(Status::truth(&self.picture).as_reply()),
            "learn" if self.reply == ReplyStyle::Structured => {
                Some(json!({ "tips": [TIP] }).to_string())
            }
            "learn" => Some(format!("1. {TIP}")),
            _ => None,
        }
    }

    /// A plan as it is asked for.
    pub fn planned(&self, strategy: &str, priorities: &serde_json::Value) -> String {
        match self.reply {
            ReplyStyle::Structured => {
                json!({ "strategy": strategy, "priorities": priorities }).to_string()
            }
            _ => format!("{strategy}\n{priorities}"),
        }
    }

    /// How it says that it bids so.
    pub(super) fn simulated_words(&self, ask: &Ask, bid: &Action) -> String {
        let (profit, decision) = match bid {
            Action::Pass => ("no profit", "I'm out!".to_owned()),
            bid => ("a profit", format!("I bid ${}!", in_words(&ask.form, bid))),
        };
        let reason = format!("The price leaves {profit} by my estimate.");
        match self.reply {
            ReplyStyle::Structured => {
                json!({ "reason": reason, "bid": answer_value(&ask.form, bid) }).to_string()
            }
            _ => format!("{reason} {decision}"),
        }
    }
}

/// In which third an item is by its starting price, from 1, the cheapest.
fn third(item: &Item, among: &[Item]) -> i64 {
    let is_cheaper = |other: &&Item| other.starting_price < item.starting_price;
    let cheaper = among.iter().filter(is_cheaper).count();
    1 + (3 * cheaper / among.len().max(1)) as i64
}
