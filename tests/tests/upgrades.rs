//! Rolling upgrades: two versions of the program side by side while sessions are open, with rules,
//! records or prompts changed once. Whatever can be played goes on, whatever cannot waits and is
//! shown; nothing is dead, and no answer is bought twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use agon_tests::binary::{Ended, Role, command_of_version};
use agon_tests::model_server::ModelServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

/// The version that all begin with.
const OLD: &str = "";

/// Long enough that sessions are open all the while.
static LONG: LazyLock<String> = LazyLock::new(|| MIXED.replace("repeats = 3", "repeats = 9"));

/// What an undisturbed run of it makes, which asks for every decision once.
static UNDISTURBED: LazyLock<Vec<u8>> = LazyLock::new(|| runs::reference(&LONG));

/// Processes of two versions on one folder, whose models hold their answers when they are told to.
struct Fleet {
    folder: tempfile::TempDir,
    models: ModelServer,
    gateway: String,
    coordinator: String,
    /// Which are running, by what they are.
    roles: Vec<(&'static str, Role)>,
}

impl Fleet {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = runs::model_server("50ms");
        let config = folder.path().join("agon.toml");
        let text = format!(
            "[providers.simulated]\nbase_url = \"{}\"\nendpoint = \"test\"\nkeys = []\n\
             [models.any]\nprovider = \"simulated\"\n",
            models.base_url()
        );
        fs::write(&config, text).unwrap();
        let mut fleet = Self {
            folder,
            models,
            gateway: "127.0.0.1:0".to_owned(),
            coordinator: "127.0.0.1:0".to_owned(),
            roles: Vec::new(),
        };
        let config = config.display().to_string();
        fleet.gateway = fleet.serve(OLD, "gateway", "127.0.0.1:0", &["--config", &config]);
        fleet.start_coordinator(OLD);
        fleet
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Of a role, which logs into a file of the folder.
    fn command(&self, version: &str, arguments: &[&str]) -> Command {
        let log = self.path("roles.log");
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut command = command_of_version(version, arguments);
        command.stderr(log);
        command
    }

    /// Starts a service; answers where it listens.
    fn serve(&mut self, version: &str, role: &'static str, at: &str, flags: &[&str]) -> String {
        let data = self.folder.path().display().to_string();
        let arguments = [&[role, "--listen", at, "--data", &data], flags].concat();
        let mut started = Role::of(self.command(version, &arguments), role);
        let line = started.line_with("listening on ");
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        self.roles.push((role, started));
        address
    }

    /// Where it listened before, unless it is the first.
    fn start_coordinator(&mut self, version: &str) {
        let at = self.coordinator.clone();
        let gateway = format!("http://{}", self.gateway);
        self.coordinator = self.serve(version, "coordinator", &at, &["--gateway", &gateway]);
    }

    fn start_worker(&mut self, version: &str, name: &'static str) {
        let (coordinator, gateway) = (self.url(), format!("http://{}", self.gateway));
        let flags = ["--coordinator", &coordinator, "--gateway", &gateway];
        let arguments = [&["worker"], &flags[..], &["--places", "6"]].concat();
        let mut started = Role::of(self.command(version, &arguments), name);
        assert!(!started.line().is_empty(), "{name} ended at once");
        self.roles.push((name, started));
    }

    /// Stops one as an operator does.
    fn stop(&mut self, name: &str) {
        let place = self.roles.iter().position(|(known, _)| *known == name);
        let (_, mut role) = self.roles.remove(place.unwrap());
        let (status, _) = role.terminate();
        assert!(status.success(), "{name}: {status}");
    }

    fn url(&self) -> String {
        format!("http://{}", self.coordinator)
    }

