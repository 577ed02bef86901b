//! Recorded games of others as runs: raw results of gamma-Bench's authors are the same sessions as
//! our records of them, and a complete set gives every cell of their leaderboard.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use agon_tests::binary::run;
use agon_tests::tree;
use serde_json::{Map, Value, json};

/// The columns of the leaderboard, in order, with the setting that is published where a game has several.
const GAMES: [(&str, &str); 8] = [
    ("guess_two_thirds", ""),
    ("el_farol", "implicit"),
    ("divide_dollar", ""),
    ("public_goods", ""),
    ("diners_dilemma", ""),
    ("sealed_bid_auction", "first"),
    ("battle_royale", ""),
    ("pirate", ""),
];

/// Every recorded game of gamma-Bench.
fn recorded() -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(tree::recorded().join("gamma"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let lines = files.iter().flat_map(|file| {
        let unpacked = std::process::Command::new("gzip")
            .arg("-dc")
            .arg(file)
            .output();
        let text = String::from_utf8(unpacked.unwrap().stdout).unwrap();
        let games = text.lines().map(|line| serde_json::from_str(line).unwrap());
        games.collect::<Vec<Value>>()
    });
    lines.collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A recorded game as its authors' program writes it: answers by player, those of a round in another
/// order, without its scores.
fn raw(game: &Value) -> Value {
    let name = game["game"].as_str().unwrap();
    let rounds = list(&game["rounds"]);
    let seats = list(&game["models"]);
    let of_rounds = rounds.iter().enumerate().map(|(number, round)| match name {
        "battle_royale" => battle_round(&game["params"], round),
        "pirate" => json!({
            "gold_distribution": round["actions"]["proposal"],
            "responses": round["actions"]["votes"],
        }),
        _ => simultaneous_round(round, number),
    });
    let of_rounds: Vec<Value> = of_rounds.collect();
    let players = seats.iter().enumerate().map(|(seat, model)| {
        let answers = rounds.iter().map(|round| {
            let odd = &round["raw_actions"][seat.to_string()];
            let plain = &round["actions"][seat];
            if odd.is_null() {
                plain.clone()
            } else {
                odd.clone()
            }
        });
        let paid = rounds.iter().map(|round| {
            let kept = &round["outcome"]["kept"][seat];
            if kept.is_null() {
                round["outcome"]["utilities"][seat].clone()
            } else {
                kept.clone()
            }
        });
        let told = rounds.iter().enumerate().filter_map(|(number, round)| {
            let tokens = round["outcome"]["tokens_after"].as_array()?;
            let number = number + 1;
            let tokens = json!(tokens);
            let content = format!("Tokens of each player after round {number}: {tokens}");
            Some(json!({ "role": "user", "content": content }))
        });
        let (answers, paid): (Vec<Value>, Vec<Value>) = (answers.collect(), paid.collect());
        let told: Vec<Value> = told.collect();
        json!({
            "model": model, "id": format!("player_{seat}"),
            "records": answers, "utility": paid, "prompt": told,
        })
    });
    let players: Vec<Value> = players.collect();
    json!({ "meta": meta(game), "round_records": of_rounds, "player_data": players })
}

fn simultaneous_round(round: &Value, number: usize) -> Value {
    let mut record: Map<String, Value> = round["outcome"].as_object().unwrap().clone();
    for ours in ["utilities", "kept", "tokens_after"] {
        record.remove(ours);
    }
    // As if shuffled.
    let mut responses = list(&round["actions"]).to_vec();
    responses.rotate_left(number % 7);
    record.insert("responses".to_owned(), json!(responses));
    if let Some(valuations) = round["private"].get("valuations") {
        let winner = format!("player_{}", record["winner"]);
        record.insert("bid_winner".to_owned(), json!(winner));
        record.insert(
            "bid_winner_proposed".to_owned(),
            record["winning_bid"].clone(),
        );
        record.insert("bid_winner_payment".to_owned(), record["price"].clone());
        record.insert("utility".to_owned(), round["outcome"]["utilities"].clone());
        record.insert("valuations".to_owned(), valuations.clone());
        for ours in ["winner", "winning_bid", "price"] {
            record.remove(ours);
        }
    }
    record.into()
}

fn battle_round(params: &Value, round: &Value) -> Value {
    let alive = list(&round["outcome"]["alive_before"]).iter();
    let alive = alive.map(|seat| {
        let rate = &params["hit_rates"][seat.as_u64().unwrap() as usize];
        json!([format!("player_{seat}"), rate])
    });
    let alive: Vec<Value> = alive.collect();
    let target = &round["actions"]["target"];
    let target = if target.is_null() {
        "null".to_owned()
    } else {
        target.to_string()
    };
    json!({
        "responses": [target], "shot_player": target,
        "player_shooting": round["actions"]["shooter"].to_string(),
        "initial_players": alive,
        "action": round["outcome"]["action"], "out": round["outcome"]["out"],
    })
}

fn meta(game: &Value) -> Value {
    let mut meta: Map<String, Value> = game["params"].as_object().unwrap().clone();
    for (ours, theirs) in [
        ("players", "player_num"),
        ("costly_cost", "exp_cost"),
        ("costly_utility", "exp_utility"),
        ("first_seed", "seed"),
    ] {
        if let Some(value) = meta.remove(ours) {
            meta.insert(theirs.to_owned(), value);
        }
    }
    match meta.remove("price").as_ref().and_then(Value::as_str) {
        Some("first") => meta.insert("mode".to_owned(), json!("highest bid")),
        Some(_) => meta.insert("mode".to_owned(), json!("second highest bid")),
        None => None,
    };
    meta.remove("hit_rates");
    meta.insert("version".to_owned(), game["prompt_version"].clone());
    meta.into()
}

/// Writes a game below a folder where the authors' repository has it.
fn write_raw(game: &Value, folder: &Path) {
    let path = folder.join(game["source"].as_str().unwrap());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_string_pretty(&raw(game)).unwrap()).unwrap();
}

#[test]
fn raw_results_of_the_authors_are_the_same_sessions_as_records_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let games = recorded();
    for game in &games {
        write_raw(game, folder.path());
    }
    let results = folder.path().join("raw_results");
    fs::copy(
        results.join("guessing_game/guessing_game_v1_2.json"),
        results.join("guessing_game/guessing_game_v1_savept1_0.json"),
    )
    .unwrap();
    let data = folder.path().join("data").display().to_string();
    let ours = tree::recorded().join("gamma").display().to_string();
    let theirs = results.display().to_string();
    let ended = run(&["import", &ours, &theirs, "--data", &data]).expect_code(0);
    let all = games.len();
    assert!(
        ended
            .out
            .contains(&format!("{all} recorded games imported")),
        "{}",
        ended.out
    );
    assert!(
        ended
            .err
            .contains(&format!("{all} games came again and counted once")),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("1 file left out: snapshots"),
        "{}",
        ended.err
    );
    // What is none of them is passed over in a folder and refused where it is named; a game with a
    // changed result is left out.
    let odd = folder.path().join("odd");
    fs::create_dir(&odd).unwrap();
    let settings = odd.join("settings.json");
    fs::write(&settings, "{\"meta\": {}}").unwrap();
    let mut changed = raw(&games[0]);
    changed["round_records"][0]["out"] = json!(true);
    fs::write(odd.join("battle_royale_v1_9.json"), changed.to_string()).unwrap();
    let import = |path: &Path| {
        let path = path.display().to_string();
        run(&["import", &path, "--data", &data, "--name", "odd"])
    };
    let ended = import(&odd).expect_code(1);
    for said in [
        "left out gamma/battle_royale/battle_royale_v1_9",
        "1 .json file passed over",
    ] {
        assert!(ended.err.contains(said), "{}", ended.err);
    }
    let ended = import(&settings).expect_code(2);
    let said = "settings.json: no raw result of gamma-Bench: missing field `round_records`";
    assert!(ended.err.contains(said), "{}", ended.err);
    assert_eq!(
        ended.out, "",
        "nothing was imported, so that there is no table"
    );
    fs::remove_file(odd.join("battle_royale_v1_9.json")).unwrap();
    let ended = import(&odd).expect_code(2);
    assert!(
        ended.err.contains("no recorded game in what was named"),
        "{}",
        ended.err
    );
}

