//! Commands as a user types them: what they print, what they exit with.
//! Each test runs the built `agon` as a process of its own.

use std::fs;

use agon_tests::binary::run;
use agon_tests::left_out::left_out;
use agon_tests::{runs, tree};
use serde_json::Value;

#[test]
fn every_recorded_gamma_game_is_replayed_and_matches() {
    let folder = tree::recorded().join("gamma").display().to_string();
    let ended = run(&["replay", "--json", &folder]).expect_code(0);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(summary["games"].as_u64().unwrap() >= 512, "{summary}");
    assert_eq!(summary["games"], summary["matched"]);
    assert_eq!(summary["mismatched"].as_array().unwrap().len(), 0);
}

#[test]
fn a_changed_game_is_a_mismatch_that_says_what_differed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    let recorded = tree::recorded()
        .join("gamma/divide_dollar.jsonl.gz")
        .display()
        .to_string();
    // The first game, unpacked by the program itself would need a flag nobody
    // wants, so gzip does it.
    let unpacked = std::process::Command::new("gzip")
        .args(["-dc", &recorded])
        .output()
        .unwrap();
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let first = text.lines().next().unwrap();
    let mut game: Value = serde_json::from_str(first).unwrap();
    let total = game["rounds"][3]["outcome"]["total_proposal"]
        .as_i64()
        .unwrap();
    game["rounds"][3]["outcome"]["total_proposal"] = (total + 1).into();
    fs::write(&path, format!("{first}\n{game}\n")).unwrap();
    let ended = run(&["replay", &path.display().to_string()]).expect_code(1);
    assert!(ended.out.contains("1 of 2 games matched"), "{}", ended.out);
    let line = ended
        .out
        .lines()
        .find(|line| line.starts_with("mismatch"))
        .unwrap();
    assert!(
        line.contains(&total.to_string()) && line.contains("round 4"),
        "{line}"
    );
    let ended = run(&["replay", "--json", &path.display().to_string()]).expect_code(1);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(summary["mismatched"][0]["id"], game["id"]);
}

#[test]
fn recorded_replies_are_read_once_more_and_their_games_played_with_what_was_read() {
    let files = ["wac.jsonl.gz", "wac_replies.jsonl.gz"].map(tree::replies);
    let [Some(games), Some(replies)] = files else {
        return left_out(
            "recorded_replies_are_read_once_more_and_their_games_played_with_what_was_read",
            "no replies of real models; AGON_REPLIES names their folder",
        );
    };
    let games = games.display().to_string();
    let ended = run(&["replay", "--from-text", "--json", &games]).expect_code(0);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(summary["games"], summary["matched"], "{summary}");
    let readings = &summary["readings"];
    let count = |name: &str| readings[name].as_u64().unwrap();
    let length = |name: &str| readings[name].as_array().unwrap().len() as u64;
    assert_eq!(length("other"), 0, "{readings}");
    assert_eq!(count("same") + length("unread"), count("replies"));
    assert!(100 * count("same") >= 99 * count("replies"), "{readings}");
    let ended = run(&["replay", "--from-text", &replies.display().to_string()]).expect_code(0);
    let said = format!("{} of {} replies read", count("same"), count("replies"));
    assert!(ended.out.contains(&said), "{}", ended.out);
    assert!(!ended.out.contains("games matched"), "{}", ended.out);
}

#[test]
fn reply_that_is_read_as_another_answer_is_bad_news_and_so_is_a_file_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    let line = r#"{"game":"wac/x","day":3,"player":"Eric","balance":9,"bid":7,"text":"I bid 8."}"#;
    fs::write(&path, format!("{line}\n")).unwrap();
    let path = path.display().to_string();
    let ended = run(&["replay", "--from-text", &path]).expect_code(1);
    let said = "reply wac/x, day 3, Eric: used 7, read 8";
    assert!(ended.out.contains(said), "{}", ended.out);
    let contests = tree::recorded().join("econarena.jsonl.gz");
    let ended = run(&["replay", "--from-text", &contests.display().to_string()]).expect_code(2);
    assert!(ended.err.contains("no recorded replies"), "{}", ended.err);
}

#[test]
fn the_quick_start_runs_offline_and_its_records_verify() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let ended = run(&["run", "gamma-bench/quick-start", "--data", &data]).expect_code(0);
    for game in ["guess_two_thirds", "el_farol", "pirate", "battle_royale"] {
        assert!(ended.out.contains(game), "{}", ended.out);
    }
    assert!(!ended.out.contains("simulated"), "{}", ended.out);
    let out = folder
        .path()
        .join("runs/gamma-bench-quick-start")
        .display()
        .to_string();
    let ended = run(&["verify", &out]).expect_code(0);
    assert!(
        ended.out.contains("24 of 24 records verified"),
        "{}",
        ended.out
    );
}

