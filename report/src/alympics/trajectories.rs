//! Trajectories (arXiv 2311.03220, appendix A.3, figures 7 to 9): how bids, balances and
//! health of each resident go from day to day, over the sessions in which it still lives.

use serde::Serialize;

use super::reading::{Evening, Town};
use crate::accumulator::Accumulator;

/// One resident, day by day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrajectoryRow {
    /// Its seat, from 0.
    pub seat: usize,
    /// Day by day, as far as it lived in any session.
    pub days: Vec<TrajectoryPoint>,
}

/// One day of it: means over the sessions in which it lived in the morning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrajectoryPoint {
    /// From 1.
    pub day: u32,
    /// How many sessions these are.
    pub sessions: u64,
    /// What it bid, 0 for no bid; bids above the balance are left out.
    pub bid: Option<f64>,
    /// Its balance in the evening; 0 for who died on this day.
    pub balance: Option<f64>,
    /// Its health in the evening; 0 for who died on this day.
    pub health: Option<f64>,
}

/// All residents so far, by seat.
#[derive(Debug, Clone, Default)]
pub(super) struct Trajectories {
    seats: Vec<Vec<Point>>,
}

#[derive(Debug, Clone, Default)]
struct Point {
    day: u32,
    bid: Accumulator,
    balance: Accumulator,
    health: Accumulator,
}

impl Trajectories {
    pub fn add(&mut self, town: &Town<'_>) {
        let seats = self.seats.len().max(town.residents.len());
        self.seats.resize(seats, Vec::new());
        for (place, day) in town.days.iter().enumerate() {
            let residents = town.residents.iter().zip(&day.living);
            for (points, (resident, evening)) in self.seats.iter_mut().zip(residents) {
                let Some(evening) = evening.as_ref().filter(|_| resident.is_measured) else {
                    continue;
                };
                let days = points.len().max(place + 1);
                points.resize(days, Point::default());
                points[place].add(day.day, evening);
            }
        }
    }

    pub fn rows(&self) -> Vec<TrajectoryRow> {
        let rows = self.seats.iter().enumerate();
        let rows = rows.map(|(seat, points)| TrajectoryRow {
            seat,
            days: points.iter().map(Point::row).collect(),
        });
        rows.collect()
    }
}

impl Point {
    fn add(&mut self, day: u32, evening: &Evening) {
        self.day = day;
        self.bid.add_known(evening.bid);
        self.balance.add(evening.balance);
        self.health.add(evening.health);
    }

    fn row(&self) -> TrajectoryPoint {
        TrajectoryPoint {
            day: self.day,
            sessions: self.balance.count(),
            bid: self.bid.mean(),
            balance: self.balance.mean(),
            health: self.health.mean(),
        }
    }
}
