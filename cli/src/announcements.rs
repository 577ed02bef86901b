//! What happens to a run while it goes on, in one line each: a server that does not answer and
//! that answers again, a key that is dead, a worker that was lost. Watches what coordinator and
//! gateway say of themselves and knows no clock. Called by `agon run` beside its progress.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agon_proto::v1::{GetGatewayStatusResponse, KeyStatus, WatchExperimentResponse};
use agon_report::{counted, grouped};

use crate::model_config::BASE_URL;

/// A fault that goes on is mentioned again this often.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// A server may say "later" for so long without an answer before that is a fault.
const LATER_FOR: Duration = Duration::from_secs(10);

/// The source of a provider's key that has none.
const NO_KEY: &str = "no key";

/// What Ctrl-C ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CtrlC {
    /// The run, which this process plays.
    Run,
    /// Watching a run that a cluster plays.
    Watching,
    /// The pages on which people play in a run of a cluster.
    Pages,
}

impl CtrlC {
    fn in_words(self) -> &'static str {
        match self {
            Self::Run => "Ctrl-C stops the run and keeps the answers received so far",
            Self::Watching => "Ctrl-C stops watching, and the cluster continues",
            Self::Pages => {
                "Ctrl-C closes the pages, and sessions that have not begun wait for people"
            }
        }
    }
}

/// What has been announced so far.
#[derive(Debug)]
pub struct Announcements {
    /// What Ctrl-C would do, in words.
    ctrl_c: &'static str,
    providers: BTreeMap<String, ProviderState>,
    dead_keys: BTreeMap<String, String>,
    workers: u64,
    coordinator_away: Option<Instant>,
}

/// How a provider's calls went, up to the last look.
#[derive(Debug, Default, Clone, Copy)]
struct ProviderState {
    failed: u64,
    put_off: u64,
    answered: u64,
    /// When it answered last, or was looked at first.
    answered_at: Option<Instant>,
    /// When it was last said that its calls fail.
    said: Option<Instant>,
    /// They still do, as far as was said.
    is_failing: bool,
}

impl Announcements {
    /// Of a run of which Ctrl-C ends this.
    pub fn new(ctrl_c: CtrlC) -> Self {
        Self {
            ctrl_c: ctrl_c.in_words(),
            providers: BTreeMap::new(),
            dead_keys: BTreeMap::new(),
            workers: 0,
            coordinator_away: None,
        }
    }

    /// What is to be said now.
    pub fn look(
        &mut self,
        experiment: &WatchExperimentResponse,
        gateway: Option<&GetGatewayStatusResponse>,
        now: Instant,
    ) -> Vec<String> {
        let mut lines: Vec<String> = self.lost_workers(experiment).into_iter().collect();
        let Some(gateway) = gateway else {
            return lines;
        };
        let patience = Duration::from_millis(gateway.patience_ms);
        for (provider, keys) in by_provider(&gateway.keys) {
            lines.extend(self.provider(provider, &keys, patience, now));
            for key in keys {
                lines.extend(self.dead_key(key));
            }
        }
        lines
    }

    /// What is to be said when the coordinator does not answer: the experiment goes on without us.
    pub fn coordinator_away(&mut self, now: Instant) -> Option<String> {
        let is_due = self
            .coordinator_away
            .is_none_or(|said| now.duration_since(said) >= AGAIN_AFTER);
        // It hears of workers only as they come back to it.
        self.workers = 0;
        is_due.then(|| {
            self.coordinator_away = Some(now);
            let ctrl_c = self.ctrl_c;
            format!(
                "the coordinator is not answering; the experiment is saved and continues when it \
                 is back. Retrying; {ctrl_c}"
            )
        })
    }

    /// In a cluster; workers of this process end with it.
    fn lost_workers(&mut self, experiment: &WatchExperimentResponse) -> Option<String> {
        let before = std::mem::replace(&mut self.workers, experiment.workers);
        let lost = before
            .checked_sub(experiment.workers)
            .filter(|lost| *lost > 0)?;
        let their = if lost == 1 { "its" } else { "their" };
        let lost = counted(lost, "worker");
        Some(match experiment.workers {
            0 => format!("lost {lost}; {their} sessions wait until you start `agon worker`"),
            left => format!(
                "lost {lost}; others take over {their} sessions, and no decision is paid for twice \
                 ({} left)",
                counted(left, "worker")
            ),
        })
    }

