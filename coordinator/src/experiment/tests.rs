//! Experiment files: what good ones become, and what bad ones are told.
//! One good file is changed piece by piece; random changes must never make the reader panic.

use std::collections::BTreeSet;

use agon_engine::PlayerKind;
use agon_engine::spec::prompts;
use proptest::prelude::*;
use serde_json::json;

use super::*;

mod bounds;

const GOOD: &str = r#"name = "gamma-settings"
description = "one free rider"
seed = 7
repeats = 2
team = "default"

[players.subject]
kind = "rule"
strategy = "equilibrium"

[players.free_rider]
kind = "rule"
strategy = "specified"
answers = [0]

[players.gpt]
kind = "model"
model = "gpt-4o"
temperature = 1.0

[[games]]
game = "guess_two_thirds"
params = { rounds = 3 }
seats = [{ player = "free_rider" }, { player = "subject", count = 9 }]
label = "one-free-rider"
[games.grid]
"params.ratio" = [0.0, 0.5]

[[games]]
game = "guess_two_thirds"
seats = ["gpt", "subject"]
label = "duel"
rows = [
  { "params.min" = 0, "params.max" = 50 },
  { "params.min" = 10, "params.max" = 300 },
]
[games.grid]
players.gpt.temperature = [0.0, 0.2, 0.4]
"#;

fn check(text: &str) -> Result<ExperimentDocument, ExperimentErrors> {
    ExperimentFile::parse("x.toml", text)?.check()
}

fn good() -> ExperimentDocument {
    check(GOOD).unwrap_or_else(|errors| panic!("{errors}"))
}

/// All sessions of a document.
fn sessions_of(document: &ExperimentDocument) -> Result<Vec<PlannedSession>, Faults> {
    expand(document).map(|expansion| expansion.into_sessions().collect())
}

/// The only error of a text: its line, its column, and all of it.
fn error(text: &str) -> (usize, usize, String) {
    let errors = check(text).expect_err("the text is wrong");
    assert_eq!(errors.0.len(), 1, "{errors}");
    let place = errors.0[0].place.clone().expect("has a place");
    (place.line, place.column, errors.to_string())
}

/// The good file with one piece of text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

/// Agents that make no calls but those that answer an ask.
const ANSWERS_ALONE: Estimates<'_> = Estimates {
    writes: &|_, most, _| Writes::answers(most.unwrap_or(1024)),
    agent: &|_, _| AgentPlan {
        own_calls: Range {
            expected: 0,
            most: 0,
        },
        own_calls_reason: false,
        reasons: false,
        own_prompts: false,
    },
};

#[test]
fn grid_rows_and_repeats_multiply() {
    let document = good();
    let sessions = sessions_of(&document).unwrap();
    assert_eq!(sessions.len(), (2 + 2 * 3) * 2);
    let first = &sessions[0];
    assert_eq!(
        first.label,
        "guess_two_thirds label=one-free-rider params.ratio=0.0".replace("label=", "")
    );
    assert_eq!(first.spec.params["ratio"], json!(0.0));
    assert_eq!(first.spec.params["players"], json!(10));
    assert_eq!(
        first.spec.params["max"],
        json!(100),
        "defaults are written out"
    );
    assert_eq!(first.spec.luck, agon_engine::Luck::new(7, 0));
    assert_eq!(sessions[1].spec.luck.repeat, 1);
    assert_eq!(sessions[1].setting_index, 0);
    let last = &sessions.last().unwrap().spec;
    assert_eq!(
        (&last.params["min"], &last.params["max"]),
        (&json!(10), &json!(300))
    );
    assert_eq!(last.seats[0].settings["temperature"], json!(0.4));
    assert_eq!(last.setting["label"], json!("duel"));
    assert_eq!(last.setting["players.gpt.temperature"], json!(0.4));
}

#[test]
fn session_ids_do_not_depend_on_order_or_size_of_the_grid() {
    let ids = |text: &str| -> BTreeSet<String> {
        let sessions = sessions_of(&check(text).unwrap()).unwrap();
        sessions
            .iter()
            .map(|session| session.spec.id().to_string())
            .collect()
    };
    let all = ids(GOOD);
    assert_eq!(all.len(), 16, "ids differ between sessions");
    assert_eq!(all, ids(&with("[0.0, 0.5]", "[0.5, 0.0]")));
    assert!(all.is_subset(&ids(&with("[0.0, 0.5]", "[0.25, 0.5, 0.0]"))));
    assert!(all.is_subset(&ids(&with("repeats = 2", "repeats = 3"))));
    assert_eq!(all, ids(&with("one free rider\"", "another text\"")));
    assert!(all.is_disjoint(&ids(&with("seed = 7", "seed = 8"))));
    assert!(all.is_disjoint(&ids(&with("gamma-settings", "gamma-other"))));
}

