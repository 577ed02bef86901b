//! What the templates of the `bdi` bidder are handed: its picture, its plan, its
//! notes and lessons. Long sales are told from their end, so that a conversation
//! stays within the player's bound.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use super::{Bdi, Plan};
use crate::agent::AgentError;
use crate::auction::Item;
use crate::memory::tokens;
use crate::mind::{Message, MindError};

/// How many bid rounds of an item are told at most; fewer when the conversation
/// would otherwise be too long.
const ROUNDS_TOLD: [usize; 4] = [40, 12, 4, 1];

/// The conversation of a call. Tells as many bid rounds as there is room for.
pub(super) fn conversation(template: &str, bidder: &Bdi) -> Result<Vec<Message>, MindError> {
    let bound = usize::try_from(bidder.bound).unwrap_or(usize::MAX);
    let mut messages = Vec::new();
    for rounds in ROUNDS_TOLD {
        messages = bidder
            .templates
            .conversation(template, values(template, bidder, rounds))?;
        let length: usize = messages.iter().map(tokens).sum();
        if length <= bound {
            break;
        }
    }
    Ok(messages)
}

/// What is said to a reply that could not be used.
pub(super) fn again(
    template: &str,
    bidder: &Bdi,
    reason: &str,
    faults: &[&str],
) -> Result<String, AgentError> {
    let values =
        context! { reason, faults => Serde(faults), ..values(template, bidder, ROUNDS_TOLD[0]) };
    bidder.templates.render(template, values)
}

fn values(template: &str, bidder: &Bdi, most_rounds: usize) -> Value {
    let picture = &bidder.picture;
    let last = picture.past().last();
    let item = picture.item();
    // Bids are about the item that is up, beliefs about the one that is over.
    let told = if template.starts_with("belief") {
        last
    } else {
        item
    };
    let (rounds, left_out) = rounds_of(told, most_rounds);
    let latest = told.and_then(|item| item.rounds.last());
    let sales: Vec<Value> = picture
        .past()
        .iter()
        .map(|item| {
            let (rounds, left_out) = rounds_of(Some(item), most_rounds);
            context! { item => Serde(brief(item)), rounds, left_out }
        })
        .collect();
    let desire = bidder
        .options
        .desire
        .map_or(&*picture.objective, |d| d.name());
    context! {
        auction => Serde(json!({
            "players": picture.players,
            "items": picture.items.iter().map(|item| &item.name).collect::<Vec<_>>(),
            "budget": picture.start_budget,
            "starting_price": picture.starting_price,
            "minimum_increase": picture.minimum_increase,
            "standings": picture.standings,
        })),
        names => picture.names(),
        desire,
        tips => &bidder.options.tips,
        open_items => Serde(picture.remaining().iter().map(brief).collect::<Vec<_>>()),
        item => Serde(item.map(brief)),
        last => Serde(last.map(brief)),
        last_item => last.map(|item| item.name.clone()),
        bid_round => picture.bid_round(),
        leader => latest.and_then(|round| round.leader),
        highest => latest.and_then(|round| round.highest),
        rounds,
        left_out,
        sales,
        plan => bidder.plan.as_ref().map(|plan| plan_values(bidder, plan)),
        status => Serde(&bidder.status),
    }
}

/// The last rounds of an item, and how many are left out before them.
fn rounds_of(item: Option<&Item>, most: usize) -> (Value, usize) {
    let rounds = item.map_or(&[][..], |item| &item.rounds);
    let left_out = rounds.len().saturating_sub(most);
    (Value::from(Serde(&rounds[left_out..])), left_out)
}

/// An item without its rounds.
fn brief(item: &Item) -> serde_json::Value {
    json!({
        "name": item.name, "starting_price": item.starting_price, "estimate": item.estimate,
        "description": item.description, "size": item.size, "location": item.location,
        "outcome": item.outcome,
    })
}

fn plan_values(bidder: &Bdi, plan: &Plan) -> Value {
    let picture = &bidder.picture;
    let rows = picture
        .remaining()
        .iter()
        .zip(plan.priorities.iter().skip(picture.place));
    let priorities: Vec<Value> = rows
        .map(|(item, priority)| Value::from(vec![Value::from(&*item.name), Value::from(*priority)]))
        .collect();
    context! { strategy => &plan.strategy, priorities }
}
