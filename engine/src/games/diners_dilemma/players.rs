//! Rule players of Diner's Dilemma: one dish for ever, or an answer to what the
//! others ordered before. They see only their own seat's view. Made by the game.

use super::{CHEAP, COSTLY, DinerParams};
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<DinerParams>] = &[
    Strategy::new(
        "equilibrium",
        "the dish that is better whatever the others order",
        |params, request| request.always(Action::Choice(params.dominant_dish().into())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("cheap", "always the cheap dish", |_, request| {
        request.always(order(false))
    }),
    Strategy::new("costly", "always the costly dish", |_, request| {
        request.always(order(true))
    }),
    Strategy::new(
        "tit_for_tat",
        "starts cheap, then orders what most of the others did; cheap when even",
        |_, request| {
            request.plays(|_, view, _| {
                order(others(view).is_some_and(|(cheap, costly)| costly > cheap))
            })
        },
    ),
    Strategy::new(
        "grim",
        "orders cheap until anybody else has ordered costly, costly from then on",
        |_, request| {
            let mut is_provoked = false;
            request.plays(move |_, view, _| {
                is_provoked |= others(view).is_some_and(|(_, costly)| costly > 0);
                order(is_provoked)
            })
        },
    ),
];

/// How many of the others ordered cheap and costly in the last round.
fn others(view: &View<'_>) -> Option<(i64, i64)> {
    let last = view.latest("round_result")?;
    let (cheap, costly) = (last.integer("cheap")?, last.integer("costly")?);
    let own_costly = last.fact("dish")?.text() == Some(COSTLY);
    Some(if own_costly {
        (cheap, costly - 1)
    } else {
        (cheap - 1, costly)
    })
}

fn order(costly: bool) -> Action {
    Action::Choice(if costly { COSTLY } else { CHEAP }.into())
}
