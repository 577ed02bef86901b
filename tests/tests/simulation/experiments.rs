//! What is submitted in the simulation: three experiments, each in a few versions of its grid, one of
//! them with series. Expanded once for all seeds.

use std::sync::LazyLock;

use agon_coordinator::experiment::ExperimentFile;
use agon_coordinator::submission::{Submission, prepare};
use agon_proto::v1::SubmitExperimentRequest;

/// Names of the experiments.
pub const NAMES: [&str; 3] = ["singles", "series", "others"];

/// Sessions of each series.
pub const LENGTH: u32 = 3;

/// Every version of every experiment.
pub static VERSIONS: LazyLock<[Vec<Submission>; 3]> = LazyLock::new(|| {
    let grids = [
        ("0.5, 0.9", 2),
        ("0.9, 0.5, 0.7", 2),
        ("0.7", 3),
        ("0.5, 0.9", 1),
    ];
    NAMES.map(|name| {
        grids
            .iter()
            .map(|(ratios, repeats)| version(name, ratios, *repeats))
            .collect()
    })
});

fn version(name: &str, ratios: &str, repeats: u32) -> Submission {
    let series = match name {
        "series" => format!("[series]\nlength = {LENGTH}"),
        _ => String::new(),
    };
    let (team, budget) = match name {
        "others" => ("blue", ""),
        _ => ("red", "budget_dollars = \"5\""),
    };
    let text = format!(
        r#"
name = "{name}"
team = "{team}"
repeats = {repeats}
{budget}
{series}
[players.subject]
kind = "rule"
strategy = "random"
[[games]]
game = "guess_two_thirds"
params = {{ rounds = 1 }}
seats = ["subject", "subject"]
grid = {{ "params.ratio" = [{ratios}] }}
"#
    );
    let file = ExperimentFile::parse("x.toml", &text).expect("a file");
    let document = file.check().expect("an experiment").to_json();
    let request = SubmitExperimentRequest {
        document: document.into(),
        ..SubmitExperimentRequest::default()
    };
    prepare(request, Vec::new()).expect("it expands")
}
