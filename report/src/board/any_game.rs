//! The table of a game without a scene of its own: what was said last.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;

use super::Fold;
use super::scene::{BoardSeat, Scene, Stated};
use super::seen::Seen;
use crate::story;

/// See the module.
#[derive(Default)]
pub struct Facts(Vec<Stated>);

impl Fold for Facts {
    fn see(&mut self, event: &Seen<'_>) {
        let facts = event.facts().map(|(name, value)| Stated {
            name: name.replace('_', " "),
            value: story::value(value),
        });
        self.0 = facts.collect();
    }

    fn scene(&self) -> Scene {
        Scene::Facts {
            facts: self.0.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        BoardSeat::playing(seat)
    }
}
