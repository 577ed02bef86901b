//! What the templates of the `bdi` bidder are told beside the auction and the plan:
//! its desire, its beliefs and lessons, and every sale so far.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::Bdi;
use crate::agent::AgentError;
use crate::auction::bidder::{ROUNDS_TOLD, brief, rounds_of};

/// What is said to a reply that could not be used.
pub(super) fn again(
    template: &str,
    agent: &Bdi,
    reason: &str,
    faults: &[&str],
) -> Result<String, AgentError> {
    let values = values(template, agent, ROUNDS_TOLD[0]);
    let values = context! { reason, faults => Serde(faults), ..values };
    agent.bidder.render(template, values)
}

/// What a template is told, with so many bid rounds of an item at most.
pub(super) fn values(template: &str, agent: &Bdi, most_rounds: usize) -> Value {
    let picture = &agent.bidder.picture;
    let last = picture.past().last();
    // Bids are about the item that is up, beliefs about the one that is over.
    let told = if template.starts_with("belief") {
        last
    } else {
        picture.item()
    };
    let sales: Vec<Value> = picture
        .past()
        .iter()
        .map(|item| {
            let (rounds, left_out) = rounds_of(Some(item), most_rounds);
            context! { item => Serde(brief(item)), rounds, left_out }
        })
        .collect();
    let desire = agent.options.desire;
    context! {
        desire => desire.map_or(&*picture.objective, |desire| desire.name()),
        tips => &agent.options.tips,
        last_item => last.map(|item| item.name.clone()),
        sales,
        status => Serde(&agent.status),
        ..agent.bidder.values(told, most_rounds)
    }
}
