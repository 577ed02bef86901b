//! The circuit breaker on a clock of the tests: when it opens, whom it lets try,
//! and what late answers may not do.

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn breaker() -> Breaker {
    Breaker::default()
}

fn fail(breaker: &mut Breaker, times: u32, now: Instant) {
    for _ in 0..times {
        let round = breaker.began(now);
        breaker.failed(round, now);
    }
}

fn answer(breaker: &mut Breaker, now: Instant) {
    let round = breaker.began(now);
    breaker.succeeded(round, now);
}

#[test]
fn failures_in_a_row_open_it() {
    let (mut breaker, now) = (breaker(), Instant::now());
    fail(&mut breaker, 4, now);
    assert_eq!(breaker.look(now), Circuit::Closed);
    assert_eq!(breaker.room(now), None);
    fail(&mut breaker, 1, now);
    let until = now + SECOND;
    assert_eq!(breaker.look(now), Circuit::Open { until });
    assert_eq!(breaker.room(now), Some(0));
}

#[test]
fn an_answer_between_failures_keeps_it_closed() {
    let (mut breaker, mut now) = (breaker(), Instant::now());
    for _ in 0..100 {
        fail(&mut breaker, 4, now);
        // Enough of them that their share is below one half.
        (0..5).for_each(|_| answer(&mut breaker, now));
        now += SECOND;
    }
    assert_eq!(breaker.look(now), Circuit::Closed);
}

#[test]
fn failures_by_chance_among_many_calls_do_not_open_it() {
    let (mut breaker, mut now) = (breaker(), Instant::now());
    // 600 calls a second; now and then seven of them fail in a row.
    for call in 0..60_000_u32 {
        match call % 35 {
            0..7 => fail(&mut breaker, 1, now),
            _ => answer(&mut breaker, now),
        }
        now += SECOND / 600;
    }
    assert_eq!(breaker.look(now), Circuit::Closed);
    // But when the server dies, it is noticed within little more than a second.
    for _ in 0..700 {
        fail(&mut breaker, 1, now);
        now += SECOND / 600;
    }
    assert_ne!(breaker.look(now), Circuit::Closed);
}

#[test]
fn share_of_failures_opens_it_when_calls_are_many() {
    let (mut breaker, now) = (breaker(), Instant::now());
    for pair in 1..=10 {
        assert_eq!(breaker.look(now), Circuit::Closed, "pair {pair}");
        answer(&mut breaker, now);
        fail(&mut breaker, 1, now);
    }
    assert_ne!(breaker.look(now), Circuit::Closed);
}

#[test]
fn old_failures_are_forgotten() {
    let (mut breaker, mut now) = (breaker(), Instant::now());
    for _ in 0..40 {
        answer(&mut breaker, now);
        fail(&mut breaker, 1, now);
        // Never 20 calls within 30 s.
        now += 4 * SECOND;
    }
    assert_eq!(breaker.look(now), Circuit::Closed);
}

#[test]
fn one_probe_goes_when_the_time_is_over() {
    let (mut breaker, began) = (breaker(), Instant::now());
    fail(&mut breaker, 5, began);
    let now = began + SECOND;
    assert_eq!(breaker.look(now), Circuit::HalfOpen);
    assert_eq!(breaker.room(now), Some(1));
    let probe = breaker.began(now);
    assert_eq!(breaker.room(now + SECOND), Some(0));
    assert_eq!(breaker.look(now), Circuit::HalfOpen);
    breaker.succeeded(probe, now);
    assert_eq!(breaker.room(now), None);
}

#[test]
fn abandoned_probe_gives_its_turn_back() {
    let (mut breaker, began) = (breaker(), Instant::now());
    fail(&mut breaker, 5, began);
    let now = began + SECOND;
    let probe = breaker.began(now);
    breaker.abandoned(probe);
    assert_eq!(breaker.room(now), Some(1));
}

#[test]
fn open_time_doubles_up_to_a_minute() {
    let (mut breaker, mut now) = (breaker(), Instant::now());
    fail(&mut breaker, 5, now);
    let mut lasted = Vec::new();
    for _ in 0..8 {
        let Circuit::Open { until } = breaker.look(now) else {
            panic!("not open");
        };
        lasted.push((until - now).as_secs());
        now = until;
        fail(&mut breaker, 1, now);
    }
    assert_eq!(lasted, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn relapse_goes_on_where_the_last_open_time_ended() {
    let (mut breaker, mut now) = (breaker(), Instant::now());
    fail(&mut breaker, 5, now);
    now += SECOND;
    answer(&mut breaker, now);
    now += SECOND;
    fail(&mut breaker, 5, now);
    let until = now + 2 * SECOND;
    assert_eq!(breaker.look(now), Circuit::Open { until });
    now = until;
    answer(&mut breaker, now);
    now += 31 * SECOND;
    fail(&mut breaker, 5, now);
    let until = now + SECOND;
    assert_eq!(breaker.look(now), Circuit::Open { until });
}

#[test]
fn late_ends_of_older_calls_change_nothing() {
    let (mut breaker, began) = (breaker(), Instant::now());
    let old: Vec<ProbeRound> = (0..100).map(|_| breaker.began(began)).collect();
    fail(&mut breaker, 5, began);
    let open = breaker.look(began);
    for round in &old[..50] {
        breaker.failed(*round, began);
    }
    assert_eq!(breaker.look(began), open);
    breaker.succeeded(old[50], began);
    assert_eq!(breaker.look(began), open);
    let now = began + SECOND;
    let probe = breaker.began(now);
    breaker.failed(old[51], now);
    breaker.abandoned(old[52]);
    assert_eq!(breaker.room(now), Some(0));
    breaker.succeeded(probe, now);
    breaker.failed(old[53], now);
    assert_eq!(breaker.look(now), Circuit::Closed);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    End(usize, u8),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Begin),
        3 => (0_usize..50, 0_u8..4).prop_map(|(which, how)| Step::End(which, how)),
        1 => (0_u64..5_000).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..300)
}

proptest! {
    /// Whatever happens in whatever order: calls begin only where there is
    /// room, at most one of them while the circuit is not closed, and a circuit
    /// is never open for longer than the longest time.
    #[test]
    fn room_is_never_more_than_one_while_not_closed(steps in steps()) {
        let mut breaker = breaker();
        let mut now = Instant::now();
        let mut under_way: Vec<ProbeRound> = Vec::new();
        for step in steps {
            match step {
                Step::Begin if breaker.room(now) != Some(0) => under_way.push(breaker.began(now)),
                Step::Begin => {}
                Step::End(which, how) if !under_way.is_empty() => {
                    let round = under_way.swap_remove(which % under_way.len());
                    match how {
                        0 => breaker.succeeded(round, now),
                        1 => breaker.abandoned(round),
                        _ => breaker.failed(round, now),
                    }
                }
                Step::End(..) => {}
                Step::Wait(ms) => now += Duration::from_millis(ms),
            }
            let probes = under_way
                .iter()
                .filter(|round| round.probe && round.opened_before == breaker.opened);
            match breaker.look(now) {
                Circuit::Closed => prop_assert_eq!(breaker.room(now), None),
                Circuit::HalfOpen => {
                    let probes = probes.count() as u64;
                    prop_assert_eq!(breaker.room(now), Some(1 - probes));
                }
                Circuit::Open { until } => {
                    prop_assert_eq!(breaker.room(now), Some(0));
                    prop_assert!(until - now <= Duration::from_secs(60));
                    // It always ends: then there is room for a probe.
                    prop_assert_eq!(breaker.room(until), Some(1));
                }
            }
        }
    }
}