#[test]
fn each_repeat_is_a_series_whose_sessions_follow_each_other() {
    let alone = sessions_of(&good()).unwrap();
    let text = with(
        "[players.subject]",
        "[series]\nlength = 3\n\n[players.subject]",
    );
    let document = check(&text).unwrap();
    assert_eq!(document.series_length(), 3);
    let sessions = sessions_of(&document).unwrap();
    assert_eq!(sessions.len(), alone.len() * 3);
    let id = |at: usize| sessions[at].spec.id();
    let mut firsts = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let spec = &session.spec;
        assert_eq!(spec.luck.place as usize, at % 3);
        let before = spec.before().map(|before| before.id());
        assert_eq!(before, (at % 3 > 0).then(|| id(at - 1)));
        if at % 3 == 0 {
            firsts.push(spec.id());
        }
    }
    // A file that gets a series keeps the sessions that it has; a longer series keeps a shorter.
    assert!(
        firsts.iter().eq(alone
            .iter()
            .map(|one| one.spec.id())
            .collect::<Vec<_>>()
            .iter())
    );
    let ids = |text: &str| -> BTreeSet<String> {
        let sessions = sessions_of(&check(text).unwrap()).unwrap().into_iter();
        sessions
            .map(|session| session.spec.id().to_string())
            .collect()
    };
    assert!(ids(&text).is_subset(&ids(&text.replace("length = 3", "length = 4"))));
    let planned = plan(&document, ANSWERS_ALONE).unwrap();
    assert_eq!((planned.sessions, planned.series_length), (48, 3));
    let once = plan(&good(), ANSWERS_ALONE).unwrap();
    for (model, needs) in &planned.models {
        let expected = once.models[model].decisions.expected * 3;
        assert_eq!(needs.decisions.expected, expected, "{model}");
    }
}

#[test]
fn wrong_series_are_named_where_they_stand() {
    for (series, expected) in [
        (
            "[series]",
            "needs a length, how many sessions follow each other",
        ),
        (
            "[series]\nlength = 0",
            "must be a whole number from 1 to 1000, not 0",
        ),
        ("[series]\nlength = 2000", "from 1 to 1000, not 2000"),
        ("[series]\nlength = \"ten\"", "not text"),
        ("[series]\nlength = 2\nlessons = true", "unknown key"),
    ] {
        let text = with(
            "[players.subject]",
            &format!("{series}\n\n[players.subject]"),
        );
        let (_, _, told) = error(&text);
        assert!(told.contains("series") && told.contains(expected), "{told}");
    }
    let text = with(
        "[players.subject]",
        "[series]\nlength = 1000\n\n[players.subject]",
    );
    let many = text.replace("repeats = 2", "repeats = 10000");
    let told = check(&many).unwrap_err().to_string();
    assert!(
        told.contains("with 10000 repeats of series of 1000; 10000000 are the most"),
        "{told}"
    );
}

#[test]
fn terms_are_read_exactly_and_make_no_other_sessions() {
    let terms =
        "team = \"default\"\npriority = -3\nbudget_dollars = \"25.10\"\ncontent_cache = true";
    let text = with("team = \"default\"", terms);
    let document = check(&text).unwrap();
    let read = document.terms();
    assert_eq!((read.priority, read.budget), (-3, Some(25_100_000_000)));
    assert!(read.content_cache);
    let ids = |document| -> Vec<String> {
        let sessions = sessions_of(document).unwrap().into_iter();
        sessions
            .map(|session| session.spec.id().to_string())
            .collect()
    };
    assert_eq!(ids(&document), ids(&good()));
    assert_eq!(
        ExperimentDocument::from_json(&document.to_json()).unwrap(),
        document
    );
    assert_eq!(good().terms(), Terms::default());
    let set = ["budget_dollars=30.5", "priority=7", "content_cache=true"];
    let overrides = Overrides {
        set: set.map(str::to_owned).to_vec(),
        ..Overrides::default()
    };
    let mut file = ExperimentFile::parse("x.toml", GOOD).unwrap();
    file.apply(&overrides).unwrap();
    let set = file.check().unwrap().terms();
    assert_eq!((set.priority, set.budget), (7, Some(30_500_000_000)));
}

#[test]
fn wrong_terms_are_refused_where_they_stand() {
    for (line, told) in [
        (
            "budget_dollars = \"25 dollars\"",
            "must be dollars, as \"25.00\"",
        ),
        ("budget_dollars = \"-1\"", "must be dollars, as \"25.00\""),
        ("budget_dollars = \"0.0000000001\"", "at most nine decimals"),
        ("budget_dollars = true", "must be dollars"),
        ("priority = 101", "from -100 to 100"),
        ("priority = \"high\"", "from -100 to 100"),
        ("content_cache = \"yes\"", "must be true or false, not text"),
    ] {
        let (at_line, column, text) = error(&with("team = \"default\"", line));
        assert_eq!(at_line, 5, "{text}");
        assert!(column > 8 && text.contains(told), "{text}");
    }
}

#[test]
fn fallbacks_effort_and_stops_are_part_of_the_sessions_that_have_them() {
    let ids = |text: &str| -> BTreeSet<String> {
        let sessions = sessions_of(&check(text).unwrap()).unwrap().into_iter();
        let with_model = sessions.filter(|session| session.label.contains("duel"));
        with_model
            .map(|session| session.spec.id().to_string())
            .collect()
    };
    let plain = ids(GOOD);
    for setting in [
        "fallback_models = [\"b\", \"c\"]",
        "reasoning_effort = \"low\"",
        "stop_sequences = [\"END\"]",
    ] {
        let text = with(
            "temperature = 1.0",
            &format!("temperature = 1.0\n{setting}"),
        );
        assert!(plain.is_disjoint(&ids(&text)), "{setting}");
    }
}

