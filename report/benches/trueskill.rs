//! Speed of ratings on one core: free-for-all sessions of ten players, with ties.
//! `cargo bench -p agon-report` prints the figure that has a bar first, plainly, then
//! divan's table. The allocator is that of the binary.

use std::hint::black_box;
use std::time::{Duration, Instant};

use agon_report::Ratings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ten-player updates per second that must be reached.
const UPDATES_BAR: f64 = 20_000.0;

/// How long the figure is measured.
const MEASURED: Duration = Duration::from_secs(2);

const PLAYERS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

fn main() {
    // `cargo test` runs benchmarks once, to see that they work.
    if std::env::args().any(|argument| argument == "--bench") {
        print_bar();
    }
    divan::main();
}

fn print_bar() {
    let mut ratings = Ratings::default();
    let (start, mut updates) = (Instant::now(), 0);
    while start.elapsed() < MEASURED {
        for _ in 0..100 {
            update(&mut ratings, updates);
            updates += 1;
        }
    }
    let rate = updates as f64 / start.elapsed().as_secs_f64();
    black_box(&ratings);
    println!("ten-player rating updates per second: {rate:.0} (bar {UPDATES_BAR})");
    println!();
}

/// Profits in steps of 500, so that some tie; another order every time.
fn update(ratings: &mut Ratings, session: u64) {
    let profit = |seat: u64| ((session * 7 + seat * 13) % 17 % 8 * 500) as f64;
    let profits: Vec<f64> = (0..PLAYERS.len() as u64).map(profit).collect();
    if let Err(error) = ratings.rate(&PLAYERS, &profits) {
        panic!("{error}");
    }
}

#[divan::bench]
fn ten_players(bencher: divan::Bencher<'_, '_>) {
    let (mut ratings, mut session) = (Ratings::default(), 0);
    bencher.bench_local(|| {
        update(&mut ratings, session);
        session += 1;
    });
}
