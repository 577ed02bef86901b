//! An experiment of a million sessions: handed in, watched by many, played by real workers, fetched
//! and exported. Prints times, and the memory of coordinator and Redis.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use agon_proto::v1::{WatchExperimentRequest, WatchExperimentResponse};
use agon_tests::benches::{bar, note};
use agon_tests::binary::{Role, run};
use agon_tests::measured::Memory;

use crate::stand::{Experiments, Stand, memory, processor_seconds, request, sessions, trivial};

const SESSIONS: u32 = 1_000_000;

const WORKERS: usize = 2;

/// Watchers, and how long they are looked at while nothing is played.
const WATCHERS: usize = 200;
const WATCHED: Duration = Duration::from_secs(5);

/// How long Redis may take to hold nothing but what it needs: records go to the archive in a while.
const AT_REST: Duration = Duration::from_secs(20);

/// Measures and prints.
pub fn measure() {
    let stand = Stand::start(false);
    let all = sessions(SESSIONS);
    let text = trivial("million", all);
    let experiment = stand.folder.path().join("million.toml");
    fs::write(&experiment, &text).expect("a writable folder");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let begun = Instant::now();
    let submitted = runtime.block_on(async {
        let mut experiments = stand.experiments();
        let submitted = experiments.submit_experiment(request(&text)).await;
        submitted.expect("a submission").into_inner()
    });
    let seconds = begun.elapsed().as_secs_f64();
    bar(
        &format!("{} sessions handed in", submitted.sessions),
        &format!("{seconds:.2} s"),
        "5 s",
        seconds <= 5.0,
    );
    runtime.block_on(watch_many(&stand));

    let begun = Instant::now();
    let workers: Vec<Role> = (0..WORKERS).map(|_| worker(&stand.url)).collect();
    let state = runtime.block_on(async { follow(stand.experiments()).await });
    let played = begun.elapsed();
    assert_eq!(state.done, u64::from(all), "sessions that are done");
    note(&format!(
        "played in {:.1} s; processor time: coordinator {:.1} s, workers {:.1} s",
        played.as_secs_f64(),
        processor_seconds(&stand.coordinator),
        workers.iter().map(processor_seconds).sum::<f64>()
    ));
    drop(workers);

    let fetching = Instant::now();
    let data = stand.folder.path().join("data").display().to_string();
    let file = experiment.display().to_string();
    let fetch = ["run", &file, "--coordinator", &stand.url, "--data", &data];
    let _ = run(&fetch).expect_code(0);
    let fetched = fetching.elapsed();
    let exporting = Instant::now();
    let tables = stand.folder.path().join("tables").display().to_string();
    let _ = run(&["export", "million", "--data", &data, "-o", &tables]).expect_code(0);
    let exported = exporting.elapsed();
    let seconds = begun.elapsed().as_secs_f64();
    bar(
        &format!("{all} sessions of rule players played, fetched and exported"),
        &format!(
            "{seconds:.0} s, of which fetched {:.0} s, exported {:.0} s and {} MB",
            fetched.as_secs_f64(),
            exported.as_secs_f64(),
            size(Path::new(&tables)) / 1_000_000
        ),
        "300 s",
        seconds <= 300.0,
    );
    let held = memory(&stand.coordinator, Memory::Peak);
    bar(
        "memory of the coordinator at the most",
        &format!("{} MB", held / 1_000_000),
        "500 MB",
        held <= 500_000_000,
    );
    let deadline = Instant::now() + AT_REST;
    while stand.redis_memory() > 50_000_000 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(500));
    }
    let left = stand.redis_memory();
    bar(
        "left in Redis",
        &format!("{:.1} MB", left as f64 / 1e6),
        "50 MB",
        left <= 50_000_000,
    );
}

/// What people cost who only look.
async fn watch_many(stand: &Stand) {
    let mut watching = Vec::new();
    for _ in 0..WATCHERS {
        let mut experiments = stand.experiments();
        watching.push(tokio::spawn(async move {
            let mut states = watch(&mut experiments).await;
            while let Ok(Some(_)) = states.message().await {}
        }));
    }
    tokio::time::sleep(WATCHED).await;
    let before = processor_seconds(&stand.coordinator);
    tokio::time::sleep(WATCHED).await;
    let taken = processor_seconds(&stand.coordinator) - before;
    for one in watching {
        one.abort();
    }
    note(&format!(
        "{WATCHERS} watchers: {:.2} milliseconds of processor time a second for each",
        taken / WATCHED.as_secs_f64() / WATCHERS as f64 * 1e3
    ));
}

async fn watch(experiments: &mut Experiments) -> tonic::Streaming<WatchExperimentResponse> {
    let watch = WatchExperimentRequest {
        experiment_id: "million".to_owned(),
    };
    let states = experiments.watch_experiment(watch).await;
    states.expect("an experiment").into_inner()
}

/// The state in which it ends.
async fn follow(mut experiments: Experiments) -> WatchExperimentResponse {
    let mut states = watch(&mut experiments).await;
    let mut last = WatchExperimentResponse::default();
    while let Some(state) = states.message().await.expect("a stream that goes on") {
        last = state;
    }
    last
}

fn worker(coordinator: &str) -> Role {
    let arguments = ["worker", "--coordinator", coordinator, "--places", "2000"];
    Role::start(&[&arguments[..], &["--log", "warn"]].concat()).0
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder");
    let sizes = entries.map(|entry| entry.and_then(|entry| entry.metadata()));
    sizes
        .map(|found| found.map_or(0, |found| found.len()))
        .sum()
}