#[test]
fn prompts_are_part_of_sessions_with_models_only() {
    let mut document = good();
    document.prompt_bundle = Some("b1".to_owned());
    let told = |replaced| PromptsOfPlayer {
        version: "1-p".to_owned(),
        replaced,
    };
    let models = sessions_of(&document)
        .unwrap()
        .into_iter()
        .flat_map(|session| {
            let game = session.spec.game.clone();
            let seats = session.spec.seats.into_iter();
            let models = seats.filter(|player| player.kind == PlayerKind::Model);
            models.map(move |player| prompts::key(&game, &player))
        });
    let keys: BTreeSet<String> = models.collect();
    for replaced in [false, true] {
        document.prompts = keys
            .iter()
            .map(|key| (key.clone(), told(replaced)))
            .collect();
        for session in sessions_of(&document).unwrap() {
            let with_model = session.spec.asks_outside();
            assert_eq!(session.spec.prompts_version.is_some(), with_model);
            assert_eq!(session.spec.prompt_bundle.is_some(), with_model && replaced);
        }
    }
}

#[test]
fn document_survives_its_json() {
    let document = good();
    assert_eq!(
        ExperimentDocument::from_json(&document.to_json()).unwrap(),
        document
    );
    assert!(ExperimentDocument::from_json(b"{").is_err());
    assert!(ExperimentDocument::from_json(b"[]").is_err());
}

#[test]
fn every_game_takes_a_file_without_parameters_and_refuses_unknown_ones() {
    let head =
        "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"equilibrium\"\n[[games]]\n";
    for registration in agon_engine::registry::GAMES {
        let game = &*registration.info.name;
        let text = format!("{head}game = \"{game}\"\n");
        let sessions =
            sessions_of(&check(&text).unwrap_or_else(|errors| panic!("{errors}"))).unwrap();
        assert_eq!(sessions.len(), 1);
        let built = registration.build(&sessions[0].spec.params).unwrap();
        assert_eq!(built.game.seats(), sessions[0].spec.seats.len());
        assert_eq!(
            built.params, sessions[0].spec.params,
            "{game}: parameters are complete"
        );
        let (line, _, text) = error(&format!("{text}params = {{ colour = 1 }}\n"));
        assert_eq!(line, 7);
        assert!(
            text.contains(&format!("{game} has no parameter \"colour\"")),
            "{text}"
        );
    }
}

#[test]
fn grid_may_vary_the_game_itself() {
    let names: Vec<&str> = agon_engine::registry::GAMES
        .iter()
        .map(|game| &*game.info.name)
        .collect();
    let text = format!(
        "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngrid.game = {names:?}\n"
    );
    let sessions = sessions_of(&check(&text).unwrap_or_else(|errors| panic!("{errors}"))).unwrap();
    let played: Vec<&str> = sessions
        .iter()
        .map(|session| session.spec.game.as_str())
        .collect();
    assert_eq!(played, names);
}

/// A game that names no items and one that names their world are the same session.
#[test]
fn the_ten_default_items_are_a_world_too() {
    let text = |world: &str| {
        format!(
            "name = \"x\"\n[players.bidder]\nkind = \"rule\"\nstrategy = \"truthful\"\n\
             [[games]]\ngame = \"english_auction\"\nseats = [\"bidder\", \"bidder\"]\n{world}"
        )
    };
    let world = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../experiments/worlds/artificial-items.toml"
    );
    let items = std::fs::read_to_string(world).unwrap();
    let sessions = |text: &str| {
        let mut file = ExperimentFile::parse("x.toml", text).unwrap();
        for name in file.missing_worlds() {
            file.add_world(&name, world, &items).unwrap();
        }
        sessions_of(&file.check().unwrap()).unwrap()
    };
    let named = sessions(&text("world = \"artificial-items\"\n"));
    assert_eq!(named.len(), 1);
    assert_eq!(named, sessions(&text("")));
}

#[test]
fn every_preset_expands() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments");
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let mut presets = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Worlds are no experiments; those that name them read them below.
                folders.extend((!path.ends_with("worlds")).then_some(path));
            } else if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let mut file = ExperimentFile::load(&path).unwrap();
                for name in file.missing_worlds() {
                    let world = format!(
                        "{}/worlds/{name}.toml",
                        concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments")
                    );
                    let text = std::fs::read_to_string(&world).unwrap();
                    file.add_world(&name, &world, &text).unwrap();
                }
                let document = file.check().unwrap_or_else(|errors| panic!("{errors}"));
                assert!(!sessions_of(&document).unwrap().is_empty());
                let model = Some("sim".to_owned());
                file.apply(&Overrides {
                    model,
                    ..Overrides::default()
                })
                .unwrap();
                let document = file.check().unwrap_or_else(|errors| panic!("{errors}"));
                assert!(
                    plan(&document, ANSWERS_ALONE)
                        .unwrap()
                        .models
                        .contains_key("sim"),
                    "{path:?}"
                );
                presets += 1;
            }
        }
    }
    assert!(presets >= 9, "{presets}");
}

