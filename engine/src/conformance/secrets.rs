//! Properties of secrets: what a game declares that a seat is not told does not show in
//! what the seat sees and is asked. Answers are held fixed; what the rules make public later
//! is compared until then. That everything is declared is in `declared.rs`.

use super::course::{Course, Following, Step, checks};
use super::variations::{Secret, Variation, secrets_of};
use super::{Case, ensure};
use crate::ask::{Ask, Seat};
use crate::disclosure::Disclosure;
use crate::event::Event;
use crate::play::Play;
use crate::spec::{PlayerKind, Settings};
use crate::view::{SeenEvent, View};

/// Ways to change a secret of one seat that are tried: a leak may round small ones away.
const WAYS: usize = 3;

/// Chooses the course of play.
pub(super) const ANSWERS: u64 = 6;

/// Changes each secret, with the same answers, and compares what all are shown and asked
/// who must not know it.
pub(super) fn secrets_do_not_show(case: &Case<'_>) -> Result<(), String> {
    compared(case).map(|_| ())
}

/// The names of the secrets of a case that could be changed, and did not show.
///
/// # Errors
/// One shows: to whom, and where.
pub fn compared(case: &Case<'_>) -> Result<Vec<&'static str>, String> {
    let course = Course::of(case, ANSWERS)?;
    let mut compared = Vec::new();
    for secret in secrets_of(case, &course)? {
        let mut ways: Vec<(Vec<Seat>, usize)> = Vec::new();
        for variation in secret.variations(case, &course) {
            let tried = ways.iter_mut().find(|(of, _)| *of == variation.of);
            if tried.as_ref().is_some_and(|(_, tried)| *tried == WAYS) {
                continue;
            }
            if compare(&course, &secret, &variation)?.is_none() {
                continue;
            }
            match tried {
                Some((_, tried)) => *tried += 1,
                None => ways.push((variation.of, 1)),
            }
        }
        if !ways.is_empty() {
            compared.push(secret.name);
        }
    }
    Ok(compared)
}

/// How many turns of the course are the same for all who must not know of a variation: until
/// the rules tell them, or answers that are held fixed cannot be given. None where the game
/// cannot have these draws.
///
/// # Errors
/// Somebody notices: who, and by what.
pub fn compare(
    course: &Course,
    secret: &Secret,
    variation: &Variation,
) -> Result<Option<usize>, String> {
    let Variation {
        what,
        of,
        game,
        draws,
        ..
    } = variation;
    let noticed = |how: String| format!("{how}, when {what}");
    let others: Vec<Seat> = (0..game.seats())
        .filter(|seat| !of.contains(seat))
        .collect();
    let mut following = course.follow(game, draws);
    let (mut before, mut shown) = (0, 0);
    loop {
        if is_impossible(following.play(), draws) {
            return Ok(None);
        }
        let turn = following.turn();
        let until = course
            .turns
            .get(turn)
            .map_or(course.events.len(), |turn| turn.events);
        let events = following.play().log().all();
        let pair = (&course.events[before..until], &events[shown..]);
        if let Some(difference) = others.iter().find_map(|seat| differs(pair, *seat, secret)) {
            return difference.map(|()| Some(turn)).map_err(noticed);
        }
        (before, shown) = (until, events.len());
        let is_over = following.asks().is_empty() || following.play().is_finished();
        if !(is_over && of.is_empty()) {
            asked_alike(course, &following, &others, of.is_empty()).map_err(noticed)?;
        }
        match following.step(of).map_err(noticed)? {
            Step::On => {}
            Step::Over => return Ok(Some(turn)),
            Step::Apart => return Ok(Some(turn + 1)),
        }
    }
}

/// Whether a draw could not have the value that it was to have.
fn is_impossible(play: &Play, draws: &[crate::chance::Draw]) -> bool {
    let scripted = |(stream, at): &(crate::chance::Stream, u32)| {
        draws
            .iter()
            .any(|draw| draw.stream == stream.0 && draw.at == *at)
    };
    play.chance().unscripted().iter().any(scripted)
}

/// The first thing that a seat is shown otherwise: fine where the rules make the secret
/// public just there.
fn differs(
    (was, is): (&[Event], &[Event]),
    seat: Seat,
    secret: &Secret,
) -> Option<Result<(), String>> {
    if was == is {
        return None;
    }
    let (was, is) = (seen(was, seat), seen(is, seat));
    let longest = was.len().max(is.len());
    let pair = (0..longest).map(|at| (was.get(at), is.get(at)));
    let mut differing = pair.filter_map(|pair| {
        let how = difference(pair, &secret.disclosure)?;
        let kinds = [pair.0, pair.1]
            .into_iter()
            .flatten()
            .map(|event| &*event.kind);
        Some((kinds.collect::<Vec<&str>>(), how))
    });
    let (kinds, how) = differing.next()?;
    let is_told = secret
        .disclosure
        .until
        .is_some_and(|until| kinds.contains(&until));
    Some(match is_told {
        true => Ok(()),
        false => Err(format!("seat {seat} is shown {how}")),
    })
}

/// What a seat may know of these events.
pub(super) fn seen(events: &[Event], seat: Seat) -> Vec<SeenEvent> {
    let view = View::new(seat, events);
    view.sights().map(|sight| sight.to_event()).collect()
}

/// How two events differ that should be one; facts in which a seat is told what follows for
/// itself do not count.
fn difference(
    (was, is): (Option<&SeenEvent>, Option<&SeenEvent>),
    disclosure: &Disclosure,
) -> Option<String> {
    let place = |event: &SeenEvent| format!("event {} in round {}", event.kind, event.round);
    let (was, is) = match (was, is) {
        (Some(was), Some(is)) if was.kind == is.kind && was.round == is.round => (was, is),
        (Some(was), Some(is)) => return Some(format!("{}, not {}", place(is), place(was))),
        (Some(was), None) => return Some(format!("no {}", place(was))),
        (None, Some(is)) => return Some(format!("an additional {}", place(is))),
        (None, None) => return None,
    };
    let may_differ = |name: &str| disclosure.seen_in.contains(&name);
    let names = was.facts.iter().chain(&is.facts).map(|(name, _)| &**name);
    let mut names = names.filter(|name| !may_differ(name));
    let name = names.find(|name| was.fact(name) != is.fact(name))?;
    let text = |event: &SeenEvent| match event.fact(name) {
        Some(value) => serde_json::to_string(value).unwrap_or_default(),
        None => "missing".to_owned(),
    };
    Some(format!(
        "fact {name} of {} as {} instead of {}",
        place(is),
        text(is),
        text(was)
    ))
}

/// Compares what seats are asked now, and what the game would say to answers that their
/// forms do not allow; the latter not where the rules themselves are what nobody knows.
fn asked_alike(
    course: &Course,
    following: &Following<'_>,
    others: &[Seat],
    is_nobodys: bool,
) -> Result<(), String> {
    let turn = following.turn();
    let number = turn + 1;
    let open: Vec<&Ask> = following.play().waiting().collect();
    let checked = course.turns.get(turn).map_or(&[][..], |turn| &turn.checked);
    for seat in others {
        let was = following.asks().iter().position(|ask| ask.seat == *seat);
        let is = open.iter().find(|ask| ask.seat == *seat);
        let (place, was, is) = match (was, is) {
            (None, None) => continue,
            (Some(place), Some(is)) => (place, &following.asks()[place], *is),
            (Some(_), None) => return Err(format!("seat {seat} is not asked in turn {number}")),
            (None, Some(_)) => return Err(format!("seat {seat} is asked in turn {number}")),
        };
        ensure!(
            was == is,
            "seat {seat} is asked in turn {number} for {} ({}) instead of {} ({})",
            is.kind,
            is.form.describe(),
            was.kind,
            was.form.describe()
        );
        let said = checked.get(place).filter(|_| !is_nobodys);
        ensure!(
            said.is_none_or(|said| *said == checks(following.play(), is)),
            "seat {seat} is told in turn {number} of another reason why its {} is refused",
            is.kind
        );
    }
    Ok(())
}

/// Lets a seat's answers come from outside that a rule player gave, and compares everything
/// that happened.
pub(super) fn players_do_not_show(case: &Case<'_>) -> Result<(), String> {
    let (spec, ruled) = case.ruled("random", &Settings::new())?;
    let seats = case.game.seats();
    for seat in [0, seats - 1] {
        let mut outside = spec.clone();
        outside.seats[seat].kind = PlayerKind::Model;
        outside.seats[seat].name = "somebody else".to_owned();
        let mut play = case.open(&outside)?;
        let moves = ruled.moves().iter().filter(|made| made.seat == seat);
        for made in moves {
            if let Some(action) = &made.action {
                play.answer(seat, Ok(action.clone()));
            }
        }
        ensure!(
            play.log() == ruled.log(),
            "it shows that no rule player sits at seat {seat}, although the answers are its"
        );
    }
    Ok(())
}
