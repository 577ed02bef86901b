//! The coordinator's heart under seeded faults: the real queue, the real state of its owner and of
//! workers' supervisors, on a simulated network and clock, with crashes, pauses, duplicates, lost
//! streams, lost tails of the journal and rival owners. After every step the invariants are checked.
//! A seed that fails is printed with its last steps; play it alone with
//! `AGON_SEED=<seed> cargo test -p agon-tests --test simulation`, more of them with `AGON_SEEDS=2000`.

#[path = "simulation/broken.rs"]
mod broken;
#[path = "simulation/chance.rs"]
mod chance;
#[path = "simulation/chaos.rs"]
mod chaos;
#[path = "simulation/experiments.rs"]
mod experiments;
#[path = "simulation/invariants.rs"]
mod invariants;
#[path = "simulation/journal.rs"]
mod journal;
#[path = "simulation/leading.rs"]
mod leading;
#[path = "simulation/owning.rs"]
mod owning;
#[path = "simulation/seen.rs"]
mod seen;
#[path = "simulation/serving.rs"]
mod serving;
#[path = "simulation/streams.rs"]
mod streams;
#[path = "simulation/worker.rs"]
mod worker;
#[path = "simulation/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use agon_coordinator::journal::{FileJournal, Journal, RedisJournal};
use agon_tests::redis::RedisServer;

use broken::Broken;
use world::{World, runtime};

/// What an invariant says.
type Outcome = Result<(), String>;

/// Seeds of an ordinary run.
const SEEDS: u64 = 300;

/// Seeds in which a mechanism that is switched off has to be noticed.
const SEEDS_TO_NOTICE: u64 = 200;

/// Seeds in which everything has to happen once.
const SEEDS_TO_COUNT: u64 = 60;

/// Seeds on each of the real journals.
const REAL_SEEDS: u64 = 6;

#[test]
fn faults_of_any_order_break_no_invariant() {
    if let Some(seed) = number("AGON_SEED") {
        play(seed, None).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let seeds = number("AGON_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(1);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > seeds {
                        return;
                    }
                    if let Err(failure) = play(seed, None) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    if let Some(first) = failures.first() {
        let heads = failures
            .iter()
            .filter_map(|failure| failure.split(';').next());
        let heads: String = heads.map(|head| format!("\n  {head:.200}")).collect();
        panic!(
            "{} of {seeds} seeds failed:{heads}\none of them:\n{first}",
            failures.len()
        );
    }
}

#[test]
fn faults_break_no_invariant_on_files() {
    for seed in 1..=REAL_SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let journal = FileJournal::open(folder.path()).unwrap();
        let world = World::new(seed, None, runtime(), Some(Arc::new(journal.clone())));
        let played = run(seed, world);
        journal.close();
        played.unwrap_or_else(|failure| panic!("on files, {failure}"));
    }
}

#[test]
fn faults_break_no_invariant_on_redis() {
    for seed in 1..=REAL_SEEDS {
        let server = RedisServer::start();
        let runtime = runtime();
        let journal = runtime
            .block_on(RedisJournal::connect(&server.url()))
            .unwrap();
        let journal: Arc<dyn Journal> = Arc::new(journal);
        let world = World::new(seed, None, runtime, Some(journal));
        run(seed, world).unwrap_or_else(|failure| panic!("on Redis, {failure}"));
    }
}

#[test]
fn same_seed_plays_the_same_world() {
    let steps = |seed| {
        let mut world = World::new(seed, None, runtime(), None);
        world.run().unwrap_or_else(|failure| panic!("{failure}"));
        (world.now, world.last_steps())
    };
    assert_eq!(steps(5), steps(5));
    assert_ne!(steps(5), steps(6));
}