#[test]
fn models_take_what_they_do_not_set_from_the_model_table() {
    let text = with(
        "[players.subject]",
        "[model]\ntemperature = 0.5\npersona = \"selfish\"\n\n[players.subject]",
    );
    let mut file = ExperimentFile::parse("x.toml", &text).unwrap();
    let seat = |file: &ExperimentFile, session: usize, seat: usize| {
        sessions_of(&file.check().unwrap_or_else(|errors| panic!("{errors}"))).unwrap()[session]
            .spec
            .seats[seat]
            .clone()
    };
    let gpt = seat(&file, 15, 0);
    assert_eq!(gpt.settings["persona"], json!("selfish"));
    assert_eq!(
        gpt.settings["temperature"],
        json!(0.4),
        "its own setting wins"
    );
    assert_eq!(
        seat(&file, 0, 1).settings.len(),
        1,
        "rules take nothing from it"
    );
    file.apply(&Overrides {
        model: Some("llama".to_owned()),
        ..Overrides::default()
    })
    .unwrap();
    let subject = seat(&file, 0, 1);
    assert_eq!(subject.settings["temperature"], json!(0.5));
    let set = vec!["model.temperature=1.5".to_owned()];
    file.apply(&Overrides {
        set,
        ..Overrides::default()
    })
    .unwrap();
    assert_eq!(seat(&file, 0, 1).settings["temperature"], json!(1.5));
}

#[test]
fn subject_fills_seats_that_name_nobody() {
    let text = with("seats = [\"gpt\", \"subject\"]\n", "");
    let sessions = sessions_of(&check(&text).unwrap()).unwrap();
    let seats = &sessions.last().unwrap().spec.seats;
    assert!(seats.len() == 10 && seats.iter().all(|player| player.name == "subject"));
}

#[test]
fn axis_that_a_rule_player_does_not_take_is_refused_where_it_stands() {
    let text = with(
        "\"params.ratio\" = [0.0, 0.5]",
        "\"players.subject.temperature\" = [0.0, 0.2]",
    );
    let errors = check(&text).unwrap_err();
    assert_eq!(errors.0.len(), 2, "{errors}");
    for error in &errors.0 {
        assert_eq!(error.place.as_ref().unwrap().line, 27);
        assert!(
            error
                .message
                .contains("takes no settings, but \"temperature\" is given"),
            "{errors}"
        );
    }
}

#[test]
fn documented_example_is_sound() {
    let page = include_str!("../../../docs/experiments.md");
    let example = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let document = check(example.unwrap()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        sessions_of(&document).unwrap().len(),
        15,
        "as the page says"
    );
}

#[test]
fn only_player_fills_all_seats() {
    let text = "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngame = \"guess_two_thirds\"\n";
    let sessions = sessions_of(&check(text).unwrap()).unwrap();
    assert_eq!((sessions.len(), sessions[0].spec.seats.len()), (1, 10));
    assert_eq!(sessions[0].spec.luck.seed, 1);
    assert!(sessions[0].spec.setting.is_empty());
}

#[test]
fn unknown_keys_are_named_with_near_ones() {
    let (line, column, text) = error(&with("repeats = 2", "repeat = 2"));
    assert_eq!((line, column), (4, 1));
    assert!(text.contains("did you mean \"repeats\"?"), "{text}");
    let (line, _, text) = error(&with("label = \"duel\"", "label = \"duel\"\nrounds = 5"));
    assert_eq!(line, 33);
    assert!(
        text.contains("stand under params, and guess_two_thirds has params.rounds"),
        "{text}"
    );
    let (_, _, text) = error(&with("{ rounds = 3 }", "{ round = 3 }"));
    assert!(
        text.contains("no parameter \"round\"; did you mean \"rounds\"?"),
        "{text}"
    );
}

#[test]
fn unknown_names_are_told_what_exists() {
    let (line, column, text) = error(&with(
        "strategy = \"equilibrium\"",
        "strategy = \"equilibriun\"",
    ));
    assert_eq!((line, column), (9, 12));
    assert!(text.contains("did you mean \"equilibrium\"?"), "{text}");
    let (line, _, text) = error(&with("player = \"free_rider\"", "player = \"freerider\""));
    assert_eq!(line, 24);
    assert!(
        text.contains("no player \"freerider\"; did you mean \"free_rider\"?"),
        "{text}"
    );
    let (line, _, text) = error(&with(
        "game = \"guess_two_thirds\"",
        "game = \"guess_two_third\"",
    ));
    assert_eq!(line, 22);
    assert!(
        text.contains("did you mean \"guess_two_thirds\"?"),
        "{text}"
    );
    let (line, _, text) = error(&with("kind = \"model\"", "kind = \"modle\""));
    assert_eq!(line, 17);
    assert!(text.contains("did you mean \"model\"?"), "{text}");
}

