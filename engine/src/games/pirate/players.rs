//! Rule players of the pirate game: how each of them divides the gold and votes.
//! Backward induction itself is in `games/pirate/theory.rs`. Made by the game.

use super::{ACCEPT, PirateParams, REJECT};
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<PirateParams>] = &[
    Strategy::new(
        "equilibrium",
        "backward induction: buys the cheapest majority, votes for more than it gets \
                  otherwise",
        |params, request| {
            let theory = Arc::clone(params.theory());
            request.plays(move |ask, view, _| match ask.form {
                Form::Division { parts, total } => Action::Division(theory.plan(parts, total)),
                _ => vote(offer(view).is_some_and(|(plan, offset)| {
                    theory.accepts(plan.len(), offset, plan[offset])
                })),
            })
        },
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "greedy",
        "proposes to keep all the gold, accepts any gold at all",
        |_, request| request.plays(|ask, view, _| act(ask, view, keep, |share, _| share > 0)),
    ),
    Strategy::new(
        "fair",
        "proposes an even split, accepts at least its even share in whole gold",
        |_, request| {
            request.plays(|ask, view, _| act(ask, view, split, |share, even| share >= even))
        },
    ),
    Strategy::new(
        "docile",
        "proposes an even split, accepts everything",
        |_, request| request.plays(|ask, view, _| act(ask, view, split, |_, _| true)),
    ),
    Strategy::new(
        "bloodthirsty",
        "proposes to keep all the gold, rejects everything",
        |_, request| request.plays(|ask, view, _| act(ask, view, keep, |_, _| false)),
    ),
];

fn vote(accepts: bool) -> Action {
    Action::Choice(if accepts { ACCEPT } else { REJECT }.into())
}

/// The plan that a seat is asked to vote on, and the seat's place in it; the proposer's is 0.
fn offer<'a>(view: &View<'a>) -> Option<(&'a [i64], Seat)> {
    let proposal = view.latest("proposal")?;
    let mut order = proposal.integers("order")?.iter();
    let offset = order.position(|seat| *seat == view.seat() as i64)?;
    Some((proposal.integers("plan")?, offset))
}

/// Proposes and votes in character, whatever the others would do. `plan` divides gold among
/// so many, `accepts` is asked about a share, given an even one.
fn act(
    ask: &Ask,
    view: &View<'_>,
    plan: fn(usize, i64) -> Vec<i64>,
    accepts: fn(i64, i64) -> bool,
) -> Action {
    if let Form::Division { parts, total } = ask.form {
        return Action::Division(plan(parts, total));
    }
    let briefing = view.first("briefing");
    let gold = briefing
        .and_then(|sight| sight.integer("gold"))
        .unwrap_or(0);
    let accepts_own =
        |(plan, offset): (&[i64], Seat)| accepts(plan[offset], gold / plan.len() as i64);
    vote(offer(view).is_some_and(accepts_own))
}

/// Everything for the proposer.
fn keep(parts: usize, total: i64) -> Vec<i64> {
    let mut plan = vec![0; parts];
    plan[0] = total;
    plan
}

/// An even split; what does not divide goes to the most senior.
fn split(parts: usize, total: i64) -> Vec<i64> {
    let (even, odd) = (total / parts as i64, total % parts as i64);
    (0..parts as i64)
        .map(|place| even + i64::from(place < odd))
        .collect()
}
