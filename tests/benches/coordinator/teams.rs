//! How long a team of one session takes alone and beside a team of a thousand: where places are short,
//! so that the coordinator decides who is next, and where calls are, so that the gateway does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_tests::benches::{bar, note};
use agon_tests::binary::{MODEL_SERVERS, Role, command, run};
use agon_tests::model_server::ModelServer;
use agon_tests::runs;

use crate::stand::sessions;

/// Of the team with many.
const THOUSAND: u32 = 1_000;

/// Sessions of the team with one at a time, one after another.
const TIMES: u32 = 8;

/// How often the wait of the team of one may be the time that it takes alone.
const MOST_TIMES: f64 = 2.0;

/// How long the team of a thousand may take until it fills what there is.
const FILLED_WITHIN: Duration = Duration::from_secs(60);

/// What is short, and of what there is enough.
struct Shortage {
    what: &'static str,
    latency: &'static str,
    /// Lines of the provider's configuration.
    limits: &'static str,
    workers: usize,
    places: &'static str,
}

const SHORTAGES: [Shortage; 2] = [
    Shortage {
        what: "eight places, so the coordinator grants them in turn",
        latency: "100ms",
        limits: "",
        workers: 2,
        places: "4",
    },
    Shortage {
        what: "30 calls a second, so the gateway lets them through in turn",
        latency: "100ms",
        limits: "limits = { requests_per_minute = 1800 }\n",
        workers: 2,
        places: "600",
    },
];

/// Measures and prints.
pub fn measure() {
    for shortage in &SHORTAGES {
        let cluster = TeamCluster::start(shortage);
        let alone = cluster.seconds_of_one("alone");
        let mut many = cluster.begin("thousand", "many", sessions(THOUSAND));
        cluster.is_filled();
        let beside = cluster.seconds_of_one("beside");
        let still = !many.has_ended();
        assert!(
            still,
            "the team of a thousand has ended; it was beside nobody"
        );
        bar(
            &format!(
                "{}: a team of one beside a team of {}",
                shortage.what,
                sessions(THOUSAND)
            ),
            &format!(
                "{beside:.2} s a session, {:.1} times as alone",
                beside / alone
            ),
            &format!("{MOST_TIMES} times"),
            beside <= alone * MOST_TIMES,
        );
        note(&format!(
            "{TIMES} sessions one after another; alone {alone:.2} s each"
        ));
    }
}

/// Processes that ask for tokens of two teams.
struct TeamCluster {
    folder: tempfile::TempDir,
    models: ModelServer,
    url: String,
    _roles: Vec<Role>,
}

impl TeamCluster {
    fn start(shortage: &Shortage) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let data = folder.path().display().to_string();
        let admin = |arguments: &[&str]| {
            let said = run(&[arguments, &["--data", &data]].concat()).expect_code(0);
            said.out.trim().to_owned()
        };
        for team in ["thousand", "one"] {
            admin(&["team", "create", team]);
            let token = admin(&["token", "create", "--team", team, "--scope", "submit"]);
            fs::write(folder.path().join(team), token).expect("a writable folder");
        }
        let token = |scope: &str| admin(&["token", "create", "--scope", scope]);
        let (for_workers, for_coordinator) = (token("worker"), token("coordinator"));
        let models = ModelServer::start(&["--latency", shortage.latency]);
        let config = configuration(folder.path(), &models, shortage.limits);
        let mut roles = Vec::new();
        let mut role = |token: &str, arguments: &[&str]| {
            let (role, address) = Role::listening_with(
                &[arguments, &["--data", &data, "--log", "error"]].concat(),
                |command| command.env("AGON_TOKEN", token),
            );
            roles.push(role);
            format!("http://{address}")
        };
        let config = config.display().to_string();
        let listen = ["--listen", "127.0.0.1:0"];
        let gateway = role(
            &for_coordinator,
            &[&["gateway", "--config", &config], &listen[..]].concat(),
        );
        let url = role(
            &for_coordinator,
            &[&["coordinator", "--gateway", &gateway], &listen[..]].concat(),
        );
        for _ in 0..shortage.workers {
            let (worker, _) = Role::start_with(
                &[
                    "worker",
                    "--coordinator",
                    &url,
                    "--gateway",
                    &gateway,
                    "--places",
                    shortage.places,
                    "--log",
                    "error",
                ],
                |command| command.env("AGON_TOKEN", &for_workers),
            );
            roles.push(worker);
        }
        Self {
            folder,
            models,
            url,
            _roles: roles,
        }
    }

    /// An experiment of a team, begun.
    fn begin(&self, team: &str, name: &str, repeats: u32) -> Role {
        let experiment = self.folder.path().join(format!("{name}.toml"));
        fs::write(&experiment, runs::dividers(name, repeats)).expect("a writable folder");
        let (experiment, out) = (
            experiment.display().to_string(),
            self.folder.path().join(name).display().to_string(),
        );
        let token = self.folder.path().join(team).display().to_string();
        let mut begun = command(&["run", &experiment, "--quiet", "--out", &out]);
        begun.args(["--coordinator", &self.url, "--token-file", &token]);
        Role::of(begun, "a team's run")
    }

    /// Mean seconds of a session of the team of one, when another begins after each.
    fn seconds_of_one(&self, name: &str) -> f64 {
        let began = Instant::now();
        for time in 0..TIMES {
            let (code, said) = self.begin("one", &format!("{name}-{time}"), 1).end();
            assert_eq!(code, Some(0), "{said}");
        }
        began.elapsed().as_secs_f64() / f64::from(TIMES)
    }

    /// Waits until the models have had more calls than there are places to make them at once.
    fn is_filled(&self) {
        let deadline = Instant::now() + FILLED_WITHIN;
        let before = self.models.count("answered");
        while self.models.count("answered") < before + 200 {
            assert!(Instant::now() < deadline, "the thousand do not play");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn configuration(folder: &Path, models: &ModelServer, limits: &str) -> PathBuf {
    let path = folder.join("agon.toml");
    let base_url = models.base_url();
    let text = format!(
        "[providers.simulated]\nbase_url = \"{base_url}\"\nendpoint = \"{MODEL_SERVERS}\"\n\
         {limits}keys = []\n[models.any]\nprovider = \"simulated\"\n"
    );
    fs::write(&path, text).expect("a writable folder");
    path
}