#[test]
fn wrong_values_from_the_grid_point_into_the_grid() {
    let (line, column, text) = error(&with("[0.0, 0.5]", "[0.0, 0.5, -1.0]"));
    assert_eq!((line, column), (27, 29), "{text}");
    assert!(text.contains("ratio must be from 0 to 1000"), "{text}");
    let (line, column, text) = error(&with("[0.0, 0.5]", "[0.0, \"half\"]"));
    assert_eq!((line, column), (27, 24), "{text}");
    let (line, _, text) = error(&with(
        "\"params.min\" = 10, \"params.max\" = 300",
        "\"params.min\" = 400, \"params.max\" = 300",
    ));
    assert_eq!(line, 35, "{text}");
    assert!(text.contains("max must be greater than min"), "{text}");
    let (line, column, text) = error(&with("players.gpt.temperature", "players.gtp.temperature"));
    assert_eq!((line, column), (38, 13), "{text}");
    assert!(text.contains("did you mean \"gpt\"?"), "{text}");
    let (_, _, text) = error(&with("\"params.ratio\" =", "\"param.ratio\" ="));
    assert!(
        text.contains("cannot vary \"param\"; did you mean \"params\"?"),
        "{text}"
    );
}

#[test]
fn seats_outside_the_games_range_are_refused_before_they_are_made() {
    for count in ["2000", "9223372036854775807"] {
        let (line, _, text) = error(&with("count = 9", &format!("count = {count}")));
        assert_eq!(line, 24);
        assert!(text.contains("needs 2 to 1000 seats, but "), "{text}");
    }
    let (_, _, text) = error(&with("[\"gpt\", \"subject\"]", "[\"gpt\"]"));
    assert!(text.contains("but 1 is given"), "{text}");
    let (_, _, text) = error(&with("{ rounds = 3 }", "{ players = 3 }"));
    assert!(text.contains("taken from the seats"), "{text}");
}

#[test]
fn empty_and_endless_grids_are_refused() {
    let (line, _, text) = error(&with("[0.0, 0.5]", "[]"));
    assert_eq!(line, 27);
    assert!(text.contains("at least one"), "{text}");
    let (_, _, text) = error(&with("\"params.ratio\" = [0.0, 0.5]\n", ""));
    assert!(text.contains("the grid is empty"), "{text}");
    let (_, _, text) = error(&with("repeats = 2", "repeats = 10000000"));
    assert!(text.contains("10000000 are the most"), "{text}");
    let numbers: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
    let values = numbers.join(", ");
    let axes: String = ["rounds", "min", "max", "ratio", "foul_allowance", "tie"]
        .iter()
        .map(|name| format!("\"params.{name}\" = [{values}]\n"))
        .collect();
    let (_, _, text) = error(&with("\"params.ratio\" = [0.0, 0.5]\n", &axes));
    assert!(text.contains("far more"), "{text}");
}

#[test]
fn twice_the_same_is_refused() {
    let (line, _, text) = error(&with("label = \"duel\"", "label = \"one-free-rider\""));
    assert_eq!(line, 32);
    assert!(text.contains("labels must differ"), "{text}");
    let (line, column, _) = error(&with("[0.0, 0.5]", "[0.5, 0.5]"));
    assert_eq!((line, column), (27, 24));
    let clash = with(
        "players.gpt.temperature = [0.0, 0.2, 0.4]",
        "\"params.max\" = [1, 2]",
    );
    let errors = check(&clash).unwrap_err();
    assert!(
        errors
            .0
            .iter()
            .all(|error| error.message.contains("set it once")),
        "{errors}"
    );
    let twice = "[[games]]\ngame = \"guess_two_thirds\"\n";
    let text = format!(
        "name = \"x\"\n[players.a]\nkind = \"rule\"\nstrategy = \"random\"\n{twice}{twice}"
    );
    let (line, _, text) = error(&text);
    assert_eq!(line, 7, "{text}");
    assert!(text.contains("give each a label"), "{text}");
}

#[test]
fn independent_errors_are_all_told_in_the_order_of_the_file() {
    let text = with("repeats = 2", "repeats = 0")
        .replace("team =", "taem =")
        .replace("label = \"duel\"", "label = \"\"");
    let errors = check(&text).unwrap_err();
    let lines: Vec<usize> = errors
        .0
        .iter()
        .map(|error| error.place.as_ref().unwrap().line)
        .collect();
    assert_eq!(lines, [4, 5, 32], "{errors}");
    let text = with(
        "params = { rounds = 3 }",
        "params = { rounds = \"3\", ratio = true, colour = 1 }",
    )
    .replace("strategy = \"equilibrium\"", "strategy = \"none\"");
    let errors =
        check(&text.replace("[games.grid]\n\"params.ratio\" = [0.0, 0.5]\n", "")).unwrap_err();
    assert_eq!(errors.0.len(), 4, "{errors}");
}

#[test]
fn every_game_is_told_its_own_faults() {
    let text = with("{ rounds = 3 }", "{ rounds = 0 }")
        .replace("\"params.max\" = 50", "\"params.max\" = -1");
    let clash = "[[games]]\ngame = \"pirate\"\nrows = [{ \"params.gold\" = 1 }]\n\
                 grid.\"params.gold\" = [2, 3]\n";
    let last = "[[games]]\ngame = \"public_goods\"\nparams = { tokens = 0 }\n";
    let errors = check(&format!("{text}{clash}{last}")).unwrap_err();
    for told in [
        "rounds must be",
        "max must be",
        "set it once",
        "tokens must be",
    ] {
        let times = errors.0.iter().filter(|error| error.message.contains(told));
        assert_eq!(times.count(), 1, "{told}: {errors}");
    }
}

