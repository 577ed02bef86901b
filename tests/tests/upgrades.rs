//! Rolling upgrades: two versions of the program side by side while sessions are open, with rules,
//! records, prompts or what services say to each other changed once. Whatever can be played goes on,
//! whatever cannot waits and is shown; nothing is dead, and no answer is bought twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use agon_tests::binary::{Ended, Role, command_of_version};
use agon_tests::model_server::ModelServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

#[path = "upgrades/newer_wire.rs"]
mod newer_wire;

use newer_wire::NewerWire;

/// The version that all begin with.
const OLD: &str = "";

/// A version of which nothing else has changed but what its services say.
const WIRE: &str = "wire";

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
    /// What stands before them, where that is what changes.
    wires: Option<Wires>,
    /// Which are running, by what they are.
    roles: Vec<(&'static str, Role)>,
}

/// Before gateway and coordinator: as the version hears them that was there first, and as the later
/// one does.
struct Wires {
    old: [NewerWire; 2],
    new: [NewerWire; 2],
}

impl Wires {
    fn before(services: [String; 2]) -> Self {
        let [old, new] = [(); 2].map(|()| services.each_ref().map(|url| NewerWire::before(url)));
        new.iter().for_each(NewerWire::be_later);
        Self { old, new }
    }
}

impl Fleet {
    fn start(changed: &str) -> Self {
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
            wires: None,
            roles: Vec::new(),
        };
        let config = config.display().to_string();
        fleet.gateway = fleet.serve(OLD, "gateway", "127.0.0.1:0", &["--config", &config]);
        fleet.start_coordinator(OLD);
        if changed == WIRE {
            fleet.wires = Some(Wires::before(fleet.urls(OLD)));
        }
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
        let [gateway, _] = self.urls(version);
        self.coordinator = self.serve(version, "coordinator", &at, &["--gateway", &gateway]);
        if let Some(wires) = self.wires.as_ref().filter(|_| version == WIRE) {
            wires.old.iter().for_each(NewerWire::be_later);
        }
    }

    fn start_worker(&mut self, version: &str, name: &'static str) {
        let [gateway, coordinator] = self.urls(version);
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

    /// Where a process of this version finds gateway and coordinator.
    fn urls(&self, version: &str) -> [String; 2] {
        let direct = [&self.gateway, &self.coordinator].map(|at| format!("http://{at}"));
        match &self.wires {
            None => direct,
            Some(wires) if version == WIRE => wires.new.each_ref().map(NewerWire::url),
            Some(wires) => wires.old.each_ref().map(NewerWire::url),
        }
    }

    /// Runs an experiment in the cluster, as a command of this version.
    fn run(&self, version: &str, experiment: &Path, out: &str) -> Role {
        let (experiment, out) = (experiment.display().to_string(), self.path(out));
        let out = out.display().to_string();
        let [_, url] = self.urls(version);
        let flags = ["--quiet", "--out", &out, "--coordinator", &url];
        let mut command =
            command_of_version(version, &[&["run", &experiment], &flags[..]].concat());
        command.stderr(Stdio::piped());
        Role::of(command, "run")
    }

    fn shown(&self, experiment: &str) -> String {
        let [_, url] = self.urls(OLD);
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

/// An upgrade to a version with other rules, records, prompts or messages. `waits_for` is what is shown
/// when only the new version is left, where that cannot play what the old one began.
fn upgrade(changed: &str, waits_for: Option<&str>) {
    let mut fleet = Fleet::start(changed);
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
                && shown.contains(" 0 running")
        });
        nothing_is_dead(&fleet.shown("mixed"));
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

#[test]
fn services_that_say_more_than_others_understand_play_with_them() {
    upgrade(WIRE, None);
}
