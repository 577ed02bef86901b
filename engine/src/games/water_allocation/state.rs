//! The game in progress: mornings, allocation, health, who is out. Rules in prose and
//! parameters are in `water_allocation.rs`, which opens it; what is measured is in
//! `scores.rs`.

use super::{Ties, WaterParams, ask};
use crate::games::prelude::*;

/// More than there are seats, so that every draw of a day has an index of its own.
const DRAWS_A_DAY: u32 = 1_000;

/// The index of the draw among equal bids.
///
/// `day` from 1; `served`: how many had water on this day before.
pub(crate) fn tie_index(day: u32, served: usize) -> u32 {
    day * DRAWS_A_DAY + served as u32
}

/// The game in progress.
#[derive(Clone)]
pub struct WaterState {
    params: Arc<WaterParams>,
    residents: Vec<Resident>,
    asks: Vec<Ask>,
    day: u32,
    supply: i64,
}

#[derive(Clone)]
struct Resident {
    balance: Cents,
    health: i64,
    dry_days: i64,
    alive: bool,
}

/// What is left after these needs were met, the lowest first, as far as it lasts.
fn left_after(supply: i64, mut needs: Vec<i64>) -> i64 {
    needs.sort_unstable();
    let meet = |left: i64, need: i64| if need <= left { left - need } else { left };
    needs.into_iter().fold(supply, meet)
}

impl State for WaterState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        let mut bids = vec![None; self.residents.len()];
        for (ask, answer) in self.asks.iter().zip(answers) {
            bids[ask.seat] = answer.action().and_then(Action::amount);
        }
        let winners = self.allocate(&bids, chance);
        self.settle(&bids, &winners);
        let lived = self.living();
        let (eliminated, lost) = self.eliminate();
        let report = self
            .report(&lived, &bids, winners)
            .fact("eliminated", eliminated)
            .fact("living", self.living())
            .hidden("lost_balances", lost);
        log.push(report);
        if self.day == self.params.rounds || self.living().is_empty() {
            self.asks.clear();
        } else {
            self.start_day(chance, log);
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        let alive = |resident: &Resident| f64::from(u8::from(resident.alive));
        self.residents.iter().map(alive).collect()
    }
}

impl WaterState {
    /// Opens the first day.
    pub(super) fn open(params: &Arc<WaterParams>, chance: &mut Chance, log: &mut EventLog) -> Self {
        log.push(params.briefing());
        let newcomer = Resident {
            balance: Cents::ZERO,
            health: params.health_start,
            dry_days: params.dry_days_start,
            alive: true,
        };
        let mut state = Self {
            params: Arc::clone(params),
            residents: vec![newcomer; params.players],
            asks: Vec::new(),
            day: 0,
            supply: 0,
        };
        state.start_day(chance, log);
        state
    }

    /// The seats of the living.
    fn living(&self) -> Vec<Seat> {
        seats_where(self.residents.iter().map(|resident| resident.alive))
    }

    /// A column with a number for each of these seats and nothing for the others.
    fn of<T>(&self, seats: &[Seat], number: impl Fn(&Resident) -> T) -> Value
    where
        Value: From<Vec<T>> + From<Option<T>>,
    {
        let all = self.residents.iter().enumerate();
        let of = all.map(|(seat, resident)| seats.contains(&seat).then(|| number(resident)));
        column(of)
    }

    /// Pays salaries and announces the supply of the next day.
    fn start_day(&mut self, chance: &mut Chance, log: &mut EventLog) {
        self.day += 1;
        let living = self.living();
        for seat in &living {
            self.residents[*seat].balance += Cents::dollars(self.params.salaries[*seat]);
        }
        let WaterParams {
            supplies,
            supply_min,
            supply_max,
            ..
        } = &*self.params;
        self.supply = if supplies.is_empty() {
            chance.integer(SUPPLIES, self.day, *supply_min, *supply_max)
        } else {
            supplies[(self.day as usize - 1) % supplies.len()]
        };
        let params = &self.params;
        self.asks = living.iter().map(|seat| ask(params, *seat)).collect();
        log.push(
            Event::new("day_opened", self.day)
                .fact("supply", self.supply)
                .fact("living", living.clone())
                .fact("balances", self.of(&living, |resident| resident.balance))
                .fact("health", self.of(&living, |resident| resident.health))
                .fact("dry_days", self.of(&living, |resident| resident.dry_days))
                .only_for(living),
        );
    }