#[test]
fn equal_numbers_are_one_value_however_they_are_written() {
    for (values, times) in [
        ("[1, 1.0]", 1),
        ("[0, 0.0, -0.0]", 2),
        ("[0.5, 5e-1]", 1),
        ("[[1, { a = 2 }], [1.0, { a = 2.0 }]]", 1),
    ] {
        let errors = check(&with("[0.0, 0.5]", values)).unwrap_err();
        let repeated = |error: &&ConfigError| error.message.contains("is the same value as entry");
        let found: Vec<&ConfigError> = errors.0.iter().filter(repeated).collect();
        assert_eq!(found.len(), times, "{errors}");
    }
    let rows = with(
        "{ \"params.min\" = 10, \"params.max\" = 300 }",
        "{ \"params.min\" = 0.0, \"params.max\" = 50 }",
    );
    let (line, _, text) = error(&rows);
    assert_eq!(line, 35, "{text}");
    assert!(text.contains("is the same value as entry 0"), "{text}");
    assert!(check(&with("[0.0, 0.5]", "[0, 1, 0.5]")).is_ok());
}

#[test]
fn roster_is_an_axis_in_the_place_of_one_model() {
    let models = |text: &str| -> Vec<Vec<String>> {
        let mut file = ExperimentFile::parse("x.toml", text).unwrap();
        let models = ["a", "b"].map(str::to_owned).to_vec();
        file.apply(&Overrides {
            models,
            ..Overrides::default()
        })
        .unwrap();
        let sessions = sessions_of(&file.check().unwrap()).unwrap();
        let of_seat = |seat: &agon_engine::PlayerSpec| {
            let model = seat.settings.get("model")?;
            Some(model.as_str()?.to_owned())
        };
        let seats = sessions.iter().map(|one| one.spec.seats.iter());
        seats
            .map(|seats| seats.filter_map(of_seat).collect())
            .collect()
    };
    let own = "name = \"x\"\nrepeats = 1\n[players.subject]\nkind = \"model\"\nmodel = \"old\"\n\
               [[games]]\ngame = \"guess_two_thirds\"\nseats = [{ player = \"subject\", count = 2 }]\n";
    assert_eq!(models(own), [["a", "a"], ["b", "b"]]);
    // Of a table for all, in which the subject has its own; others keep theirs.
    let shared = own.replace(
        "[[games]]",
        "[players.other]\nkind = \"model\"\n[players.kept]\nkind = \"model\"\nmodel = \"kept\"\n\
         [model]\nmodel = \"old\"\n[[games]]",
    );
    let shared = shared.replace("count = 2 }", "count = 1 }, \"other\", \"kept\"");
    assert_eq!(models(&shared), [["a", "a", "kept"], ["b", "b", "kept"]]);
}

#[test]
fn huge_foul_allowance_is_refused_where_it_stands() {
    let (line, _, text) = error(&with("{ rounds = 3 }", "{ foul_allowance = 1000000000 }"));
    assert_eq!(line, 23, "{text}");
    assert!(
        text.contains("foul_allowance must be from 0 to 100"),
        "{text}"
    );
    let mut file = ExperimentFile::parse("x.toml", GOOD).unwrap();
    let set = vec!["params.foul_allowance=100".to_owned()];
    file.apply(&Overrides {
        set,
        ..Overrides::default()
    })
    .unwrap();
    let endless = Estimates {
        writes: &|_, _, _| Writes::answers(u64::MAX),
        ..ANSWERS_ALONE
    };
    let plan = plan(&file.check().unwrap(), endless).unwrap();
    assert_eq!(plan.models["gpt-4o"].output_tokens.most, u64::MAX);
}

#[test]
fn endless_paths_are_refused() {
    let path = format!("params{}", ".a".repeat(20_000));
    let quoted = with("\"params.ratio\"", &format!("\"{path}\""));
    let plain = with("\"params.ratio\"", &path);
    let row = with("{ \"params.min\" = 0,", &format!("{{ \"{path}\" = 0,"));
    // Nested tables are ended by the parser already.
    assert!(check(&plain).is_err());
    for text in [quoted, row] {
        let told = check(&text).unwrap_err().0.remove(0).message;
        assert!(told.contains("at most 32 parts"), "{told}");
    }
    let set = format!("{path}=1");
    let mut file = ExperimentFile::parse("x.toml", GOOD).unwrap();
    let errors = file
        .apply(&Overrides {
            set: vec![set],
            ..Overrides::default()
        })
        .unwrap_err();
    assert!(errors.0[0].message.contains("at most 32 parts"));
}

#[test]
fn broken_text_has_a_place() {
    let errors =
        ExperimentFile::parse_bytes("x.toml", b"name = \"x\"\nteam = \"\xff\"").unwrap_err();
    assert_eq!(errors.0[0].place.as_ref().unwrap().line, 2);
    let errors = check("name = \"x\"\nseed = = 3\n[[games]\n").unwrap_err();
    assert!(errors.0.len() >= 2, "{errors}");
    let (line, _, text) = error(&with("seed = 7", "seed = 1979-05-27"));
    assert_eq!(line, 3);
    assert!(text.contains("is a date"), "{text}");
    assert!(check(&format!("seed = {}", "[".repeat(100_000))).is_err());
}