#[test]
fn results_of_a_simulated_model_are_marked_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let flags = [
        "--model",
        "sim",
        "--repeats",
        "1",
        "--set",
        "params.foul_allowance=3",
    ];
    let mut arguments = vec!["run", "gamma-bench/leaderboard", "--data", &data];
    arguments.extend(flags);
    let ended = run(&arguments).expect_code(0);
    assert!(ended.out.contains("simulated"), "{}", ended.out);
    let out = folder.path().join("runs/gamma-bench-leaderboard-sim");
    let csv = fs::read_to_string(out.join("results.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("simulated"));
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    assert!(summary.contains("simulated"), "{summary}");
    for line in String::from_utf8(runs::records(&out)).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["simulated"], true);
    }
    let _ = run(&["verify", &out.display().to_string()]).expect_code(0);
}

#[test]
fn the_csv_has_every_column_in_every_row_whichever_session_brings_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let document = r#"
        name = "columns"
        repeats = 40
        [players.subject]
        kind = "rule"
        strategy = "random"
        [[games]]
        game = "guess_two_thirds"
        seats = [{ player = "subject", count = 3 }]
        [[games]]
        game = "pirate"
        seats = [{ player = "subject", count = 4 }]
        [games.grid]
        "params.gold" = [50, 100]
    "#;
    let file = folder.path().join("columns.toml");
    fs::write(&file, document).unwrap();
    let _ = run(&["run", &file.display().to_string(), "--data", &data]).expect_code(0);
    let out = folder.path().join("runs/columns");
    let mut reader = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let headings = reader.headers().unwrap().clone();
    let column = |name: &str| headings.iter().position(|one| one == name).unwrap();
    let names = [
        "session",
        "game",
        "setting.params.gold",
        "payoff.2",
        "payoff.3",
    ];
    let places = names.map(column);
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let records = String::from_utf8(runs::records(&out)).unwrap();
    assert_eq!((rows.len(), records.lines().count()), (120, 120));
    for (row, record) in rows.iter().zip(records.lines()) {
        let record: Value = serde_json::from_str(record).unwrap();
        let [session, game, gold, third, fourth] = places.map(|place| &row[place]);
        assert_eq!(
            (session, game),
            (
                record["session"].as_str().unwrap(),
                record["spec"]["game"].as_str().unwrap()
            )
        );
        let is_pirate = game == "pirate";
        assert_eq!(
            (gold.is_empty(), fourth.is_empty()),
            (!is_pirate, !is_pirate),
            "{row:?}"
        );
        assert!(!third.is_empty(), "{row:?}");
    }
}

/// Every bidder of the ablation makes the calls of its strategy and no others, all
/// of them are recorded, and the record is made again from them alone.
#[test]
fn bidders_with_plans_and_beliefs_play_offline_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let preset = "aucarena/module-ablation";
    let _ = run(&["run", preset, "--repeats", "1", "--data", &data]).expect_code(0);
    let out = folder.path().join("runs/aucarena-module-ablation");
    let text = String::from_utf8(runs::records(&out)).unwrap();
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let count = |list: &str, key: &str, seat: u64, what: &str| {
            let entries = record[list].as_array().unwrap().iter();
            entries
                .filter(|entry| entry["seat"] == seat && entry[key] == what)
                .count()
        };
        let decisions = |seat, purpose| count("decisions", "purpose", seat, purpose);
        let notes = |seat, note| count("notes", "note", seat, note);
        let plans: Vec<usize> = (0..3).map(|seat| notes(seat, "plan")).collect();
        assert_eq!(plans, [10, 1, 0]);
        for seat in 0..3 {
            assert_eq!(notes(seat, "belief"), 10);
            assert_eq!(notes(seat, "bid"), decisions(seat, "bid"));
            assert!(decisions(seat, "belief") >= 10);
        }
        assert_eq!((decisions(1, "replan"), decisions(2, "plan")), (0, 0));
    }
    let _ = run(&["verify", &out.display().to_string()]).expect_code(0);
}