    /// Runs an experiment in the cluster, as a command of this version.
    fn run(&self, version: &str, experiment: &Path, out: &str) -> Role {
        let (experiment, out) = (experiment.display().to_string(), self.path(out));
        let (out, url) = (out.display().to_string(), self.url());
        let flags = ["--quiet", "--out", &out, "--coordinator", &url];
        let mut command =
            command_of_version(version, &[&["run", &experiment], &flags[..]].concat());
        command.stderr(Stdio::piped());
        Role::of(command, "run")
    }

    fn shown(&self, experiment: &str) -> String {
        let url = self.url();
        let arguments = ["experiments", "show", experiment, "--coordinator", &url];
        let ended: Ended = command_of_version(OLD, &arguments).output().unwrap().into();
        ended.out
    }

    /// Lets so many more calls through.
    fn play_on(&self, calls: u64) {
        self.models.go_on();
        let wanted = self.models.count("requests") + calls;
        until("it plays on", || self.models.count("requests") >= wanted);
        self.models.hold();
    }

    fn ends_well(&self, role: &mut Role) {
        self.models.go_on();
        let (code, err) = role.end();
        assert_eq!(code, Some(0), "{err}");
    }
}

fn nothing_is_dead(shown: &str) {
    for word in ["dead", "parked", "fault"] {
        assert!(!shown.contains(word), "{shown}");
    }
}

/// An upgrade to a version with other rules, records or prompts. `waits_for` is what is shown when only
/// the new version is left, where that cannot play what the old one began.
fn upgrade(changed: &str, waits_for: Option<&str>) {
    let mut fleet = Fleet::start();
    let old = runs::write(fleet.folder.path(), &LONG);
    fleet.start_worker(OLD, "old worker");
    let mut running = fleet.run(OLD, &old, "old");
    fleet.play_on(20);
    // Both kinds of workers under the old coordinator.
    fleet.start_worker(changed, "new worker");
    fleet.play_on(20);
    // Under the new one. What is submitted to it the new worker plays, the old one goes on.
    fleet.stop("coordinator");
    fleet.start_coordinator(changed);
    let later = fleet.path("later");
    fs::create_dir(&later).unwrap();
    let later = runs::write(&later, &runs::dividers("later", 2));
    let mut later = fleet.run(changed, &later, "new");
    fleet.models.go_on();
    until("the new worker has played it", || {
        fleet.shown("later").starts_with("2 of 2 ")
    });
    fleet.models.hold();
    nothing_is_dead(&fleet.shown("mixed"));
    assert!(!running.has_ended(), "sessions are open");
    // The old worker is drained while sessions are open, and the new one is left.
    fleet.stop("old worker");
    fleet.ends_well(&mut later);
    if let Some(waits_for) = waits_for {
        until("what is left waits and is shown", || {
            let shown = fleet.shown("mixed");
            shown.contains(&format!("waits for a worker that can play it: {waits_for}"))
        });
        let shown = fleet.shown("mixed");
        nothing_is_dead(&shown);
        assert!(shown.contains(" 0 running"), "{shown}");
        // Whoever hands it in again with the new version is told before anything is bought again.
        let (code, err) = fleet.run(changed, &old, "again").end();
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("--new"), "{err}");
        fleet.start_worker(OLD, "old worker");
    }
    fleet.ends_well(&mut running);
    nothing_is_dead(&fleet.shown("mixed"));
    let records = runs::records(&fleet.path("old"));
    assert!(records == *UNDISTURBED, "records differ");
    let bought = runs::decisions(&records) + runs::decisions(&runs::records(&fleet.path("new")));
    assert_eq!(fleet.models.count("requests"), bought, "bought again");
}

#[test]
fn sessions_of_older_records_are_finished_by_new_workers() {
    upgrade("record", None);
}

#[test]
fn sessions_of_older_rules_are_finished_by_old_workers_or_wait() {
    upgrade("rules", Some("rules of "));
}

#[test]
fn sessions_of_older_prompts_are_finished_by_old_workers_or_wait() {
    upgrade("prompts", Some("planned with prompts "));
}
