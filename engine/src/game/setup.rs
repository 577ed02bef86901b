//! The parameters that games share, checked in one place. A game hands them out as
//! [`super::Parameters::setup`] says, and makes its briefing and its asks from them.

use super::checks::{MOST_ROUNDS, check_within, require};
use super::{GameInfo, ParameterError};
use crate::ask::{Ask, AskRole, Form, Seat};
use crate::event::Event;
use crate::names::Name;

/// More tries than any model needs; each is a call that somebody pays.
const MOST_FOULS: u32 = 100;

/// Who plays, for how long, and how patiently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Number of players, the parameter `players`.
    pub players: usize,
    /// Number of rounds, the parameter `rounds`; `None` in a game that ends otherwise.
    pub rounds: Option<u32>,
    /// Fouls forgiven per ask, the parameter `foul_allowance`.
    pub foul_allowance: u32,
}

impl Setup {
    pub(super) fn check(&self, info: &GameInfo) -> Result<(), ParameterError> {
        let (fewest, most) = info.seats;
        let players = self.players;
        require!(
            (fewest..=most).contains(&players),
            "players",
            "{} needs {fewest} to {most} players, not {players}",
            info.name
        );
        if let Some(rounds) = self.rounds {
            check_within("rounds", rounds, 1..=MOST_ROUNDS)?;
        }
        check_within("foul_allowance", self.foul_allowance, 0..=MOST_FOULS)
    }

    /// The briefing, with what this says; to it the game adds its own parameters.
    pub fn briefing(&self) -> Event {
        let event = Event::new("briefing", 0).fact("players", self.players);
        match self.rounds {
            Some(rounds) => event.fact("rounds", rounds),
            None => event,
        }
    }

    /// An ask of a seat.
    pub fn ask(&self, seat: Seat, role: AskRole, kind: &'static str, form: Form) -> Ask {
        Ask {
            seat,
            kind: Name::Borrowed(kind),
            role,
            form,
            foul_allowance: self.foul_allowance,
        }
    }
}