/// Scores of a game and a model, by their names and places.
type Scores = BTreeMap<(String, usize), Vec<f64>>;

/// Five games for each of these models in each game of the leaderboard, made of recorded ones, and their
/// scores; with each model a copy that is no repeat, a variant and a game of another setting.
fn complete_set(models: &[&str]) -> (Vec<Value>, Scores) {
    let games = recorded();
    let mut set = Vec::new();
    let mut scores: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    for (column, (name, setting)) in GAMES.iter().enumerate() {
        let fits = |game: &&Value| {
            let params = &game["params"];
            let chosen = [&params["mode"], &params["price"]];
            let is_set = chosen.iter().any(|one| one.as_str() == Some(*setting));
            game["game"] == *name
                && (setting.is_empty() || is_set)
                && game["variant_class"] == "run"
        };
        let pool: Vec<&Value> = games.iter().filter(fits).collect();
        for (row, model) in models.iter().enumerate() {
            for variant in ["v1_1", "v1_2", "v1_3", "v1_4", "v1_5", "v1", "v1_t3"] {
                let mut game = pool[(set.len() * 7 + row) % pool.len()].clone();
                game["id"] = json!(format!("gamma/{name}/{model}_{variant}"));
                game["file_model"] = json!(model);
                game["variant"] = json!(variant);
                let is_repeat = variant.len() == "v1_1".len() && !variant.contains('t');
                game["variant_class"] = json!(if is_repeat { "run" } else { "other" });
                let score = game["score_iclr2025"].as_f64().unwrap();
                if is_repeat {
                    scores
                        .entry(((*model).to_owned(), column))
                        .or_default()
                        .push(score);
                }
                set.push(game);
            }
        }
    }
    let other = games
        .iter()
        .find(|game| game["params"]["price"] == "second");
    set.extend(other.cloned());
    (set, scores)
}

