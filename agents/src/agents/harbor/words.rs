//! What the templates of the `harbor` bidder are told beside the auction and the
//! plan: its personas, what it knows of its rivals, its modules and what it chose.

use agon_engine::Seat;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde_json::json;

use super::{Harbor, Rival, TheoryOfMind};
use crate::agents::auction::{Bidder, Detail, Item};
use crate::agents::world::Persona;

/// What a template is told, about one rival or about all of them, in so much detail.
pub(super) fn values(bidder: &Bidder<Harbor>, rival: Option<usize>, detail: Detail) -> Value {
    let (picture, own) = (&bidder.picture, &bidder.own);
    let world = &own.options.world;
    let worded = |one: &Persona| json!({ "name": one.name, "text": one.text });
    let described = |one: &Persona| json!({ "name": one.name, "text": one.about() });
    let rivals = own.rivals.iter().map(|rival| about(own, rival, detail));
    let own_bids = picture.past().iter();
    let own_bids = own_bids.map(|item| bids_for(item, picture.seat));
    context! {
        desire => &picture.objective,
        personas => Serde(world.own().map(worded).collect::<Vec<_>>()),
        all_personas => Serde(world.personas.iter().map(described).collect::<Vec<_>>()),
        own_bids => own_bids.collect::<Vec<Value>>(),
        rivals => rivals.collect::<Vec<Value>>(),
        rival => rival.and_then(|at| own.rivals.get(at)).map(|rival| about(own, rival, detail)),
        modules => context! {
            profile => own.options.profile,
            theory_of_mind => own.options.predicts(),
            second_order => own.options.second_order,
        },
        choice => own.choice.as_ref().map(|choice| context! {
            letter => choice.letter.to_string(), reason => detail.of(&choice.reason),
        }),
        status => Serde(&bidder.status),
    }
}

/// How a seat bid for an item that is over, which everybody saw.
fn bids_for(item: &Item, seat: Seat) -> Value {
    let bids = item.bids_of(seat);
    let won = item.outcome.and_then(|outcome| outcome.winner) == Some(seat);
    context! { name => &item.name, count => bids.clone().count(), highest => bids.max(), won }
}

/// What is known, or thought, of a rival.
fn about(own: &Harbor, rival: &Rival, detail: Detail) -> Value {
    let world = &own.options.world;
    let named = |weights: &[f64]| -> Vec<Value> {
        let pairs = world.personas.iter().zip(weights);
        pairs
            .map(|(one, weight)| context! { name => &one.name, weight })
            .collect()
    };
    // True personas are for the one module that is given them.
    let told = own.options.theory_of_mind == TheoryOfMind::True;
    let personas = world.seats.get(rival.seat).filter(|_| told);
    let described = |names: &Vec<String>| -> Vec<String> {
        names.iter().map(|name| world.described(name)).collect()
    };
    context! {
        name => &rival.name,
        seat => rival.seat,
        personas => personas.map(described),
        weights => named(&rival.weights),
        wants => rival.prediction.wants,
        detail => detail.of(&rival.prediction.detail),
        believes => named(&rival.believes),
        misleading => rival.misleading.as_deref().map(|text| detail.of(text)),
    }
}
