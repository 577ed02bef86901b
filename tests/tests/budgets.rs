//! Budgets from end to end: an experiment that runs into one pauses with nothing lost, says how to
//! go on, and goes on where it stopped. No decision is made or paid for twice.

#[path = "budgets/fake_gateway.rs"]
mod fake_gateway;

use std::fs;
use std::path::Path;

use agon_tests::binary::{Role, run};
use agon_tests::runs;
use serde_json::Value;

use fake_gateway::{COST_NANODOLLARS, FakeGateway};

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

#[test]
fn cluster_pauses_at_a_spent_budget_and_goes_on_when_it_is_raised() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = FakeGateway::start();
    let gateway_url = gateway.url();
    let data = folder.path().join("data").display().to_string();
    let (_coordinator, address) =
        Role::listening(&["coordinator", "--listen", "127.0.0.1:0", "--data", &data]);
    let url = format!("http://{address}");
    let _worker = Role::start(&["worker", "--coordinator", &url, "--gateway", &gateway_url]);
    let experiment = runs::write(folder.path(), EXPERIMENT);
    let out = folder.path().join("out");
    let cluster = ["--coordinator", &url, "--gateway", &gateway_url];

    let paused = runs::run_into(&experiment, &out, &cluster).expect_code(4);
    let told = paused.err.lines().find(|line| line.starts_with("paused: "));
    let told = told.unwrap_or_else(|| panic!("{}", paused.err));
    for word in [
        "budget of budgeted is spent",
        "raise budget_dollars",
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
        assert_eq!(record["agon_record"], 2);
        for decision in record["decisions"].as_array().unwrap() {
            let model = decision.get("model").and_then(Value::as_str);
            let expected = (decision["seat"] == 1).then_some("second");
            assert_eq!(model, expected, "{decision}");
        }
    }
}
