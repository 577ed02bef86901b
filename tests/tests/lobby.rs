//! The lobby of a cluster, with real processes: what is handed in for people begins when they are ready, when
//! their time is over or when somebody says so, and never before. Which rights that takes, and what a
//! missing one is told as. Two people in browsers are in `web/ui/tests/real/seat.spec.ts`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use agon_tests::binary::{Ended, command, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::runs;
use agon_tests::waiting::until;
use serde_json::{Value, json};

/// A cluster whose services have tokens, and a folder from which a team's people are invited.
struct Stand {
    folder: tempfile::TempDir,
    cluster: Cluster,
    _models: agon_tests::model_server::ModelServer,
}

impl Stand {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = |arguments: &[&str]| {
            let data = folder.path().display().to_string();
            run(&[arguments, &["--data", &data]].concat())
                .expect_code(0)
                .out
        };
        made(&["team", "create", "red"]);
        let file = folder.path().join("services-token");
        let services = made(&["token", "create", "--scope", "worker,coordinator"]);
        fs::write(&file, services.trim()).unwrap();
        let file = file.display().to_string();
        let flags = Flags {
            all: &["--token-file", &file],
            ..Flags::default()
        };
        let models = runs::model_server("0ms");
        let cluster = Cluster::start_with(folder.path(), None, &models, 1, flags);
        Self {
            folder,
            cluster,
            _models: models,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn token(&self, scopes: &str) -> String {
        let data = self.folder.path().display().to_string();
        let create = ["token", "create", "--team", "red", "--scope", scopes];
        let made = run(&[&create[..], &["--data", &data]].concat());
        made.expect_code(0).out.trim().to_owned()
    }

    /// An experiment in which ann plays one round; `rest` says more of her.
    fn experiment(&self, rest: &str) -> String {
        let text = format!(
            "name = \"solo\"\n[players.ann]\nkind = \"model\"\nmodel = \"human/ann\"\nagent = \"person\"\n{rest}\n\
             [players.r]\nkind = \"rule\"\nstrategy = \"level_k\"\n[[games]]\ngame = \"guess_two_thirds\"\n\
             params.rounds = 1\nseats = [{{ player = \"ann\" }}, {{ player = \"r\", count = 2 }}]\n"
        );
        runs::write(self.folder.path(), &text).display().to_string()
    }

    /// An experiment in which ann and bob play one round.
    fn duo(&self) -> String {
        let person = |name: &str| {
            format!(
                "[players.{name}]\nkind = \"model\"\nmodel = \"human/{name}\"\nagent = \"person\"\n"
            )
        };
        let text = format!(
            "name = \"duo\"\n{}{}[players.r]\nkind = \"rule\"\nstrategy = \"level_k\"\n[[games]]\n\
             game = \"guess_two_thirds\"\nparams.rounds = 1\nseats = [{{ player = \"ann\" }}, \
             {{ player = \"bob\" }}, {{ player = \"r\" }}]\n",
            person("ann"),
            person("bob")
        );
        runs::write(self.folder.path(), &text).display().to_string()
    }

    fn people(&self, text: &str) -> String {
        let path = self.path("people.toml");
        fs::write(&path, text).unwrap();
        path
    }

    fn services(&self) -> [String; 4] {
        let (coordinator, gateway) = (self.cluster.coordinator_url(), self.cluster.gateway_url());
        [
            "--coordinator".to_owned(),
            coordinator,
            "--gateway".to_owned(),
            gateway,
        ]
    }

    /// Runs a command of the cluster to its end.
    fn agon(&self, token: &str, arguments: &[&str]) -> Ended {
        let at = &self.services()[..2];
        let mut command = command(arguments);
        command.args(at).env("AGON_TOKEN", token);
        command.output().unwrap().into()
    }

    fn listed(&self, token: &str) -> String {
        self.agon(token, &["experiments", "list"])
            .expect_code(0)
            .out
    }

    /// Hands the experiment in with pages.
    fn run(&self, token: &str, experiment: &str, more: &[&str]) -> Serving {
        let data = self.path("people");
        let web = ["run", experiment, "--data", &data, "--web", "127.0.0.1:0"];
        self.serve(token, &[&web, more].concat())
    }

    fn serve(&self, token: &str, arguments: &[&str]) -> Serving {
        let mut command = command(arguments);
        command.args(self.services()).env("AGON_TOKEN", token);
        Serving::start(command)
    }

    /// How often a call was refused for want of a right.
    fn refused(&self, call: &str) -> usize {
        let data = self.folder.path().display().to_string();
        let audit = run(&["audit", "--json", "--data", &data]).expect_code(0);
        let audit: Vec<Value> = serde_json::from_str(&audit.out).unwrap();
        let is_meant = |entry: &&Value| {
            entry["call"] == format!("ExperimentService/{call}") && entry["outcome"] != "ok"
        };
        audit.iter().filter(is_meant).count()
    }
}

/// A command that serves pages, and what it has said. Killed when dropped.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    said: BufReader<ChildStderr>,
    lines: String,
}

