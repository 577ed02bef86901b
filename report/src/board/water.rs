//! A town short of water: houses with health, money and days without water.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;
use agon_engine::spec::Settings;

use super::Fold;
use super::scene::{BoardSeat, House, Scene};
use super::seen::{Seen, parameter};

/// See the module.
pub struct Town {
    supply: Option<f64>,
    houses: Vec<House>,
}

impl Town {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let most_health = parameter(params, "health_max").unwrap_or(0.0);
        let house = |seat| House {
            seat,
            alive: true,
            most_health,
            ..House::default()
        };
        Self {
            supply: None,
            houses: (0..seats).map(house).collect(),
        }
    }
}

impl Fold for Town {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" => {
                for house in &mut self.houses {
                    house.needs = event.number_of("requirements", house.seat);
                    house.health = event.number("health_start");
                }
            }
            "day_opened" | "round_result" => {
                self.supply = event.number("supply");
                let (living, winners) = (event.seats("living"), event.seats("winners"));
                for house in &mut self.houses {
                    let seat = house.seat;
                    house.alive = living.contains(&seat);
                    house.balance = event.number_of("balances", seat);
                    house.health = event.number_of("health", seat);
                    house.dry_days = event.number_of("dry_days", seat);
                    house.bid = event.number_of("bids", seat);
                    house.won = winners.contains(&seat);
                }
            }
            _ => {}
        }
    }

    fn round(&self, round: u32) -> String {
        format!("Day {round}")
    }

    fn scene(&self) -> Scene {
        Scene::Town {
            supply: self.supply,
            houses: self.houses.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let house = &self.houses[seat];
        let mut shown = BoardSeat::playing(seat)
            .meter("health", house.health, house.most_health)
            .figure("balance", house.balance)
            .figure("days without water", house.dry_days)
            .figure("needs", house.needs)
            .figure("bid", house.bid)
            .mark("got water", house.won)
            .mark("out", !house.alive);
        shown.in_play = house.alive;
        shown
    }
}
