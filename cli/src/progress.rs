//! Progress of a running experiment: a bar on a terminal, a line now and then
//! elsewhere, nothing when asked to be quiet.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use agon_proto::v1::{GetGatewayStatusResponse, WatchExperimentResponse};
use agon_report::grouped;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Speeds are averaged over this long.
const WINDOW: Duration = Duration::from_secs(10);

/// Workers that are there have connected by then.
const WORKERS_CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Shows how far an experiment is.
pub struct Progress {
    output: Output,
    started: Instant,
    /// Moments and decisions made until then, over the window.
    decisions: VecDeque<(Instant, u64)>,
    /// Sessions done when this run began; they took no time now.
    done_before: u64,
    /// Decisions that the rest is expected to take; 0 when no model plays.
    expected: u64,
}

enum Output {
    Bar(ProgressBar),
    Lines { last: Instant },
    Nothing,
}

impl Output {
    /// A bar that is full at `length`, where there is a terminal.
    fn of(quiet: bool, length: u64) -> Self {
        if quiet {
            Self::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(length);
            let template = "{bar:30} {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            Self::Bar(bar)
        } else {
            Self::Lines {
                last: Instant::now(),
            }
        }
    }

    fn show(&mut self, position: u64, message: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_position(position);
                bar.set_message(output::told(message));
            }
            Self::Lines { last } if last.elapsed() >= LINE_EVERY => {
                *last = Instant::now();
                output::tell(message);
            }
            Self::Lines { .. } | Self::Nothing => {}
        }
    }

    fn beside(&self, print: impl FnOnce()) {
        match self {
            Self::Bar(bar) => bar.suspend(print),
            Self::Lines { .. } | Self::Nothing => print(),
        }
    }

    fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Shows how many of something are done, one after the other.
pub struct CountProgress {
    output: Output,
    done: &'static str,
    what: &'static str,
    expected: Option<u64>,
}

impl CountProgress {
    /// Starts to show that so many of `what` are `done`, of how many if that is known.
    pub fn start(
        quiet: bool,
        done: &'static str,
        what: &'static str,
        expected: Option<u64>,
    ) -> Self {
        Self {
            output: Output::of(quiet, expected.unwrap_or(0)),
            done,
            what,
            expected,
        }
    }

    /// So many are done.
    pub fn show(&mut self, count: u64) {
        if let Output::Nothing = self.output {
            return;
        }
        let done = self.done;
        let message = match self.expected.map(|expected| expected.max(count)) {
            Some(expected) => format!(
                "{done} {} of {}",
                grouped(count),
                output::counted(expected, self.what)
            ),
            None => format!("{done} {}", output::counted(count, self.what)),
        };
        self.output.show(count, &message);
    }

    /// Prints something while the bar is out of the way.
    pub fn beside(&self, print: impl FnOnce()) {
        self.output.beside(print);
    }
}

impl Drop for CountProgress {
    fn drop(&mut self) {
        self.output.finish();
    }
}

impl Progress {
    /// Starts to show.
    pub fn start(quiet: bool, sessions: u64, done_before: u64, expected: u64) -> Self {
        // Sessions that run side by side all end late; their decisions come steadily.
        let length = if expected > 0 { expected } else { sessions };
        Self {
            output: Output::of(quiet, length),
            started: Instant::now(),
            decisions: VecDeque::new(),
            done_before,
            expected,
        }
    }

    /// Shows the newest state; the gateway's may be unknown.
    pub fn show(
        &mut self,
        experiment: &WatchExperimentResponse,
        gateway: Option<&GetGatewayStatusResponse>,
    ) {
        let message = self.message(experiment, gateway);
        let done = match (self.expected, gateway) {
            (0, _) => experiment.done,
            // What is expected is a guess; a full bar before the end would be a lie.
            (expected, Some(gateway)) => made(gateway).min(expected.saturating_sub(1)),
            (_, None) => 0,
        };
        self.output.show(done, &message);
    }

    /// Says something beside the progress, also where that is not shown.
    pub fn say(&self, line: &str) {
        self.output.beside(|| output::tell(line));
    }

    /// Clears the bar.
    pub fn finish(&self) {
        self.output.finish();
    }

    fn message(
        &mut self,
        experiment: &WatchExperimentResponse,
        gateway: Option<&GetGatewayStatusResponse>,
    ) -> String {
        let (done, sessions) = (grouped(experiment.done), grouped(experiment.sessions));
        let mut parts = vec![format!("{done} of {sessions} sessions done")];
        if experiment.running > 0 {
            parts.push(format!("{} running", grouped(experiment.running)));
        }
        if experiment.workers == 0 && self.started.elapsed() > WORKERS_CONNECT_WITHIN {
            parts.push("no worker is connected: start `agon worker`".to_owned());
        }
        if let Some(gateway) =
            gateway.filter(|gateway| gateway.decided > 0 || gateway.in_flight > 0)
        {
            let speed = self.decisions_per_second(gateway.decided);
            let decided = grouped(made(gateway));
            parts.push(match self.expected {
                0 => format!("{decided} decisions ({speed:.0}/s)"),
                expected => {
                    let about = grouped(expected.max(made(gateway)));
                    format!("{decided} of about {about} decisions ({speed:.0}/s)")
                }
            });
            if gateway.waiting_for_quota > 0 {
                let waiting = grouped(gateway.waiting_for_quota);
                parts.push(format!("{waiting} waiting for quota"));
            }
        }
        if !experiment.paused.is_empty() {
            let how = match experiment.paused_by_hand {
                true => "paused",
                false => "pausing",
            };
            parts.push(format!("{how}: {}", experiment.paused));
        }
        if !experiment.unplayable.is_empty() {
            let missing = &experiment.unplayable;
            parts.push(format!("waits for a worker that can play it: {missing}"));
        }
        if experiment.waiting > 0 {
            parts.push(format!("{} later in their series", experiment.waiting));
        }
        let set_aside = experiment.parked.len() + experiment.dead.len();
        if set_aside > 0 {
            parts.push(format!("{set_aside} set aside"));
        }
        if experiment.stopped > 0 {
            parts.push(format!(
                "{} behind those in their series",
                experiment.stopped
            ));
        }
        if let Some(left) = self.time_left(experiment, gateway) {
            parts.push(format!("about {} left", humantime::format_duration(left)));
        }
        parts.join(", ")
    }

