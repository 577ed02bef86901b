//! Models that think, from an experiment's file to its records: the room that they get, the foul of
//! one that is cut off in its thoughts, the probabilities of tokens, and additions of the
//! configuration in their origin.

use std::fs;

use agon_tests::binary::run;
use agon_tests::model_server::ModelServer;
use serde_json::Value;

const EXPERIMENT: &str = r#"
name = "thinking"
repeats = 1
seed = 7
[[games]]
game = "guess_two_thirds"
params = { rounds = 2 }
seats = ["a", "b"]
[players.a]
kind = "model"
model = "thinker"
logprobs = 3
max_output_tokens = 200
reasoning_effort = "low"
strict = true
[players.b]
kind = "model"
model = "cut"
max_output_tokens = 20
"#;

#[test]
fn who_thinks_has_room_for_it_and_who_is_cut_off_fouls_with_that_reason() {
    let server = ModelServer::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config = format!(
        "[providers.lab]\nbase_url = '{}'\nendpoint = 'lab'\n[models.thinker]\nprovider = 'lab'\nmodel = \
         'thinks-hard'\nextra_body = {{ service_tier = 'flex' }}\n[models.cut]\nprovider = \
         'lab'\nmodel = 'thinks-hard'\nthinking_tokens = 50\n",
        server.base_url()
    );
    fs::write(path("agon.toml"), config).unwrap();
    fs::write(path("x.toml"), EXPERIMENT).unwrap();
    let (experiment, config, data) = (path("x.toml"), path("agon.toml"), path("data"));
    let asked = ["run", &experiment, "--config", &config, "--data", &data];
    let _ = run(&asked).expect_code(0);
    let records = format!("{data}/runs/thinking/records.jsonl");
    let records = fs::read_to_string(&records).expect("records");
    let record: Value = serde_json::from_str(records.trim()).expect("one record");
    assert_eq!(record["agon_record"], 5);
    let origins = &record["spec"]["origins"];
    assert!(origins["thinker"]["additions"].is_string(), "{origins}");
    assert!(origins["cut"]["additions"].is_null(), "{origins}");
    for decision in record["decisions"].as_array().expect("decisions") {
        let (applied, finish) = (&decision["applied"], &decision["finish_reason"]);
        if decision["seat"] == 0 {
            // 200 for the answer, 4,096 for thoughts at a low effort.
            assert_eq!(applied["max_output_tokens"], 4_296, "{decision}");
            assert_eq!((finish, &applied["logprobs"]), (&"stop".into(), &3.into()));
            let tokens = decision["logprobs"].as_array().expect("probabilities");
            let texts = tokens.iter().filter_map(|token| token["token"].as_str());
            assert_eq!(decision["reply"], texts.collect::<String>());
        } else {
            assert_eq!(finish, "length_in_thoughts", "{decision}");
        }
    }
    let fouls = record["moves"].as_array().expect("moves").iter();
    let fouls = fouls.filter_map(|made| made["fouls"][0]["reason"].as_str());
    let fouls: Vec<&str> = fouls.collect();
    assert!(!fouls.is_empty());
    let cut = "the token limit was reached before you finished thinking";
    assert!(fouls.iter().all(|foul| foul.starts_with(cut)), "{fouls:?}");
    let _ = run(&["verify", "thinking", "--data", &data]).expect_code(0);
}
