//! Who survives (arXiv 2311.03220, table 2): every resident over the sessions of a setting.
//! Residents are seats: needs and salaries belong to these, whoever plays them.

use serde::Serialize;

use super::reading::Town;
use crate::accumulator::Accumulator;

/// One resident over the sessions of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResidentRow {
    /// Its seat, from 0.
    pub seat: usize,
    /// Its name in the game; `seat N` where the game has no names.
    pub resident: String,
    /// Names of those who played it.
    pub players: Vec<String>,
    /// Whether it lived at the end, session by session; `None` where its player answered too
    /// little for that to be its own doing.
    pub survived: Vec<Option<bool>>,
    /// In how many sessions it answered enough: what the following are means of.
    pub n: u64,
    /// Share of these sessions in which it lived at the end, from 0 to 1.
    pub survival_rate: Option<f64>,
    /// Mean of the last day that it lived to see the morning of.
    pub survival_rounds: Option<f64>,
    /// Mean number of days with water.
    pub days_with_water: Option<f64>,
    /// Its bids above its balance, over all sessions.
    pub overbids: u64,
}

/// All residents so far, by seat.
#[derive(Debug, Clone, Default)]
pub(super) struct Residents {
    seats: Vec<Sums>,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    resident: String,
    players: Vec<String>,
    survived: Vec<Option<bool>>,
    survival_rounds: Accumulator,
    days_with_water: Accumulator,
    overbids: u64,
}

impl Residents {
    pub fn add(&mut self, town: &Town<'_>) {
        let seats = self.seats.len().max(town.residents.len());
        self.seats.resize(seats, Sums::default());
        for (seat, resident) in town.residents.iter().enumerate() {
            let sums = &mut self.seats[seat];
            sums.resident = resident
                .name
                .map_or_else(|| format!("seat {seat}"), str::to_owned);
            if !sums.players.iter().any(|name| name == resident.player) {
                sums.players.push(resident.player.to_owned());
            }
            let survived = resident.is_measured.then_some(resident.survived);
            sums.survived.push(survived);
            sums.overbids += resident.overbids;
            let last = town.number("survival_rounds", seat);
            sums.survival_rounds.add_known(last);
            let with_water = town.number("days_with_water", seat);
            sums.days_with_water.add_known(with_water);
        }
    }

    pub fn rows(&self) -> Vec<ResidentRow> {
        let rows = self.seats.iter().enumerate();
        let rows = rows.map(|(seat, sums)| ResidentRow {
            seat,
            resident: sums.resident.clone(),
            players: sums.players.clone(),
            survived: sums.survived.clone(),
            n: sums.survived.iter().flatten().count() as u64,
            survival_rate: share(sums.survived.iter()),
            survival_rounds: sums.survival_rounds.mean(),
            days_with_water: sums.days_with_water.mean(),
            overbids: sums.overbids,
        });
        rows.collect()
    }

    /// Of all of them together.
    pub fn survival_rate(&self) -> Option<f64> {
        let all = self.seats.iter().flat_map(|sums| &sums.survived);
        share(all)
    }
}

fn share<'a>(survived: impl Iterator<Item = &'a Option<bool>>) -> Option<f64> {
    let known: Vec<&bool> = survived.flatten().collect();
    let living = known.iter().filter(|survived| ***survived).count();
    (!known.is_empty()).then(|| living as f64 / known.len() as f64)
}