    /// Who gets water, in the order of allocation.
    fn allocate(&self, bids: &[Option<Cents>], chance: &mut Chance) -> Vec<Seat> {
        let least = if self.params.zero_bids_win {
            Cents::ZERO
        } else {
            Cents::ONE
        };
        let mut open: Vec<(Seat, Cents)> = bids
            .iter()
            .enumerate()
            .filter_map(|(seat, bid)| Some((seat, (*bid)?)))
            .filter(|(seat, bid)| (least..=self.residents[*seat].balance).contains(bid))
            .collect();
        let needs = &self.params.requirements;
        let (mut left, mut winners) = (self.supply, Vec::new());
        loop {
            open.retain(|(seat, _)| needs[*seat] <= left);
            let Some(highest) = open.iter().map(|(_, bid)| *bid).max() else {
                return winners;
            };
            let mut equal: Vec<Seat> = open
                .iter()
                .filter(|(_, bid)| *bid == highest)
                .map(|(seat, _)| *seat)
                .collect();
            match self.params.ties {
                Ties::LowerRequirement => {
                    let lowest = equal.iter().map(|seat| needs[*seat]).min();
                    equal.retain(|seat| Some(needs[*seat]) == lowest);
                }
                Ties::Nobody if equal.len() > 1 => {
                    open.retain(|(seat, _)| !equal.contains(seat));
                    left = left_after(left, equal.iter().map(|seat| needs[*seat]).collect());
                    continue;
                }
                Ties::Chance | Ties::Nobody => {}
            }
            let winner = match &*equal {
                [only] => *only,
                several => chance.seat_among(TIES, tie_index(self.day, winners.len()), several),
            };
            left -= needs[winner];
            open.retain(|(seat, _)| *seat != winner);
            winners.push(winner);
        }
    }

    /// Winners pay and recover, the other living ones suffer.
    fn settle(&mut self, bids: &[Option<Cents>], winners: &[Seat]) {
        let params = &self.params;
        for (seat, resident) in self.residents.iter_mut().enumerate() {
            if !resident.alive {
                continue;
            }
            if winners.contains(&seat) {
                resident.balance -= bids[seat].unwrap_or_default();
                resident.health = (resident.health + params.health_gain).min(params.health_max);
                resident.dry_days = params.dry_days_start;
            } else {
                resident.health -= resident.dry_days;
                resident.dry_days += 1;
            }
        }
    }

    /// Takes out who has no health left; who that is, and the balances lost.
    fn eliminate(&mut self) -> (Vec<Seat>, Vec<Cents>) {
        let (mut gone, mut lost) = (Vec::new(), Vec::new());
        for (seat, resident) in self.residents.iter_mut().enumerate() {
            if !resident.alive || resident.health > 0 {
                continue;
            }
            if self.params.elimination {
                resident.alive = false;
                gone.push(seat);
                lost.push(std::mem::take(&mut resident.balance));
            } else {
                resident.health = 0;
            }
        }
        (gone, lost)
    }

    /// What is told to all that lived through the day, those just eliminated included.
    fn report(&self, lived: &[Seat], bids: &[Option<Cents>], winners: Vec<Seat>) -> Event {
        let won: Vec<bool> = (0..bids.len())
            .map(|seat| winners.contains(&seat))
            .collect();
        Event::new("round_result", self.day)
            .only_for(lived.to_vec())
            .fact("supply", self.supply)
            .fact("bids", column(bids.iter().copied()))
            .fact("winners", winners)
            .fact("balances", self.of(lived, |resident| resident.balance))
            .fact("health", self.of(lived, |resident| resident.health))
            .fact("dry_days", self.of(lived, |resident| resident.dry_days))
            .own("bid", column(bids.iter().copied()))
            .own("won", won)
    }
}
