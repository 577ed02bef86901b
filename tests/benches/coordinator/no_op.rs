//! Sessions per second through a coordinator that has one core, beside what the same Redis does:
//! idle workers hand in records in which nothing happened.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agon_tests::benches::{bar, note};
use agon_tests::measured::Memory;

use crate::idle_worker;
use crate::stand::{Stand, memory, processor_seconds, request, sessions, trivial};

const SESSIONS: u32 = 500_000;

const WORKERS: u32 = 4;

/// Of each worker.
const PLACES: u32 = 5_000;

/// Share of the pipelined SETs per second that sessions must reach, and a further aim.
const SHARE: f64 = 1.0 / 20.0;
const STRETCH: f64 = 1.0 / 5.0;

/// Measures and prints.
pub fn measure() {
    let stand = Stand::start(true);
    let sets = pipelined_sets(&stand);
    println!("redis-benchmark -t set -P 64: {sets:.0} SETs per second");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let all = sessions(SESSIONS);
    let experiment = trivial("no-op", all);
    let records = Arc::new(idle_worker::records(&experiment));
    runtime.block_on(async {
        let mut experiments = stand.experiments();
        let submitted = experiments.submit_experiment(request(&experiment));
        let _ = submitted.await.expect("a submission");
        let stored = Arc::new(AtomicU32::new(0));
        let before = processor_seconds(&stand.coordinator);
        let begun = Instant::now();
        let workers = (0..WORKERS).map(|number| {
            let (url, stored) = (stand.url.clone(), Arc::clone(&stored));
            let records = Arc::clone(&records);
            tokio::spawn(async move {
                let name = format!("idle-{number}");
                idle_worker::work(&url, &name, PLACES, &records, &stored).await;
            })
        });
        let workers: Vec<_> = workers.collect();
        while stored.load(Ordering::Relaxed) < all {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let seconds = begun.elapsed().as_secs_f64();
        let processor = processor_seconds(&stand.coordinator) - before;
        let rate = f64::from(all) / seconds;
        for worker in workers {
            worker.abort();
        }
        bar(
            &format!("{all} no-op sessions through a coordinator on one core"),
            &format!("{rate:.0} per second, 1/{:.0} of the SETs", sets / rate),
            &format!("1/20; stretch 1/5, {:.0}", sets * STRETCH),
            rate >= sets * SHARE,
        );
        note(&format!(
            "{:.1} s, {:.1} microseconds of the coordinator's processor time per session; it held \
             {} MB at the most, Redis {} MB at the end",
            seconds,
            processor / f64::from(all) * 1e6,
            memory(&stand.coordinator, Memory::Peak) / 1_000_000,
            stand.redis_memory() / 1_000_000,
        ));
    });
}

fn pipelined_sets(stand: &Stand) -> f64 {
    let port = stand.redis.port().to_string();
    let arguments = [
        "-t", "set", "-P", "64", "-n", "2000000", "--csv", "-p", &port,
    ];
    let said = Command::new("redis-benchmark").args(arguments).output();
    let said = said
        .expect("redis-benchmark, which comes with Redis")
        .stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("\"SET\",\""));
    let rate = line.and_then(|line| line.split('"').next());
    rate.and_then(|rate| rate.parse().ok()).expect("a figure")
}
