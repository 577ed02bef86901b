//! What is said of an experiment in a cluster that is held back for people: when it begins, and what
//! becomes of it once its pages are closed. Texts alone. Called by `cluster.rs`.

use std::time::Duration;

use agon_proto::v1::WatchExperimentResponse;
use agon_report::{counted, grouped};
use agon_web::sweeps::WAITING_FOR_PEOPLE;

/// Whether somebody has paused it for another reason than people.
pub fn is_paused_by_others(state: &WatchExperimentResponse) -> bool {
    state.paused_by_hand && state.paused != WAITING_FOR_PEOPLE
}

/// When sessions begin that have not begun; `wait` is how long people are waited for.
pub fn until_ready(name: &str, state: &WatchExperimentResponse, wait: Duration) -> String {
    if is_paused_by_others(state) {
        return format!(
            "experiment {name} is paused: {}. No session begins before \
             `agon experiments resume {name}`",
            state.paused
        );
    }
    let wait = humantime::format_duration(wait);
    let until = format!("until everybody who was invited is ready, or for {wait} at most");
    if state.running == 0 {
        return format!("no session begins {until}");
    }
    let is_are = if state.running == 1 { "is" } else { "are" };
    let playing = format!(
        "{} {is_are} being played",
        counted(state.running, "session")
    );
    match left(state) {
        0 => format!("{playing}, and no other is left"),
        1 => format!("{playing}, and 1 waits {until}"),
        left => format!("{playing}, and {} wait {until}", grouped(left)),
    }
}

/// What becomes of it once its pages are closed; `fault` says why it could not be paused.
pub fn left_behind(name: &str, state: &WatchExperimentResponse, fault: Option<&str>) -> String {
    let (done, all) = (grouped(state.done), grouped(state.sessions));
    let playing = match state.running {
        0 => String::new(),
        1 => ", and one is being played to its end".to_owned(),
        many => format!(", and {} are being played to their end", grouped(many)),
    };
    let so_far = format!("{done} of {all} sessions are done{playing}");
    let cancel = format!("`agon experiments cancel {name}` ends the experiment");
    let resume = match is_paused_by_others(state) {
        true => format!("`agon experiments resume {name}` ends the pause"),
        false => format!("`agon experiments resume {name}` continues without their pages"),
    };
    let how = format!("The same command lets people in again. {resume}. {cancel}");
    // What is paused already stays so, whether or not its coordinator answers.
    let fault = fault.filter(|_| !state.paused_by_hand);
    let has_begun = state.done + state.running > 0;
    match (left(state), fault) {
        (0, _) if has_begun => format!("{so_far}. The same command lets people in again. {cancel}"),
        (_, Some(fault)) => format!(
            "{so_far}; nobody can play on these pages any more, and the rest could not be held back \
             ({fault}). {how}"
        ),
        (_, None) if is_paused_by_others(state) => {
            let reason = &state.paused;
            match has_begun {
                true => format!("{so_far}; the rest is paused: {reason}. {how}"),
                false => format!(
                    "the game has not begun, and experiment {name} is paused: {reason}. {how}"
                ),
            }
        }
        (_, None) if has_begun => format!("{so_far}; the rest waits for people. {how}"),
        (_, None) => {
            format!("the game has not begun, and experiment {name} waits for people. {how}")
        }
    }
}

/// How it stood when it was last heard of: as it was watched, or before, if nothing was heard yet.
pub fn newest(
    before: WatchExperimentResponse,
    watched: WatchExperimentResponse,
) -> WatchExperimentResponse {
    let is_heard = watched.done + watched.running + left(&watched) > 0 || watched.cancelled;
    if is_heard { watched } else { before }
}

/// Sessions that have not begun and will.
fn left(state: &WatchExperimentResponse) -> u64 {
    state.queued + state.waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four sessions, of which so many run and are done, paused for this reason by hand.
    fn state(running: u64, done: u64, paused: &str) -> WatchExperimentResponse {
        WatchExperimentResponse {
            sessions: 4,
            running,
            done,
            queued: 4 - running - done,
            paused: paused.to_owned(),
            paused_by_hand: !paused.is_empty(),
            ..WatchExperimentResponse::default()
        }
    }

    #[test]
    fn sessions_that_run_already_are_told_apart_from_those_that_wait() {
        let until = "until everybody who was invited is ready, or for 30m at most";
        let said = |running, done, paused| {
            until_ready(
                "x",
                &state(running, done, paused),
                Duration::from_secs(1_800),
            )
        };
        for (running, done, told) in [
            (0, 1, format!("no session begins {until}")),
            (
                1,
                0,
                format!("1 session is being played, and 3 wait {until}"),
            ),
            (
                2,
                1,
                format!("2 sessions are being played, and 1 waits {until}"),
            ),
            (
                2,
                2,
                "2 sessions are being played, and no other is left".to_owned(),
            ),
        ] {
            assert_eq!(said(running, done, WAITING_FOR_PEOPLE), told);
        }
        let told =
            "experiment x is paused: lunch. No session begins before `agon experiments resume x`";
        assert_eq!(said(0, 0, "lunch"), told);
    }

    #[test]
    fn closed_pages_say_what_is_played_on_and_for_what_the_rest_waits() {
        let cancel = "`agon experiments cancel x` ends the experiment";
        let people = format!(
            "The same command lets people in again. `agon experiments resume x` continues without \
             their pages. {cancel}"
        );
        let others = format!(
            "The same command lets people in again. `agon experiments resume x` ends the pause. {cancel}"
        );
        let away = Some("connection refused");
        let (running, waiting, lunch) = (String::new(), WAITING_FOR_PEOPLE, "lunch");
        for (state, fault, told) in [
            (
                state(0, 0, waiting),
                None,
                format!("the game has not begun, and experiment x waits for people. {people}"),
            ),
            (
                state(0, 0, waiting),
                away,
                format!("the game has not begun, and experiment x waits for people. {people}"),
            ),
            (
                state(0, 0, lunch),
                None,
                format!("the game has not begun, and experiment x is paused: lunch. {others}"),
            ),
            (
                state(1, 2, lunch),
                None,
                format!(
                    "2 of 4 sessions are done, and one is being played to its end; the rest is \
                     paused: lunch. {others}"
                ),
            ),
            (
                state(2, 1, &running),
                None,
                format!(
                    "1 of 4 sessions are done, and 2 are being played to their end; the rest waits \
                     for people. {people}"
                ),
            ),
            (
                state(1, 3, &running),
                away,
                format!(
                    "3 of 4 sessions are done, and one is being played to its end. The same command \
                     lets people in again. {cancel}"
                ),
            ),
            (
                state(1, 0, &running),
                away,
                format!(
                    "0 of 4 sessions are done, and one is being played to its end; nobody can play on \
                     these pages any more, and the rest could not be held back (connection refused). \
                     {people}"
                ),
            ),
        ] {
            assert_eq!(left_behind("x", &state, fault), told);
        }
    }
}