#[test]
fn a_changed_record_does_not_verify() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let _ = run(&[
        "run",
        "gamma-bench/quick-start",
        "--repeats",
        "1",
        "--data",
        &data,
    ])
    .expect_code(0);
    let records = folder
        .path()
        .join("runs/gamma-bench-quick-start/records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let changed = text.replacen("\"action\":", "\"action\" :", 1);
    fs::write(&records, changed).unwrap();
    let ended = run(&["verify", &records.display().to_string()]).expect_code(1);
    assert!(ended.out.contains("differs at byte"), "{}", ended.out);

    // A run that was cut short says so; a record that stands twice is a fault.
    let first = text.lines().next().unwrap();
    fs::write(&records, format!("{first}\n")).unwrap();
    let cut = run(&["verify", &records.display().to_string()]).expect_code(0);
    assert!(
        cut.out
            .contains("1 of 1 records verified; 7 more sessions of the experiment"),
        "{}",
        cut.out
    );
    fs::write(&records, format!("{first}\n{first}\n")).unwrap();
    let twice = run(&["verify", &records.display().to_string()]).expect_code(1);
    assert!(twice.out.contains("stands here twice"), "{}", twice.out);
}

#[test]
fn every_preset_checks_and_plans() {
    let presets = tree::files(".toml").into_iter();
    let presets: Vec<String> = presets
        .map(|path| tree::short(&path))
        .filter(|name| name.starts_with("experiments/") && !name.starts_with("experiments/worlds/"))
        .collect();
    assert!(presets.len() >= 19, "{presets:?}");
    for preset in presets {
        let _ = run(&["check", &preset]).expect_code(0);
        let planned = run(&["plan", &preset, "--model", "sim"]).expect_code(0);
        assert!(
            planned.out.contains("expected"),
            "{preset}: {}",
            planned.out
        );
    }
}

/// Every module of the house auction plays offline with simulated models, its notes
/// and calls are recorded, and the record is made again from them alone.
#[test]
fn house_auctions_play_offline_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let preset = "harbor/theory-of-mind";
    let one = [
        "--repeats",
        "1",
        "--set",
        "world.turn=0",
        "--set",
        "world.items=6",
    ];
    let mut arguments = vec!["run", preset, "--data", &data];
    arguments.extend(one);
    let _ = run(&arguments).expect_code(0);
    let out = folder.path().join("runs/harbor-theory-of-mind");
    let text = String::from_utf8(runs::records(&out)).unwrap();
    assert_eq!(text.lines().count(), 6);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let label = record["spec"]["setting"]["label"].as_str().unwrap();
        let notes = |seat: u64, kind: &str| {
            let notes = record["notes"].as_array().unwrap().iter();
            notes
                .filter(|note| note["seat"] == seat && note["note"] == kind)
                .count()
        };
        assert_eq!(
            record["spec"]["params"]["items"].as_array().unwrap().len(),
            6
        );
        let all = label == "second-order";
        // Two rivals: zeros before the first item, then a profile after each of six.
        let profiles = usize::from(all || label.starts_with("inferred")) * 14;
        assert_eq!(notes(0, "plan"), 6, "{label}");
        assert_eq!(notes(0, "profile"), profiles, "{label}");
        assert_eq!(notes(0, "prediction"), usize::from(all) * 12, "{label}");
        assert_eq!(notes(1, "profile"), usize::from(all) * 14, "{label}");
        assert_eq!(
            notes(0, "strategy") > 0,
            label.contains("strategy") || all,
            "{label}"
        );
        assert_eq!(notes(1, "strategy") > 0, all, "{label}");
    }
    let _ = run(&["verify", &out.display().to_string()]).expect_code(0);
}

