//! A key that its provider refused as dead or wrong: out of use, but tried again now and then with
//! one call, because accounts are topped up and permissions come back. Pure; time is handed in.
//! Part of `keys.rs`.

use std::time::{Duration, Instant};

/// Why a key is out of use, and when it is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// What the provider said.
    pub reason: String,
    /// From then on one call may try it; absent: none ever.
    pub next_probe: Option<Instant>,
    refusals: usize,
    is_probed: bool,
}

impl Quarantine {
    /// A key was refused for the first time. `pauses` are those before the first probe, the
    /// second and so on; the last one is repeated. Without any it is never tried again.
    pub fn begin(reason: &str, pauses: &[Duration], now: Instant) -> Self {
        let mut quarantine = Self {
            reason: String::new(),
            next_probe: None,
            refusals: 0,
            is_probed: true,
        };
        quarantine.refused(reason, pauses, now);
        quarantine
    }

    /// It was refused again. Answers to calls that had left before do not count.
    pub fn refused(&mut self, reason: &str, pauses: &[Duration], now: Instant) {
        if !std::mem::take(&mut self.is_probed) {
            return;
        }
        reason.clone_into(&mut self.reason);
        self.next_probe = next(pauses, self.refusals, now);
        self.refusals += 1;
    }

    /// A call may try the key now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next_probe.is_some_and(|at| at <= now)
    }

    /// Takes the one call that may try it; nobody else has it before the next pause is over.
    pub fn probe(&mut self, pauses: &[Duration], now: Instant) -> bool {
        let is_due = self.is_due(now);
        if is_due {
            self.is_probed = true;
            self.next_probe = next(pauses, self.refusals, now);
        }
        is_due
    }
}

/// The last pause is repeated.
fn next(pauses: &[Duration], number: usize, now: Instant) -> Option<Instant> {
    let pause = pauses.get(number).or(pauses.last());
    pause.map(|pause| now + *pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const PAUSES: [Duration; 2] = [MINUTE, Duration::from_secs(300)];

    #[test]
    fn key_is_probed_by_one_call_after_each_pause_and_the_last_pause_repeats() {
        let start = Instant::now();
        let mut quarantine = Quarantine::begin("401", &PAUSES, start);
        assert!(!quarantine.probe(&PAUSES, start + MINUTE / 2));
        let mut now = start + MINUTE;
        for _ in 0..3 {
            assert!(quarantine.probe(&PAUSES, now));
            assert!(!quarantine.probe(&PAUSES, now), "one call only");
            quarantine.refused("401 again", &PAUSES, now);
            assert!(!quarantine.is_due(now + 4 * MINUTE));
            now += 5 * MINUTE;
        }
        assert_eq!(quarantine.reason, "401 again");
    }

    #[test]
    fn late_refusal_of_an_older_call_puts_nothing_off() {
        let now = Instant::now();
        let mut quarantine = Quarantine::begin("401", &PAUSES, now);
        let due = quarantine.next_probe;
        quarantine.refused("late", &PAUSES, now + MINUTE / 2);
        assert_eq!((quarantine.next_probe, &*quarantine.reason), (due, "401"));
    }

    #[test]
    fn probe_of_which_nothing_is_heard_is_made_again() {
        let now = Instant::now();
        let mut quarantine = Quarantine::begin("401", &PAUSES, now);
        assert!(quarantine.probe(&PAUSES, now + MINUTE));
        assert!(quarantine.probe(&PAUSES, now + 6 * MINUTE));
    }

    #[test]
    fn without_pauses_a_key_is_never_tried_again() {
        let now = Instant::now();
        let quarantine = Quarantine::begin("401", &[], now);
        assert_eq!(quarantine.next_probe, None);
        assert!(!quarantine.is_due(now + 10_000 * MINUTE));
    }
}