/// A mean to one digit as pandas prints it.
fn printed(mean: f64) -> String {
    format!("{:.1}", (mean * 10.0).round_ties_even() / 10.0)
}

#[test]
fn a_complete_set_gives_every_cell_of_the_leaderboard_and_nothing_else_enters_it() {
    let models = [
        "gpt-3.5-turbo-0613",
        "gpt-3.5-turbo-1106",
        "gpt-3.5-turbo-0125",
        "gpt-4-0125-preview",
        "gpt-4o",
        "gemini-1.0-pro",
        "gemini-1.5-pro",
        "llama-3.1-8b",
        "llama-3.1-70b",
        "llama-3.1-405b",
        "mixtral-8x7b",
        "mixtral-8x22b",
        "qwen2-72b",
    ];
    let (mut set, scores) = complete_set(&models);
    let folder = tempfile::tempdir().unwrap();
    // In two files, the second backwards.
    let second = set.split_off(set.len() / 2);
    for (name, games) in [
        ("a.jsonl", set),
        ("b.jsonl", second.into_iter().rev().collect()),
    ] {
        let lines: Vec<String> = games.iter().map(Value::to_string).collect();
        fs::write(folder.path().join(name), lines.join("\n")).unwrap();
    }
    let here = folder.path().display().to_string();
    let own = tempfile::tempdir().unwrap();
    let data = own.path().display().to_string();
    let _ = run(&["import", &here, "--data", &data]).expect_code(0);
    let board = run(&["leaderboard", "--data", &data, "--format", "markdown"]).expect_code(0);
    let mut same = 0;
    for model in models {
        let row = board
            .out
            .lines()
            .find(|line| line.contains(&format!("| {model} (yours) |")));
        let cells: Vec<&str> = row
            .unwrap_or_else(|| panic!("{model}"))
            .split('|')
            .map(str::trim)
            .collect();
        // Before them: the margin, rank, model and what the lines are.
        let shown = |place: usize| {
            cells[place]
                .split("<br>")
                .map(str::trim)
                .collect::<Vec<_>>()
        };
        let mut means = Vec::new();
        for (column, (game, _)) in GAMES.iter().enumerate() {
            let of_game = &scores[&(model.to_owned(), column)];
            let mean = of_game.iter().sum::<f64>() / of_game.len() as f64;
            means.push(mean);
            let lines = shown(6 + column);
            assert_eq!(
                lines.first(),
                Some(&&*printed(mean)),
                "{model} {game}: {row:?}"
            );
            assert_eq!(lines.last(), Some(&"5"), "{model} {game}: {row:?}");
            same += 1;
        }
        let overall = means.iter().sum::<f64>() / means.len() as f64;
        assert_eq!(
            shown(4).first(),
            Some(&&*printed(overall)),
            "{model}: {row:?}"
        );
        same += 1;
    }
    assert_eq!(same, 117);
    // In the report each has its mean, spread and n too.
    let report = run(&["report", "--data", &data, "--format", "markdown"]).expect_code(0);
    let repeats = report
        .out
        .lines()
        .filter(|line| line.contains("| 5 |"))
        .count();
    assert!(
        repeats >= GAMES.len() * models.len(),
        "{repeats} rows of 5:\n{}",
        report.out
    );
}
