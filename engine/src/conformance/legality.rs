//! Properties of play itself: legal answers lead on, illegal ones change
//! nothing, and events keep to their form.

use std::collections::BTreeSet;

use super::Case;
use super::table::{Manners, Table, illegal};
use crate::ask::{Ask, Seat};
use crate::event::{Audience, Event, Value};
use crate::play::{Play, Reaction};

/// Courses of play that are tried per case.
const COURSES: u64 = 2;

/// Plays at random without fouls and looks at asks and events.
pub(super) fn legal_play_is_well_formed(case: &Case) -> Result<(), String> {
    for course in 0..COURSES {
        let mut table = Table::open(case, Manners::default(), course);
        check_start(&table.play)?;
        let mut asked = vec![0; case.game.seats()];
        while !table.play.is_finished() {
            let asks: Vec<Ask> = table.play.waiting().cloned().collect();
            check_asks(&asks, &mut asked, case)?;
            for ask in asks {
                table.serve(&ask)?;
            }
        }
        let names: Vec<&Event> = table.play.log().all().iter().collect();
        for event in names {
            check_event(event, case)?;
        }
        let rounds: Vec<u32> = table
            .play
            .log()
            .all()
            .iter()
            .map(|event| event.round)
            .collect();
        if !rounds.is_sorted() {
            return Err(format!("the rounds of events go back: {rounds:?}"));
        }
    }
    Ok(())
}

fn check_start(play: &Play) -> Result<(), String> {
    let briefing = play.log().all().first();
    let briefing = briefing.ok_or("nothing is said before the first ask")?;
    if briefing.kind != "briefing" || briefing.round != 0 {
        return Err(format!(
            "the first event is {} of round {}",
            briefing.kind, briefing.round
        ));
    }
    if briefing.audience != Audience::Everyone {
        return Err("not everybody is briefed".to_owned());
    }
    match briefing.get("players").and_then(Value::integer) {
        Some(players) if players == play.game().seats() as i64 => Ok(()),
        players => Err(format!("the briefing says {players:?} players")),
    }
}

fn check_asks(asks: &[Ask], asked: &mut [u32], case: &Case) -> Result<(), String> {
    if asks.is_empty() {
        return Err("nobody is asked, but the game has not ended".to_owned());
    }
    if !asks.windows(2).all(|pair| pair[0].seat < pair[1].seat) {
        return Err("asks are not one per seat in seat order".to_owned());
    }
    for ask in asks {
        let count = asked
            .get_mut(ask.seat)
            .ok_or_else(|| format!("no seat {}", ask.seat))?;
        *count += 1;
        if *count > case.game.asks_per_seat() {
            let most = case.game.asks_per_seat();
            return Err(format!("seat {} is asked more than {most} times", ask.seat));
        }
    }
    Ok(())
}

fn check_event(event: &Event, case: &Case) -> Result<(), String> {
    let (kind, seats) = (&event.kind, case.game.seats());
    for (name, column) in &event.own {
        if column.len() != seats {
            let entries = column.len();
            return Err(format!(
                "{kind}: column {name} has {entries} entries, not {seats}"
            ));
        }
    }
    if let Audience::Only(audience) = &event.audience {
        let legal = audience.iter().all(|seat| *seat < seats) && !audience.is_empty();
        let sorted = audience.windows(2).all(|pair| pair[0] < pair[1]);
        if !legal || !sorted {
            return Err(format!(
                "{kind}: audience {audience:?} is not a list of seats in order"
            ));
        }
    }
    let sections = [&event.facts, &event.own, &event.hidden];
    let mut names = BTreeSet::new();
    for (name, value) in sections.into_iter().flatten() {
        if !names.insert(name) {
            return Err(format!("{kind}: two facts are called {name}"));
        }
        if !is_finite(value) {
            return Err(format!("{kind}: {name} is not finite"));
        }
    }
    Ok(())
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_finite(),
        Value::Numbers(numbers) => numbers.iter().all(|number| number.is_finite()),
        Value::List(values) => values.iter().all(is_finite),
        _ => true,
    }
}

