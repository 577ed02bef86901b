//! Guesses on a number line, in three games: with a ratio of the mean as target, and where whoever is
//! not closest loses health.

use agon_engine::Seat;
use agon_engine::spec::Settings;

use super::Fold;
use super::scene::{BoardSeat, Dot, Drift, Mark, Scene};
use super::seen::{Seen, parameter};

/// Rounds whose targets are shown, the last ones: each table holds them again.
const MOST_DRIFT: usize = 100;

/// See the module.
pub struct Line {
    low: f64,
    high: f64,
    most_health: f64,
    dots: Vec<Option<Dot>>,
    health: Vec<Option<f64>>,
    out: Vec<bool>,
    marks: Vec<Mark>,
    drift: Vec<Drift>,
}

impl Line {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let health = parameter(params, "health");
        Self {
            low: parameter(params, "min").unwrap_or(0.0),
            high: parameter(params, "max").unwrap_or(100.0),
            most_health: health.unwrap_or(0.0),
            dots: vec![None; seats],
            health: vec![health; seats],
            out: vec![false; seats],
            marks: Vec::new(),
            drift: Vec::new(),
        }
    }
}

impl Fold for Line {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" => {
                // The beauty contest draws its upper bound.
                if let Some(bound) = event.number("bound") {
                    self.high = bound;
                }
            }
            "round_result" => {
                let winners = event.seats("winners");
                let shared = ["choices", "choice", "number"];
                let name = shared.into_iter().find(|name| event.has(name));
                for seat in 0..self.dots.len() {
                    let guess = name.and_then(|name| event.number_of(name, seat));
                    let won = event.is_so_for("won", seat) || winners.contains(&seat);
                    self.dots[seat] = guess.map(|value| Dot { seat, value, won });
                    if event.has("health") {
                        self.health[seat] = event.number_of("health", seat);
                    }
                }
                for seat in event.seats("eliminated") {
                    if let Some(out) = self.out.get_mut(seat) {
                        *out = true;
                    }
                }
                let marks = ["mean", "target"].into_iter();
                let marks = marks.filter_map(|name| {
                    let value = event.number(name)?;
                    Some(Mark { name, value })
                });
                self.marks = marks.collect();
                if let Some(target) = event.number("target") {
                    let round = event.round();
                    if self.drift.len() == MOST_DRIFT {
                        self.drift.remove(0);
                    }
                    self.drift.push(Drift { round, target });
                }
            }
            _ => {}
        }
    }

    fn scene(&self) -> Scene {
        Scene::Line {
            low: self.low,
            high: self.high,
            dots: self.dots.iter().flatten().cloned().collect(),
            marks: self.marks.clone(),
            drift: self.drift.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let dot = self.dots[seat].as_ref();
        let out = self.out[seat];
        let mut shown = BoardSeat::playing(seat)
            .figure("guess", dot.map(|dot| dot.value))
            .meter("health", self.health[seat], self.most_health)
            .mark("won", dot.is_some_and(|dot| dot.won))
            .mark("out", out);
        shown.in_play = !out;
        shown
    }
}