#[test]
fn flags_replace_models_values_and_axes() {
    let mut file = ExperimentFile::parse("x.toml", GOOD).unwrap();
    let overrides = Overrides {
        models: Vec::new(),
        model: Some("llama".to_owned()),
        players: [("gpt".to_owned(), "gpt-5".to_owned())].into(),
        set: vec![
            "params.ratio=0.25".to_owned(),
            "players.gpt.temperature=0".to_owned(),
        ],
        repeats: Some(1),
        seed: Some(99),
        budget_dollars: Some("2.5".to_owned()),
        templates: None,
    };
    file.apply(&overrides).unwrap();
    let document = file.check().unwrap();
    assert_eq!(document.budget_nanodollars(), Some(2_500_000_000));
    let sessions = sessions_of(&document).unwrap();
    assert_eq!(sessions.len(), 1 + 2, "axes that were set are gone");
    let first = &sessions[0].spec;
    assert_eq!(first.params["ratio"], json!(0.25));
    assert_eq!(first.luck.seed, 99);
    assert_eq!(first.seats[1].settings["model"], json!("llama"));
    assert!(!first.seats[1].settings.contains_key("strategy"));
    let last = &sessions[2].spec.seats[0].settings;
    assert_eq!(
        (&last["model"], &last["temperature"]),
        (&json!("gpt-5"), &json!(0))
    );
}

#[test]
fn a_model_that_many_share_is_named_once_and_replaced_at_once() {
    let text = with(
        "[players.subject]",
        "[model]\nmodel = \"sim\"\n\n[players.second]\nkind = \"model\"\n\n[players.subject]",
    )
    .replace("\"free_rider\" }", "\"second\" }");
    let mut file = ExperimentFile::parse("x.toml", &text).unwrap();
    let seated = |file: &ExperimentFile| {
        let sessions =
            sessions_of(&file.check().unwrap_or_else(|errors| panic!("{errors}"))).unwrap();
        let seats = sessions
            .iter()
            .flat_map(|session| session.spec.seats.clone());
        let models = seats.filter_map(|player| {
            let model = player.settings.get("model")?.as_str()?.to_owned();
            Some((player.name, model))
        });
        models.collect::<BTreeSet<_>>()
    };
    let of = |name: &str, model: &str| (name.to_owned(), model.to_owned());
    assert!(seated(&file).contains(&of("second", "sim")));
    let overrides = Overrides {
        model: Some("llama".to_owned()),
        ..Overrides::default()
    };
    file.apply(&overrides).unwrap();
    let seated = seated(&file);
    assert!(seated.contains(&of("second", "llama")), "{seated:?}");
    assert!(seated.contains(&of("subject", "llama")), "{seated:?}");
}

#[test]
fn flags_that_fit_nothing_are_named_in_the_error() {
    let apply = |set: &str| {
        let mut file = ExperimentFile::parse("x.toml", GOOD).unwrap();
        let overrides = Overrides {
            set: vec![set.to_owned()],
            ..Overrides::default()
        };
        let applied = file.apply(&overrides);
        applied
            .and_then(|()| file.check().map(|_| ()))
            .unwrap_err()
            .to_string()
    };
    assert!(apply("params.round=5").starts_with("--set params.round=5: no game here has"));
    assert!(apply("params.rounds=-5").starts_with("--set params.rounds=-5: "));
    assert!(apply("colour=1").contains("an experiment has no \"colour\""));
    assert!(apply("players.gtp.model=x").contains("did you mean \"gpt\"?"));
    assert!(apply("params.rounds").contains("a path and a value"));
    let text = with("[players.subject]", "[players.other]").replace("\"subject\"", "\"other\"");
    let mut file = ExperimentFile::parse("x.toml", &text).unwrap();
    let overrides = Overrides {
        model: Some("llama".to_owned()),
        ..Overrides::default()
    };
    let errors = file.apply(&overrides).unwrap_err().to_string();
    assert!(
        errors.starts_with("--model llama: the experiment has no player \"subject\""),
        "{errors}"
    );
    assert!(errors.contains("free_rider, gpt, other"), "{errors}");
}

#[test]
fn plan_counts_model_seats_and_bounds_them() {
    let plan = plan(&good(), ANSWERS_ALONE).unwrap();
    assert_eq!((plan.settings, plan.sessions), (8, 16));
    let model = plan.models["gpt-4o"];
    assert_eq!(model.sessions, 12);
    assert_eq!(
        model.decisions,
        Range {
            expected: 12 * 20,
            most: 12 * 20 * 4
        }
    );
    assert!(model.input_tokens.most > 4 * model.input_tokens.expected / 2);
    assert!(model.output_tokens.expected < model.output_tokens.most);
}

