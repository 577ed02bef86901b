//! The game and its state in this process: it holds what it was told last and waits. Whoever
//! drives the session asks the other process for the [`OutsideReply`] to its answers and hands it
//! in ([`crate::Play::reply`]).

use std::collections::BTreeSet;

use crate::ask::{Answer, Ask, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, Game, GameInfo, State};
use crate::measures::Measures;
use crate::moves::Move;
use crate::names::{LONGEST_IDENTIFIER, is_identifier};
use crate::outside::{AskGroup, OutsideReply, OutsideRules};
use crate::rule_player::{Made, Request, Strategy, StrategyInfo, StrategySettings};
use crate::spec::SessionSpec;

/// Kind of the event that every game begins with.
const BRIEFING: &str = "briefing";

/// A game that is played elsewhere.
pub struct OutsideGame {
    info: GameInfo,
    rules: OutsideRules,
    seats: usize,
    payoff_bounds: (f64, f64),
}

impl OutsideGame {
    /// One of so many seats.
    pub fn new(info: GameInfo, rules: OutsideRules, seats: usize) -> Self {
        Self {
            info,
            rules,
            seats,
            payoff_bounds: (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// One that promises payoffs between these.
    #[must_use]
    pub fn promising(self, payoff_bounds: Option<(f64, f64)>) -> Self {
        Self {
            payoff_bounds: payoff_bounds.unwrap_or(self.payoff_bounds),
            ..self
        }
    }

    /// The game of a session.
    pub fn of(spec: &SessionSpec, rules: &OutsideRules) -> Self {
        Self::new(info_of(spec, rules), rules.clone(), spec.seats.len())
    }

    /// The strategies that play any game.
    pub(super) fn common() -> Vec<StrategyInfo> {
        STRATEGIES.iter().map(|one| one.info).collect()
    }
}

const STRATEGIES: &[Strategy<OutsideGame>] = &[Strategy::RANDOM, Strategy::SPECIFIED];

/// What a session's spec says of the kind of game.
pub(crate) fn info_of(spec: &SessionSpec, rules: &OutsideRules) -> GameInfo {
    let seats = spec.seats.len();
    GameInfo {
        name: spec.game.clone().into(),
        title: rules.title.clone().into(),
        rules_version: spec.rules_version,
        seats: (seats, seats),
        timing: rules.timing,
        facts: rules.facts.clone(),
        ..GameInfo::USUAL
    }
}

impl Game for OutsideGame {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn asks_per_seat(&self) -> u32 {
        self.rules.asks_per_seat
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.payoff_bounds
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        Vec::new()
    }

    fn start(&self, _chance: &mut Chance, _log: &mut EventLog) -> Box<dyn State> {
        Box::new(OutsideState::awaiting(self.seats, self.rules.asks_per_seat))
    }

    fn strategies(&self) -> Vec<StrategyInfo> {
        Self::common()
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        let request = Request::new(strategy, settings, seat);
        Strategy::seat(STRATEGIES, &self.info.name, self, request)
    }

    fn equilibrium(&self) -> Equilibrium {
        Equilibrium {
            play: "not stated".to_owned(),
            scores: Vec::new(),
        }
    }

    /// The other process knows; its state holds them.
    fn measures(&self, _log: &EventLog, _moves: &[Move]) -> Measures {
        Measures::default()
    }
}

/// A state that is moved on by replies from elsewhere.
#[derive(Debug, Clone)]
pub struct OutsideState {
    seats: usize,
    asks_per_seat: u32,
    begun: bool,
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    measures: Option<Measures>,
    /// Asks of each seat so far.
    asked: Vec<u32>,
    /// Events and asks so far: no round is later.
    produced: usize,
    next: Option<OutsideReply>,
}

impl OutsideState {
    /// The state before the start was told, of a game of so many seats.
    pub fn awaiting(seats: usize, asks_per_seat: u32) -> Self {
        Self {
            seats,
            asks_per_seat,
            begun: false,
            asks: Vec::new(),
            payoffs: vec![0.0; seats],
            measures: None,
            asked: vec![0; seats],
            produced: 0,
            next: None,
        }
    }

    /// The state of a game that cannot go on, and so has ended.
    pub fn ended(seats: usize) -> Self {
        Self {
            begun: true,
            ..Self::awaiting(seats, 0)
        }
    }

    /// Checks a reply that moves the game on, before anything is made of it.
    fn check(&self, reply: &OutsideReply) -> Result<(), String> {
        let seats = self.seats;
        let asked: usize = reply.asks.iter().map(|group| group.seats.len()).sum();
        if asked > seats {
            return Err(format!("{asked} seats are asked, and there are {seats}"));
        }
        if !self.begun {
            check_briefing(reply.events.first(), seats)?;
        }
        let latest = self.produced + reply.events.len() + asked;
        for event in &reply.events {
            check_event(event, seats)?;
            if event.round as usize > latest {
                let (kind, round) = (&event.kind, event.round);
                return Err(format!("{kind}: round {round} comes too early"));
            }
        }
        let payoffs = reply.payoffs.len();
        if payoffs != seats || !reply.payoffs.iter().all(|payoff| payoff.is_finite()) {
            return Err(format!(
                "payoffs are {payoffs} numbers; there must be one finite number for each of \
                 {seats} seats"
            ));
        }
        if let Some(measures) = &reply.measures {
            check_measures(measures)?;
        }
        let mut seen = BTreeSet::new();
        for group in &reply.asks {
            self.check_group(group)?;
            if let Some(seat) = group.seats.iter().find(|seat| !seen.insert(**seat)) {
                return Err(format!("seat {seat} is asked twice at a time"));
            }
        }
        Ok(())
    }

    fn check_group(&self, group: &AskGroup) -> Result<(), String> {
        let (kind, most) = (&group.kind, self.asks_per_seat);
        if !is_identifier(kind) {
            return Err(format!(
                "{:?} cannot be asked: what is asked is called by lower case letters, digits and _",
                shortened(kind)
            ));
        }
        if group.seats.is_empty() {
            return Err(format!(
                "{kind} is asked of no seat; a game that asks nobody has ended"
            ));
        }
        if group.foul_allowance > MOST_FOULS {
            let fouls = group.foul_allowance;
            return Err(format!(
                "{kind}: {fouls} fouls are forgiven, and {MOST_FOULS} are the most"
            ));
        }
        for seat in &group.seats {
            let Some(asked) = self.asked.get(*seat) else {
                return Err(format!(
                    "seat {seat} is asked, and there are {}",
                    self.seats
                ));
            };
            if *asked >= most {
                return Err(format!(
                    "seat {seat} is asked more often than the {most} times that asks_per_seat says"
                ));
            }
        }
        let legal = group.form.check_legal(self.seats);
        legal.map_err(|why| format!("{kind}: {why}"))
    }
}

/// More tries than any model needs; each is a call that somebody pays.
const MOST_FOULS: u32 = 100;

/// The first event tells how many players there are, and agents go by it.
fn check_briefing(first: Option<&Event>, seats: usize) -> Result<(), String> {
    let Some(first) = first.filter(|event| event.kind == BRIEFING) else {
        return Err(format!(
            "the first event of a game must be its \"{BRIEFING}\""
        ));
    };
    match first.integer("players") {
        Some(players) if players == seats as i64 => Ok(()),
        _ => Err(format!(
            "the {BRIEFING} must say that there are {seats} \"players\""
        )),
    }
}

/// Names of events and facts become those of templates, columns and keys.
fn check_event(event: &Event, seats: usize) -> Result<(), String> {
    let names = [&event.facts, &event.own, &event.hidden];
    let names = names.into_iter().flatten().map(|(name, _)| name);
    for name in names.chain([&event.kind]) {
        if !is_identifier(name) || (OF_EVENTS.contains(&&**name) && *name != event.kind) {
            return Err(format!(
                "{:?} is no name of an event or a fact: these have lower case letters, digits and \
                 _, and are not {}",
                shortened(name),
                OF_EVENTS.join(" or ")
            ));
        }
    }
    event.check(seats)
}

/// What templates call the parts of an event themselves.
const OF_EVENTS: [&str; 2] = ["event", "round"];

fn check_measures(measures: &Measures) -> Result<(), String> {
    let Measures {
        scores,
        parts,
        series,
    } = measures;
    let mut names = scores.keys().chain(parts.keys()).chain(series.keys());
    let is_wrong = |name: &&String| {
        name.is_empty() || name.len() > LONGEST_IDENTIFIER || name.chars().any(char::is_control)
    };
    match names.find(is_wrong) {
        Some(name) => Err(format!(
            "{:?} is no name of a measure: these have 1 to {LONGEST_IDENTIFIER} letters",
            shortened(name)
        )),
        None => Ok(()),
    }
}

/// The beginning of a name that may be of any length.
fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_IDENTIFIER).collect()
}

impl State for OutsideState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, _answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        // It is not called before `is_ready` says so.
        let Some(reply) = self.next.take() else {
            return;
        };
        self.begun = true;
        self.asks = AskGroup::asks(&reply.asks);
        self.asks.iter().for_each(|ask| self.asked[ask.seat] += 1);
        self.produced += reply.events.len() + self.asks.len();
        self.payoffs = reply.payoffs;
        self.measures = reply.measures;
        chance.drawn_elsewhere(reply.draws);
        reply.events.into_iter().for_each(|event| log.push(event));
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_ready(&self) -> bool {
        self.next.is_some()
    }

    fn hand_in(&mut self, reply: OutsideReply) -> Result<(), String> {
        self.check(&reply)?;
        self.next = Some(reply);
        Ok(())
    }

    fn measures(&self) -> Option<Measures> {
        self.measures.clone()
    }
}