impl Serving {
    fn start(mut command: Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let said = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            out,
            said,
            lines: String::new(),
        }
    }

    /// Its next line with these words.
    fn line_with(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.said.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it never said {words}: {}", self.lines);
            self.lines.push_str(&line);
            if line.contains(words) {
                return line.trim().to_owned();
            }
        }
    }

    /// Where `agon view` serves its pages.
    fn origin(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        let (address, _) = line.split_once("/#token=").unwrap();
        address.rsplit(' ').next().unwrap().to_owned()
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Its exit code, and everything that it said.
    fn end(mut self) -> (Option<i32>, String) {
        while self.said.read_line(&mut self.lines).unwrap() > 0 {}
        let code = self.child.wait().unwrap().code();
        (code, std::mem::take(&mut self.lines))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A person's browser.
struct Person {
    client: reqwest::Client,
    seat: String,
    cookie: String,
}

impl Person {
    /// Comes by the link that a line ends in, and is ready if nobody else is invited.
    async fn come(line: &str) -> Self {
        let person = Self::enter(line).await;
        person.check().await;
        person
    }

    /// Comes, and is not ready.
    async fn enter(line: &str) -> Self {
        agon_service_kit::server::install_crypto();
        let link = line.rsplit(' ').next().unwrap();
        let (origin, invite) = link.split_once("/seat#invite=").unwrap();
        let id = invite.split('.').next().unwrap();
        let mut person = Self {
            client: reqwest::Client::new(),
            seat: format!("{origin}/api/v1/seats/{id}"),
            cookie: String::new(),
        };
        let claimed = person.post("claim", &json!({ "invite": invite })).await;
        let cookie = claimed.headers()["set-cookie"].to_str().unwrap();
        person.cookie = cookie.split(';').next().unwrap().to_owned();
        person.post("consent", &json!({ "agree": true })).await;
        person
    }

    async fn check(&self) {
        self.post("check", &json!({ "answers": [] })).await;
    }

    /// The same browser, at a server elsewhere.
    fn at(&self, origin: &str) -> Self {
        let (_, path) = self.seat.split_once("/api/").unwrap();
        Self {
            client: self.client.clone(),
            seat: format!("{origin}/api/{path}"),
            cookie: self.cookie.clone(),
        }
    }

    async fn post(&self, what: &str, body: &Value) -> reqwest::Response {
        let sent = self.client.post(format!("{}/{what}", self.seat));
        let sent = sent.header("cookie", &self.cookie).json(body).send();
        let answer = sent.await.unwrap();
        assert!(answer.status().is_success(), "{what}: {}", answer.status());
        answer
    }

    async fn state(&self) -> Value {
        let told = self.client.get(&self.seat).header("cookie", &self.cookie);
        told.send().await.unwrap().json().await.unwrap()
    }

    /// Looks again and again, as a page that is open does, until its state is as it should be.
    async fn sees(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let seeing = async {
            loop {
                let state = self.state().await;
                if is_so(&state) {
                    return state;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let seen = tokio::time::timeout(Duration::from_secs(60), seeing).await;
        seen.unwrap_or_else(|_| panic!("a person waited too long for {what}"))
    }

    async fn plays(&self) {
        let asked = self
            .sees("a question", |state| !state["ask"].is_null())
            .await;
        let answer = json!({ "ask": asked["ask"]["id"], "value": 20 });
        self.post("answer", &answer).await;
        self.sees("the end", |state| state["stage"] == "thanks")
            .await;
        self.post("done", &json!({})).await;
    }
}

const TIMED: &str = "deadline = \"1ms\"\nstand_in = \"equilibrium\"";

const HELD: &str = "no session begins until everybody who was invited is ready";

fn records(people: &Path) -> String {
    String::from_utf8(runs::records(&people.join("runs/solo"))).unwrap()
}

#[tokio::test]
async fn a_person_of_a_team_plays_in_its_cluster_once_she_is_there() {
    let mut stand = Stand::new();
    let token = stand.token("submit,play");
    let mut run = stand.run(&token, &stand.experiment(""), &[]);
    let link = run.line_with("invite ann: ");
    run.line_with(HELD);
    let listed = stand.listed(&token);
    assert!(listed.contains("paused: waiting for people"), "{listed}");
    // It waits on while its coordinator is away, and after that.
    stand.cluster.coordinator.kill();
    stand.cluster.restart_coordinator();
    let listed = stand.listed(&token);
    assert!(listed.contains("paused: waiting for people"), "{listed}");
    let ann = Person::come(&link).await;
    ann.plays().await;
    let (code, said) = run.end();
    assert_eq!(code, Some(0), "{said}");
    let records = records(&stand.folder.path().join("people"));
    assert!(records.contains("\"answered_by\":\"person-"), "{records}");
}

#[test]
fn what_waits_for_people_begins_without_them_when_the_lobby_has_waited() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let people = stand.people("[lobby]\nwait = \"100ms\"\n");
    let experiment = stand.experiment(TIMED);
    let mut run = stand.run(&token, &experiment, &["--people", &people]);
    let told = run.line_with(HELD);
    assert!(told.ends_with("or for 100ms at most"), "{told}");
    let (code, said) = run.end();
    assert_eq!(code, Some(0), "{said}");
    let records = records(&stand.folder.path().join("people"));
    assert!(records.contains("\"answered_by\":\"equilibrium for ann\""));
}

#[test]
fn somebody_may_begin_what_waits_for_people_and_a_run_that_is_stopped_says_so() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let experiment = stand.experiment(TIMED);
    let mut run = stand.run(&token, &experiment, &[]);
    run.line_with(HELD);
    let shown = stand.agon(&token, &["experiments", "show", "solo"]).out;
    assert!(
        shown.contains("0 of 1 sessions done, 0 running, 1 queued"),
        "{shown}"
    );
    run.interrupt();
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    for words in [
        "stopped: the game has not begun, and experiment solo waits for people",
        "The same command lets people in again",
        "`agon experiments resume solo` continues without their pages",
        "`agon experiments cancel solo` ends the experiment",
    ] {
        assert!(said.contains(words), "`{words}` is not in {said}");
    }
    let listed = stand.listed(&token);
    assert!(listed.contains("paused: waiting for people"), "{listed}");
    // Another pause is somebody else's: being stopped leaves it as it is.
    let mut run = stand.run(&token, &experiment, &[]);
    run.line_with("ann was invited before");
    run.line_with(HELD);
    let pause = ["experiments", "pause", "solo", "--reason", "lunch"];
    let _ = stand.agon(&token, &pause).expect_code(0);
    until("the pause is known", || {
        stand.listed(&token).contains("paused: lunch")
    });
    run.interrupt();
    let (_, said) = run.end();
    let told = "stopped: the game has not begun, and experiment solo is paused: lunch";
    assert!(said.contains(told), "{said}");
    let mut run = stand.run(&token, &experiment, &[]);
    run.line_with("experiment solo is paused: lunch");
    assert!(stand.listed(&token).contains("paused: lunch"));
    let resume = ["experiments", "resume", "solo"];
    let _ = stand.agon(&token, &resume).expect_code(0);
    let (code, said) = run.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(stand.listed(&token).contains("done"));
}

#[test]
fn a_missing_right_is_told_in_one_line_before_anything_is_handed_in() {
    let stand = Stand::new();
    let experiment = stand.experiment("");
    let all = stand.token("submit,play");
    for (scopes, missing) in [
        ("submit", "the scope play"),
        ("read,play", "the scope submit"),
    ] {
        let run = stand.run(&stand.token(scopes), &experiment, &[]);
        let (code, said) = run.end();
        assert_eq!(code, Some(2), "{said}");
        let told: Vec<&str> = said.lines().filter(|line| line.contains(missing)).collect();
        assert_eq!(told.len(), 1, "{said}");
        let how = "`agon token create --team TEAM --scope submit --scope play`";
        assert!(told[0].contains(how), "{said}");
        assert!(!said.contains("invite ann"), "{said}");
    }
    let data = stand.path("people");
    let at = ["run", &experiment, "--data", &data, "--web", "127.0.0.1:0"];
    let nowhere = stand.agon(&all, &at).expect_code(2);
    assert!(nowhere.err.contains("--gateway URL"), "{}", nowhere.err);
    let coordinator = stand.cluster.coordinator_url();
    let other = stand.agon(&all, &[&at[..], &["--gateway", &coordinator]].concat());
    let other = other.expect_code(2).err;
    let told = format!("there is no gateway at {coordinator}: --gateway is the address of");
    assert!(other.contains(&told), "{other}");
    assert!(!stand.listed(&all).contains("solo"));
}

#[tokio::test]
async fn view_begins_what_waits_for_people_if_its_token_may_and_else_says_so() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let experiment = stand.experiment("");
    let mut run = stand.run(&token, &experiment, &[]);
    let link = run.line_with("invite ann: ");
    run.line_with(HELD);
    run.interrupt();
    assert_eq!(run.end().0, Some(130));
    let (_, invite) = link.split_once("/seat#").unwrap();
    let data = stand.path("people");
    let shown_pages = ["view", "--data", &data, "--listen", "127.0.0.1:0"];
    let mut powerless = stand.serve(&stand.token("read,play"), &shown_pages);
    let ann = Person::come(&format!("{}/seat#{invite}", powerless.origin())).await;
    powerless.line_with("People play on these pages.");
    let told = powerless.line_with("everybody invited to solo is ready, but it cannot begin: ");
    assert!(told.contains("the scope submit"), "{told}");
    assert!(
        told.contains("`agon experiments resume solo` begins it"),
        "{told}"
    );
    let shown = stand.agon(&token, &["experiments", "show", "solo"]).out;
    assert!(shown.contains("0 running, 1 queued"), "{shown}");
    // It asks once: each try is a line of the audit log.
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(ann.state().await["ask"].is_null());
    }
    assert_eq!(stand.refused("ResumeExperiment"), 1);
    drop(powerless);
    let mut view = stand.serve(&token, &shown_pages);
    let ann = ann.at(&view.origin());
    ann.plays().await;
    let listed = stand.listed(&token);
    assert!(listed.contains("done"), "{listed}");
    let mut looking = stand.serve(&stand.token("read"), &shown_pages);
    let told = looking.line_with("nobody can play on these pages: ");
    assert!(told.contains("the scope play"), "{told}");
}

#[tokio::test]
async fn pause_for_another_reason_stays_though_the_last_person_is_ready_a_moment_later() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let mut run = stand.run(&token, &stand.experiment(""), &[]);
    let link = run.line_with("invite ann: ");
    run.line_with(HELD);
    let ann = Person::enter(&link).await;
    let pause = ["experiments", "pause", "solo", "--reason", "lunch"];
    let _ = stand.agon(&token, &pause).expect_code(0);
    ann.check().await;
    for _ in 0..20 {
        assert!(ann.state().await["ask"].is_null());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let listed = stand.listed(&token);
    assert!(listed.contains("paused: lunch"), "{listed}");
    let resume = ["experiments", "resume", "solo"];
    let _ = stand.agon(&token, &resume).expect_code(0);
    ann.plays().await;
    assert_eq!(run.end().0, Some(0));
}

#[tokio::test]
async fn view_begins_nothing_before_all_who_play_in_it_are_invited_from_its_folder() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let mut first = stand.run(&token, &stand.duo(), &[]);
    first.line_with(HELD);
    first.interrupt();
    assert_eq!(first.end().0, Some(130));
    let data = stand.path("elsewhere");
    let invite = |door: &str| {
        let made = run(&["invite", "duo", door, "--data", &data]).expect_code(0);
        let (_, invite) = made.out.trim().split_once("/seat#").unwrap();
        invite.to_owned()
    };
    let invited = invite("ann");
    let shown_pages = ["view", "--data", &data, "--listen", "127.0.0.1:0"];
    let mut view = stand.serve(&token, &shown_pages);
    let origin = view.origin();
    let ann = Person::come(&format!("{origin}/seat#{invited}")).await;
    let told = view.line_with("duo has not begun: ");
    let why = "bob is not invited from here; `agon invite duo bob` makes the link";
    assert!(told.ends_with(why), "{told}");
    let listed = stand.listed(&token);
    assert!(listed.contains("paused: waiting for people"), "{listed}");
    let bob = Person::come(&format!("{origin}/seat#{}", invite("bob"))).await;
    for person in [&ann, &bob] {
        person.post("ready", &json!({ "ready": true })).await;
    }
    tokio::join!(ann.plays(), bob.plays());
    assert!(stand.listed(&token).contains("done"));
}