/// Every error has a place, a cause and prints; nothing panics.
fn assert_told(text: &[u8]) -> bool {
    let checked = ExperimentFile::parse_bytes("x.toml", text).and_then(|file| file.check());
    let Err(errors) = checked else { return false };
    assert!(!errors.0.is_empty());
    for error in &errors.0 {
        assert!(error.place.is_some(), "{error}");
        assert!(!error.message.is_empty(), "{error}");
        assert!(error.to_string().starts_with("x.toml:"), "{error}");
    }
    true
}

#[test]
fn mutated_files_are_told_what_is_wrong() {
    let mut wrong = 0;
    let lines: Vec<&str> = GOOD.lines().collect();
    let replacements = [
        "0",
        "-1",
        "\"\"",
        "\"x\"",
        "[]",
        "{}",
        "true",
        "1e400",
        "nan",
        "[[1]]",
        "{ a = 1 }",
        "9223372036854775808",
        "2020-01-01",
    ];
    for (number, line) in lines.iter().enumerate() {
        let mut variants = vec![
            String::new(),
            format!("{line}{line}"),
            line.replace('=', " "),
            line.replace('"', ""),
        ];
        variants.extend([
            format!("x{line}"),
            format!("{line}]"),
            line.chars().rev().collect(),
        ]);
        if let Some((key, _)) = line.split_once('=') {
            variants.extend(replacements.iter().map(|value| format!("{key}= {value}")));
        }
        for variant in variants {
            let mut changed = lines.clone();
            changed[number] = &variant;
            wrong += usize::from(assert_told(changed.join("\n").as_bytes()));
        }
    }
    for cut in 0..GOOD.len() {
        wrong += usize::from(assert_told(&GOOD.as_bytes()[..cut]));
        let mut flipped = GOOD.as_bytes().to_vec();
        flipped[cut] ^= 0x95;
        wrong += usize::from(assert_told(&flipped));
    }
    assert!(wrong >= 200, "{wrong} mutated files were wrong");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[ -~\n\"=\\[\\]{}.]{0,200}") {
        assert_told(text.as_bytes());
    }

    #[test]
    fn no_pair_of_changes_makes_the_reader_panic(
        at in 0..GOOD.len(), other in 0..GOOD.len(), byte in any::<u8>(), length in 0usize..40,
    ) {
        let mut text = GOOD.as_bytes().to_vec();
        text[at] = byte;
        let end = (other + length).min(text.len());
        text.drain(other..end);
        assert_told(&text);
    }
}

#[test]
fn a_world_fills_items_personas_and_what_players_are_told() {
    let text = r#"
name = "x"
[worlds.tiny]
personas = [{ name = "a", text = "You are a." }, { name = "b", text = "You are b." }]
items = [
    { name = "one", starting_price = 10, true_value = 20, suits = ["a"] },
    { name = "two", starting_price = 10, true_value = 20, suits = ["b"] },
    { name = "three", starting_price = 10, true_value = 20 },
]
[players.knows]
kind = "model"
model = "m"
world = "all"
[players.plain]
kind = "model"
model = "m"
world = "own"
[[games]]
game = "english_auction"
seats = ["knows", { player = "plain", count = 2 }]
world = { name = "tiny", items = 3, matched = 1, personas = [[], ["a"], ["b"]] }
[games.grid]
"world.rotate" = [0, 1]
"#;
    let sessions = sessions_of(&check(text).unwrap_or_else(|errors| panic!("{errors}"))).unwrap();
    assert_eq!(sessions.len(), 2);
    let spec = &sessions[1].spec;
    assert_eq!(spec.setting["world.rotate"], 1);
    assert_eq!(spec.params["items"].as_array().unwrap().len(), 3);
    assert_eq!(
        spec.params["personas"],
        serde_json::json!([[], ["b"], ["a"]])
    );
    let told = |seat: usize| &spec.seats[seat].settings["world"];
    assert_eq!(told(0)["seats"], serde_json::json!([[], ["b"], ["a"]]));
    assert_eq!(told(1)["own"], serde_json::json!(["b"]));
    assert_eq!(told(2)["own"], serde_json::json!(["a"]));
    assert_eq!(told(1).get("seats"), None);

    let refused = |from: &str, to: &str, words: &str| {
        let errors = check(&text.replace(from, to)).unwrap_err().to_string();
        assert!(errors.contains(words), "{words}: {errors}");
    };
    refused(
        "name = \"tiny\"",
        "name = \"tinny\"",
        "did you mean \"tiny\"?",
    );
    refused("items = 3, matched", "items = 3, match", "unknown field");
    refused("matched = 1", "matched = 2", "world.matched: ");
    refused(
        "[[], [\"a\"], [\"b\"]]",
        "[[], [\"a\"]]",
        "as many entries as there are seats, 3; it has 2",
    );
    refused(
        "world = \"all\"",
        "world = \"everything\"",
        "players.knows.world",
    );
    refused(
        "true_value = 20, suits = [\"a\"]",
        "true_value = -1, suits = [\"a\"]",
        "x.toml:6:55: worlds.tiny.items[0].true_value: ",
    );
    refused(
        "game = \"english_auction\"",
        "game = \"english_auction\"\nparams = { items = [] }",
        "comes from the game's world",
    );
    refused(
        "game = \"english_auction\"",
        "game = \"el_farol\"",
        "takes no world",
    );
}
