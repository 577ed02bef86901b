//! What came of a disturbed experiment: its result and its archive beside the records of an undisturbed
//! run, and the model server's count of calls beside the decisions. Disturbs nothing. Called by `kills.rs`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use agon_proto::v1::WatchExperimentResponse;
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use flate2::read::MultiGzDecoder;

use crate::killer::Killer;
use crate::plan::{Kind, Signal, required};

/// The last segment is written soon after the experiment is over.
const ARCHIVED_WITHIN: Duration = Duration::from_secs(30);

/// Files of records in the archive, and the index without which there is no such segment.
const RECORDS: &str = ".records.jsonl.gz";
const INDEX: &str = ".index.json";

/// Lines with figures, and whether all bars are met.
pub struct Verdict {
    lines: Vec<String>,
    is_met: bool,
}

impl Verdict {
    /// Prints it; says whether all bars are met.
    pub fn print(&self) -> bool {
        for line in &self.lines {
            println!("{line}");
        }
        self.is_met
    }

    fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    fn bar(&mut self, what: &str, is_met: bool) {
        let verdict = if is_met { "met" } else { "NOT MET" };
        self.lines.push(format!("{what}: {verdict}"));
        self.is_met &= is_met;
    }
}

/// Compares what came of the disturbed experiment with the records of the undisturbed one.
pub fn judge(
    killer: &Killer<'_>,
    models: &ModelServer,
    (undisturbed, out): (&[u8], &Path),
    (ended, said): (
        Result<WatchExperimentResponse, String>,
        (Option<i32>, String),
    ),
    took: Duration,
) -> Verdict {
    let mut verdict = Verdict {
        lines: Vec::new(),
        is_met: true,
    };
    verdict.note(format!("disturbed: {:.1} s", took.as_secs_f64()));
    tell_faults(&mut verdict, killer);
    match ended {
        Err(reason) => verdict.bar(&reason, false),
        Ok(state) => {
            let set_aside = state.dead.iter().chain(&state.parked);
            let reasons: Vec<&str> = set_aside.map(|session| &*session.reason).collect();
            let met = reasons.is_empty() && state.determinism_faults.is_empty();
            verdict.bar(
                &format!(
                    "set aside {} {reasons:?}, finished twice with different records {} (bar 0)",
                    reasons.len(),
                    state.determinism_faults.len()
                ),
                met,
            );
        }
    }
    if said.0 != Some(0) {
        verdict.bar(
            &format!("`agon run` ended with {:?}: {}", said.0, said.1.trim()),
            false,
        );
    }
    let records = fs::read(out.join("records.jsonl")).unwrap_or_default();
    let expected = ids(undisturbed);
    tell_ids(&mut verdict, "in the result", &expected, &ids(&records));
    let archived = archived(&killer.stand.archive, expected.len());
    tell_ids(&mut verdict, "in the archive", &expected, &ids(&archived));
    verdict.bar(
        &format!("{} bytes of records as undisturbed", records.len()),
        records == undisturbed,
    );
    let same_lines = sorted_lines(&archived) == sorted_lines(undisturbed);
    verdict.bar("records in the archive as undisturbed", same_lines);
    let (calls, decisions) = (models.count("requests"), runs::decisions(&records));
    let (repeated, most) = (calls.saturating_sub(decisions), killer.in_flight.count());
    verdict.bar(
        &format!(
            "{decisions} decisions, {calls} calls, {repeated} repeated (bar {most}, in flight when a \
             gateway died)"
        ),
        repeated <= most,
    );
    verdict
}

fn tell_faults(verdict: &mut Verdict, killer: &Killer<'_>) {
    let mut open: BTreeMap<_, i64> = BTreeMap::new();
    for fault in required() {
        *open.entry(fault).or_insert(0) += 1;
    }
    for (fault, times) in &killer.done {
        *open.entry(*fault).or_insert(0) -= *times as i64;
    }
    for (signal, name) in [(Signal::Kill, "killed"), (Signal::Stop, "stopped")] {
        let times = |kind: Kind| {
            let done = killer.done.iter();
            let of_kind = done.filter(|(fault, _)| fault.signal == signal && fault.kind == kind);
            of_kind.map(|(_, times)| *times).sum::<u64>()
        };
        let all = Kind::ALL.map(|kind| format!("{} {}", kind.name(), times(kind)));
        verdict.note(format!("{name}: {}", all.join(", ")));
    }
    if !killer.ended.is_empty() {
        let ended = &killer.ended;
        verdict.note(format!(
            "ended by themselves and were started again: {ended:?}"
        ));
    }
    if let Some(lost) = killer.lost_batches {
        verdict.note(format!(
            "the journal lost its last {lost} batches when it failed over"
        ));
    }
    let left = killer.left().len();
    verdict.bar(
        &format!("every kind killed and stopped, two restarts, one failover; {left} faults left"),
        open.values().all(|open| *open <= 0),
    );
}

fn tell_ids(
    verdict: &mut Verdict,
    place: &str,
    expected: &BTreeMap<String, u64>,
    found: &BTreeMap<String, u64>,
) {
    let lost = expected
        .keys()
        .filter(|id| !found.contains_key(*id))
        .count();
    let strange = found
        .keys()
        .filter(|id| !expected.contains_key(*id))
        .count();
    let twice = found.values().filter(|times| **times > 1).count();
    verdict.bar(
        &format!(
            "sessions {place}: {}, {lost} lost (bar 0), {twice} duplicated (bar 0), {strange} of nobody",
            found.len()
        ),
        lost + twice + strange == 0,
    );
}

/// How often each session's id is in records.
fn ids(records: &[u8]) -> BTreeMap<String, u64> {
    let mut ids = BTreeMap::new();
    for record in runs::parsed(records) {
        let id = record["session"].as_str().unwrap_or_default().to_owned();
        *ids.entry(id).or_insert(0) += 1;
    }
    ids
}

fn sorted_lines(records: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = records.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// The records in the archive's segments, once there are so many.
fn archived(archive: &Path, sessions: usize) -> Vec<u8> {
    let deadline = Instant::now() + ARCHIVED_WITHIN;
    loop {
        let records = read_archive(archive);
        let count = records.iter().filter(|byte| **byte == b'\n').count();
        if count >= sessions || Instant::now() > deadline {
            return records;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn read_archive(archive: &Path) -> Vec<u8> {
    let mut records = Vec::new();
    let folders = fs::read_dir(archive).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    for file in files.flatten() {
        let path = file.path().display().to_string();
        let Some(segment) = path.strip_suffix(RECORDS) else {
            continue;
        };
        if Path::new(&format!("{segment}{INDEX}")).is_file() {
            let packed = fs::read(&path).unwrap_or_default();
            let read = MultiGzDecoder::new(&packed[..]).read_to_end(&mut records);
            read.expect("gzip members");
        }
    }
    records
}
