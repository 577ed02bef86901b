//! How an experiment ended: says which sessions were set aside, and why, one line for each kind of
//! reason, and whether all is well. Called when a run ends, and by `agon results pull`.

use std::collections::BTreeMap;

use agon_proto::v1::{SetAsideSession, WatchExperimentResponse};
use agon_report::grouped;

use crate::failure::Failure;
use crate::output::{self, counted};

/// Says what went wrong; `kept` is how many sessions are in the results, `again` how those that were set
/// aside are tried again.
///
/// # Errors
/// Something did.
pub fn verdict(state: &WatchExperimentResponse, kept: u64, again: &str) -> Result<(), Failure> {
    for fault in &state.determinism_faults {
        output::tell(&format!(
            "determinism fault: session {fault} came out differently the second time"
        ));
    }
    let aside = tell(state);
    if state.cancelled {
        return Err(Failure::BadNews("the experiment was cancelled".to_owned()));
    }
    match (aside, state.determinism_faults.len()) {
        (0, 0) if kept < state.done => Err(Failure::BadNews(format!(
            "{} of {} are not in the results, see above",
            grouped(state.done - kept),
            counted(state.done, "finished session")
        ))),
        (0, 0) => Ok(()),
        (0, faults) => Err(Failure::BadNews(counted(
            faults as u64,
            "determinism fault",
        ))),
        (some, _) => Err(Failure::BadNews(format!(
            "{} of {} were set aside, see above; {again}",
            grouped(some as u64),
            counted(state.sessions, "session")
        ))),
    }
}

/// Says what was set aside, by reason; returns how many sessions.
fn tell(state: &WatchExperimentResponse) -> usize {
    let sessions: Vec<_> = state.parked.iter().chain(&state.dead).collect();
    for line in lines(&sessions) {
        output::tell(&line);
    }
    if state.stopped > 0 {
        let stopped = counted(state.stopped, "session");
        output::tell(&format!(
            "not played: {stopped} that follow them in a series"
        ));
    }
    sessions.len()
}

/// One line for all reasons that differ in nothing but numbers.
fn lines(sessions: &[&SetAsideSession]) -> Vec<String> {
    let mut kinds: BTreeMap<String, Vec<&SetAsideSession>> = BTreeMap::new();
    for session in sessions {
        let kind = kinds.entry(without_numbers(&session.reason)).or_default();
        kind.push(session);
    }
    let line = |alike: &Vec<&SetAsideSession>| {
        let first = alike.first()?;
        let (session, reason) = (&first.session_id, &first.reason);
        Some(match alike.len() {
            1 => format!("set aside: session {session}: {reason}"),
            several => {
                let several = counted(several as u64, "session");
                let same = alike.iter().all(|one| one.reason == *reason);
                let apart = if same {
                    ""
                } else {
                    " (with other numbers elsewhere)"
                };
                format!("set aside: {several} (first: {session}): {reason}{apart}")
            }
        })
    };
    kinds.values().filter_map(line).collect()
}

fn without_numbers(reason: &str) -> String {
    let mut kind = String::new();
    for letter in reason.chars() {
        match letter {
            digit if digit.is_ascii_digit() => {
                if !kind.ends_with('#') {
                    kind.push('#');
                }
            }
            other => kind.push(other),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, reason: &str) -> SetAsideSession {
        SetAsideSession {
            session_id: id.to_owned(),
            reason: reason.to_owned(),
            ..SetAsideSession::default()
        }
    }

    #[test]
    fn results_that_lack_a_finished_session_are_not_complete() {
        let state = WatchExperimentResponse {
            sessions: 2_000,
            done: 2_000,
            ..WatchExperimentResponse::default()
        };
        assert!(verdict(&state, 2_000, "").is_ok());
        let short = verdict(&state, 1_500, "").unwrap_err().to_string();
        assert_eq!(
            short,
            "500 of 2,000 finished sessions are not in the results, see above"
        );
    }

    #[test]
    fn reasons_that_differ_in_numbers_are_one_line() {
        let sessions = [
            session("a", "no answer for 601 s after 12 tries"),
            session("b", "no answer for 602 s after 9 tries"),
            session("c", "the model is unknown"),
        ];
        let told = lines(&sessions.iter().collect::<Vec<_>>());
        assert_eq!(
            told,
            [
                "set aside: 2 sessions (first: a): no answer for 601 s after 12 tries (with other \
                 numbers elsewhere)",
                "set aside: session c: the model is unknown",
            ]
        );
    }
}
