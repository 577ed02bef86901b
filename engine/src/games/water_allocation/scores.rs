//! Measures of one session of the Water Allocation Challenge, from its events.
//! Tables over repeats (who survives how often) belong to the reports. Called by
//! `water_allocation.rs`.

use super::WaterParams;
use crate::games::prelude::*;

/// Survival, resource satisfaction and minimum successful bids (arXiv 2311.03220,
/// section 4); trajectories of bids, balances and health.
///
/// `survival` is 100 times survivors / residents; `bid_share` the mean of 100 times
/// bid / balance in the morning, over bids that the balance covers. RSR = E(supply)
/// / sum of the living's requirements, at the start and at the end; the latter is
/// left out when nobody lives. The minimum successful bid of a day is the lowest
/// that won; days without a winner are left out. `survival_rounds` and `adaptation`
/// are those of arXiv 2402.01521, appendix C; a bid deviates from the highest bid of
/// another on that day (as in the survival auction there). Bids above the balance, which
/// can win nothing, neither deviate nor are deviated from: one huge number would be all
/// that is left of the index of everybody else. They stay in the series `bids`, and are
/// listed in `overbid_days` and `overbid_seats`. `rsr` is the RSR of each morning.
pub(super) fn measures(params: &WaterParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let days: Vec<Day<'_>> = days(params.players, log).collect();
    let Some(last) = days.last() else {
        return measures;
    };
    let survivors = &last.living;
    let players = params.players as f64;
    measures.score("survival", 100.0 * survivors.len() as f64 / players);
    let shares = days.iter().flat_map(|day| day.bid_shares(params.players));
    let shares: Vec<f64> = shares.collect();
    if !shares.is_empty() {
        measures.score("bid_share", mean(shares));
    }
    measures.part("survivors", survivors.len() as f64);
    measures.part("last_day", f64::from(last.result.round));
    let everybody: Vec<Seat> = (0..params.players).collect();
    measures.part("rsr_start", satisfaction(params, &everybody));
    if !survivors.is_empty() {
        measures.part("rsr_end", satisfaction(params, survivors));
    }
    let lowest: Vec<[f64; 2]> = days.iter().filter_map(Day::minimum_bid).collect();
    if !lowest.is_empty() {
        measures.part("minimum_bid", mean(lowest.iter().map(|[_, bid]| *bid)));
    }
    overbids(params.players, &days, &mut measures);
    let morning = days.iter().map(|day| day.morning(params.players));
    let satisfied = morning.map(|living| satisfaction(params, &living));
    measures.series("rsr", satisfied.collect());
    measures.columns(["minimum_bid_days", "minimum_bid"], &lowest);
    per_seat(params.players, &days, survivors, &mut measures);
    survival::rounds_lasted(params.players, log, &mut measures);
    let mut deviations: Vec<survival::Deviations> = vec![Vec::new(); params.players];
    for day in &days {
        day.deviations(&mut deviations);
    }
    survival::adaptation(params.rounds, &deviations, &mut measures);
    trajectories(params.players, &days, &mut measures);
    measures
}

/// A day: its result, and of every seat the balance in the morning and the bid.
struct Day<'a> {
    result: &'a Event,
    balances: Vec<Option<f64>>,
    bids: Vec<Option<f64>>,
    /// Who lived in the evening.
    living: Vec<Seat>,
    winners: Vec<Seat>,
}

fn days(players: usize, log: &EventLog) -> impl Iterator<Item = Day<'_>> {
    let opened = log.of_kind("day_opened");
    let pairs = opened.zip(log.of_kind("round_result"));
    pairs.map(move |(opened, result)| Day {
        result,
        balances: by_seat(players, opened, "balances"),
        bids: by_seat(players, result, "bids"),
        living: seats(result, "living"),
        winners: seats(result, "winners"),
    })
}

fn by_seat(players: usize, event: &Event, name: &str) -> Vec<Option<f64>> {
    let column = event.get(name);
    let number = |seat| column?.number_at(seat);
    (0..players).map(number).collect()
}

fn seats(event: &Event, name: &str) -> Vec<Seat> {
    let seats = event.integers(name).iter();
    seats
        .filter_map(|seat| usize::try_from(*seat).ok())
        .collect()
}

