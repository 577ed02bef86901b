//! Rule players of Battle Royale: whom each of them shoots at, from what its own
//! seat has seen. Whether a shot hits is the game's business, which makes them.

use super::BattleParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<BattleParams>] = &[
    Strategy::new(
        "equilibrium",
        "the play that the source counts as right: the same as strongest",
        |_, request| request.plays(|_, view, _| shot(others(view).next_back())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "strongest",
        "shoots at the other living player with the highest hit rate",
        |_, request| request.plays(|_, view, _| shot(others(view).next_back())),
    ),
    Strategy::new(
        "weakest",
        "shoots at the other living player with the lowest hit rate",
        |_, request| request.plays(|_, view, _| shot(others(view).next())),
    ),
    Strategy::new(
        "nearest",
        "shoots at the living player whose turn is next",
        |_, request| {
            request.plays(|_, view, _| {
                let after = others(view).find(|seat| *seat > view.seat());
                shot(after.or_else(|| others(view).next()))
            })
        },
    ),
    Strategy::new(
        "revenge",
        "shoots at the last living player that shot at it, at the strongest before that",
        |_, request| {
            request
                .plays(|_, view, _| shot(last_attacker(view).or_else(|| others(view).next_back())))
        },
    ),
    Strategy::new("pacifist", "always misses on purpose", |_, request| {
        request.always(Action::Pass)
    }),
];

fn shot(target: Option<Seat>) -> Action {
    target.map_or(Action::Pass, Action::Target)
}

/// The other living seats as the shooter knows them, weakest first: hit rates grow with seats.
fn others<'a>(view: &View<'a>) -> impl DoubleEndedIterator<Item = Seat> + use<'a> {
    let own = view.seat();
    let briefing = view.first("briefing");
    let rates = briefing.and_then(|sight| sight.integers("hit_rates"));
    let shot = view.latest("shot");
    // All live before the first shot.
    let alive = shot.and_then(|sight| sight.integers("alive"));
    let lives = move |seat| alive.is_none_or(|alive| alive.binary_search(&(seat as i64)).is_ok());
    (0..rates.map_or(0, <[i64]>::len)).filter(move |seat| *seat != own && lives(*seat))
}

fn last_attacker(view: &View<'_>) -> Option<Seat> {
    let own = view.seat() as i64;
    let shots = view.of_kind("shot").rev();
    let attacks = shots.filter(|shot| shot.integer("target") == Some(own));
    let mut attackers = attacks.filter_map(|shot| usize::try_from(shot.integer("shooter")?).ok());
    attackers.find(|attacker| others(view).any(|seat| seat == *attacker))
}
