//! The observations of a session, guesses or auctions, from what the game wrote down and what
//! players predicted; and who plays by which method.

use agon_engine::SessionSpec;
use agon_engine::record::StoredRecord;
use serde_json::Value;

use super::predictions::{PREDICTION, errors, results};
use super::{GUESS_TO_SURVIVE, SURVIVAL_AUCTION};
use crate::axes::{LABEL, axes, in_words};
use crate::observation::{At, SessionObservations};

/// The paper's methods (section 3.2), as published tables call them.
pub(super) const METHODS: [&str; 8] = [
    "direct",
    "chain-of-thought",
    "persona",
    "reflexion",
    "self-refine",
    "prediction-cot",
    "k-level",
    "k-level-3",
];

/// The depth of `k-level` where nothing is said.
const USUAL_DEPTH: u64 = 2;

/// What the method of the first seat is called among facts.
pub(super) const METHOD: &str = "method";

/// What the method of all others is called.
pub(super) const OPPONENTS: &str = "opponents";

/// Who sits on the first seat.
pub(super) const FIRST_PLAYER: &str = "first_player";

/// `None` for a record that is not measured here, and for one that lacks what every finished
/// session has.
pub(super) fn observe(record: &StoredRecord) -> Option<SessionObservations<'_>> {
    let spec = &record.spec;
    let is_auction = spec.game == SURVIVAL_AUCTION;
    let is_survival_auction = is_auction && is_survival_auction(record);
    let predicts = || record.notes.iter().any(|note| note.note == PREDICTION);
    if is_auction && !is_survival_auction && !predicts()
        || !is_auction && spec.game != GUESS_TO_SURVIVE
        || results(record).next().is_none()
    {
        return None;
    }
    let mut seen = SessionObservations::of(record);
    let rounds = seen.parameter("rounds")?;
    let first = spec.seats.first().map_or("", |seat| &*seat.name);
    seen.note(METHOD, method_of_first(spec));
    seen.note(OPPONENTS, opponents(spec));
    seen.note(FIRST_PLAYER, first.to_owned());
    seen.push(At::default(), "rounds", f64::from(rounds));
    let flag = f64::from(u8::from(is_survival_auction));
    seen.push(At::default(), "is_survival_auction", flag);
    for seat in 0..seen.seats() {
        let at = At::seat(seat);
        seen.push(at, "sat", 1.0);
        // Share of the session's rounds that it won (formula 9).
        let won = if is_auction {
            let won = seen.number("days_with_water", seat);
            won.filter(|_| rounds > 0)
                .map(|won| won / f64::from(rounds))
        } else {
            seen.number("wins", seat)
        };
        seen.push(at, "win_rate", won);
        seen.push_series(at, &["survival_rounds"]);
        for (measure, seats) in [
            ("adaptation", "adaptation_seats"),
            ("strategic_depth", "strategic_depth_seats"),
        ] {
            let number = seen.number_listed(measure, seats, seat);
            seen.push(at, measure, number);
        }
        for (round, error) in errors(&seen, seat, is_auction) {
            seen.push(at.round(round), "prediction_error", error);
        }
    }
    Some(seen)
}

/// How the first seat plays: its name where that is a method, or else an axis over
/// this seat or its player that is one, or else its agent, or else its name. Axes over
/// others say how its opponents play.
fn method_of_first(spec: &SessionSpec) -> String {
    let name = spec.seats.first().map_or("", |seat| &*seat.name);
    let player = format!("players.{name}");
    let of_axes = axes(spec).filter(|(axis, _)| inside(axis, "seats[0]") || inside(axis, &player));
    let of_axes = of_axes.filter_map(|(_, value)| method(&in_words(value)));
    let settings = spec.seats.first().map(|seat| &seat.settings);
    let depth = settings.and_then(|settings| settings.get("depth")?.as_u64());
    let deepened = |method: String| match depth {
        Some(depth) if method == "k-level" && depth != USUAL_DEPTH => {
            format!("{method}-{depth}")
        }
        _ => method,
    };
    let of_axes = of_axes.map(deepened);
    let agent = || method(settings?.get("agent")?.as_str()?).map(deepened);
    let mut known = method(name).into_iter().chain(of_axes);
    let known = known.next().or_else(agent);
    known.unwrap_or_else(|| name.to_owned())
}

/// How all other seats play: the label, or else their names.
fn opponents(spec: &SessionSpec) -> String {
    if let Some(label) = spec.setting.get(LABEL) {
        return normal(&in_words(label));
    }
    let mut names: Vec<String> = Vec::new();
    for name in spec.seats.iter().skip(1).map(|seat| normal(&seat.name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Whether a path is this one, or leads further into it.
fn inside(path: &str, outer: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Water for exactly one of residents that need the same.
fn is_survival_auction(record: &StoredRecord) -> bool {
    let params = &record.spec.params;
    let integer = |name: &str| params.get(name).and_then(Value::as_i64);
    let needs = params.get("requirements").and_then(Value::as_array);
    let needs: Option<Vec<i64>> = needs.and_then(|all| all.iter().map(Value::as_i64).collect());
    let Some((needs, least, most)) = needs
        .zip(integer("supply_min"))
        .zip(integer("supply_max"))
        .map(|((needs, least), most)| (needs, least, most))
    else {
        return false;
    };
    let same = |need: &i64| needs.iter().all(|other| other == need);
    let need = needs.first().filter(|need| same(need));
    need.is_some_and(|need| least >= *need && most < 2 * need)
}

/// The published word for a method, whoever wrote it; `None` for other words.
fn method(word: &str) -> Option<String> {
    let word = match &*normal(word) {
        "prediction-chain-of-thought" => "prediction-cot".to_owned(),
        word => word.to_owned(),
    };
    let numbered = word.strip_prefix("k-level-").is_some_and(|depth| {
        !depth.is_empty() && depth.chars().all(|digit| digit.is_ascii_digit())
    });
    (numbered || METHODS.contains(&&*word)).then_some(word)
}

/// Words of one spelling.
fn normal(word: &str) -> String {
    word.to_lowercase().replace(['_', ' '], "-")
}
