//! What the templates of the `harbor` bidder are handed: its picture, its personas,
//! its plan, what it knows of its rivals and what it chose. Long sales are told
//! from their end, so that a conversation stays within the player's bound.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use super::{Harbor, Rival, TheoryOfMind};
use crate::agent::AgentError;
use crate::auction::Item;
use crate::memory::tokens;
use crate::mind::{Message, MindError};

/// How many bid rounds of an item are told at most; fewer when the conversation
/// would otherwise be too long.
const ROUNDS_TOLD: [usize; 4] = [40, 12, 4, 1];

/// The conversation of a call, about one rival or about all of them.
pub(super) fn conversation(
    template: &str,
    bidder: &Harbor,
    rival: Option<&Rival>,
) -> Result<Vec<Message>, MindError> {
    let bound = usize::try_from(bidder.bound).unwrap_or(usize::MAX);
    let mut messages = Vec::new();
    for rounds in ROUNDS_TOLD {
        let values = values(template, bidder, rival, rounds);
        messages = bidder.templates.conversation(template, values)?;
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
    bidder: &Harbor,
    rival: Option<&Rival>,
    reason: &str,
) -> Result<String, AgentError> {
    let values = context! { reason, ..values(template, bidder, rival, ROUNDS_TOLD[0]) };
    bidder.templates.render(template, values)
}

pub(super) fn impossible(error: AgentError) -> MindError {
    MindError::Impossible(error.to_string())
}

fn values(template: &str, bidder: &Harbor, rival: Option<&Rival>, most_rounds: usize) -> Value {
    let picture = &bidder.picture;
    let world = &bidder.options.world;
    let (item, last) = (picture.item(), picture.past().last());
    // Profiles are about the sale that is over, all else about the one that is on.
    let told = if template.starts_with("profile") {
        last
    } else {
        item
    };
    let (rounds, left_out) = rounds_of(told, most_rounds);
    let latest = told.and_then(|item| item.rounds.last());
    let rivals = bidder.rivals.iter().map(|rival| about(bidder, rival));
    context! {
        auction => Serde(json!({
            "players": picture.players,
            "items": picture.items.iter().map(|item| &item.name).collect::<Vec<_>>(),
            "start_budget": picture.start_budget,
            "budget": picture.budget,
            "starting_price": picture.starting_price,
            "minimum_increase": picture.minimum_increase,
            "standings": picture.standings,
        })),
        names => picture.names(),
        desire => &picture.objective,
        personas => Serde(world.own().map(|one| json!({ "name": one.name, "text": one.text }))
            .collect::<Vec<_>>()),
        all_personas => Serde(world.personas.iter()
            .map(|one| json!({ "name": one.name, "text": one.text })).collect::<Vec<_>>()),
        open_items => Serde(picture.remaining().iter().map(brief).collect::<Vec<_>>()),
        item => Serde(item.map(brief)),
        last => Serde(last.map(brief)),
        bid_round => picture.bid_round(),
        leader => latest.and_then(|round| round.leader),
        highest => latest.and_then(|round| round.highest),
        rounds,
        left_out,
        plan => plan(bidder),
        rivals => rivals.collect::<Vec<Value>>(),
        rival => rival.map(|rival| about(bidder, rival)),
        modules => context! {
            profile => bidder.options.profile,
            theory_of_mind => bidder.options.theory_of_mind != TheoryOfMind::None,
            second_order => bidder.options.second_order,
        },
        choice => bidder.choice.as_ref().map(|choice| context! {
            letter => choice.letter.to_string(), reason => &choice.reason,
        }),
    }
}

/// What is known, or thought, of a rival.
fn about(bidder: &Harbor, rival: &Rival) -> Value {
    let options = &bidder.options;
    let named = |weights: &[f64]| -> Vec<Value> {
        let pairs = options.world.personas.iter().zip(weights);
        pairs
            .map(|(one, weight)| context! { name => &one.name, weight })
            .collect()
    };
    // True personas are for the one module that is given them.
    let told = options.theory_of_mind == TheoryOfMind::True;
    let personas = options.world.seats.get(rival.seat).filter(|_| told);
    context! {
        name => &rival.name,
        seat => rival.seat,
        personas,
        weights => named(&rival.weights),
        wants => rival.prediction.wants,
        detail => &rival.prediction.detail,
        believes => named(&rival.believes),
        misleading => &rival.misleading,
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

/// The plan for the items that are up or still to come.
fn plan(bidder: &Harbor) -> Option<Value> {
    let plan = bidder.plan.as_ref()?;
    let picture = &bidder.picture;
    let rows = picture
        .remaining()
        .iter()
        .zip(plan.priorities.iter().skip(picture.place));
    let priorities: Vec<Value> = rows
        .map(|(item, priority)| Value::from(vec![Value::from(&*item.name), Value::from(*priority)]))
        .collect();
    Some(context! { strategy => &plan.strategy, priorities })
}
