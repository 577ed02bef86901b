//! `deploy/local.sh`: an installation of two teams on this machine without containers comes up, plays,
//! goes down and comes up again with what it had.

use std::path::Path;
use std::process::Command;

use agon_tests::binary::{self, Ended, command};
use agon_tests::redis::free_port;
use agon_tests::tree;

struct Local {
    folder: tempfile::TempDir,
    ports: Vec<(&'static str, String)>,
    coordinator: String,
}

impl Local {
    fn new() -> Self {
        let port = |name| (name, free_port().to_string());
        let names = [
            "COORDINATOR_PORT",
            "REDIS_PORT",
            "GATEWAY_PORT",
            "MODEL_PORT",
            "PAGES_PORT",
        ];
        let mut ports: Vec<_> = names.map(port).into();
        // Four in a row, which nobody else is given: below those that are drawn.
        let metrics = 20_000 + free_port() % 10_000;
        ports.push(("METRICS_PORT", metrics.to_string()));
        Self {
            folder: tempfile::tempdir().unwrap(),
            coordinator: format!("http://127.0.0.1:{}", ports[0].1),
            ports,
        }
    }

    fn script(&self, what: &str) -> Ended {
        self.script_of(self.folder.path(), &[what])
    }

    /// The same script, called in a folder.
    fn script_of(&self, folder: &Path, arguments: &[&str]) -> Ended {
        let mut command = Command::new(tree::root().join("deploy/local.sh"));
        command.args(arguments).current_dir(folder);
        command.env("AGON", binary::path());
        command.envs(self.ports.iter().map(|(name, port)| (name, port)));
        // Variables of another installation mean nothing here.
        command.env("AGON_REDIS", "redis://nowhere:1");
        command.output().expect("bash is there").into()
    }

    /// A command in a shell that has variables of services beside those of a caller.
    fn as_team(&self, team: &str, arguments: &[&str]) -> Ended {
        let mut command = command(arguments);
        command.current_dir(self.folder.path());
        command.env("AGON_COORDINATOR", &self.coordinator);
        command.env("AGON_TOKEN_FILE", format!("agon-local/tokens/{team}"));
        command.env("AGON_REDIS", "redis://nowhere:1");
        command.env("AGON_CONFIG", "nowhere.toml");
        command.env("AGON_METRICS", "127.0.0.1:1");
        command.output().unwrap().into()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.script("down");
    }
}

#[test]
fn two_teams_share_an_installation_that_is_stopped_and_started_again() {
    let local = Local::new();
    let before = local.script("status");
    assert_eq!(before.code, Some(2), "{before:?}");
    assert!(before.err.contains("local.sh up"), "{}", before.err);
    let up = local.script("up").expect_code(0);
    assert!(up.out.contains(&local.coordinator), "{}", up.out);
    // The simulated model of the gateway answers.
    let experiment = [
        "run",
        "gamma-bench/leaderboard",
        "--model",
        "sim",
        "--repeats",
        "1",
    ];
    let _ = local.as_team("red", &experiment).expect_code(0);
    let status = local.script("status").expect_code(0);
    for line in [
        "runs     worker-2",
        "ok    coordinator token: accepted",
        "ok    gateway keys",
    ] {
        assert!(status.out.contains(line), "{line}: {}", status.out);
    }
    // One more team; and a name that is none.
    let green = local
        .script_of(local.folder.path(), &["team", "green"])
        .expect_code(0);
    assert!(green.out.contains("tokens/green"), "{}", green.out);
    let _ = local
        .as_team("green", &["experiments", "list"])
        .expect_code(0);
    let wrong = local
        .script_of(local.folder.path(), &["team", "no name"])
        .expect_code(2);
    assert!(wrong.err.contains("error: "), "{}", wrong.err);
    // A second installation on the same ports names all of them, and starts nothing.
    let elsewhere = tempfile::tempdir().unwrap();
    let taken = local.script_of(elsewhere.path(), &["up"]).expect_code(3);
    for (variable, port) in &local.ports {
        let said = format!("port {port} for ");
        let line = taken.err.lines().find(|line| line.contains(&said));
        assert!(
            line.is_some_and(|line| line.contains(variable)),
            "{variable}: {}",
            taken.err
        );
    }
    let down = local.script("down").expect_code(0);
    assert!(down.out.contains("stopped redis"), "{}", down.out);
    let stopped = local.script("status").expect_code(1);
    assert!(stopped.out.contains("stopped  gateway"), "{}", stopped.out);
    let _ = local.script("up").expect_code(0);
    let list = |team: &str| local.as_team(team, &["experiments", "list"]).expect_code(0);
    let red = list("red");
    assert!(
        red.out.contains("gamma-bench-leaderboard-sim"),
        "{}",
        red.out
    );
    assert!(!list("blue").out.contains("gamma-bench"), "{}", red.out);
}