    fn decisions_per_second(&mut self, decided: u64) -> f64 {
        let now = Instant::now();
        // Another replica answered, or the gateway began to count again.
        if self
            .decisions
            .back()
            .is_some_and(|(_, before)| decided < *before)
        {
            self.decisions.clear();
        }
        self.decisions.push_back((now, decided));
        while self
            .decisions
            .front()
            .is_some_and(|(moment, _)| now - *moment > WINDOW)
        {
            self.decisions.pop_front();
        }
        let Some((since, before)) = self.decisions.front() else {
            return 0.0;
        };
        let seconds = (now - *since).as_secs_f64();
        if seconds > 0.0 {
            decided.saturating_sub(*before) as f64 / seconds
        } else {
            0.0
        }
    }

    /// Whole seconds until the end at the speed so far: by decisions where models
    /// play, since sessions that run side by side all end late; by sessions
    /// elsewhere. `None` before there is a speed.
    fn time_left(
        &self,
        experiment: &WatchExperimentResponse,
        gateway: Option<&GetGatewayStatusResponse>,
    ) -> Option<Duration> {
        let open = experiment.queued + experiment.running + experiment.waiting;
        let (done, left) = match gateway.filter(|_| self.expected > 0) {
            Some(gateway) => (made(gateway), self.expected.saturating_sub(made(gateway))),
            None => (experiment.done.saturating_sub(self.done_before), open),
        };
        if done == 0 || left == 0 || open == 0 {
            return None;
        }
        let each = self.started.elapsed().as_secs_f64() / done as f64;
        Some(Duration::from_secs((each * left as f64).ceil() as u64))
    }
}

/// Decisions that this run has, those of an earlier try included.
pub fn made(gateway: &GetGatewayStatusResponse) -> u64 {
    gateway.decided + gateway.answered_from_ledger
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(done: u64) -> WatchExperimentResponse {
        WatchExperimentResponse {
            sessions: 10,
            running: 10 - done,
            done,
            workers: 1,
            ..WatchExperimentResponse::default()
        }
    }

    #[test]
    fn a_gateway_that_counts_anew_does_not_upset_the_speed() {
        let mut progress = Progress::start(true, 10, 0, 100);
        let gateway = |decided| GetGatewayStatusResponse {
            decided,
            ..GetGatewayStatusResponse::default()
        };
        progress.show(&state(1), Some(&gateway(50)));
        progress.show(&state(1), Some(&gateway(3)));
        assert!(
            progress
                .message(&state(1), Some(&gateway(4)))
                .contains("4 of about 100 decisions")
        );
    }

    #[test]
    fn the_end_is_estimated_from_decisions_where_models_play() {
        let progress = Progress::start(true, 10, 0, 100);
        let half = GetGatewayStatusResponse {
            decided: 50,
            ..GetGatewayStatusResponse::default()
        };
        assert!(progress.time_left(&state(0), Some(&half)).is_some());
        assert!(progress.time_left(&state(0), None).is_none());
    }

    #[test]
    fn sessions_of_a_series_are_told_apart_and_count_as_open() {
        let mut progress = Progress::start(true, 10, 0, 0);
        let series = WatchExperimentResponse {
            running: 1,
            waiting: 4,
            stopped: 2,
            ..state(3)
        };
        let message = progress.message(&series, None);
        assert!(message.contains("4 later in their series"), "{message}");
        assert!(
            message.contains("2 behind those in their series"),
            "{message}"
        );
        let only_running = WatchExperimentResponse {
            waiting: 0,
            ..series.clone()
        };
        let left = |state| progress.time_left(state, None).map(|left| left.as_secs());
        assert!(left(&series) >= left(&only_running));
        assert!(left(&series).is_some());
    }

    #[test]
    fn nobody_working_is_said_after_a_while_only() {
        let mut progress = Progress::start(true, 10, 0, 0);
        let alone = WatchExperimentResponse {
            workers: 0,
            ..state(0)
        };
        assert!(!progress.message(&alone, None).contains("no worker"));
        progress.started -= WORKERS_CONNECT_WITHIN * 2;
        assert!(
            progress
                .message(&alone, None)
                .contains("start `agon worker`")
        );
    }
}