#[test]
fn pages_that_are_closed_while_the_coordinator_is_away_say_that_nothing_begins() {
    let mut stand = Stand::new();
    let token = stand.token("submit,play");
    let mut run = stand.run(&token, &stand.experiment(""), &[]);
    run.line_with(HELD);
    stand.cluster.coordinator.kill();
    let told = run.line_with("the coordinator is not answering");
    let closes = "Ctrl-C closes the pages, and sessions that have not begun wait for people";
    assert!(told.ends_with(closes), "{told}");
    run.interrupt();
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    let waits = "stopped: the game has not begun, and experiment solo waits for people. ";
    assert!(said.contains(waits), "{said}");
}

#[test]
fn pages_that_are_closed_and_opened_again_while_the_last_session_runs_speak_of_no_rest() {
    let stand = Stand::new();
    let token = stand.token("submit,play");
    let experiment = stand.experiment("");
    let mut run = stand.run(&token, &experiment, &[]);
    run.line_with(HELD);
    let resume = ["experiments", "resume", "solo"];
    let _ = stand.agon(&token, &resume).expect_code(0);
    until("the session runs", || {
        let shown = stand.agon(&token, &["experiments", "show", "solo"]).out;
        shown.contains("1 running")
    });
    run.interrupt();
    let (_, said) = run.end();
    let told = "0 of 1 sessions are done, and one is being played to its end. The same command";
    assert!(said.contains(told), "{said}");
    let mut run = stand.run(&token, &experiment, &[]);
    run.line_with("1 session is being played, and no other is left");
}

#[test]
fn run_in_this_process_that_is_stopped_before_its_game_says_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"solo\"\n[players.ann]\nkind = \"model\"\nmodel = \"human/ann\"\nagent = \"person\"\n\
                [players.r]\nkind = \"rule\"\nstrategy = \"level_k\"\n[[games]]\ngame = \"guess_two_thirds\"\n\
                seats = [{ player = \"ann\" }, { player = \"r\", count = 2 }]\n";
    let experiment = runs::write(folder.path(), text).display().to_string();
    let data = folder.path().display().to_string();
    let at = ["run", &experiment, "--data", &data, "--web", "127.0.0.1:0"];
    let mut run = Serving::start(command(&at));
    run.line_with("the run begins when everybody who was invited is ready");
    run.interrupt();
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("stopped: the game has not begun. The same command waits"),
        "{said}"
    );
}
