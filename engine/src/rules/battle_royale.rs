//! Rule players of Battle Royale: whom each of them shoots at, from what its own
//! seat has seen. Whether a shot hits is the game's business, which makes them.

use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Seat};
use crate::chance::Generator;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "the play that the source counts as right: the same as strongest",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "strongest",
        summary: "shoots at the other living player with the highest hit rate",
    },
    StrategyInfo {
        name: "weakest",
        summary: "shoots at the other living player with the lowest hit rate",
    },
    StrategyInfo {
        name: "nearest",
        summary: "shoots at the living player whose turn is next",
    },
    StrategyInfo {
        name: "revenge",
        summary: "shoots at the last living player that shot at it, at the strongest before that",
    },
    StrategyInfo {
        name: "pacifist",
        summary: "always misses on purpose",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" | "strongest" => common::plain(strategy, settings, Shooter(Aim::Strongest)),
        "weakest" => common::plain(strategy, settings, Shooter(Aim::Weakest)),
        "nearest" => common::plain(strategy, settings, Shooter(Aim::Nearest)),
        "revenge" => common::plain(strategy, settings, Shooter(Aim::Revenge)),
        "pacifist" => common::plain(strategy, settings, Always(Action::Pass)),
        _ => common::make(strategy, settings),
    }
}

/// Whom to shoot at.
enum Aim {
    Strongest,
    Weakest,
    Nearest,
    Revenge,
}

struct Shooter(Aim);

impl Rule for Shooter {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let scene = Scene::new(view);
        let target = match self.0 {
            Aim::Strongest => scene.others().next_back(),
            Aim::Weakest => scene.others().next(),
            Aim::Nearest => scene.next_in_order(),
            Aim::Revenge => scene.last_attacker().or_else(|| scene.others().next_back()),
        };
        target.map_or(Action::Pass, Action::Target)
    }
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
