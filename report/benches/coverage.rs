//! How often intervals cover: of many sets of numbers whose true mean is known, the share whose 95 %
//! interval holds it, by method, distribution and how many numbers a set has. Prints the table of
//! `docs/statistics.md`. `cargo bench -p agon-report --bench coverage`, `-- 2000` for fewer sets.

use std::thread;

use agon_report::accumulator::Accumulator;
use agon_report::statistics::aggregate::{interquartile_mean_interval, mean_superiority_interval};
use agon_report::statistics::strength::{Contests, Model};
use agon_report::statistics::{
    Interval, mean_interval, paired_effect, predicted_total, ratio, wilson_interval,
};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// Sets of numbers for each figure.
const SETS: u32 = 20_000;

/// How many numbers a set has.
const SIZES: [usize; 5] = [5, 10, 20, 30, 100];

/// Of methods that draw sets again, one set in so many.
const DRAWN: u32 = 10;

/// Moves of a session whose moves are alike.
const MOVES: usize = 20;

/// Variance between sessions as a share of all.
const ALIKE: f64 = 0.2;

fn main() {
    // `cargo test` runs benchmarks once, to see that they work.
    let is_timed = std::env::args().any(|argument| argument == "--bench");
    let mut given = std::env::args().filter_map(|argument| argument.parse().ok());
    let sets = given
        .next_back()
        .unwrap_or(if is_timed { SETS } else { 20 });
    println!("share of {sets} sets whose 95 % interval covers, %, by numbers in a set");
    let sizes: Vec<String> = SIZES.iter().map(|size| format!("{size:>6}")).collect();
    println!("{:<52}{}", "", sizes.concat());
    let cases = CASES.map(|(name, cover)| (name, cover, sets));
    let drawn = DRAWN_CASES.map(|(name, cover)| (name, cover, sets / DRAWN));
    for (name, cover, sets) in cases.into_iter().chain(drawn) {
        let shares = thread::scope(|scope| {
            let threads = SIZES.map(|size| scope.spawn(move || share(cover, size, sets)));
            threads.map(|thread| thread.join().expect("a share"))
        });
        let shares: Vec<String> = shares.iter().map(|share| format!("{share:>6.1}")).collect();
        println!("{name:<52}{}", shares.concat());
    }
    println!(
        "(*) of {} sets, because each is drawn again many times",
        sets / DRAWN
    );
}

/// Whether the interval of a new set of this size covers.
type Cover = fn(&mut Chance, usize) -> bool;

const CASES: [(&str, Cover); 15] = [
    ("mean, normal", |chance, size| {
        mean(chance, size, normal, 0.0)
    }),
    ("mean, uniform", |chance, size| {
        mean(chance, size, Chance::unit, 0.5)
    }),
    ("mean, exponential", |chance, size| {
        mean(chance, size, exponential, 1.0)
    }),
    ("mean, lognormal", |chance, size| {
        mean(chance, size, |chance| normal(chance).exp(), 0.5f64.exp())
    }),
    (
        "mean, scores at most 100 (a quarter of them 100)",
        |chance, size| mean(chance, size, capped, CAPPED),
    ),
    ("mean of 8 games of other spreads, skewed", games),
    ("mean of sessions, moves alike", |chance, size| {
        mean(chance, size, of_moves, 0.0)
    }),
    ("ratio of sums, sessions of other lengths", of_sums),
    ("standardised difference of pairs, 0.5", effect),
    ("total of 200 repeats of 8 settings, so many played", total),
    ("rate, 0.5", |chance, size| rate(chance, size, 0.5)),
    ("rate, 0.7", |chance, size| rate(chance, size, 0.7)),
    ("rate, 0.9", |chance, size| rate(chance, size, 0.9)),
    (
        "strength, pairs of 5 players, Bradley-Terry",
        |chance, size| strength(chance, size, Model::BradleyTerry),
    ),
    (
        "strength, sessions of 5 players, Plackett-Luce",
        |chance, size| strength(chance, size, Model::PlackettLuce),
    ),
];

/// The same of methods that draw sets again.
const DRAWN_CASES: [(&str, Cover); 2] = [
    ("interquartile mean of 8 games (*)", middle),
    ("chance to do better, 3 players in 8 games (*)", better),
];

/// Percent of sets that are covered.
fn share(cover: Cover, size: usize, sets: u32) -> f64 {
    let sets = sets.max(1);
    let mut chance = Chance(ChaCha8Rng::seed_from_u64(size as u64));
    let covered = (0..sets).filter(|_| cover(&mut chance, size)).count();
    100.0 * covered as f64 / f64::from(sets)
}

/// A source of numbers.
struct Chance(ChaCha8Rng);