    fn provider(
        &mut self,
        provider: &str,
        keys: &[&KeyStatus],
        patience: Duration,
        now: Instant,
    ) -> Option<String> {
        let sum = |count: fn(&KeyStatus) -> u64| keys.iter().map(|key| count(key)).sum::<u64>();
        let (failed, put_off) = (sum(|key| key.failed), sum(|key| key.refused_by_provider));
        let over = sum(|key| key.calls).saturating_sub(sum(|key| key.in_flight));
        let answered = over.saturating_sub(failed + put_off);
        let state = self.providers.entry(provider.to_owned()).or_default();
        let provider = in_words(provider);
        if failed < state.failed || put_off < state.put_off || answered < state.answered {
            // The gateway was started again, or another one answers; its counts are its own.
            state.answered_at = None;
            (state.failed, state.put_off, state.answered) = (failed, put_off, answered);
        }
        let before = *state;
        state.failed = failed;
        state.put_off = put_off;
        state.answered = answered;
        let answered_at = *state.answered_at.get_or_insert(now);
        if answered > before.answered {
            state.answered_at = Some(now);
            let was_failing = std::mem::take(&mut state.is_failing);
            return was_failing.then(|| format!("{provider} answers again"));
        }
        let is_put_off = put_off > before.put_off && now.duration_since(answered_at) >= LATER_FOR;
        let is_due = before
            .said
            .is_none_or(|said| now.duration_since(said) >= AGAIN_AFTER);
        if !is_due || (failed <= before.failed && !is_put_off) {
            return None;
        }
        state.said = Some(now);
        state.is_failing = true;
        let failed = failed + put_off;
        let mut reasons = keys.iter().map(|key| key.last_error.as_str());
        let reason = reasons
            .rfind(|reason| !reason.is_empty())
            .unwrap_or("no reason is known");
        let failed = grouped(failed);
        let patience = humantime::format_duration(Duration::from_secs(patience.as_secs()));
        Some(format!(
            "{provider}: calls are failing ({failed} failed or put off so far); last error: {reason}. \
             Each call is retried for up to {patience}, then its session is set aside; {}",
            self.ctrl_c
        ))
    }

    fn dead_key(&mut self, key: &KeyStatus) -> Option<String> {
        let (provider, source) = (in_words(&key.provider), &key.source);
        let reason = &key.quarantine_reason;
        let name = format!("{} from {source}", key.provider);
        let is_keyless = source == NO_KEY;
        if reason.is_empty() {
            let was_dead = self.dead_keys.remove(&name).is_some();
            return was_dead.then(|| match is_keyless {
                true => format!("{provider} answers again without a key"),
                false => format!("{provider}: the key from {source} works again"),
            });
        }
        let known = self.dead_keys.insert(name, reason.clone());
        (known.as_ref() != Some(reason)).then(|| match is_keyless {
            true => {
                let where_to = match key.provider.as_str() {
                    BASE_URL => "with --key-env VARIABLE".to_owned(),
                    named => format!("as keys under [providers.{named}]"),
                };
                format!(
                    "{provider} refuses calls without a key: {reason}; it will be retried within \
                     minutes; if it wants a key, name one {where_to} and run again"
                )
            }
            false => format!(
                "{provider}: the key from {source} is no longer used: {reason}; it will be \
                 retried within minutes; if it is invalid, set a valid key and run again"
            ),
        })
    }
}

/// A provider as whoever started the run knows it.
fn in_words(provider: &str) -> &str {
    match provider {
        BASE_URL => "the server at --base-url",
        named => named,
    }
}

