//! Properties of play itself: legal answers lead on, illegal ones change
//! nothing, and events keep to their form.

use std::collections::BTreeSet;

use super::table::{Manners, Table, illegal};
use super::{Case, ensure};
use crate::ask::{Action, Ask, Seat};
use crate::event::{Audience, Event, Value};
use crate::play::{Play, Reaction};

/// Courses of play that are tried per case.
const COURSES: u64 = 2;

/// Plays at random without fouls and looks at asks and events.
pub(super) fn legal_play_is_well_formed(case: &Case<'_>) -> Result<(), String> {
    for course in 0..COURSES {
        let mut table = Table::open(case, Manners::default(), course);
        check_start(&table.play)?;
        let mut asked = vec![0; case.game.seats()];
        while !table.play.is_finished() {
            let asks = table.asks();
            check_asks(&asks, &mut asked, case)?;
            for ask in asks {
                table.serve(&ask)?;
            }
        }
        let events = table.play.log().all().iter();
        events
            .clone()
            .try_for_each(|event| event.check(case.game.seats()))?;
        let rounds: Vec<u32> = events.map(|event| event.round).collect();
        ensure!(
            rounds.is_sorted(),
            "the rounds of events go back: {rounds:?}"
        );
    }
    Ok(())
}

fn check_start(play: &Play) -> Result<(), String> {
    let briefing = play.log().all().first();
    let briefing = briefing.ok_or("nothing is said before the first ask")?;
    let Event { kind, round, .. } = briefing;
    let is_first = kind == "briefing" && *round == 0;
    ensure!(is_first, "the first event is {kind} of round {round}");
    let is_for_all = briefing.audience == Audience::Everyone;
    ensure!(is_for_all, "not everybody is briefed");
    match briefing.get("players").and_then(Value::integer) {
        Some(players) if players == play.game().seats() as i64 => Ok(()),
        players => Err(format!("the briefing says {players:?} players")),
    }
}

fn check_asks(asks: &[Ask], asked: &mut [u32], case: &Case<'_>) -> Result<(), String> {
    ensure!(
        !asks.is_empty(),
        "nobody is asked, but the game has not ended"
    );
    let is_ordered = asks.windows(2).all(|pair| pair[0].seat < pair[1].seat);
    ensure!(is_ordered, "asks are not one per seat in seat order");
    let most = case.game.asks_per_seat();
    for Ask { seat, .. } in asks {
        let count = asked.get_mut(*seat);
        let count = count.ok_or_else(|| format!("no seat {seat}"))?;
        *count += 1;
        ensure!(
            *count <= most,
            "seat {seat} is asked more than {most} times"
        );
    }
    Ok(())
}

/// Offers every illegal answer at every ask, each to be refused without effect.
pub(super) fn fouls_change_nothing(case: &Case<'_>) -> Result<(), String> {
    let mut table = Table::open(case, Manners::default(), 0);
    let mut next = 0;
    while !table.play.is_finished() {
        let asks = table.asks();
        for ask in &asks {
            // Lenient games take more than their form says, as published ones did.
            let mut offers = illegal(&ask.form);
            offers.retain(|offer| table.play.check(ask.seat, offer).is_err());
            let are_all = offers.len() == illegal(&ask.form).len();
            ensure!(
                are_all || case.flag("lenient"),
                "a {} outside its form is accepted",
                ask.kind
            );
            for used in 1..=ask.foul_allowance.min(offers.len() as u32) {
                let offer = offers[next % offers.len()].clone();
                next += 1;
                let before = Snapshot::of(&table.play);
                let left = ask.foul_allowance - used;
                match table.play.answer(ask.seat, Ok(offer.clone())) {
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
        let offer = Action::Integer(1);
        let reaction = play.answer(seat, Ok(offer.clone()));
        let is_ignored = reaction == Reaction::NotAsked;
        ensure!(is_ignored, "seat {seat} answered without being asked");
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

    fn compare(&self, play: &Play, offer: &Action) -> Result<(), String> {
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
pub(super) fn forfeits_do_not_stop_play(case: &Case<'_>) -> Result<(), String> {
    for forfeits in [30, 100] {
        let manners = Manners {
            fouls: 20,
            forfeits,
        };
        let table = Table::played(case, manners, forfeits)?;
        for event in table.play.log().all() {
            event.check(case.game.seats())?;
        }
        super::outcomes::check_payoffs(case, &table.play.payoffs())?;
        let measures = table.play.measures();
        let numbers = measures.scores.values().chain(measures.parts.values());
        let series = measures.series.values().flatten();
        let are_finite = numbers.chain(series).all(|number| number.is_finite());
        ensure!(are_finite, "a measure is not finite");
    }
    Ok(())
}
