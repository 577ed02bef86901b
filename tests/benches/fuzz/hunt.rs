//! The search for inputs that break a parser or a door: makes case after case of a target, all of
//! them from one seed, and notes panics of any thread, growth of the process and slow cases. Decides
//! nothing about targets. Called by `cargo bench -p agon-tests --bench fuzz` and `tests/fuzzing.rs`.

pub mod bytes;
pub mod draw;
pub mod files;
pub mod grpc;
pub mod heads;
pub mod json;
pub mod lines;
pub mod records;
pub mod replies;

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::abort;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_tests::measured::{Memory, Process, memory_kib, processor_time};
use draw::Draw;

/// The most that the process may grow above what it had when the target began.
pub const MOST_GROWTH_MB: u64 = 512;

/// A case that takes more time of the processor is reported.
const SLOW: Duration = Duration::from_secs(10);

/// A case that takes longer never ends: the process is stopped, with the input saved.
const HANGS: Duration = Duration::from_secs(120);

/// Threads of an async runtime have no more, and parsers run on those.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// Findings of one target after which it ends: the rest is likely the same fault.
const MOST_FINDINGS: usize = 20;

/// A parser or a door. `run` may do anything with the input but panic, abort, hang or grow.
pub trait Target {
    /// The input of one case.
    fn input(&self, draw: &mut Draw) -> Vec<u8>;

    /// Gives it to the parser or the door.
    fn run(&self, input: &[u8]);
}

/// Makes a target ready.
pub type Make = fn() -> Box<dyn Target>;

/// Name of each target, and what makes it.
pub const TARGETS: [(&str, Make); 9] = [
    ("experiments", || Box::new(files::Experiments::new())),
    ("configurations", || Box::new(files::Configurations::new())),
    ("identities", || Box::new(files::IdentityFiles::new())),
    ("templates", || Box::new(files::Templates::new())),
    ("records", || Box::new(records::Records::new())),
    ("recorded", || Box::new(lines::RecordedGames::new())),
    ("replies", || Box::new(replies::Replies::new())),
    ("grpc", || Box::new(grpc::Grpc::new())),
    ("http-heads", || Box::new(heads::Heads::new())),
];

/// How long a target runs.
#[derive(Clone, Copy)]
pub enum Until {
    /// So many cases, from the first.
    Cases(u64),
    /// As many as fit.
    Time(Duration),
    /// This one alone.
    Only(u64),
}

/// What became of a target.
#[derive(Default)]
pub struct Outcome {
    /// Cases that were run.
    pub cases: u64,
    /// How long they took.
    pub took: Duration,
    /// The one that took the most time of the processor, with its number.
    pub longest: (Duration, u64),
    /// The most memory above that of the start.
    pub growth_mb: u64,
    /// What was found, a line each.
    pub findings: Vec<String>,
    /// Cases that took more than ten seconds of the processor.
    pub slow: Vec<String>,
}

static PANICS: AtomicU64 = AtomicU64::new(0);
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Counts the panics of all threads and tasks, and keeps what the last one said.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
            PANICS.fetch_add(1, Ordering::SeqCst);
        }));
    });
}

/// Runs a target on a thread of its own.
pub fn hunt(name: &str, make: Make, seed: u64, until: Until) -> Outcome {
    count_panics();
    let name = name.to_owned();
    let hunting = thread::Builder::new()
        .name("cases".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || cases(&name, &*make(), seed, until));
    hunting
        .expect("a thread")
        .join()
        .expect("the search itself does not panic")
}

fn cases(name: &str, target: &dyn Target, seed: u64, until: Until) -> Outcome {
    let mut outcome = Outcome::default();
    let watch = Watch::start(name, seed);
    let first = match until {
        Until::Only(case) => case,
        _ => 0,
    };
    let begun = Instant::now();
    forget_peak();
    let at_start_kib = memory_kib(Process::This, Memory::Now);
    for case in first.. {
        let is_over = match until {
            Until::Cases(most) => case >= most,
            Until::Time(most) => begun.elapsed() >= most,
            Until::Only(only) => case > only,
        };
        if is_over || outcome.findings.len() >= MOST_FINDINGS {
            break;
        }
        let input = target.input(&mut Draw::of(seed, name, case));
        watch.begin(case, &input);
        let panics = PANICS.load(Ordering::SeqCst);
        let (started, spent) = (Instant::now(), processor_time(Process::This));
        let ran = catch_unwind(AssertUnwindSafe(|| target.run(&input)));
        // What else runs on the machine is not the input's fault.
        let took = match (spent, processor_time(Process::This)) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => started.elapsed(),
        };
        watch.end();
        outcome.cases += 1;
        if took > outcome.longest.0 {
            outcome.longest = (took, case);
        }
        let found = |what: String, list: &mut Vec<String>| {
            let path = save(name, seed, case, &input);
            list.push(format!(
                "{name} --seed {seed} --case {case}: {what}; input in {}",
                path.display()
            ));
        };
        if ran.is_err() || PANICS.load(Ordering::SeqCst) != panics {
            let said = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            found(said.replace('\n', " "), &mut outcome.findings);
        }
        if took > SLOW {
            found(format!("{took:.1?}"), &mut outcome.slow);
        }
        let growth_mb = memory_kib(Process::This, Memory::Peak).saturating_sub(at_start_kib) / 1024;
        outcome.growth_mb = outcome.growth_mb.max(growth_mb);
        if growth_mb > MOST_GROWTH_MB {
            found(format!("grew by {growth_mb} MB"), &mut outcome.findings);
            forget_peak();
        }
    }
    outcome.took = begun.elapsed();
    outcome
}

/// When a case began, its number and its input.
type UnderWay = (Instant, u64, Vec<u8>);

/// Writes down which case is under way, for when the process dies of it, and stops the process
/// when a case never ends.
struct Watch {
    file: Mutex<fs::File>,
    running: Arc<Mutex<Option<UnderWay>>>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn start(name: &str, seed: u64) -> Self {
        let path = scratch().join(format!("{name}-{seed}.case"));
        let file = Mutex::new(fs::File::create(&path).expect("the scratch folder takes files"));
        let running: Arc<Mutex<Option<UnderWay>>> = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let (watched, ended, name) = (Arc::clone(&running), Arc::clone(&over), name.to_owned());
        thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(100));
                let running = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((begun, case, input)) = &*running
                    && begun.elapsed() > HANGS
                {
                    let path = save(&name, seed, *case, input);
                    eprintln!(
                        "{name} --seed {seed} --case {case}: never ends; input in {}",
                        path.display()
                    );
                    abort();
                }
            }
        });
        Self {
            file,
            running,
            over,
        }
    }

    fn begin(&self, case: u64, input: &[u8]) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| writeln!(file, "{case:>20}"));
        written.expect("the scratch folder takes files");
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = Some((Instant::now(), case, input.to_vec()));
    }

    fn end(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

/// Where inputs are kept, and which case was the last: outlives the process.
pub fn scratch() -> PathBuf {
    // Of this build: another user may have one of the same name where everybody may write.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    fs::create_dir_all(&folder).expect("the scratch folder can be made");
    folder
}

fn save(name: &str, seed: u64, case: u64, input: &[u8]) -> PathBuf {
    let path = scratch().join(format!("{name}-{seed}-{case}.input"));
    fs::write(&path, input).expect("the scratch folder takes files");
    path
}

/// Lets the peak of memory begin anew. Where that cannot be, it stays that of the process.
fn forget_peak() {
    let _ = fs::write(Path::new("/proc/self/clear_refs"), "5");
}
