//! What stands on the table of a session after each of its events, for pictures: a scene of its game
//! and what is to be seen at every seat. Folded from events, seen by everybody or by one seat, through
//! one door (`seen.rs`); what is unknown is absent. Draws nothing. Called by `viewing.rs`.

mod any_game;
mod auctions;
mod battle_royale;
mod english_auction;
mod guessing;
mod judging;
mod pirate;
mod scene;
mod seen;
mod sharing;
mod water;

use agon_engine::spec::Settings;
use agon_engine::{Event, Seat};

pub use scene::{Board, BoardSeat, Mark, Meter, Scene, Stated};
pub(crate) use seen::Seen;

/// Folds the events of a game into its scene.
trait Fold: Send {
    /// Takes in what happened, as far as it is seen.
    fn see(&mut self, event: &Seen<'_>);

    /// What a round is called ("Day 3").
    fn round(&self, round: u32) -> String {
        format!("Round {round}")
    }

    /// What is to be seen now.
    fn scene(&self) -> Scene;

    /// What is to be seen at a seat.
    fn seat(&self, seat: Seat) -> BoardSeat;
}

/// The table of a session.
pub struct Table {
    seats: usize,
    viewer: Option<Seat>,
    heading: String,
    game: Box<dyn Fold>,
}

impl Table {
    /// An empty table of a game with these parameters, seen by everybody or by one seat.
    pub fn new(game: &str, params: &Settings, seats: usize, viewer: Option<Seat>) -> Self {
        let game: Box<dyn Fold> = match game {
            "guess_two_thirds" | "beauty_contest" | "guess_to_survive" => {
                Box::new(guessing::Line::new(params, seats))
            }
            "el_farol" => Box::new(sharing::Room::new(params, seats)),
            "diners_dilemma" => Box::new(sharing::Dinner::new(seats)),
            "public_goods" => Box::new(sharing::Pot::new(params, seats)),
            "divide_dollar" => Box::new(sharing::Share::new(params, seats)),
            "sealed_bid_auction" | "second_price_auction" => {
                Box::new(auctions::Envelopes::new(seats))
            }
            "ascending_auction" => Box::new(auctions::Clock::new(seats)),
            "english_auction" => Box::new(english_auction::Rising::new(seats)),
            "battle_royale" => Box::new(battle_royale::Circle::new(seats)),
            "pirate" => Box::new(pirate::Crew::new(params, seats)),
            "water_allocation" => Box::new(water::Town::new(params, seats)),
            "judging" => Box::new(judging::Criteria::default()),
            _ => Box::new(any_game::Facts::default()),
        };
        Self {
            seats,
            viewer,
            heading: "Before the first round".to_owned(),
            game,
        }
    }

    /// Takes in an event, unless its viewer could not see it.
    pub fn see(&mut self, event: &Event) {
        let Some(seen) = Seen::new(event, self.viewer) else {
            return;
        };
        self.game.see(&seen);
        if event.round > 0 {
            self.heading = self.game.round(event.round);
        }
    }

    /// What is to be seen now.
    pub fn board(&self) -> Board {
        Board {
            heading: self.heading.clone(),
            scene: self.game.scene(),
            seats: (0..self.seats).map(|seat| self.game.seat(seat)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
