//! Rule players of Battle Royale: whom each of them shoots at, from what its own
//! seat has seen. Whether a shot hits is the game's business, which makes them.

use super::BattleParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<BattleParams>] = &[
    Strategy::new(
        "equilibrium",
        "the play that the source counts as right: the same as strongest",
        |_, request| request.plays(|_, view, _| shot(Scene::new(view).strongest())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "strongest",
        "shoots at the other living player with the highest hit rate",
        |_, request| request.plays(|_, view, _| shot(Scene::new(view).strongest())),
    ),
    Strategy::new(
        "weakest",
        "shoots at the other living player with the lowest hit rate",
        |_, request| request.plays(|_, view, _| shot(Scene::new(view).others().next())),
    ),
    Strategy::new(
        "nearest",
        "shoots at the living player whose turn is next",
        |_, request| request.plays(|_, view, _| shot(Scene::new(view).next_in_order())),
    ),
    Strategy::new(
        "revenge",
        "shoots at the last living player that shot at it, at the strongest before that",
        |_, request| {
            request.plays(|_, view, _| {
                let scene = Scene::new(view);
                shot(scene.last_attacker().or_else(|| scene.strongest()))
            })
        },
    ),
    Strategy::new("pacifist", "always misses on purpose", |_, request| {
        request.always(Action::Pass)
    }),
];

fn shot(target: Option<Seat>) -> Action {
    target.map_or(Action::Pass, Action::Target)
}

/// Who lives, as the shooter knows it.
struct Scene<'a> {
    view: &'a View<'a>,
    players: Seat,
    /// Living seats in order; `None` before the first shot, when all live.
    alive: Option<&'a [i64]>,
}

impl<'a> Scene<'a> {
    fn new(view: &'a View<'a>) -> Self {
        let briefing = view.first("briefing");
        let rates = briefing.and_then(|sight| sight.integers("hit_rates"));
        Self {
            view,
            players: rates.map_or(0, <[i64]>::len),
            alive: view
                .latest("shot")
                .and_then(|sight| sight.integers("alive")),
        }
    }

    /// The other living seats, weakest first: hit rates grow with seats.
    fn others(&self) -> impl DoubleEndedIterator<Item = Seat> {
        (0..self.players).filter(|seat| self.is_other(*seat))
    }

    fn strongest(&self) -> Option<Seat> {
        self.others().next_back()
    }

    fn is_other(&self, seat: Seat) -> bool {
        let lives = self
            .alive
            .is_none_or(|alive| alive.binary_search(&(seat as i64)).is_ok());
        lives && seat != self.view.seat()
    }

    fn next_in_order(&self) -> Option<Seat> {
        let after = self.others().find(|seat| *seat > self.view.seat());
        after.or_else(|| self.others().next())
    }

    fn last_attacker(&self) -> Option<Seat> {
        let own = self.view.seat() as i64;
        let shots = self.view.of_kind("shot").rev();
        let attacks = shots.filter(|shot| shot.integer("target") == Some(own));
        let mut attackers =
            attacks.filter_map(|shot| usize::try_from(shot.integer("shooter")?).ok());
        attackers.find(|attacker| self.is_other(*attacker))
    }
}
