//! Budgets from end to end: an experiment that runs into one pauses with nothing lost, says how to
//! go on, and goes on where it stopped. No decision is made or paid for twice.

use std::fs;
use std::path::Path;

use agon_tests::binary::{Role, run};
use agon_tests::fake_gateway::{COST_NANODOLLARS, FakeGateway};
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use serde_json::Value;

/// What the budgeted experiment may cost at first, in nano-dollars: less than a third of what its
/// decisions come to, and more than what one call may cost at most.
const BUDGET_NANODOLLARS: u64 = 9_000_000;

/// Eight sessions of two players and three rounds: 48 decisions.
const EXPERIMENT: &str = r#"
name = "budgeted"
repeats = 8
budget_dollars = "0.010"
priority = 7
content_cache = true

[players.subject]
kind = "model"
model = "any"
fallback_models = ["second"]

[[games]]
game = "divide_dollar"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }]
"#;

const DECISIONS: u64 = 48;

fn telemetry(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("telemetry.jsonl")).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What all sessions of a run cost, in nano-dollars.
fn cost(out: &Path) -> u64 {
    let sessions = telemetry(out);
    let costs = sessions.iter().map(|one| &one["usage"]["cost_nanodollars"]);
    costs.map(|cost| cost.as_u64().unwrap()).sum()
}

/// A coordinator of this gateway, and its address.
fn coordinator(folder: &Path, gateway: &str) -> (Role, String) {
    let data = folder.join("data").display().to_string();
    let listen = ["coordinator", "--listen", "127.0.0.1:0", "--data", &data];
    let (role, address) = Role::listening(&[&listen[..], &["--gateway", gateway]].concat());
    (role, format!("http://{address}"))
}

#[test]
fn cluster_pauses_at_a_spent_budget_and_goes_on_when_it_is_raised() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = FakeGateway::start();
    let gateway_url = gateway.url();
    let (_coordinator, url) = coordinator(folder.path(), &gateway_url);
    let _worker = Role::start(&["worker", "--coordinator", &url, "--gateway", &gateway_url]);
    let experiment = runs::write(folder.path(), EXPERIMENT);
    let out = folder.path().join("out");
    let cluster = ["--coordinator", &url, "--gateway", &gateway_url];

    let paused = runs::run_into(&experiment, &out, &cluster).expect_code(4);
    let told = paused.err.lines().find(|line| line.starts_with("paused: "));
    let told = told.unwrap_or_else(|| panic!("{}", paused.err));
    for word in [
        "budget of budgeted leaves too little for another call",
        "with a higher budget (budget_dollars or --max-cost",
        "resume budgeted",
    ] {
        assert!(told.contains(word), "`{word}` is not in: {told}");
    }
    assert_eq!(gateway.made(), 10, "no more than the budget allows");
    assert!(gateway.refused() > 0);
    let list = run(&["experiments", "list", "--coordinator", &url]).expect_code(0);
    assert!(list.out.contains("paused: the budget"), "{}", list.out);
    let show = run(&["experiments", "show", "budgeted", "--coordinator", &url]).expect_code(0);
    assert!(show.out.contains("0 running, "), "{}", show.out);
    assert!(
        !show.out.contains("parked") && !show.out.contains("dead"),
        "{}",
        show.out
    );

    let resume = ["experiments", "resume", "budgeted", "--budget", "0.015"];
    let _ = run(&[&resume[..], &["--coordinator", &url]].concat()).expect_code(0);
    let again = runs::run_into(&experiment, &out, &cluster).expect_code(4);
    assert!(
        again.err.contains("$0.015"),
        "the raised budget counts: {}",
        again.err
    );
    assert_eq!(gateway.made(), 15);

    let raised = [&cluster[..], &["--set", "budget_dollars=1.5"]].concat();
    let done = runs::run_into(&experiment, &out, &raised).expect_code(0);
    assert_eq!(gateway.made(), DECISIONS, "no decision is made twice");
    let records = runs::records(&out);
    assert_eq!(runs::decisions(&records), DECISIONS);
    assert_eq!(
        cost(&out),
        DECISIONS * COST_NANODOLLARS,
        "and none is counted twice"
    );
    assert!(done.out.contains("cost: $0.0480 in all"), "{}", done.out);
    for session in telemetry(&out) {
        assert_eq!(session["attempt"], 1, "a pause uses up no try");
    }
    let list = run(&["experiments", "list", "--coordinator", &url]).expect_code(0);
    assert!(list.out.contains("done"), "{}", list.out);
    a_fallback_is_named_where_it_answered(&records);
    let verified = run(&["verify", &out.display().to_string()]).expect_code(0);
    assert!(
        verified.out.contains("8 of 8 records verified"),
        "{}",
        verified.out
    );
    let asked = gateway.terms();
    assert!(
        asked
            .iter()
            .all(|terms| terms.priority == 7 && terms.cached)
    );
}

