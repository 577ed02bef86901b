//! Pilots: what the first repeats of an experiment took predicts what all of it will cost, and they
//! are not played again.

use std::fs;
use std::path::Path;

use agon_tests::binary::run;
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use serde_json::Value;

/// How far a prediction may be off.
const OFF: f64 = 0.15;

/// An interval of 95 % misses what was paid once in twenty times by its own promise, which the
/// benchmark `coverage` of `agon-report` counts. Widened so much it misses it once in some hundreds.
const WIDER: f64 = 1.6;

/// A configuration with a priced model `any` at this server.
fn config(folder: &Path, models: &ModelServer) -> String {
    let (path, key) = (folder.join("agon.toml"), folder.join("key"));
    fs::write(&key, "key-of-the-pilot").unwrap();
    let text = format!(
        "[providers.simulated]\nkind = \"openai\"\nbase_url = \"{}\"\nkeys = [{{ file = {key:?} }}]\n\n\
         [models.any]\nprovider = \"simulated\"\nmodel = \"any\"\nprice = {{ \
         input_per_million_dollars = \"2\", output_per_million_dollars = \"8\" }}\n",
        models.base_url()
    );
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The dollars of a row such as `dollars  $7.31  $6.34 to $8.27`.
fn dollars(shown: &str) -> [f64; 3] {
    let row = shown.lines().find(|line| line.starts_with(" dollars"));
    let row = row.unwrap_or_else(|| panic!("{shown}"));
    let amounts = row.split_whitespace().filter_map(|word| {
        let amount = word.strip_prefix('$')?;
        amount.replace(',', "").parse().ok()
    });
    let amounts: Vec<f64> = amounts.collect();
    amounts.try_into().unwrap_or_else(|_| panic!("{row}"))
}

/// What a run's sessions cost, in dollars.
fn paid(out: &Path) -> f64 {
    let telemetry = fs::read_to_string(out.join("telemetry.jsonl")).unwrap();
    let costs = telemetry.lines().map(|line| {
        let session: Value = serde_json::from_str(line).unwrap();
        session["usage"]["cost_nanodollars"].as_f64().unwrap()
    });
    costs.sum::<f64>() / 1e9
}

#[test]
fn a_pilot_predicts_what_a_run_costs_and_the_run_goes_on_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let config = config(folder.path(), &models);
    let presets = [
        ("gamma-bench/quick-start", "16", &["--repeats", "8"][..]),
        ("alympics/resources", "15", &[]),
        ("econarena/melee", "20", &[]),
    ];
    for (preset, pilot, more) in presets {
        let out = folder.path().join(preset.replace('/', "-"));
        let data = folder.path().join("data").display().to_string();
        let out_name = out.display().to_string();
        let place = [
            preset, "--model", "any", "--config", &config, "--data", &data, "--out", &out_name,
            "-q",
        ];
        let plan = [&["plan"], &place[..], more, &["--pilot", pilot]].concat();
        let before = models.count("requests");
        let planned = run(&plan).expect_code(0);
        let [expected, low, high] = dollars(&planned.out);
        let _ = run(&[&["run"], &place[..], more].concat()).expect_code(0);
        let asked = models.count("requests") - before;
        let decisions = runs::decisions(&runs::records(&out));
        assert_eq!(asked, decisions, "{preset}: nothing is asked twice");
        let paid = paid(&out);
        println!("{preset}: {expected:.2} ({low:.2} to {high:.2}) predicted, {paid:.2} paid");
        assert!((expected / paid - 1.0).abs() < OFF, "{preset}: {paid}");
        let (below, above) = ((expected - low) * WIDER, (high - expected) * WIDER);
        // All three are rounded to cents.
        let cent = 0.01;
        assert!(
            expected - below - cent <= paid && paid <= expected + above + cent,
            "{preset}: {paid}"
        );
        assert!(high - low < paid, "{preset}: {low} to {high} says nothing");
    }
}

#[test]
fn a_pilot_that_cannot_be_one_says_which_one_can() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let plan = |pilot: &str| {
        let plan = [
            "plan",
            "gamma-bench/quick-start",
            "--model",
            "sim",
            "--data",
            &data,
        ];
        run(&[&plan[..], &["--pilot", pilot]].concat()).expect_code(2)
    };
    let few = plan("3").err;
    assert!(
        few.contains("has 8 settings") && few.contains("--pilot 8 does"),
        "{few}"
    );
    assert!(plan("24").err.contains("at most 16"));
    assert!(!Path::new(&data).join("runs").exists());
}
