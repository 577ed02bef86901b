//! What must hold after every step, whatever happened. Each check takes what was seen and what is
//! stored, and says what is broken.

use std::collections::{BTreeMap, BTreeSet};

use agon_coordinator::store::{Progress, StoredResult};

use crate::seen::{Row, Seen};

/// What the store says of one experiment.
pub struct Told {
    pub experiment: &'static str,
    pub progress: Progress,
    pub results: Vec<StoredResult>,
}

type Rows = BTreeMap<String, Row>;

/// Checks all of them.
pub fn check(seen: &Seen, rows: &Rows, told: &[Told]) -> Result<(), String> {
    invariant_live_leases_have_fences_of_their_own(seen, rows)?;
    invariant_a_session_begins_when_the_one_before_it_is_done(rows)?;
    for told in told {
        invariant_every_session_is_in_exactly_one_state(seen, rows, told)?;
        invariant_pauses_begin_and_end_as_told(seen, told)?;
        invariant_done_sessions_keep_their_first_record(seen, rows, told)?;
    }
    Ok(())
}

fn ensure(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}

/// The experiment's sessions are those that were submitted, and the counts and lists of its
/// progress share them out without rest.
fn invariant_every_session_is_in_exactly_one_state(
    seen: &Seen,
    rows: &Rows,
    told: &Told,
) -> Result<(), String> {
    let Told {
        experiment,
        progress,
        ..
    } = told;
    let placed: BTreeSet<&String> = rows
        .iter()
        .filter(|(_, row)| row.experiment == *experiment && row.placed)
        .map(|(session, _)| session)
        .collect();
    let submitted: BTreeSet<&String> = seen.placed[experiment].iter().collect();
    ensure(placed == submitted, || {
        format!("{experiment} has {placed:?}, submitted were {submitted:?}")
    })?;
    let with = |state: &str| -> BTreeSet<&str> {
        let rows = placed
            .iter()
            .filter(|session| rows[**session].state == state);
        rows.map(|session| session.as_str()).collect()
    };
    let parked: BTreeSet<&str> = progress
        .parked
        .iter()
        .map(|one| one.session.as_str())
        .collect();
    let dead: BTreeSet<&str> = progress
        .dead
        .iter()
        .map(|one| one.session.as_str())
        .collect();
    let counted = [
        progress.queued,
        progress.running,
        progress.done,
        progress.waiting,
        progress.stopped,
    ];
    let stored = ["queued", "leased", "done", "waiting", "stopped"];
    let stored = stored.map(|state| with(state).len() as u64);
    ensure(
        counted == stored && parked == with("parked") && dead == with("dead"),
        || format!("{experiment}: {progress:?} is told, {stored:?} are stored"),
    )?;
    let told_of = stored.iter().sum::<u64>() as usize + parked.len() + dead.len();
    let all = told_of + with("cancelled").len();
    ensure(
        all == placed.len() && progress.sessions == all as u64,
        || {
            format!(
                "{experiment}: {all} sessions in known states of {}",
                placed.len()
            )
        },
    )
}

/// A leased session is held under the fence that was given last for it, and nobody else has it.
fn invariant_live_leases_have_fences_of_their_own(seen: &Seen, rows: &Rows) -> Result<(), String> {
    let mut held = BTreeMap::new();
    for (session, row) in rows.iter().filter(|(_, row)| row.state == "leased") {
        let fence = row.fence;
        ensure(seen.last_fence.get(session) == Some(&fence), || {
            format!("{session} is leased under fence {fence}, which was not given last")
        })?;
        let other = held.insert(fence, session);
        ensure(other.is_none(), || {
            format!("{session} and {other:?} are leased under fence {fence}")
        })?;
    }
    Ok(())
}

/// A session of a series is queued as soon as the one before it is done and not earlier; behind one
/// that was set aside it is stopped, and behind one that is still to come it waits.
fn invariant_a_session_begins_when_the_one_before_it_is_done(rows: &Rows) -> Result<(), String> {
    for (session, row) in rows {
        let Some(before) = &row.follows else {
            let begins = row.state != "waiting" && row.state != "stopped";
            ensure(begins, || {
                format!("{session} is {} behind nobody", row.state)
            })?;
            continue;
        };
        let before_is = rows.get(before).map_or("gone", |row| row.state.as_str());
        let fits = match row.state.as_str() {
            "waiting" => ["queued", "leased", "waiting"].contains(&before_is),
            "stopped" => ["parked", "dead", "stopped"].contains(&before_is),
            "cancelled" => true,
            _ => before_is == "done",
        };
        ensure(fits, || {
            format!(
                "{session} is {} behind {before}, which is {before_is}",
                row.state
            )
        })?;
    }
    Ok(())
}

/// An experiment pauses from a spent budget until somebody resumes or cancels it, and says why.
fn invariant_pauses_begin_and_end_as_told(seen: &Seen, told: &Told) -> Result<(), String> {
    let Told {
        experiment,
        progress,
        ..
    } = told;
    let expected = seen.paused.contains(*experiment);
    ensure(expected != progress.paused.is_empty(), || {
        format!(
            "{experiment} pauses: {expected}, told: {:?}",
            progress.paused
        )
    })
}

/// Results are the first ones that were stored, in the experiment's order; what differed later
/// is a fault and nothing else.
fn invariant_done_sessions_keep_their_first_record(
    seen: &Seen,
    rows: &Rows,
    told: &Told,
) -> Result<(), String> {
    let placed = &seen.placed[told.experiment];
    let done = placed
        .iter()
        .filter(|session| seen.records.contains_key(*session));
    let expected: Vec<(&String, Option<&Vec<u8>>)> = done
        .map(|session| (session, Some(&seen.records[session])))
        .collect();
    let results = told.results.iter();
    let stored: Vec<(&String, Option<&Vec<u8>>)> = results
        .map(|one| {
            let result = one.result.as_ref().ok();
            (&one.session, result.map(|result| &result.record))
        })
        .collect();
    ensure(stored == expected, || {
        format!(
            "{}: stored is {stored:?}, seen were {expected:?}",
            told.experiment
        )
    })?;
    for session in seen.records.keys() {
        ensure(
            rows.get(session).is_some_and(|row| row.state == "done"),
            || format!("{session} was done and is not any more"),
        )?;
    }
    let faults = placed
        .iter()
        .filter(|session| seen.faults.contains(*session));
    ensure(told.progress.determinism_faults.iter().eq(faults), || {
        format!("{}: the faults are others", told.experiment)
    })
}

/// Once faults have stopped and everything that could be played was played: every session is done,
/// set aside with a reason, or behind one of its series that was.
pub fn invariant_nothing_is_lost(seen: &Seen, told: &[Told]) -> Result<(), String> {
    for Told {
        experiment,
        progress,
        ..
    } in told
    {
        let aside = progress.parked.iter().chain(&progress.dead);
        let reasons = aside.clone().all(|one| !one.reason.is_empty());
        let ended = progress.done as usize + progress.stopped as usize + aside.count();
        ensure(
            progress.is_over() && ended == seen.placed[experiment].len() && reasons,
            || format!("{experiment} does not end: {progress:?}"),
        )?;
    }
    Ok(())
}