/// The fake lets the second choice answer seat 1.
fn a_fallback_is_named_where_it_answered(records: &[u8]) {
    for record in runs::parsed(records) {
        assert_eq!(record["agon_record"], 4);
        for decision in record["decisions"].as_array().unwrap() {
            let model = decision.get("model").and_then(Value::as_str);
            let expected = (decision["seat"] == 1).then_some("second");
            assert_eq!(model, expected, "{decision}");
        }
    }
}

/// A configuration with a price, and further sections.
fn configure(folder: &Path, models: &ModelServer, further: &str) -> String {
    let config = folder.join("agon.toml");
    let base_url = models.base_url();
    let text = format!(
        "[providers.simulated]\nbase_url = \"{base_url}\"\nkeys = []\n\
         [models.any]\nprovider = \"simulated\"\nmax_output_tokens = 200\n\
         price = {{ input_per_million_dollars = \"1\", output_per_million_dollars = \"4\" }}\n\
         {further}"
    );
    fs::write(&config, text).unwrap();
    config.display().to_string()
}

/// The experiment without a budget of its own and without what the fake alone has.
fn without_budget() -> String {
    let lines = EXPERIMENT.lines();
    let kept = lines.filter(|line| {
        !["budget_dollars", "content_cache", "fallback_models"]
            .iter()
            .any(|key| line.starts_with(key))
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// The first amount of dollars after these words, in nano-dollars.
fn dollars_after(words: &str, text: &str) -> u64 {
    let (_, rest) = text
        .split_once(words)
        .unwrap_or_else(|| panic!("no `{words}` in {text}"));
    let (_, rest) = rest.split_once('$').unwrap();
    let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
    let amount = rest.split(|letter| !digits(letter)).next().unwrap();
    (amount.trim_end_matches('.').parse::<f64>().unwrap() * 1e9).round() as u64
}

/// What the experiment comes to under the same configuration when nothing limits it.
fn records_without_budget(folder: &Path, experiment: &Path, models: &ModelServer) -> Vec<u8> {
    let config = configure(folder, models, "");
    let (out, data) = (folder.join("free"), folder.join("free-data"));
    let data = data.display().to_string();
    let flags = ["--config", &config, "--data", &data];
    let _ = runs::run_into(experiment, &out, &flags).expect_code(0);
    runs::records(&out)
}

/// Runs into a budget once, goes on with flags and configuration as they are changed by
/// `raise`, and compares with a run that had no budget.
fn pauses_and_goes_on(further: &str, flags: &[&str], raised: &str, raised_flags: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let experiment = runs::write(folder.path(), &without_budget());
    let unbudgeted = records_without_budget(folder.path(), &experiment, &models);
    let asked_before = models.count("requests");
    let asked = || models.count("requests") - asked_before;
    let (out, data) = (folder.path().join("out"), folder.path().join("data"));
    let data = data.display().to_string();
    let config = configure(folder.path(), &models, further);
    let common = ["--config", &config, "--data", &data];

    let paused = runs::run_into(&experiment, &out, &[&common[..], flags].concat()).expect_code(4);
    let told = paused.err.lines().find(|line| line.starts_with("paused: "));
    let told = told.unwrap_or_else(|| panic!("{}", paused.err));
    assert!(told.contains("the same command goes on"), "{told}");
    let spent = dollars_after("another call:", told);
    assert!(spent > 0 && spent <= BUDGET_NANODOLLARS, "{told}");
    assert!(cost(&out) <= spent, "what is done cost no more than all");
    let asked_until_then = asked();
    assert!(
        asked_until_then > 0 && asked_until_then < DECISIONS,
        "{asked_until_then}"
    );

    let again = runs::run_into(&experiment, &out, &[&common[..], flags].concat()).expect_code(4);
    assert!(again.err.contains("leaves too little"), "{}", again.err);
    assert!(
        dollars_after("another call:", &again.err) <= BUDGET_NANODOLLARS,
        "{}",
        again.err
    );

    configure(folder.path(), &models, raised);
    let goes_on = [&common[..], raised_flags].concat();
    let done = runs::run_into(&experiment, &out, &goes_on).expect_code(0);
    assert!(done.out.contains("cost: $"), "{}", done.out);
    assert_eq!(asked(), DECISIONS, "no decision is asked twice");
    assert!(runs::records(&out) == unbudgeted, "a pause changes no byte");
    assert!(cost(&out) > BUDGET_NANODOLLARS, "the budget was a real one");
}

#[test]
fn run_pauses_at_its_budget_and_finishes_when_that_is_raised() {
    let (small, large) = ("budget_dollars=0.009", "budget_dollars=1");
    pauses_and_goes_on("", &["--set", small], "", &["--set", large]);
}

#[test]
fn run_pauses_at_the_budget_of_its_team_and_finishes_when_that_is_raised() {
    let budget = |dollars: &str| format!("[teams.default]\nbudget_dollars = \"{dollars}\"\n");
    pauses_and_goes_on(&budget("0.009"), &[], &budget("1"), &[]);
}

#[test]
fn budget_without_a_price_is_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), EXPERIMENT);
    let models = ModelServer::start(&[]);
    let (base_url, data) = (models.base_url(), folder.path().join("data"));
    let data = data.display().to_string();
    let flags = ["--base-url", &base_url, "--data", &data];
    let refused = runs::run_into(&experiment, &folder.path().join("out"), &flags).expect_code(2);
    assert!(
        refused
            .err
            .contains("the price of any, second must be known"),
        "{}",
        refused.err
    );
    assert_eq!(models.count("requests"), 0);
}

