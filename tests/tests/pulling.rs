//! `agon results pull`: results of a coordinator, fetched without submitting anything, while they are
//! played and afterwards, and on from where a pull was stopped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use agon_tests::binary::{Ended, Role, run};
use agon_tests::cluster::Cluster;
use agon_tests::model_server::ModelServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

/// Sessions of [`MIXED`].
const SESSIONS: usize = 24;

/// A cluster with an experiment of which a part is done, and whose models do not answer.
struct Halfway {
    folder: tempfile::TempDir,
    models: ModelServer,
    cluster: Cluster,
    /// Handed in the experiment, and watches it.
    watching: Role,
}

impl Halfway {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = runs::model_server("10ms");
        let cluster = Cluster::start(folder.path(), None, &models, 1);
        let experiment = runs::write(folder.path(), MIXED).display().to_string();
        let out = folder.path().join("run").display().to_string();
        let url = cluster.coordinator_url();
        let flags = ["--quiet", "--out", &out, "--coordinator", &url];
        let watching = Role::start_silent(&[&["run", &experiment], &flags[..]].concat());
        let this = Self {
            folder,
            models,
            cluster,
            watching,
        };
        until("a part is done", || this.done() >= 4);
        this.models.hold();
        this
    }

    fn done(&self) -> usize {
        let url = self.cluster.coordinator_url();
        let shown = run(&["experiments", "show", "mixed", "--coordinator", &url]);
        let done = shown.out.split(' ').next();
        done.and_then(|done| done.parse().ok()).unwrap_or(0)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arguments<'a>(url: &'a str, out: &'a str) -> Vec<&'a str> {
        vec!["results", "pull", "mixed", "--coordinator", url, "-o", out]
    }

    fn pull(&self, out: &str, flags: &[&str]) -> Ended {
        let (url, out) = (self.cluster.coordinator_url(), self.place(out));
        let out = out.display().to_string();
        run(&[&Self::arguments(&url, &out), flags].concat())
    }

    fn start_pull(&self, out: &str, flags: &[&str]) -> Role {
        let (url, out) = (self.cluster.coordinator_url(), self.place(out));
        let out = out.display().to_string();
        Role::start_silent(&[&Self::arguments(&url, &out), flags].concat())
    }

    /// Lets the models answer until all is done; answers the records as the run itself has them.
    fn finish(&mut self) -> Vec<u8> {
        self.models.go_on();
        let (code, err) = self.watching.end();
        assert_eq!(code, Some(0), "{err}");
        runs::records(&self.place("run"))
    }
}

fn sessions(out: &Path) -> usize {
    runs::parsed(&runs::records(out)).len()
}

/// What the entry of a run holds of a fetch that is not complete.
fn fetched(out: &Path, run: usize) -> PathBuf {
    let entries = fs::read_dir(out.join("history")).unwrap().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.retain(|entry| entry.is_dir());
    entries.sort();
    entries[run - 1].join(".fetched")
}

#[test]
fn pull_fetches_what_is_done_and_the_next_one_the_rest_as_the_run_itself_has_it() {
    let mut half = Halfway::start();
    let first = half.pull("pulled", &[]).expect_code(0);
    let out = half.place("pulled");
    let some = sessions(&out);
    assert!((4..SESSIONS).contains(&some), "{some}");
    let said = format!("{some} of {SESSIONS} sessions are fetched; the experiment is still");
    assert!(first.err.contains(&said), "{}", first.err);
    assert!(
        first
            .out
            .contains(&format!("{some} of {SESSIONS} sessions"))
    );
    // As a process that is killed while it writes leaves it.
    let part = File::options().write(true).open(fetched(&out, 1)).unwrap();
    let size = part.metadata().unwrap().len();
    part.set_len(size - 5).unwrap();
    let records = half.finish();
    let asked = half.models.count("requests");
    let second = half.pull("pulled", &[]).expect_code(0);
    assert!(!second.err.contains("still being played"), "{}", second.err);
    assert_eq!(runs::records(&out), records);
    assert!(!fetched(&out, 1).exists() && !fetched(&out, 2).exists());
    assert_eq!(half.models.count("requests"), asked, "nothing is played");
    // The folder is one of a run: what reads those reads it.
    let place = out.display().to_string();
    let report = run(&["report", &place]).expect_code(0);
    assert!(report.out.contains(&format!("{SESSIONS} sessions")));
    let file = out.join("records.jsonl").display().to_string();
    let _ = run(&["verify", &file]).expect_code(0);
    let telemetry =
        |name: &str| fs::read_to_string(half.place(name).join("telemetry.jsonl")).unwrap();
    assert_eq!(telemetry("pulled"), telemetry("run"));
    let runs = run(&["runs", &place]).expect_code(0);
    assert!(runs.out.contains("complete"), "{}", runs.out);
}

#[test]
fn pull_that_waits_keeps_what_it_has_when_it_is_killed_or_stopped_and_follows_to_the_end() {
    let mut half = Halfway::start();
    let out = half.place("pulled");
    let mut killed = half.start_pull("pulled", &["--wait", "--quiet"]);
    let has_fetched = |run: usize| {
        let history = out.join("history");
        let entries = fs::read_dir(history).map_or(0, |entries| entries.flatten().count());
        // The lock stands beside the entries.
        entries > run && fs::metadata(fetched(&out, run)).is_ok_and(|file| file.len() > 1000)
    };
    until("it has fetched what there is", || has_fetched(1));
    killed.kill();
    let size = fs::metadata(fetched(&out, 1)).unwrap().len();
    let mut stopped = half.start_pull("pulled", &["--wait", "--quiet"]);
    until("the next one has taken that over", || has_fetched(2));
    stopped.signal("-INT");
    let (code, err) = stopped.end();
    assert_eq!(code, Some(130), "{err}");
    assert!(
        err.contains("the same command continues from there"),
        "{err}"
    );
    assert!(!fetched(&out, 1).exists());
    assert!(fs::metadata(fetched(&out, 2)).unwrap().len() >= size);
    let mut waiting = half.start_pull("pulled", &["--wait"]);
    until("the last one waits", || has_fetched(3));
    let records = half.finish();
    let (code, err) = waiting.end();
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(runs::records(&out), records);
}

#[test]
fn pull_of_what_is_not_there_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("2ms");
    let cluster = Cluster::start(folder.path(), None, &models, 0);
    let url = cluster.coordinator_url();
    let out = folder.path().join("out").display().to_string();
    let pull = |url: &str| run(&Halfway::arguments(url, &out));
    let unknown = pull(&url).expect_code(2);
    assert!(unknown.err.contains("mixed"), "{}", unknown.err);
    drop(cluster);
    let away = pull(&url).expect_code(3);
    assert!(away.err.contains("does not answer"), "{}", away.err);
    for ended in [unknown, away] {
        assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
    }
    assert!(!Path::new(&out).exists(), "nothing is left behind");
}
