//! Rule players that judge a record: the middle of the range of ratings, and those that
//! every game has. They read nothing of the record. Made by the game.

use super::JudgingParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<JudgingParams>] = &[
    Strategy::new(
        "equilibrium",
        "the middle of the range, of two the lower one",
        |params, request| request.always(Action::Integer(middle(params))),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
];

/// The middle of the range of ratings, of two the lower one.
pub fn middle(params: &JudgingParams) -> i64 {
    (params.lowest + params.highest).div_euclid(2)
}