/// The rows of keys over all models.
fn by_provider(keys: &[KeyStatus]) -> BTreeMap<&str, Vec<&KeyStatus>> {
    let mut providers: BTreeMap<&str, Vec<&KeyStatus>> = BTreeMap::new();
    for key in keys.iter().filter(|key| key.model.is_empty()) {
        providers.entry(&key.provider).or_default().push(key);
    }
    providers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(workers: u64) -> WatchExperimentResponse {
        WatchExperimentResponse {
            workers,
            ..WatchExperimentResponse::default()
        }
    }

    fn gateway(calls: u64, failed: u64) -> GetGatewayStatusResponse {
        let key = KeyStatus {
            provider: "lab".to_owned(),
            source: "no key".to_owned(),
            calls,
            failed,
            last_error: "connection refused".to_owned(),
            ..KeyStatus::default()
        };
        GetGatewayStatusResponse {
            keys: vec![key],
            patience_ms: 600_000,
            ..GetGatewayStatusResponse::default()
        }
    }

    #[test]
    fn dead_server_is_one_line_at_once_and_one_a_minute() {
        let (mut said, start) = (Announcements::new(CtrlC::Run), Instant::now());
        let mut lines = Vec::new();
        for second in 0..61 {
            let state = gateway(second * 3, second * 3);
            let now = start + Duration::from_secs(second);
            lines.extend(said.look(&experiment(1), Some(&state), now));
        }
        assert_eq!(lines.len(), 1, "{lines:#?}");
        for words in [
            "lab: calls are failing (3 failed",
            "connection refused",
            "10m",
            "Ctrl-C",
        ] {
            assert!(lines[0].contains(words), "`{words}` is not in {}", lines[0]);
        }
        let later = start + Duration::from_secs(62);
        let line = said.look(&experiment(1), Some(&gateway(200, 200)), later);
        assert!(line[0].contains("(200 failed"), "{line:?}");
    }

    #[test]
    fn recovery_is_said_once_and_a_single_failure_among_answers_is_not_a_dead_server() {
        let (mut said, now) = (Announcements::new(CtrlC::Run), Instant::now());
        assert_eq!(
            said.look(&experiment(1), Some(&gateway(1, 1)), now).len(),
            1
        );
        let again = said.look(&experiment(1), Some(&gateway(2, 1)), now);
        assert_eq!(again, ["lab answers again"]);
        assert!(
            said.look(&experiment(1), Some(&gateway(3, 1)), now)
                .is_empty()
        );
        // One fails while others are answered.
        assert!(
            said.look(&experiment(1), Some(&gateway(9, 2)), now)
                .is_empty()
        );
    }

    #[test]
    fn server_that_puts_everybody_off_is_mentioned_and_one_that_does_so_now_and_then_is_not() {
        let (mut said, start) = (Announcements::new(CtrlC::Run), Instant::now());
        let mut state = gateway(0, 0);
        let mut at = |second: u64, calls: u64, put_off: u64| {
            state.keys[0].calls = calls;
            state.keys[0].refused_by_provider = put_off;
            let now = start + Duration::from_secs(second);
            said.look(&experiment(1), Some(&state), now)
        };
        assert!(at(0, 10, 10).is_empty());
        assert!(at(9, 20, 15).is_empty(), "five were answered");
        assert!(at(18, 30, 25).is_empty());
        let line = at(19, 31, 26);
        assert!(line[0].contains("(26 failed"), "{line:?}");
        assert_eq!(at(20, 32, 26), ["lab answers again"]);
    }

    #[test]
    fn gateway_that_was_started_again_is_no_failure_and_coordinator_that_was_away_lost_no_worker() {
        let (mut said, now) = (Announcements::new(CtrlC::Watching), Instant::now());
        let _ = said.look(&experiment(3), Some(&gateway(9, 5)), now);
        let again = said.look(&experiment(3), Some(&gateway(0, 0)), now);
        assert!(again.is_empty(), "{again:?}");
        let away = said.coordinator_away(now).unwrap();
        assert!(away.contains("Ctrl-C stops watching"), "{away}");
        let mut people = Announcements::new(CtrlC::Pages);
        let away = people.coordinator_away(now).unwrap();
        let closes = "Ctrl-C closes the pages, and sessions that have not begun wait for people";
        assert!(away.ends_with(closes), "{away}");
        assert!(said.look(&experiment(0), None, now).is_empty());
        assert!(said.look(&experiment(2), None, now).is_empty());
    }

    #[test]
    fn server_that_wants_a_key_and_was_given_none_is_told_where_to_name_one() {
        let (mut said, now) = (Announcements::new(CtrlC::Run), Instant::now());
        let mut state = gateway(0, 0);
        state.keys[0].quarantine_reason = "401: no key".to_owned();
        let line = said.look(&experiment(1), Some(&state), now);
        assert!(
            line[0].starts_with("lab refuses calls without a key: 401: no key; ")
                && line[0].contains("as keys under [providers.lab]"),
            "{line:?}"
        );
        state.keys[0].provider = BASE_URL.to_owned();
        let line = said.look(&experiment(1), Some(&state), now);
        assert!(
            line[0].starts_with("the server at --base-url refuses calls without a key")
                && line[0].contains("--key-env"),
            "{line:?}"
        );
        state.keys[0].quarantine_reason.clear();
        let line = said.look(&experiment(1), Some(&state), now);
        assert_eq!(
            line,
            ["the server at --base-url answers again without a key"]
        );
    }

    #[test]
    fn lost_worker_and_dead_key_are_mentioned_once() {
        let (mut said, now) = (Announcements::new(CtrlC::Run), Instant::now());
        assert!(said.look(&experiment(3), None, now).is_empty());
        let lost = said.look(&experiment(2), None, now);
        assert!(
            lost[0].contains("lost 1 worker") && lost[0].contains("2 workers left"),
            "{lost:?}"
        );
        let mut crash = Announcements::new(CtrlC::Watching);
        assert!(crash.look(&experiment(3), None, now).is_empty());
        let lost = crash.look(&experiment(1), None, now);
        assert!(
            lost[0].contains("lost 2 workers; others take over their sessions"),
            "{lost:?}"
        );
        let mut dead = gateway(0, 0);
        dead.keys[0].source = "env LAB_KEY".to_owned();
        dead.keys[0].quarantine_reason = "401: wrong key".to_owned();
        let line = said.look(&experiment(2), Some(&dead), now);
        assert!(
            line[0].contains("no longer used: 401: wrong key"),
            "{line:?}"
        );
        assert!(said.look(&experiment(2), Some(&dead), now).is_empty());
        dead.keys[0].quarantine_reason.clear();
        let line = said.look(&experiment(2), Some(&dead), now);
        assert!(line[0].contains("works again"), "{line:?}");
    }
}
