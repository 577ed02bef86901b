//! Pirates by rank: a proposal, votes, and who went overboard.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;
use agon_engine::spec::Settings;

use super::Fold;
use super::scene::{BoardSeat, Pirate, Scene};
use super::seen::{Seen, parameter};

/// See the module.
pub struct Crew {
    gold: f64,
    crew: Vec<Pirate>,
    proposer: Option<Seat>,
    accepted: Option<bool>,
}

impl Crew {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let pirate = |seat| Pirate {
            seat,
            rank: seat + 1,
            aboard: true,
            gold: None,
            vote: None,
        };
        Self {
            gold: parameter(params, "gold").unwrap_or(0.0),
            crew: (0..seats).map(pirate).collect(),
            proposer: None,
            accepted: None,
        }
    }

    fn of(&mut self, seat: Seat) -> Option<&mut Pirate> {
        self.crew.iter_mut().find(|pirate| pirate.seat == seat)
    }
}

impl Fold for Crew {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "proposal" => {
                // Whoever is in no order any more was thrown overboard.
                let (order, plan) = (event.seats("order"), event.fact("plan"));
                for pirate in &mut self.crew {
                    pirate.aboard = order.contains(&pirate.seat);
                    (pirate.gold, pirate.vote) = (None, None);
                }
                for (place, seat) in order.iter().enumerate() {
                    if let Some(pirate) = self.of(*seat) {
                        pirate.gold = plan.entry(place).number();
                    }
                }
                self.proposer = event.seat("proposer");
                self.accepted = None;
            }
            "vote_result" => {
                self.accepted = event.fact("accepted").flag();
                for pirate in &mut self.crew {
                    pirate.vote = event.text_of("vote", pirate.seat);
                }
                if self.accepted == Some(false)
                    && let Some(pirate) = event.seat("proposer").and_then(|seat| self.of(seat))
                {
                    pirate.aboard = false;
                }
            }
            _ => {}
        }
    }

    fn round(&self, round: u32) -> String {
        format!("Proposal {round}")
    }

    fn scene(&self) -> Scene {
        Scene::Crew {
            gold: self.gold,
            crew: self.crew.clone(),
            proposer: self.proposer,
            accepted: self.accepted,
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let pirate = &self.crew[seat];
        let vote = pirate.vote.as_deref();
        let mut shown = BoardSeat::playing(seat)
            .figure("gold proposed", pirate.gold)
            .mark("proposes", self.proposer == Some(seat))
            .mark("accepts", vote == Some("accept"))
            .mark("rejects", vote == Some("reject"))
            .mark("overboard", !pirate.aboard);
        shown.in_play = pirate.aboard;
        shown
    }
}
