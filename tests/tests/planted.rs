//! Rule breaking that is planted in a simulated model is found again in the tables: as many fouls
//! are reported as the model server counted broken replies.

use agon_tests::binary::run;
use agon_tests::model_server::ModelServer;
use serde_json::Value;

/// Sessions of each game, nine seats each.
const REPEATS: u64 = 12;

#[test]
fn broken_replies_of_contests_and_auctions_are_the_fouls_that_are_reported() {
    let server = ModelServer::start(&["--malformed-rate", "0.2"]);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let repeats = REPEATS.to_string();
    let mut arguments = vec!["run", "econarena/melee", "--model", "any", "--quiet"];
    let base_url = server.base_url();
    arguments.extend([
        "--base-url",
        &base_url,
        "--repeats",
        &repeats,
        "--data",
        &data,
    ]);
    let _ = run(&arguments).expect_code(0);
    let name = "econarena-melee-any";
    let measured = ["show", name, "--measures", "--json", "--data", &data];
    let measured: Value = serde_json::from_str(&run(&measured).expect_code(0).out).unwrap();
    let settings = measured["settings"]
        .as_array()
        .unwrap_or_else(|| measured.as_array().unwrap_or_else(|| panic!("{measured}")));
    let players = settings
        .iter()
        .flat_map(|setting| setting["players"].as_array().unwrap());
    let fouls: f64 = players
        .map(|row| {
            let sat = row["sat"].as_f64().unwrap();
            sat * row["rule_breaking"].as_f64().unwrap() / 100.0
        })
        .sum();
    let planted = server.count("malformed");
    assert_eq!(server.count("answered"), 2 * REPEATS * 9);
    assert!(planted > REPEATS, "{planted} of them");
    assert_eq!(fouls.round() as u64, planted);
}
