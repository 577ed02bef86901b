//! Rule players of Divide the Dollar: fixed bids, and one that follows the last sum.
//! They see only their own seat's view. Made by the game.

use super::DollarParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<DollarParams>] = &[
    Strategy::new(
        "equilibrium",
        "an even share; the first seats take what does not divide",
        |params, request| request.always(Action::Integer(params.even_share(request.seat))),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("greedy", "bids all of the gold", |params, request| {
        request.always(Action::Integer(params.golds))
    }),
    Strategy::new(
        "dominant",
        "always bids the same large amount: bid = .. (91 percent of the gold)",
        |params, request| {
            let bid = params.golds * DOMINANT_PERCENT / 100;
            let bid = request.only_within("bid", bid, 0..=params.golds)?;
            request.made(Always(Action::Integer(bid)))
        },
    ),
    Strategy::new(
        "adaptive",
        "starts with an even share, then scales its bid so that the last sum would fit",
        |params, request| {
            let (golds, first) = (params.golds, params.even_share(request.seat));
            request.plain(Adaptive { golds, first })
        },
    ),
];

/// What the paper's one scripted player asks for, in percent of the gold.
const DOMINANT_PERCENT: i64 = 91;

/// Scales its last bid by what the last sum missed the gold by. When all adapt,
/// sums meet the gold at once, whatever the bids were.
struct Adaptive {
    golds: i64,
    first: i64,
}

impl RulePlayer for Adaptive {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last = view.latest("round_result").and_then(|sight| {
            let total = sight.integer("total")?;
            Some((sight.integer("bid")?, total))
        });
        let bid = match last {
            Some((bid, total)) if total > 0 => {
                let scaled = i128::from(bid) * i128::from(self.golds) / i128::from(total);
                (scaled as i64).clamp(0, self.golds)
            }
            _ => self.first,
        };
        Action::Integer(bid)
    }
}
