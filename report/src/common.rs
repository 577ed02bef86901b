//! What is observed of every session whatever its game: scores and their parts, their series by
//! round where the game keeps one, what each seat was paid, asked and refused. Beside the
//! observations of the papers' reports; exports, comparisons and figures of any game read these.

use agon_engine::record::StoredRecord;

use crate::leaderboard;
use crate::observation::{At, SessionObservations};

/// A score; its category is the scheme.
pub const SCORE: &str = "score";

/// A quantity behind a score; its category is its name.
pub const PART: &str = "part";

/// A number of a round; its category is the name of the series.
pub const SERIES: &str = "series";

/// How often a seat shot at another one.
pub const SHOTS: &str = "shots_at";

/// What the game paid a seat. Exports have it whoever answered; means and figures take it only where the
/// player answered enough.
pub const PAID: &str = "paid";

/// The common observations of a finished session.
pub fn observe(record: &StoredRecord) -> SessionObservations<'_> {
    let mut session = SessionObservations::of(record);
    let measures = &record.measures;
    for (scheme, score) in &measures.scores {
        let at = At::default().category(Some(scheme));
        session.push(at, SCORE, *score);
    }
    for (name, part) in &measures.parts {
        session.push(At::default().category(Some(name)), PART, *part);
    }
    if has_series_by_round(&record.spec.game) {
        for (name, numbers) in &measures.series {
            for (round, number) in (1..).zip(numbers) {
                let at = At::default().category(Some(name)).round(round);
                session.push(at, SERIES, *number);
            }
        }
    }
    shots(&mut session);
    let answers = session.answers.clone();
    let outcome = &record.outcome;
    for (seat, payoff) in outcome.payoffs.iter().enumerate() {
        let at = At::seat(seat);
        session.push(at, PAID, *payoff);
        session.push(at, "asks", answers.of_seat(seat).asks().asks as f64);
        session.push(at, "fouls", f64::from(outcome.fouls_of(seat)));
        let forfeits = outcome.forfeits.get(seat).copied().unwrap_or(0);
        session.push(at, "forfeits", f64::from(forfeits));
    }
    session
}

/// How often each player shot at each other one; nothing in games without shots.
fn shots(session: &mut SessionObservations<'_>) {
    let record = session.record;
    let events = record.events.iter().filter(|event| event.kind == "shot");
    let pairs = events.map(|event| {
        let seat = |name| usize::try_from(event.get(name)?.integer()?).ok();
        (seat("shooter"), seat("target"))
    });
    let pairs: Vec<_> = pairs.collect();
    let seats = if pairs.is_empty() { 0 } else { session.seats() };
    for (seat, about) in (0..seats).flat_map(|one| (0..seats).map(move |other| (one, other))) {
        if seat != about {
            let shots = pairs
                .iter()
                .filter(|pair| **pair == (Some(seat), Some(about)));
            session.push(At::seat(seat).about(about), SHOTS, shots.count() as f64);
        }
    }
}

/// Whether the series of a game have a number for each round; those of others list seats or items.
fn has_series_by_round(game: &str) -> bool {
    leaderboard::GAMES.iter().any(|(name, _)| *name == game)
}
