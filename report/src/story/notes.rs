//! What agents concluded, in words: plans, strategies and tips; beliefs with their
//! corrections, profiles and predictions. A note of another kind is told as it is, one
//! that lacks a part without it. Called by the
//! files that tell a game.

use std::cmp::Ordering;

use agon_engine::{SeatNote, Value as Fact};
use serde_json::{Map, Value};

use super::teller::Teller;
use super::words::{json, number, one_line};

/// Tells the notes of some turns, as far as they are wanted.
pub fn tell_of_turns(teller: &mut Teller<'_>, steps: usize, turns: impl Fn(u32) -> bool) {
    for note in &teller.record.notes {
        if turns(note.turn) && teller.shows(note.seat) {
            tell(teller, steps, note);
        }
    }
}

/// Tells a note, if it is wanted.
fn tell(teller: &mut Teller<'_>, steps: usize, note: &SeatNote) {
    let telling = teller.telling;
    let wanted = match note.note.as_str() {
        "plan" | "strategy" | "tips" => telling.plans,
        "belief" | "profile" | "prediction" => telling.beliefs,
        // How a reply was read; the moves say what came of it.
        "bid" | "reading" | "stand_in" => false,
        _ => telling.plans || telling.beliefs,
    };
    if !wanted {
        return;
    }
    let name = teller.name(note.seat);
    for (place, line) in lines(teller, note).iter().enumerate() {
        if place == 0 {
            teller.line(steps, format!("{name}: {line}"));
        } else {
            teller.line(steps + 1, line);
        }
    }
}

/// A note in words, line by line.
pub fn lines(teller: &Teller<'_>, note: &SeatNote) -> Vec<String> {
    match note.note.as_str() {
        "plan" => plan(teller, &note.body),
        "strategy" => strategy(&note.body),
        "tips" => tips(&note.body),
        "belief" => belief(&note.body),
        "profile" => profile(teller, &note.body),
        "prediction" => prediction(teller, &note.body),
        kind => vec![format!("{}: {}", kind.replace('_', " "), json(&note.body))],
    }
}

/// What players took along from the session before, in a series: how much of it, and with plans
/// all of it.
pub fn tell_carried(teller: &mut Teller<'_>) {
    let Some(carried) = &teller.record.carried else {
        return;
    };
    let own = carried.notes.iter().filter(|note| teller.shows(note.seat));
    let own: Vec<_> = own.collect();
    let from = &carried.from;
    if own.is_empty() {
        teller.line(0, format!("Nothing was taken along from session {from}."));
        return;
    }
    teller.line(0, format!("Taken along from session {from}:"));
    for note in own {
        let kind = note.note.replace('_', " ");
        let rows = note.body[note.note.as_str()].as_array();
        let count = rows.map_or(1, Vec::len);
        let kind = match (rows, kind.strip_suffix('s')) {
            (Some(_), Some(one)) if count == 1 => one,
            _ => &kind,
        };
        let name = teller.name(note.seat);
        teller.line(1, format!("{name}: {count} {kind}"));
        if teller.telling.plans {
            for (place, row) in rows.into_iter().flatten().enumerate() {
                teller.line(2, format!("{}. {}", place + 1, json(row)));
            }
        }
    }
}

/// Priorities by item, then the strategy in the player's own words.
fn plan(teller: &Teller<'_>, body: &Value) -> Vec<String> {
    let items = teller
        .events_of("briefing")
        .and_then(|event| event.get("items"));
    let name = |place: usize| {
        let item = items.map(|items| items.entry(place));
        let text = item.as_ref().and_then(Fact::text).map(one_line);
        text.unwrap_or_else(|| format!("item {}", place + 1))
    };
    let priorities = body["priorities"].as_array().into_iter().flatten();
    let priorities: Vec<String> = priorities
        .enumerate()
        .filter(|(_, priority)| !priority.is_null())
        .map(|(place, priority)| format!("{} {}", name(place), json(priority)))
        .collect();
    let kept = if body["source"] == "kept" {
        ", the earlier one is kept because none could be read"
    } else {
        ""
    };
    let mut lines = vec![format!(
        "plan{}{kept}: {}",
        tries(body),
        priorities.join(", ")
    )];
    if let Some(text) = body["strategy"].as_str().filter(|text| !text.is_empty()) {
        lines.push(format!("strategy: {}", one_line(text)));
    }
    lines
}

fn tries(body: &Value) -> String {
    match body["tries"].as_u64() {
        Some(tries) if tries > 1 => format!(" at the {tries}. try"),
        _ => String::new(),
    }
}

fn strategy(body: &Value) -> Vec<String> {
    let uses = if body["uses_profile"] == true {
        ", with profiles"
    } else {
        ""
    };
    let reason = body["reason"].as_str().map(one_line).unwrap_or_default();
    vec![format!("chooses {}{uses}: {reason}", json(&body["choice"]))]
}

