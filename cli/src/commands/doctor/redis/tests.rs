//! What is said of servers that no test can start: slow, old, with a wrong clock or a broken disk.
//! Those that it can start are in `tests/tests/doctor/redis.rs`.

use super::*;

/// A server with which all is well.
fn healthy() -> Survey {
    let text = |text: &str| Some(text.to_owned());
    Survey {
        version: text("7.2.4"),
        append_only: Some(true),
        append_sync: text("always"),
        eviction: text("noeviction"),
        most_bytes: Some(1 << 30),
        used_bytes: Some(1 << 20),
        replicas: Some(1),
        least_replicas: Some(1),
        last_snapshot: text("ok"),
        last_append: text("ok"),
        ahead_ms: Some(-3),
        round_trip: Duration::from_micros(200),
        refuses_writes: None,
    }
}

fn said_of(survey: &Survey) -> String {
    let mut findings = Findings::default();
    judge("redis://r:6379", survey, &mut findings);
    replicas(survey, true, &mut findings);
    findings.text()
}

#[test]
fn healthy_server_is_praised_throughout() {
    let said = said_of(&healthy());
    let all_ok = said.lines().all(|line| line.starts_with("ok "));
    assert!(all_ok && said.lines().count() == 11, "{said}");
}

#[test]
fn clock_warns_above_one_second_and_fails_above_five() {
    for (ahead_ms, expected) in [
        (1_000, "ok    redis clock: 1000 ms ahead of"),
        (-1_001, "warn  redis clock: 1001 ms behind"),
        (5_000, "warn  redis clock: 5000 ms ahead of"),
        (-5_001, "fail  redis clock: 5001 ms behind"),
    ] {
        let said = said_of(&Survey {
            ahead_ms: Some(ahead_ms),
            ..healthy()
        });
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn each_fault_of_a_server_is_told_with_what_to_do() {
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (
            Survey {
                version: text("6.2.14"),
                ..healthy()
            },
            "fail  redis version: 6.2.14; use Redis 7 or newer",
        ),
        (
            Survey {
                last_append: text("err"),
                ..healthy()
            },
            "fail  redis append-only file: the last write failed; free space",
        ),
        (
            Survey {
                used_bytes: Some(4 << 28),
                ..healthy()
            },
            "fail  redis memory: 1024 of 1024 MiB used, 100 %; raise maxmemory",
        ),
        (
            Survey {
                used_bytes: Some(800 << 20),
                ..healthy()
            },
            "warn  redis memory: 800 of 1024 MiB used, 78 %; raise maxmemory",
        ),
        (
            Survey {
                round_trip: Duration::from_millis(80),
                ..healthy()
            },
            "warn  redis latency: answers in 80.0 ms; run it near",
        ),
        (
            Survey {
                replicas: Some(0),
                ..healthy()
            },
            "warn  redis replicas: none is connected",
        ),
    ];
    for (survey, expected) in cases {
        let said = said_of(&survey);
        assert!(said.contains(expected), "{said}");
        let others = said.lines().filter(|line| !line.starts_with("ok "));
        assert_eq!(others.count(), 1, "{said}");
    }
}