impl Day<'_> {
    fn bid(&self, seat: Seat) -> Option<f64> {
        self.bids.get(seat).copied().flatten()
    }

    fn balance(&self, seat: Seat) -> Option<f64> {
        self.balances.get(seat).copied().flatten()
    }

    /// Bids in percent of the balance, of those that it covers.
    fn bid_shares(&self, players: usize) -> impl Iterator<Item = f64> {
        (0..players).filter_map(|seat| {
            let (bid, balance) = (self.bid(seat)?, self.balance(seat)?);
            (bid <= balance).then_some(100.0 * bid / balance)
        })
    }

    fn is_overbid(&self, seat: Seat) -> bool {
        self.bid(seat) > self.balance(seat)
    }

    /// Who lived when the day began.
    fn morning(&self, players: usize) -> Vec<Seat> {
        let lived = |seat: &Seat| self.balance(*seat).is_some();
        (0..players).filter(lived).collect()
    }

    /// Adds how far each seat's bid was from the highest of the others', among bids that
    /// balances cover.
    fn deviations(&self, into: &mut [survival::Deviations]) {
        let bid = |seat| self.bid(seat).filter(|_| !self.is_overbid(seat));
        let Some(best) = top_bids((0..into.len()).map(bid)) else {
            return;
        };
        for (seat, deviations) in into.iter_mut().enumerate() {
            let other = if seat == best.seat {
                best.second
            } else {
                Some(best.highest)
            };
            if let (Some(bid), Some(other)) = (bid(seat), other) {
                deviations.push((self.result.round, (bid - other).abs()));
            }
        }
    }

    /// The day and the lowest bid that won.
    fn minimum_bid(&self) -> Option<[f64; 2]> {
        let bids = self.winners.iter().filter_map(|seat| self.bid(*seat));
        let lowest = bids.reduce(smaller)?;
        Some([f64::from(self.result.round), lowest])
    }
}

/// RSR: the expected supply as a share of what these seats need.
fn satisfaction(params: &WaterParams, seats: &[Seat]) -> f64 {
    let expected = if params.supplies.is_empty() {
        (params.supply_min + params.supply_max) as f64 / 2.0
    } else {
        mean(params.supplies.iter().map(|supply| *supply as f64))
    };
    let needed: i64 = seats.iter().map(|seat| params.requirements[*seat]).sum();
    expected / needed as f64
}

/// Bids above the balance: how many, and on which days by whom.
fn overbids(players: usize, days: &[Day<'_>], measures: &mut Measures) {
    let mut overbids = Vec::new();
    for day in days {
        let seats = (0..players).filter(|seat| day.is_overbid(*seat));
        overbids.extend(seats.map(|seat| [f64::from(day.result.round), seat as f64]));
    }
    measures.part("overbids", overbids.len() as f64);
    measures.columns(["overbid_days", "overbid_seats"], &overbids);
}

/// One number per seat.
fn per_seat(players: usize, days: &[Day<'_>], survivors: &[Seat], measures: &mut Measures) {
    let count = |holds: &dyn Fn(&Day<'_>, Seat) -> bool| {
        let of_seat = |seat| days.iter().filter(|day| holds(day, seat)).count() as f64;
        (0..players).map(of_seat).collect::<Vec<f64>>()
    };
    let survived = |seat| f64::from(u8::from(survivors.contains(&seat)));
    measures.series("survived", (0..players).map(survived).collect());
    let lived = |day: &Day<'_>, seat: Seat| day.living.contains(&seat);
    measures.series("days_lived", count(&lived));
    let won = |day: &Day<'_>, seat: Seat| day.winners.contains(&seat);
    measures.series("days_with_water", count(&won));
}

/// Day by day, one entry per seat within each day; 0 where a seat bids nothing or
/// is out.
fn trajectories(players: usize, days: &[Day<'_>], measures: &mut Measures) {
    let supply = days.iter().filter_map(|day| day.result.number("supply"));
    measures.series("supply", supply.collect());
    let living = days.iter().map(|day| day.living.len() as f64);
    measures.series("living", living.collect());
    for name in ["bids", "balances", "health"] {
        let numbers = days
            .iter()
            .flat_map(|day| by_seat(players, day.result, name));
        let entries = numbers.map(|number| larger(number.unwrap_or(0.0), 0.0));
        measures.series(name, entries.collect());
    }
}