/// A world of the user's own is a file beside the experiment, and its faults have lines.
#[test]
fn a_world_of_ones_own_is_a_file_and_its_faults_have_lines() {
    let folder = tempfile::tempdir().unwrap();
    let world = "[[items]]\nname = \"Attic\"\nstarting_price = 100\ntrue_value = 200\n";
    fs::write(folder.path().join("attics.toml"), world).unwrap();
    let experiment = "name = \"attics\"\n[players.subject]\nkind = \"rule\"\nstrategy = \"equilibrium\"\n\
                      [[games]]\ngame = \"english_auction\"\nworld = \"attics.toml\"\n";
    let path = runs::write(folder.path(), experiment).display().to_string();
    let _ = run(&["check", &path]).expect_code(0);
    let wrong = format!("{world}[[items]]\nname = \"Attic\"\nstarting_price = 1\ntrue_value = 2\n");
    fs::write(folder.path().join("attics.toml"), wrong).unwrap();
    let ended = run(&["check", &path]).expect_code(2);
    assert!(ended.err.contains("attics.toml:6:"), "{}", ended.err);
    // What only the game can tell is said of its line in the world's file too.
    let second = "[[items]]\nname = \"Cellar\"\nstarting_price = 1\n";
    for (line, place) in [
        ("true_vlaue = 2\n", "attics.toml:8:"),
        ("true_value = \"much\"\n", "attics.toml:8:"),
    ] {
        fs::write(
            folder.path().join("attics.toml"),
            format!("{world}{second}{line}"),
        )
        .unwrap();
        let ended = run(&["check", &path]).expect_code(2);
        assert!(ended.err.contains(place), "{place}: {}", ended.err);
        assert!(!ended.err.contains("experiment.toml"), "{}", ended.err);
    }
    // Items that are drawn in another order than they stand in are found again.
    let drawn = experiment.replace("\"attics.toml\"", "{ name = \"attics.toml\", items = 2 }");
    let _ = runs::write(folder.path(), &drawn);
    let ended = run(&["check", &path]).expect_code(2);
    assert!(ended.err.contains("attics.toml:8:"), "{}", ended.err);
    let _ = runs::write(folder.path(), &experiment.replace("attics.toml", "moons"));
    let ended = run(&["check", &path]).expect_code(2);
    assert!(ended.err.contains("houses"), "{}", ended.err);
    assert!(ended.err.contains("no built-in world"), "{}", ended.err);
    // A preset takes any world, from the working folder or by its whole path.
    let whole = folder.path().join("attics.toml");
    fs::write(&whole, world).unwrap();
    let whole = format!("world={}", whole.display());
    let _ = run(&["check", "aucarena/niche", "--set", &whole]).expect_code(0);
    let nowhere = ["check", "aucarena/niche", "--set", "world=nowhere.toml"];
    let ended = run(&nowhere).expect_code(2);
    assert!(
        ended.err.contains("no world file nowhere.toml"),
        "{}",
        ended.err
    );
}

/// A flag that no cell of any game can have is said to be wrong once.
#[test]
fn a_flag_that_every_cell_is_against_is_refused_once() {
    let ended = run(&["check", "harbor/theory-of-mind", "--set", "world.matched=9"]);
    let err = ended.expect_code(2).err;
    assert_eq!(err.matches("not 9").count(), 1, "{err}");
}

#[test]
fn a_wrong_experiment_file_is_refused_with_every_fault_and_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"two words\"\nrepeat = 3\n[players.subject]\nkind = \"rule\"\nstrategy = \"equilibriun\"\n\
                [[games]]\ngame = \"guess_two_thirds\"\nparams = { ratio = \"high\" }\n";
    let refused = |text: &str, places: &[&str], words: &[&str]| {
        let path = runs::write(folder.path(), text).display().to_string();
        let ended = run(&["check", &path]).expect_code(2);
        for word in places.iter().chain(words) {
            assert!(ended.err.contains(word), "{word} is not in {}", ended.err);
        }
    };
    // Keys and types first, then what only the cells of the grid can show.
    refused(
        text,
        &["experiment.toml:1:8: name", "experiment.toml:2:1: repeat"],
        &["\"repeats\""],
    );
    let readable = text
        .replace("two words", "two-words")
        .replace("repeat =", "repeats =");
    let places = ["experiment.toml:5:12: ", "experiment.toml:8:20: "];
    refused(&readable, &places, &["equilibrium", "ratio"]);
    // Settings that only agents know are placed as well, in the grid too.
    let model = "name = \"m\"\n[players.subject]\nkind = \"model\"\nmodel = \"sim\"\ntop_p = 7\n\
                 [[games]]\ngame = \"pirate\"\n[games.grid]\n\"players.subject.temperature\" = [0.5, 3]\n";
    refused(model, &["experiment.toml:5:"], &["top_p"]);
    let model = model.replace("top_p = 7", "top_p = 1");
    refused(&model, &["experiment.toml:9:39"], &["temperature"]);
}

#[test]
fn games_and_their_parameters_are_listed() {
    let listed = run(&["games"]).expect_code(0).out;
    assert!(listed.lines().count() > 8, "{listed}");
    let one = run(&["games", "sealed_bid_auction"]).expect_code(0).out;
    for word in ["valuation_max", "truthful", "Equilibrium"] {
        assert!(one.contains(word), "{word} is not in {one}");
    }
    let ended = run(&["games", "chess"]).expect_code(2);
    assert!(ended.err.contains("guess_two_thirds"), "{}", ended.err);
}

#[test]
fn completions_are_written_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            run(&["completions", shell])
                .expect_code(0)
                .out
                .contains("leaderboard")
                || run(&["completions", shell])
                    .expect_code(0)
                    .out
                    .contains("sim-llm")
        );
    }
}