/// Offers every illegal answer at every ask, each to be refused without effect.
pub(super) fn fouls_change_nothing(case: &Case) -> Result<(), String> {
    let mut table = Table::open(case, Manners::default(), 0);
    let mut next = 0;
    while !table.play.is_finished() {
        let asks: Vec<Ask> = table.play.waiting().cloned().collect();
        for ask in &asks {
            // Lenient games take more than their form says, as published ones did.
            let mut offers = illegal(&ask.form);
            offers.retain(|offer| table.play.check(ask.seat, offer).is_err());
            let strict = !case.flag("lenient");
            if strict && offers.len() != illegal(&ask.form).len() {
                return Err(format!("a {} outside its form is accepted", ask.kind));
            }
            for used in 1..=ask.foul_allowance.min(offers.len() as u32) {
                let offer = offers[next % offers.len()].clone();
                next += 1;
                let before = Snapshot::of(&table.play);
                let reaction = table.play.answer(ask.seat, Ok(offer.clone()));
                let left = ask.foul_allowance - used;
                match reaction {
                    Reaction::Refused { fouls_left, .. } if fouls_left == left => {}
                    other => return Err(format!("{offer:?} led to {other:?}")),
                }
                before.compare(&table.play, &offer)?;
            }
            unasked_is_ignored(&mut table.play, &asks)?;
            table.serve(ask)?;
        }
    }
    unasked_is_ignored(&mut table.play, &[])
}

/// Seats that are not asked cannot change anything.
fn unasked_is_ignored(play: &mut Play, asks: &[Ask]) -> Result<(), String> {
    let seats = play.game().seats();
    let asked: BTreeSet<Seat> = asks.iter().map(|ask| ask.seat).collect();
    for seat in [0, seats / 2, seats - 1, seats, Seat::MAX] {
        if asked.contains(&seat) {
            continue;
        }
        let before = Snapshot::of(play);
        let offer = crate::Action::Integer(1);
        if play.answer(seat, Ok(offer.clone())) != Reaction::NotAsked {
            return Err(format!("seat {seat} answered without being asked"));
        }
        before.compare(play, &offer)?;
    }
    Ok(())
}

/// Everything that a foul must leave as it is. Events, moves and draws can only
/// be added, so their number tells whether they changed.
struct Snapshot {
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    events: usize,
    moves: usize,
    draws: usize,
    turn: u32,
}

impl Snapshot {
    fn of(play: &Play) -> Self {
        Self {
            asks: play.waiting().cloned().collect(),
            events: play.log().all().len(),
            payoffs: play.payoffs(),
            moves: play.moves().len(),
            draws: play.chance().draws().len(),
            turn: play.turn(),
        }
    }

    fn compare(&self, play: &Play, offer: &crate::Action) -> Result<(), String> {
        let parts = [
            ("the asks", play.waiting().eq(&self.asks)),
            ("the events", play.log().all().len() == self.events),
            ("the payoffs", play.payoffs() == self.payoffs),
            ("the moves", play.moves().len() == self.moves),
            ("the draws", play.chance().draws().len() == self.draws),
            ("the turn", play.turn() == self.turn),
        ];
        match parts.into_iter().find(|(_, same)| !same) {
            Some((part, _)) => Err(format!("the refused {offer:?} changed {part}")),
            None => Ok(()),
        }
    }
}

/// Plays with many forfeits, then with nothing else.
pub(super) fn forfeits_do_not_stop_play(case: &Case) -> Result<(), String> {
    for forfeits in [30, 100] {
        let manners = Manners {
            fouls: 20,
            forfeits,
        };
        let mut table = Table::open(case, manners, forfeits);
        table.finish(|_, _| {})?;
        for event in table.play.log().all() {
            check_event(event, case)?;
        }
        super::outcomes::check_payoffs(case, &table.play.payoffs())?;
        let measures = table.play.measures();
        let numbers = measures.scores.values().chain(measures.parts.values());
        let series = measures.series.values().flatten();
        if !numbers.chain(series).all(|number| number.is_finite()) {
            return Err("a measure is not finite".to_owned());
        }
    }
    Ok(())
}
