//! Shooters in a circle, the weakest first.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;

use super::Fold;
use super::scene::{BoardSeat, Scene, Shooter, Shot};
use super::seen::Seen;

/// See the module.
pub struct Circle {
    shooters: Vec<Shooter>,
    shot: Option<Shot>,
}

impl Circle {
    pub fn new(seats: usize) -> Self {
        let shooter = |seat| Shooter {
            seat,
            hit_rate: None,
            alive: true,
        };
        Self {
            shooters: (0..seats).map(shooter).collect(),
            shot: None,
        }
    }
}

impl Fold for Circle {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" => {
                for shooter in &mut self.shooters {
                    let seat = shooter.seat;
                    let own = event.number_of("hit_rate", seat);
                    let rates = event.fact("hit_rates");
                    shooter.hit_rate = own.or_else(|| rates.entry(seat).number());
                }
                // Turns go by position; where it is told only to each, by seat.
                let place = |seat: Seat| event.number_of("position", seat).unwrap_or(0.0);
                self.shooters
                    .sort_by(|one, other| place(one.seat).total_cmp(&place(other.seat)));
            }
            "shot" => {
                let alive = event.seats("alive");
                for shooter in &mut self.shooters {
                    shooter.alive = alive.contains(&shooter.seat);
                }
                let hit = event.text("result").map(|result| result == "hit");
                self.shot = event.seat("shooter").map(|by| Shot {
                    by,
                    at: event.seat("target"),
                    hit,
                });
            }
            _ => {}
        }
    }

    fn scene(&self) -> Scene {
        Scene::Circle {
            shooters: self.shooters.clone(),
            shot: self.shot.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let shooter = self.shooters.iter().find(|shooter| shooter.seat == seat);
        let alive = shooter.is_none_or(|shooter| shooter.alive);
        let mut shown = BoardSeat::playing(seat)
            .figure(
                "hits in percent",
                shooter.and_then(|shooter| shooter.hit_rate),
            )
            .mark("out", !alive);
        shown.in_play = alive;
        shown
    }
}
