//! Rule players of the pirate game: how each of them divides the gold and votes.
//! Backward induction itself is in `games/pirate/theory.rs`. Made by the game.

use super::theory::Theory;
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
            request.plain(ByInduction { theory })
        },
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "greedy",
        "proposes to keep all the gold, accepts any gold at all",
        |_, request| {
            request.plain(Character {
                shares: false,
                accepts: |share, _| share > 0,
            })
        },
    ),
    Strategy::new(
        "fair",
        "proposes an even split, accepts at least its even share in whole gold",
        |_, request| {
            request.plain(Character {
                shares: true,
                accepts: |share, even| share >= even,
            })
        },
    ),
    Strategy::new(
        "docile",
        "proposes an even split, accepts everything",
        |_, request| {
            request.plain(Character {
                shares: true,
                accepts: |_, _| true,
            })
        },
    ),
    Strategy::new(
        "bloodthirsty",
        "proposes to keep all the gold, rejects everything",
        |_, request| {
            request.plain(Character {
                shares: false,
                accepts: |_, _| false,
            })
        },
    ),
];

fn vote(accepts: bool) -> Action {
    Action::Choice(if accepts { ACCEPT } else { REJECT }.into())
}

/// The plan that a seat is asked to vote on.
struct Offer<'a> {
    plan: &'a [i64],
    /// The seat's place in the plan; the proposer's is 0.
    offset: Seat,
}

impl<'a> Offer<'a> {
    fn latest(view: &View<'a>) -> Option<Self> {
        let proposal = view.latest("proposal")?;
        let own = view.seat() as i64;
        let offset = proposal
            .integers("order")?
            .iter()
            .position(|seat| *seat == own)?;
        Some(Self {
            plan: proposal.integers("plan")?,
            offset,
        })
    }

    fn share(&self) -> i64 {
        self.plan[self.offset]
    }
}

struct ByInduction {
    theory: Arc<Theory>,
}

impl RulePlayer for ByInduction {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        if let Form::Division { parts, total } = ask.form {
            return Action::Division(self.theory.plan(parts, total));
        }
        let accepts = Offer::latest(view).is_some_and(|offer| {
            self.theory
                .accepts(offer.plan.len(), offer.offset, offer.share())
        });
        vote(accepts)
    }
}

/// Proposes and votes out of character, whatever the others would do.
struct Character {
    /// Splits evenly instead of keeping everything.
    shares: bool,
    /// Whether it accepts a share, given an even one.
    accepts: fn(i64, i64) -> bool,
}

impl RulePlayer for Character {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        if let Form::Division { parts, total } = ask.form {
            return Action::Division(self.plan(parts, total));
        }
        let gold = view
            .first("briefing")
            .and_then(|sight| sight.integer("gold"))
            .unwrap_or(0);
        let accepts = Offer::latest(view)
            .is_some_and(|offer| (self.accepts)(offer.share(), gold / offer.plan.len() as i64));
        vote(accepts)
    }
}

impl Character {
    /// What does not divide goes to the most senior.
    fn plan(&self, parts: usize, total: i64) -> Vec<i64> {
        if !self.shares {
            let rest = std::iter::repeat_n(0, parts - 1);
            return std::iter::once(total).chain(rest).collect();
        }
        let (even, odd) = (total / parts as i64, total % parts as i64);
        (0..parts as i64)
            .map(|place| even + i64::from(place < odd))
            .collect()
    }
}
