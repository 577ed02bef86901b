//! What golden files hold: one hash over a thousand sessions, which notices any
//! change of play, and one short session in words, which shows it.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Case, cases};
use crate::chance::Luck;
use crate::event::{Audience, Event, Facts, Value};
use crate::game::Registration;
use crate::moves::Move;
use crate::record::Record;
use crate::spec::Settings;

/// A hash over the records of `sessions` random sessions of a game, which go
/// through its parameter sets in turn.
///
/// # Errors
/// A session cannot be opened or written.
pub fn full_run_hash(registration: &Registration, sessions: u32) -> Result<String, String> {
    let mut cases = cases(registration);
    let mut hash = blake3::Hasher::new();
    for number in 0..sessions {
        let place = number as usize % cases.len();
        let case = &mut cases[place];
        case.luck = Luck::new(u64::from(number), number % 3);
        let (spec, play) = case.ruled("random", &Settings::new())?;
        let line = super::record_line(spec, play)?;
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    Ok(hash.finalize().to_hex().to_string())
}

/// A short session of random players, to be read by people.
///
/// # Errors
/// A session cannot be opened.
pub fn transcript(registration: &Registration) -> Result<String, String> {
    let case = short_case(registration)?;
    let (spec, play) = case.ruled("random", &Settings::new())?;
    let record = Record::new(spec, play, Vec::new(), Vec::new());
    let mut text = String::new();
    write_transcript(&mut text, &case, &record).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Few seats and rounds where the game has such parameters.
fn short_case(registration: &Registration) -> Result<Case<'_>, String> {
    let luck = Luck::new(1, 0);
    let defaults = Case::new(registration, &Settings::new(), luck);
    let mut case = defaults.map_err(|error| error.to_string())?;
    let players = registration.info.seats.0.max(4);
    for (name, value) in [
        ("players", json!(players)),
        ("rounds", json!(2)),
        ("max_turns", json!(8)),
    ] {
        case = case.with(name, value).unwrap_or(case);
    }
    Ok(case)
}

fn write_transcript(text: &mut String, case: &Case<'_>, record: &Record) -> std::fmt::Result {
    let info = &case.registration.info;
    writeln!(text, "{} (rules {})", info.title, info.rules_version)?;
    for (name, value) in &case.params {
        writeln!(text, "  {name} = {value}")?;
    }
    writeln!(text, "\nmoves")?;
    for made in &record.moves {
        write_move(text, made)?;
    }
    writeln!(text, "\nevents")?;
    for event in &record.events {
        write_event(text, event)?;
    }
    writeln!(text, "\ndraws")?;
    for draw in &record.draws {
        writeln!(
            text,
            "  {} {}: {}",
            draw.stream,
            draw.at,
            plain(&draw.value)
        )?;
    }
    writeln!(text, "\noutcome")?;
    writeln!(text, "  payoffs {:?}", record.outcome.payoffs)?;
    for (scheme, score) in &record.measures.scores {
        writeln!(text, "  score {scheme} {score}")?;
    }
    for (part, value) in &record.measures.parts {
        writeln!(text, "  {part} {value}")?;
    }
    for (name, values) in &record.measures.series {
        writeln!(text, "  {name} {values:?}")?;
    }
    Ok(())
}

fn write_move(text: &mut String, made: &Move) -> std::fmt::Result {
    let Move {
        turn, seat, ask, ..
    } = made;
    let action = made
        .action
        .as_ref()
        .and_then(|action| serde_json::to_value(action).ok());
    let action = action.unwrap_or(Json::Null);
    writeln!(text, "  {turn}. player_{seat} {ask}: {action}")
}

fn write_event(text: &mut String, event: &Event) -> std::fmt::Result {
    write!(text, "  {}. {}", event.round, event.kind)?;
    match &event.audience {
        Audience::Everyone => writeln!(text)?,
        Audience::Only(seats) => writeln!(text, " to {seats:?} only")?,
    }
    write_facts(text, "", &event.facts)?;
    write_facts(text, "own ", &event.own)?;
    write_facts(text, "hidden ", &event.hidden)
}

fn write_facts(text: &mut String, label: &str, facts: &Facts) -> std::fmt::Result {
    for (name, value) in facts {
        writeln!(text, "       {label}{name}: {}", plain(value))?;
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
