//! The embedded store under seeded faults: workers that crash, stop and come back, messages that
//! come late or twice, clocks that jump, coordinators that are killed and opened again. After
//! every step the invariants are checked. A seed that fails is printed; play it alone with
//! `AGON_SIMULATION_SEED=<seed> cargo test -p agon-coordinator --test simulation`.

mod chance;
mod invariants;
mod seen;
mod workers;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::world::World;

/// Seeds of an ordinary run: some fourteen thousand steps within seconds.
const SEEDS: u64 = 200;

/// Steps with faults in each.
const STEPS: usize = 70;

#[test]
fn faults_of_any_order_break_no_invariant() {
    if let Ok(seed) = std::env::var("AGON_SIMULATION_SEED") {
        let seed = seed.parse().expect("AGON_SIMULATION_SEED is a number");
        simulate(seed).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let next = AtomicU64::new(1);
    let failures = Mutex::new(Vec::new());
    // More than there are cores: each waits for the disk half of its time.
    let threads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > SEEDS {
                        return;
                    }
                    if let Err(failure) = simulate(seed) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    if let Some(first) = failures.first() {
        panic!(
            "{} of {SEEDS} seeds failed; one of them:\n{first}",
            failures.len()
        );
    }
}

/// Plays one seed; a failure says the seed, the invariant and the last steps before it.
fn simulate(seed: u64) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(seed).await;
        let mut outcome = Ok(());
        for _ in 0..STEPS {
            outcome = world.step().await;
            if outcome.is_err() {
                break;
            }
        }
        if outcome.is_ok() {
            outcome = world.calm_down().await;
        }
        outcome.map_err(|broken| {
            let steps = world.last_steps().join("\n  ");
            format!("AGON_SIMULATION_SEED={seed}: {broken}; the last steps:\n  {steps}")
        })
    })
}
