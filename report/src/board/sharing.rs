//! Games in which all share something: a bar, a bill, a pot, a sum of gold.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;
use agon_engine::spec::Settings;

use super::Fold;
use super::scene::{BoardSeat, Demand, Dish, Scene, Stack};
use super::seen::{Seen, parameter};

/// Kind of the event that ends a round.
const RESULT: &str = "round_result";

/// A bar with room for some.
pub struct Room {
    line: usize,
    choices: Vec<Option<String>>,
    paid: Vec<Option<f64>>,
    good: Option<bool>,
}

impl Room {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let ratio = parameter(params, "ratio").unwrap_or(0.0);
        Self {
            line: (ratio * seats as f64).floor() as usize,
            choices: vec![None; seats],
            paid: vec![None; seats],
            good: None,
        }
    }

    fn who(&self, choice: &str) -> Vec<Seat> {
        let all = self.choices.iter().enumerate();
        let chose = all.filter(|(_, chosen)| chosen.as_deref() == Some(choice));
        chose.map(|(seat, _)| seat).collect()
    }
}

impl Fold for Room {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            RESULT => {
                for seat in 0..self.choices.len() {
                    self.choices[seat] = event.text_of("choice", seat);
                    self.paid[seat] = event.number_of("payoff", seat);
                }
                self.good = event.fact("good").flag();
            }
            "bar_report" => self.good = event.fact("good").flag(),
            _ => {}
        }
    }

    fn scene(&self) -> Scene {
        Scene::Room {
            seats: self.choices.len(),
            line: self.line,
            inside: self.who("go"),
            outside: self.who("stay"),
            good: self.good,
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let went = self.choices[seat].as_deref();
        BoardSeat::playing(seat)
            .mark("went", went == Some("go"))
            .mark("stayed at home", went == Some("stay"))
            .figure("paid", self.paid[seat])
    }
}

/// A dinner with one bill.
pub struct Dinner {
    dishes: Vec<Dish>,
    bill: Option<f64>,
    share: Option<f64>,
}

impl Dinner {
    pub fn new(seats: usize) -> Self {
        let dish = |seat| Dish {
            seat,
            dish: None,
            utility: None,
        };
        Self {
            dishes: (0..seats).map(dish).collect(),
            bill: None,
            share: None,
        }
    }
}

impl Fold for Dinner {
    fn see(&mut self, event: &Seen<'_>) {
        if event.kind() != RESULT {
            return;
        }
        for dish in &mut self.dishes {
            dish.dish = event.text_of("dish", dish.seat);
            dish.utility = event.number_of("utility", dish.seat);
        }
        self.bill = event.number("total_cost");
        self.share = event.number("average_cost");
    }

    fn scene(&self) -> Scene {
        Scene::Table {
            dishes: self.dishes.clone(),
            bill: self.bill,
            share: self.share,
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let dish = &self.dishes[seat];
        let words = dish.dish.as_ref().map(|dish| format!("{dish} dish"));
        BoardSeat::playing(seat)
            .mark(words.as_deref().unwrap_or_default(), words.is_some())
            .figure("utility", dish.utility)
    }
}

/// A pot that is multiplied and shared.
pub struct Pot {
    multiplier: Option<f64>,
    pot: Option<f64>,
    stacks: Vec<Stack>,
    tokens: Vec<Option<f64>>,
}

impl Pot {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let stack = |seat| Stack {
            seat,
            given: None,
            kept: None,
            paid: None,
        };
        Self {
            multiplier: parameter(params, "ratio"),
            pot: None,
            stacks: (0..seats).map(stack).collect(),
            tokens: vec![parameter(params, "tokens"); seats],
        }
    }
}

impl Fold for Pot {
    fn see(&mut self, event: &Seen<'_>) {
        if event.kind() != RESULT {
            return;
        }
        self.pot = event.number("pot");
        let share = self.pot.map(|pot| pot / self.stacks.len() as f64);
        for stack in &mut self.stacks {
            let seat = stack.seat;
            let given = event.number_of("contribution", seat);
            stack.given = given.or_else(|| event.number_of("contributions", seat));
            self.tokens[seat] = event.number_of("tokens_after", seat);
            let told = self.tokens[seat].zip(share);
            // Whole tokens are kept, also by who is not shown the hidden column.
            let computed = told.map(|(tokens, share)| (tokens - share).round());
            stack.kept = event.number_of("kept", seat).or(computed);
            let paid = self.tokens[seat].zip(stack.kept);
            stack.paid = paid.map(|(tokens, kept)| hundredths(tokens - kept));
        }
    }

    fn scene(&self) -> Scene {
        Scene::Pot {
            pot: self.pot,
            multiplier: self.multiplier,
            stacks: self.stacks.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        BoardSeat::playing(seat)
            .figure("gave", self.stacks[seat].given)
            .figure("tokens", self.tokens[seat])
    }
}

/// Amounts that players are told are rounded so.
fn hundredths(amount: f64) -> f64 {
    (amount * 100.0).round() / 100.0
}

/// Demands on a sum of gold.
pub struct Share {
    gold: f64,
    total: Option<f64>,
    exceeded: Option<bool>,
    demands: Vec<Demand>,
}

impl Share {
    pub fn new(params: &Settings, seats: usize) -> Self {
        let demand = |seat| Demand {
            seat,
            demand: None,
            received: None,
        };
        Self {
            gold: parameter(params, "golds").unwrap_or(0.0),
            total: None,
            exceeded: None,
            demands: (0..seats).map(demand).collect(),
        }
    }
}

impl Fold for Share {
    fn see(&mut self, event: &Seen<'_>) {
        if event.kind() != RESULT {
            return;
        }
        self.total = event.number("total");
        self.exceeded = event.fact("exceeded").flag();
        for demand in &mut self.demands {
            demand.demand = event.number_of("bid", demand.seat);
            demand.received = event.number_of("received", demand.seat);
        }
    }

    fn scene(&self) -> Scene {
        Scene::Share {
            gold: self.gold,
            total: self.total,
            exceeded: self.exceeded,
            demands: self.demands.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let demand = &self.demands[seat];
        BoardSeat::playing(seat)
            .figure("demanded", demand.demand)
            .figure("received", demand.received)
    }
}