#[test]
fn a_leaderboard_takes_any_runs_and_every_session_once() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let names = ["first-dividers", "second-dividers"];
    let outs: Vec<String> = folders
        .iter()
        .zip(names)
        .map(|(folder, name)| {
            let (out, ended) =
                runs::run_in(folder.path(), &runs::dividers(name, 2), &["--model", "sim"]);
            let _ = ended.expect_code(0);
            out.display().to_string()
        })
        .collect();
    let data = folders[0].path().display().to_string();
    let board = |runs: &[&str]| {
        let start = ["leaderboard", "--data", &data];
        run(&[&start[..], runs].concat())
    };
    let (one, both) = (board(&[&outs[0]]), board(&[&outs[0], &outs[1], &outs[0]]));
    let (one, both) = (one.expect_code(0).out, both.expect_code(0).out);
    assert!(one.contains("Gemini-1.5-Pro"), "{one}");
    assert!(one.contains("sim (yours)"), "{one}");
    assert!(names.iter().all(|name| both.contains(name)), "{both}");
    assert!(!one.contains("counted once"), "{one}");
    assert!(
        both.contains("2 sessions lay in several places and counted once"),
        "{both}"
    );
    let nothing = board(&["nobody"]).expect_code(2);
    assert!(
        nothing.err.contains("no experiment nobody"),
        "{}",
        nothing.err
    );
}

#[test]
fn recorded_games_are_imported_with_the_scores_that_they_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let games = tree::recorded().join("gamma").display().to_string();
    let ended = run(&["import", &games, "--data", &data]).expect_code(0);
    let mut recorded = recorded_scores(&games);
    let imported = format!("{} recorded games imported", recorded.len());
    assert!(ended.out.contains(&imported), "{}", ended.out);
    let results = folder.path().join("runs/imported-games/results.csv");
    let mut reader = csv::Reader::from_path(results).unwrap();
    let headings = reader.headers().unwrap().clone();
    let column = |name: &str| headings.iter().position(|one| one == name).unwrap();
    let (game, score) = (column("game"), column("score.iclr2025"));
    let mut imported: Vec<(String, i64)> = Vec::new();
    // Nothing is as precise as the millionth part of a score.
    let in_millionths = |score: f64| (score * 1e6).round() as i64;
    for row in reader.records() {
        let row = row.unwrap();
        let score: f64 = row[score].parse().unwrap();
        imported.push((row[game].to_owned(), in_millionths(score)));
    }
    let all = recorded.len();
    let recorded: Vec<(String, i64)> = recorded
        .drain(..)
        .map(|(game, score)| (game, in_millionths(score)))
        .collect();
    let sorted = |mut scores: Vec<(String, i64)>| {
        scores.sort();
        scores
    };
    assert_eq!(sorted(imported), sorted(recorded));
    // Games are ranked among the published rows, those of other settings apart.
    let board = run(&["leaderboard", "--data", &data, "--format", "markdown"]).expect_code(0);
    let row = |model: &str| {
        let mut rows = board.out.lines();
        let found = rows.find(|line| line.contains(model));
        found
            .unwrap_or_else(|| panic!("{model}: {}", board.out))
            .to_owned()
    };
    let _ = row("| qwen2-72b (yours) |");
    assert!(row("| Qwen-2-72B |").contains("| 93.2 |"), "{}", board.out);
    let verified = run(&["verify", "imported-games", "--data", &data]).expect_code(0);
    assert!(
        verified.out.contains(&format!("{all} records imported")),
        "{}",
        verified.out
    );
}

/// Game and score of every recorded game in a folder.
fn recorded_scores(folder: &str) -> Vec<(String, f64)> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let lines = files.flat_map(|file| {
        let unpacked = std::process::Command::new("gzip")
            .arg("-dc")
            .arg(file)
            .output();
        let text = String::from_utf8(unpacked.unwrap().stdout).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let games = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    games
        .map(|game| {
            let name = game["game"].as_str().unwrap().to_owned();
            (name, game["score_iclr2025"].as_f64().unwrap())
        })
        .collect()
}

#[test]
fn what_is_no_recorded_game_is_named_and_the_others_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let file = folder.path().join("games.jsonl");
    fs::write(&file, "{\"id\": 7}\n").unwrap();
    let file = file.display().to_string();
    let ended = run(&["import", &file, "--data", &data]).expect_code(2);
    assert!(ended.err.contains("games.jsonl:1"), "{}", ended.err);
    let ended = run(&["import", &file, "--data", &data, "--name", "../up"]).expect_code(2);
    assert!(
        ended.err.contains("cannot be the name of a run"),
        "{}",
        ended.err
    );
}