/// A simulation in which nothing happens proves nothing.
#[test]
fn everything_that_can_go_wrong_does() {
    let mut counts = BTreeMap::<String, u64>::new();
    for seed in 1..=SEEDS_TO_COUNT {
        let mut world = World::new(seed, None, runtime(), None);
        world
            .run()
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        for (what, times) in world.counts {
            *counts.entry(what).or_default() += times;
        }
    }
    let wanted = [
        "Stored",
        "Same",
        "Different",
        "Fenced",
        "Noted",
        "take-over",
        "deposed owner",
        "mended journal",
        "snapshot",
        "outage",
        "segment",
        "failed segment",
        "suspect",
        "session of a series",
        "revoked",
        "lease lost on coming back",
        "worker cut off",
        "stream ended by the owner",
    ];
    let missing: Vec<&str> = wanted
        .into_iter()
        .filter(|what| !counts.contains_key(*what))
        .collect();
    assert!(missing.is_empty(), "{missing:?} never happens: {counts:?}");
    println!("{counts:?}");
}

/// Makes a test of each mechanism that is switched off: the invariant that is there for it fails.
macro_rules! noticed {
    ($($claim:ident: $broken:ident => $invariant:literal,)*) => {
        $(#[test]
        fn $claim() {
            notices(Broken::$broken, $invariant);
        })*
    };
}

noticed! {
    answers_before_the_journal_are_noticed:
        AnswersBeforeItIsDurable => "invariant_what_is_acknowledged_is_durable",
    results_that_are_not_compared_are_noticed:
        ComparesNoBytes => "invariant_what_is_acknowledged_is_durable",
    counts_that_are_not_kept_up_to_date_are_noticed:
        TellsOldCounts => "invariant_every_session_is_in_exactly_one_state",
    series_out_of_order_is_noticed:
        GrantsTheNextToo => "invariant_session_begins_when_the_one_before_is_done",
    pause_that_is_not_journaled_is_noticed:
        JournalsNoPauses => "invariant_pauses_begin_and_end_as_told",
    worker_that_plays_on_is_noticed:
        PlaysOnWhenCutOff => "invariant_worker_that_is_cut_off_plays_nothing",
    token_for_anybody_is_noticed:
        SealsForAnybody => "invariant_token_opens_for_its_holder_only",
    owner_that_misses_a_batch_is_noticed:
        ReadsNotAll => "invariant_new_owner_has_what_is_durable",
    second_owner_is_noticed:
        ChecksNoEpoch => "invariant_only_the_last_owner_appends",
    record_that_was_not_archived_is_noticed:
        TrustsTheArchive => "invariant_every_record_can_be_fetched",
    segment_that_is_written_too_early_is_noticed:
        ArchivesBeforeItIsDurable => "invariant_everything_ends",
    lost_worker_that_keeps_its_sessions_is_noticed:
        LosesNoWorker => "invariant_everything_ends",
    lost_worker_that_is_not_sent_away_is_noticed:
        KeepsStreamsOfLostWorkers => "invariant_everything_ends",
    sessions_dropped_without_a_word_are_noticed:
        DropsWithoutRelease => "invariant_everything_ends",
}

fn notices(broken: Broken, invariant: &str) {
    let mut others = Vec::new();
    for seed in 1..=SEEDS_TO_NOTICE {
        match play(seed, Some(broken)) {
            Err(failure) if failure.contains(invariant) => return,
            Err(failure) => others.push(failure),
            Ok(()) => {}
        }
    }
    panic!(
        "{broken:?} was not noticed by {invariant}; others: {:?}",
        others.first()
    );
}

fn play(seed: u64, broken: Option<Broken>) -> Outcome {
    run(seed, World::new(seed, broken, runtime(), None))
}

/// A failure says the seed, the invariant and the last steps before it.
fn run(seed: u64, mut world: World) -> Outcome {
    world.run().map_err(|failure| {
        format!(
            "AGON_SEED={seed}: {failure}; the last steps:{}",
            world.last_steps()
        )
    })
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is a number")),
    )
}
