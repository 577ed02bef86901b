//! What the templates of the `bdi` bidder are told beside the auction and the plan:
//! its desire, its beliefs and lessons, and every sale so far.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::Bdi;
use crate::agent::AgentError;
use crate::agents::auction::Detail;
use crate::agents::auction::bidder::{brief, rounds_of};
use crate::notes::Status;

/// What is said to a reply that could not be used.
pub(super) fn again(
    template: &str,
    agent: &Bdi,
    reason: &str,
    faults: &[&str],
) -> Result<String, AgentError> {
    let values = values(template, agent, Detail::FULL);
    let values = context! { reason, faults => Serde(faults), ..values };
    agent.bidder.render(template, values)
}

/// What a template is told, in so much detail.
pub(super) fn values(template: &str, agent: &Bdi, detail: Detail) -> Value {
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
            let (rounds, left_out) = rounds_of(Some(item), detail);
            context! { item => Serde(brief(item)), rounds, left_out }
        })
        .collect();
    let desire = agent.options.desire;
    let tips = agent.options.tips.iter();
    let tips = tips.map(|tip| detail.of(tip).to_owned());
    context! {
        desire => desire.map_or(&*picture.objective, |desire| desire.name()),
        tips => tips.collect::<Vec<String>>(),
        last_item => last.map(|item| item.name.clone()),
        sales,
        status => Serde(told_of(&agent.status, picture.items.len(), detail)),
        ..agent.bidder.values(told, detail)
    }
}

/// How everybody stands by the bidder's own notes. It may believe in items that do not exist,
/// with names of any length; nobody is told to have won more than there are.
fn told_of(status: &Status, items: usize, detail: Detail) -> Status {
    let mut told = status.clone();
    for won in told.winning_bids.values_mut() {
        let named = std::mem::take(won).into_iter().take(items);
        *won = named
            .map(|(item, bid)| (detail.of(&item).to_owned(), bid))
            .collect();
    }
    told
}