#[test]
fn plan_and_check_hold_the_budget_against_what_it_may_take() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let config = configure(folder.path(), &models, "");
    let experiment = runs::write(folder.path(), &without_budget())
        .display()
        .to_string();
    let plan = |budget: &str| {
        let set = format!("budget_dollars={budget}");
        let planned = run(&["plan", &experiment, "--config", &config, "--set", &set]);
        planned.expect_code(0).out
    };
    assert!(plan("0.001").contains("WARNING: the budget of $0.0010 is less than what is expected"));
    assert!(plan("0.05").contains("WARNING: the budget of $0.0500 is less than what it can take"));
    assert!(plan("100").contains("budget: $100.00, enough"));
    let checked = run(&["check", &experiment, "--set", "budget_dollars=0.5"]).expect_code(0);
    assert!(checked.out.contains("budget $0.5000"), "{}", checked.out);
}

#[test]
fn experiment_that_somebody_pauses_begins_nothing_until_it_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = FakeGateway::start();
    let gateway_url = gateway.url();
    let (_coordinator, url) = coordinator(folder.path(), &gateway_url);
    let of = |command: &[&str]| {
        let arguments = [&["experiments"], command, &["--coordinator", &url]].concat();
        run(&arguments)
    };
    let by_rules = |name: &str| {
        EXPERIMENT.replace("budgeted", name).replace(
            "kind = \"model\"\nmodel = \"any\"\nfallback_models = [\"second\"]",
            "kind = \"rule\"\nstrategy = \"random\"",
        )
    };
    let hand_in = |name: &str| {
        let inside = folder.path().join(name);
        fs::create_dir(&inside).unwrap();
        let experiment = runs::write(&inside, &by_rules(name)).display().to_string();
        let out = inside.join("out").display().to_string();
        Role::start_silent(&["run", &experiment, "--out", &out, "--coordinator", &url])
    };
    // Nobody can play it before it is paused.
    let mut waiting = hand_in("waiting");
    agon_tests::waiting::until("it is handed in", || {
        of(&["show", "waiting"]).code == Some(0)
    });
    let _ = of(&["pause", "waiting", "--reason", "back at\u{1b}[2J two"]).expect_code(0);
    let _worker = Role::start(&["worker", "--coordinator", &url, "--gateway", &gateway_url]);
    let (code, err) = hand_in("other").end();
    assert_eq!(code, Some(0), "{err}");
    let listed = of(&["list"]).expect_code(0).out;
    let line = listed.lines().find(|line| line.contains("waiting "));
    let line = line.unwrap_or_else(|| panic!("{listed}"));
    assert!(
        line.contains("paused: back at") && !line.contains('\u{1b}'),
        "{line}"
    );
    let shown = of(&["show", "waiting"]).expect_code(0).out;
    assert!(
        shown.starts_with("0 of 8 sessions done, 0 running"),
        "{shown}"
    );
    assert!(!waiting.has_ended(), "`agon run` waits for it");
    let over = of(&["pause", "other"]);
    assert!(over.err.contains("nothing left to play"), "{}", over.err);
    let _ = of(&["resume", "waiting"]).expect_code(0);
    let (code, err) = waiting.end();
    assert_eq!(code, Some(0), "{err}");
}