fn tips(body: &Value) -> Vec<String> {
    let tips = body["tips"].as_array().into_iter().flatten();
    let mut lines = vec!["tips for the next auction".to_owned()];
    lines.extend(
        tips.enumerate()
            .map(|(place, tip)| format!("{}. {}", place + 1, json(tip))),
    );
    lines
}

/// What was believed in the end, and on the way there every error.
fn belief(body: &Value) -> Vec<String> {
    let checked = body["checked"].as_u64().unwrap_or(0);
    let wrong = body["wrong"].as_u64().unwrap_or(0);
    let erred = body["errors"].as_array().is_some_and(|all| !all.is_empty());
    let corrected = match (body["source"].as_str(), body["corrected"].as_bool()) {
        _ if !erred => "",
        (Some("auctioneer"), _) => ", put right by the auctioneer in the end",
        (Some("kept"), _) => ", the earlier belief is kept",
        (_, Some(true)) => ", corrected by itself",
        (_, Some(false)) => ", not corrected",
        (_, None) => "",
    };
    let mut lines = vec![format!(
        "belief{}: {wrong} of {checked} facts wrong at first{corrected}",
        tries(body)
    )];
    let (believed, truth) = (&body["believed"], &body["truth"]);
    let parts = [
        ("remaining_budget", "budget"),
        ("total_profits", "profits"),
        ("winning_bids", "winning bids"),
    ];
    for (key, name) in parts {
        if believed[key].is_null() && truth[key].is_null() {
            continue;
        }
        let believed_so = json(&believed[key]);
        let right = if believed[key] == truth[key] || truth[key].is_null() {
            String::new()
        } else {
            format!(" (in truth {})", json(&truth[key]))
        };
        lines.push(format!("believes {name}: {believed_so}{right}"));
    }
    for error in body["errors"].as_array().into_iter().flatten() {
        let (about, kind) = (json(&error["about"]), json(&error["kind"]));
        let (nth, detail) = (json(&error["try"]), json(&error["detail"]));
        lines.push(format!("wrong at try {nth}, {kind} of {about}: {detail}"));
    }
    lines
}

fn seat_name(teller: &Teller<'_>, about: &Value) -> String {
    let seat = about.as_u64().and_then(|seat| usize::try_from(seat).ok());
    seat.map_or_else(|| json(about), |seat| teller.name(seat))
}

/// Weights that say something, the strongest first.
fn weights(map: Option<&Map<String, Value>>) -> String {
    let mut weights: Vec<(&String, f64)> = map
        .into_iter()
        .flatten()
        .filter_map(|(persona, weight)| Some((persona, weight.as_f64()?)))
        .filter(|(_, weight)| *weight != 0.0)
        .collect();
    weights.sort_by(|one, other| other.1.partial_cmp(&one.1).unwrap_or(Ordering::Equal));
    let listed: Vec<String> = weights
        .iter()
        .map(|(persona, weight)| format!("{} {}", one_line(persona), number(*weight)))
        .collect();
    if listed.is_empty() {
        "nothing known".to_owned()
    } else {
        listed.join(", ")
    }
}

fn profile(teller: &Teller<'_>, body: &Value) -> Vec<String> {
    let about = seat_name(teller, &body["about"]);
    let kept = if body["source"] == "kept" {
        " (kept)"
    } else {
        ""
    };
    let weights = weights(body["weights"].as_object());
    vec![format!("profile of {about}{kept}: {weights}")]
}

fn prediction(teller: &Teller<'_>, body: &Value) -> Vec<String> {
    if let Some(predicted) = body["predicted"].as_object() {
        let expected = predicted.iter().map(|(seat, said)| {
            let seat = seat_name(
                teller,
                &seat.parse::<u64>().map_or(Value::Null, Value::from),
            );
            let said = if said.is_null() {
                "?".to_owned()
            } else {
                json(said)
            };
            format!("{seat} {said}")
        });
        let expected: Vec<String> = expected.collect();
        let level = json(&body["level"]);
        return vec![format!("expects at level {level}: {}", expected.join(", "))];
    }
    let about = seat_name(teller, &body["about"]);
    if let Some(believes) = body["believes"].as_object() {
        let believes = weights(Some(believes));
        return vec![format!("thinks that {about} takes it for: {believes}")];
    }
    let wants = match body["wants"].as_bool() {
        Some(true) => format!("expects {about} to want it"),
        Some(false) => format!("expects {about} not to want it"),
        None => format!("cannot tell whether {about} wants it"),
    };
    let detail = body["detail"].as_str().map(one_line).unwrap_or_default();
    let colon = if detail.is_empty() { "" } else { ": " };
    vec![format!("{wants}{colon}{detail}")]
}
