//! What the measures need of one session's record, in one shape for contests and auctions.
//! Reads what the game wrote down; adds actions over the bound or the private value.

use agon_engine::Seat;
use agon_engine::record::StoredRecord;

use super::GAMES;
use crate::basis::SessionAnswers;

/// Most runs times seats of a session that is measured, as many as the largest game has.
const MOST_POINTS: u64 = 1_000_000;

/// One finished session of some runs.
pub(super) struct Played<'a> {
    pub record: &'a StoredRecord,
    /// Names by seat.
    pub players: Vec<&'a str>,
    pub is_auction: bool,
    pub rounds: u32,
    /// How many past runs are shown at most.
    pub history_shown: u32,
    pub void_rounds: u64,
    /// Valid actions by run, then seat, of players that answered enough to be measured.
    pub actions: Vec<Taken>,
    /// By seat, whether its player did.
    measured: Vec<bool>,
}

/// One valid action.
pub(super) struct Taken {
    pub seat: Seat,
    /// From 1.
    pub round: u32,
    /// As it was said.
    pub action: f64,
    /// Formula 3; in contests the action over the bound.
    pub deviation: f64,
    /// The action over the bound (contests) or over the private value (auctions).
    pub relative: Option<f64>,
    /// How far it is from the equilibrium action, over the bound or over the assets.
    pub distance: Option<f64>,
}

impl<'a> Played<'a> {
    /// `None` for a record of another game, and for one that lacks what every session has.
    pub fn read(record: &'a StoredRecord) -> Option<Self> {
        let game = GAMES.iter().find(|(name, _)| *name == record.spec.game)?;
        let is_auction = game.0 != GAMES[0].0;
        let rounds = count(record, "rounds")?;
        // Every run leaves an event, and has a point for every player.
        let points = u64::from(rounds).saturating_mul(record.spec.seats.len() as u64);
        if rounds as usize > record.events.len() || points > MOST_POINTS {
            return None;
        }
        let measured = SessionAnswers::of(record).measured_seats(&record.spec.seats);
        let mut actions = actions(record, is_auction);
        actions.retain(|taken| measured.get(taken.seat) == Some(&true));
        Some(Self {
            record,
            players: record.spec.seats.iter().map(|seat| &*seat.name).collect(),
            is_auction,
            rounds,
            // What is told of past runs matters where there are some.
            history_shown: if rounds > 1 {
                count(record, "history")?
            } else {
                0
            },
            void_rounds: *record.measures.parts.get("void_rounds")? as u64,
            actions,
            measured,
        })
    }

    /// A number of a seat that the game wrote down at the end; `None` where its player
    /// answered too little.
    pub fn number(&self, series: &str, seat: Seat) -> Option<f64> {
        let is_measured = self.measured.get(seat).copied()?;
        self.of_any(series, seat).filter(|_| is_measured)
    }

    /// The same whatever was answered.
    pub fn of_any(&self, series: &str, seat: Seat) -> Option<f64> {
        self.record.measures.series.get(series)?.get(seat).copied()
    }
}

/// A parameter that is a whole number.
fn count(record: &StoredRecord, name: &str) -> Option<u32> {
    let number = record.spec.params.get(name)?.as_u64()?;
    u32::try_from(number).ok()
}

/// None where no run had a result.
fn actions(record: &StoredRecord, is_auction: bool) -> Vec<Taken> {
    let series = &record.measures.series;
    let column = |name: &str| series.get(name).map(Vec::as_slice).unwrap_or_default();
    let values = column("private_values");
    let bound = record.measures.parts.get("bound").copied();
    let (rounds, deviations) = (column("action_rounds"), column("deviations"));
    let distances = column("distances");
    let said = column("actions").iter().zip(column("action_seats"));
    let with_rounds = said.zip(rounds).zip(deviations).enumerate();
    let taken = with_rounds.map(|(place, (((action, seat), round), deviation))| {
        let seat = *seat as Seat;
        let (relative, distance) = if is_auction {
            let relative = values.get(seat).map(|value| action / value);
            (relative, distances.get(place).copied())
        } else {
            // The equilibrium action is 0, and both are over the bound.
            let relative = bound.map(|bound| action / bound);
            (relative, Some(*deviation))
        };
        Taken {
            seat,
            round: *round as u32,
            action: *action,
            deviation: *deviation,
            relative,
            distance,
        }
    });
    taken.collect()
}