impl Chance {
    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// Box and Muller 1958, "A note on the generation of random normal deviates".
fn normal(chance: &mut Chance) -> f64 {
    let (radius, angle) = (chance.unit(), chance.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

fn exponential(chance: &mut Chance) -> f64 {
    -chance.unit().ln()
}

/// A score around 90 that cannot be above 100.
fn capped(chance: &mut Chance) -> f64 {
    15.0f64.mul_add(normal(chance), 90.0).min(100.0)
}

/// Its mean: `90 P - 15 f + 100 (1 - P)` with the normal distribution P and density f at 2 / 3.
const CAPPED: f64 = 87.733_205;

/// The mean of moves that have something in common.
fn of_moves(chance: &mut Chance) -> f64 {
    let common = ALIKE.sqrt() * normal(chance);
    let own = (0..MOVES).map(|_| (1.0 - ALIKE).sqrt() * normal(chance));
    common + own.sum::<f64>() / MOVES as f64
}

fn covers(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

fn of(numbers: impl IntoIterator<Item = f64>) -> Accumulator {
    let mut all = Accumulator::default();
    numbers.into_iter().for_each(|number| all.add(number));
    all
}

fn mean(chance: &mut Chance, size: usize, draw: fn(&mut Chance) -> f64, truth: f64) -> bool {
    let numbers = of((0..size).map(|_| draw(chance)));
    covers(mean_interval(&[numbers]), truth)
}

fn games(chance: &mut Chance, size: usize) -> bool {
    let game = |spread: u32| of((0..size).map(|_| f64::from(spread) * exponential(chance)));
    let games: Vec<Accumulator> = (1..=8).map(game).collect();
    covers(mean_interval(&games), 4.5)
}

/// Half of all moves of sessions with 5 to 15 moves, some sessions more often than others.
fn of_sums(chance: &mut Chance, size: usize) -> bool {
    let sessions = (0..size).map(|_| {
        let (moves, often) = (5.0 + (11.0 * chance.unit()).floor(), chance.unit());
        let hits = (0..moves as u32).filter(|_| chance.unit() < often);
        (hits.count() as f64, moves)
    });
    let sessions: Vec<(f64, f64)> = sessions.collect();
    covers(ratio(&sessions).and_then(|ratio| ratio.interval), 0.5)
}

fn rate(chance: &mut Chance, size: usize, truth: f64) -> bool {
    let successes = (0..size).filter(|_| chance.unit() < truth).count();
    covers(wilson_interval(successes as u64, size as u64), truth)
}

/// Costs of sessions: skewed, and other ones in other settings.
fn total(chance: &mut Chance, size: usize) -> bool {
    const REPEATS: usize = 200;
    let mut truth = 0.0;
    let setting = |level: u32| {
        let costs = (0..REPEATS).map(|_| f64::from(level) * (1.0 + exponential(chance)));
        let costs: Vec<f64> = costs.collect();
        truth += costs.iter().sum::<f64>();
        of(costs.into_iter().take(size))
    };
    let settings: Vec<Accumulator> = (1..=8).map(setting).collect();
    let predicted = predicted_total(&settings, REPEATS as u64);
    covers(predicted.and_then(|predicted| predicted.interval), truth)
}

fn effect(chance: &mut Chance, size: usize) -> bool {
    let differences = of((0..size).map(|_| normal(chance) + 0.5));
    covers(
        paired_effect(&differences).map(|effect| effect.interval),
        0.5,
    )
}

/// Scores of eight games around 20, 30 ... 90; the true interquartile mean is that of all of them.
fn middle(chance: &mut Chance, size: usize) -> bool {
    let game = |level: u32| {
        let scores = (0..size).map(|_| 10.0f64.mul_add(normal(chance), f64::from(10 * level)));
        scores.collect()
    };
    let games: Vec<Vec<f64>> = (2..=9).map(game).collect();
    // By symmetry.
    covers(
        interquartile_mean_interval(&games).map(|(_, interval)| interval),
        55.0,
    )
}

/// The best of three players whose scores are apart by half a standard deviation.
fn better(chance: &mut Chance, size: usize) -> bool {
    let game = |_| {
        let mut of = |level: f64| {
            (0..size)
                .map(|_| normal(chance) + level)
                .collect::<Vec<f64>>()
        };
        (of(1.0), vec![of(0.5), of(0.0)])
    };
    let games: Vec<_> = (0..8).map(game).collect();
    covers(
        mean_superiority_interval(&games).map(|(_, interval)| interval),
        BETTER,
    )
}

/// The mean of the normal distribution at `0.5 / sqrt(2)` and `1 / sqrt(2)`.
const BETTER: f64 = (0.638_163_195_084_1 + 0.760_249_938_906_5) / 2.0;

/// Whether the interval of the strongest of five holds its lead over the mean.
fn strength(chance: &mut Chance, size: usize, model: Model) -> bool {
    const STRENGTHS: [f64; 5] = [1.0, 0.5, 0.0, -0.5, -1.0];
    let mut contests = Contests::new(model, STRENGTHS.len());
    for _ in 0..size {
        // With noise of Gumbel's distribution, orders are those of Plackett and Luce's model.
        let made = STRENGTHS.map(|strength| strength - (-chance.unit().ln()).ln());
        let mut made: Vec<(usize, f64)> = made.into_iter().enumerate().collect();
        while model == Model::BradleyTerry && made.len() > 2 {
            let out = (chance.unit() * made.len() as f64) as usize;
            made.remove(out);
        }
        contests.add(&made).expect("five players");
    }
    covers(
        contests.rated().map(|rated| rated[0].interval),
        STRENGTHS[0],
    )
}
