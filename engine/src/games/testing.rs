//! What the unit tests of games share: building a game, answering its asks turn
//! by turn, letting rule players play, and reading facts back.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::ask::{Action, Foul, FoulKind, Seat};
use crate::chance::{Chance, Luck, Stream};
use crate::event::{Event, Value};
use crate::game::{Game, ParameterError};
use crate::play::{Play, Reaction};
use crate::registry;
use crate::rule_player::RulePlayer;
use crate::spec::Settings;

fn settings(json: Json) -> Settings {
    serde_json::from_value(json).unwrap()
}

pub fn game(name: &str, params: Json) -> Arc<dyn Game> {
    registry::find(name)
        .unwrap()
        .build(&settings(params))
        .unwrap()
        .game
}

/// Why these parameters are refused.
pub fn refusal(name: &str, params: Json) -> ParameterError {
    registry::find(name)
        .unwrap()
        .build(&settings(params))
        .err()
        .unwrap()
}

/// A game that nobody has answered yet.
pub fn opened(name: &str, params: Json) -> Play {
    opened_with(name, params, [])
}

/// The same with recorded draws.
pub fn opened_with(
    name: &str,
    params: Json,
    draws: impl IntoIterator<Item = (Stream, u32, Value)>,
) -> Play {
    let game = game(name, params);
    let seats = game.seats();
    Play::start(
        game,
        Chance::scripted(draws),
        (0..seats).map(|_| None).collect(),
    )
}

/// Answers the open asks in seat order; `None` fouls until the ask is forfeited.
pub fn turn(play: &mut Play, answers: Vec<Option<Action>>) {
    let asked: Vec<Seat> = play.waiting().map(|ask| ask.seat).collect();
    assert_eq!(asked.len(), answers.len(), "one answer per open ask");
    for (seat, answer) in asked.into_iter().zip(answers) {
        match answer {
            Some(action) => assert_eq!(play.answer(seat, Ok(action)), Reaction::Taken),
            None => forfeit(play, seat),
        }
    }
}

pub fn forfeit(play: &mut Play, seat: Seat) {
    let foul = || Foul::new(FoulKind::Unreadable, "unreadable");
    while matches!(play.answer(seat, Err(foul())), Reaction::Refused { .. }) {}
}

/// Whether the open ask of a seat takes this answer.
pub fn refused(play: &mut Play, seat: Seat, action: Action) -> bool {
    matches!(play.answer(seat, Ok(action)), Reaction::Refused { .. })
}

pub fn integers(numbers: &[i64]) -> Vec<Option<Action>> {
    numbers
        .iter()
        .map(|number| Some(Action::Integer(*number)))
        .collect()
}

pub fn words(words: &[&'static str]) -> Vec<Option<Action>> {
    words
        .iter()
        .map(|word| Some(Action::Choice((*word).into())))
        .collect()
}

/// A rule player by name, with settings.
pub fn rule_player(
    game: &dyn Game,
    strategy: &str,
    settings: Json,
    seat: Seat,
) -> Box<dyn RulePlayer> {
    game.rule_player(strategy, settings.as_object().unwrap(), seat)
        .unwrap()
}

/// A finished session of rule players without settings, one strategy per seat.
pub fn played(name: &str, params: Json, strategies: &[&str], seed: u64) -> Play {
    let game = game(name, params);
    let none = || Json::Object(serde_json::Map::new());
    let players = strategies.iter().enumerate();
    let players = players
        .map(|(seat, strategy)| Some(rule_player(&*game, strategy, none(), seat)))
        .collect();
    let chance = Chance::seeded(Luck::new(seed, 0));
    let play = Play::start(game, chance, players);
    assert!(play.is_finished());
    play
}

/// Plays the equilibrium at every seat and compares with what theory predicts;
/// returns how many scores were compared.
pub fn equilibrium_scores_hold(name: &str, params: Json, seed: u64) -> usize {
    let seats = game(name, params.clone()).seats();
    let play = played(name, params, &vec!["equilibrium"; seats], seed);
    let measures = play.measures();
    let expected = play.game().equilibrium().scores;
    for score in &expected {
        let reached = measures.scores[score.scheme];
        let distance = (reached - score.value).abs();
        assert!(distance <= score.tolerance, "{score:?} but {reached}");
    }
    expected.len()
}

/// The profiles of whole numbers, one number per player, in which nobody gains by
/// another number; `pay` says what each player gets.
pub fn pure_equilibria(
    players: usize,
    numbers: RangeInclusive<i64>,
    pay: impl Fn(&[i64]) -> Vec<f64>,
) -> Vec<Vec<i64>> {
    let mut profiles: Vec<Vec<i64>> = vec![Vec::new()];
    for _ in 0..players {
        let longer = |profile: &Vec<i64>| {
            let profile = profile.clone();
            numbers
                .clone()
                .map(move |number| [&profile[..], &[number]].concat())
        };
        profiles = profiles.iter().flat_map(longer).collect();
    }
    let paid: BTreeMap<Vec<i64>, Vec<f64>> = profiles
        .iter()
        .map(|profile| (profile.clone(), pay(profile)))
        .collect();
    let stable = |profile: &Vec<i64>| {
        (0..players).all(|seat| {
            numbers.clone().all(|other| {
                let mut deviating = profile.clone();
                deviating[seat] = other;
                paid[&deviating][seat] <= paid[profile][seat] + 1e-12
            })
        })
    };
    profiles.into_iter().filter(stable).collect()
}

/// The newest event of a kind.
pub fn last<'a>(play: &'a Play, kind: &'a str) -> &'a Event {
    play.log().of_kind(kind).next_back().unwrap()
}

/// A fact of the newest event of a kind, hidden or not, as JSON.
pub fn fact(play: &Play, kind: &str, name: &str) -> Json {
    serde_json::to_value(last(play, kind).get(name).unwrap()).unwrap()
}

pub fn score(play: &Play, scheme: &str) -> f64 {
    play.measures().scores[scheme]
}

pub fn part(play: &Play, name: &str) -> f64 {
    play.measures().parts[name]
}

pub fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}
