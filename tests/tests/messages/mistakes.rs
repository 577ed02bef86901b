//! Forty ways of typing something that cannot be meant. Owns what is typed and why it is wrong;
//! all of it prints the same in every run. Called by `messages.rs`.

use super::Desk;

const GOOD: &str = r#"
name = "auction"
seed = 3

[players.subject]
kind = "rule"
strategy = "equilibrium"

[players.rival]
kind = "rule"
strategy = "random"

[[games]]
game = "second_price_auction"
seats = ["subject", "rival", "rival"]
"#;

/// Wrong experiment files, each with what is wrong in it.
const WRONG: &[(&str, &str, &str)] = &[
    ("an experiment that is no TOML", "[[games]]", "[[games"),
    (
        "a game that does not exist",
        "\"second_price_auction\"",
        "\"second_price\"",
    ),
    (
        "a strategy that does not exist",
        "\"equilibrium\"",
        "\"equilibrum\"",
    ),
    (
        "a player that does not exist",
        "[\"subject\", \"rival\", \"rival\"]",
        "[\"subject\", \"rivel\"]",
    ),
    ("a key that does not exist", "seed = 3", "seeds = 3"),
    ("a value of the wrong kind", "seed = 3", "seed = \"three\""),
    (
        "a parameter that does not exist",
        "[\"subject\", \"rival\", \"rival\"]",
        "[\"subject\", \"rival\"]\nparams = { round = 3 }",
    ),
    (
        "a parameter out of bounds",
        "[\"subject\", \"rival\", \"rival\"]",
        "[\"subject\", \"rival\"]\nparams = { rounds = 0 }",
    ),
    ("too few seats", "[\"subject\", \"rival\", \"rival\"]", "[]"),
    (
        "an axis of nothing",
        "[[games]]",
        "[grid]\n\"players.nobody.temperature\" = [0, 1]\n[[games]]",
    ),
    (
        "a model without its name",
        "kind = \"rule\"\nstrategy = \"equilibrium\"",
        "kind = \"model\"",
    ),
    (
        "a setting that does not exist",
        "kind = \"rule\"\nstrategy = \"equilibrium\"",
        "kind = \"model\"\nmodel = \"sim\"\ntemprature = 1",
    ),
    (
        "an agent that does not exist",
        "kind = \"rule\"\nstrategy = \"equilibrium\"",
        "kind = \"model\"\nmodel = \"sim\"\nagent = \"chain_of_thougt\"",
    ),
    (
        "a temperature that no model takes",
        "kind = \"rule\"\nstrategy = \"equilibrium\"",
        "kind = \"model\"\nmodel = \"sim\"\ntemperature = 5",
    ),
];

/// What is typed, and what is wrong with it.
const TYPED: &[(&str, &str)] = &[
    ("a preset that is misspelt", "run gama-bench/quickstart"),
    ("a file that is not there", "run my-experiment.toml"),
    ("a folder in place of a file", "check results-of-others"),
    (
        "a model for a player that is no model's",
        "run good.toml --player nobody=sim",
    ),
    (
        "a value that nothing has",
        "run good.toml --set param.rounds=3",
    ),
    ("a value without its name", "run good.toml --set 3"),
    ("no repeats at all", "run good.toml --repeats 0"),
    ("a number that is none", "run good.toml --repeats many"),
    ("an option that does not exist", "run good.toml --repeat 3"),
    ("a command that does not exist", "runn good.toml"),
    (
        "a model without a key",
        "run gamma-bench/leaderboard --model openai/gpt-4o",
    ),
    (
        "a model of no known provider",
        "run gamma-bench/leaderboard --model gpt-4o",
    ),
    (
        "a configuration that is not there",
        "run good.toml --config no.toml",
    ),
    (
        "a configuration that is wrong",
        "run gamma-bench/leaderboard --model m --config wrong-config.toml",
    ),
    (
        "workers for a cluster that has its own",
        "run good.toml --coordinator http://127.0.0.1:1 --workers 3",
    ),
    (
        "a gateway without a coordinator",
        "run good.toml --gateway http://127.0.0.1:1",
    ),
    ("an endpoint of no server", "run good.toml --endpoint here"),
    (
        "an address that is none",
        "run good.toml --coordinator nowhere",
    ),
    (
        "records for what does not judge",
        "run good.toml --records done",
    ),
    (
        "results into a folder with other things in it",
        "run good.toml --out results-of-others",
    ),
    (
        "results into the folder of another experiment",
        "run good.toml --name other --out done",
    ),
    ("a session that does not exist", "show 00ff --results done"),
    (
        "an experiment that does not exist",
        "show auctoin --results done",
    ),
    (
        "measures of a session",
        "show auction --measures --seat 1 --results done",
    ),
    (
        "a paper's table that does not exist",
        "show auction --measures --compare econarena --results done",
    ),
    ("a folder that is no run's", "verify results-of-others"),
    (
        "a run that does not exist",
        "show auction --run 7 --results done",
    ),
    ("a run to remove that does not exist", "runs done delete 7"),
    ("a game that does not exist", "games beauty"),
    (
        "prompts of an agent that does not exist",
        "prompts pirate --agent thinker",
    ),
    (
        "a seat that the game does not have",
        "play good.toml --seat 9",
    ),
    ("recorded games that are none", "replay good.toml"),
    ("records that are none", "verify good.toml"),
    (
        "a page in the place of something else",
        "report done --out thesis.html",
    ),
    (
        "a page in the place of a picture",
        "report done --out page.pdf",
    ),
    ("a name that is a path", "run good.toml --name ../other"),
    ("less than no money", "run good.toml --max-cost -1"),
    (
        "templates that replace nothing",
        "run good.toml --templates results-of-others",
    ),
    (
        "templates in no folder",
        "run good.toml --templates nowhere",
    ),
    ("a Redis of another kind", "run good.toml --redis http://x"),
    ("a port without its host", "run good.toml --metrics 9"),
    (
        "pages at a port without its host",
        "view done --listen 8080",
    ),
    (
        "a file in the place of the data folder",
        "run good.toml --data good.toml",
    ),
    (
        "a filter for logs that is none",
        "run good.toml --log loud=very",
    ),
];

/// Makes them all.
pub fn make(desk: &mut Desk) {
    desk.write("good.toml", GOOD);
    desk.write("results-of-others/thesis.txt", "three years of work");
    desk.write("thesis.html", "three years of work");
    desk.write("wrong-config.toml", "[models.m]\nprovider = \"opnai\"\n");
    let done = super::command(&["run", "good.toml", "--out", "done", "--quiet"])
        .current_dir(desk.path())
        .output()
        .unwrap();
    assert!(done.status.success());
    for (number, (what, right, wrong)) in WRONG.iter().enumerate() {
        assert!(GOOD.contains(right), "{right}");
        let file = format!("wrong-{}.toml", number + 1);
        desk.write(&file, &GOOD.replace(right, wrong));
        desk.types(what, &format!("check {file}"), 2);
    }
    for (what, line) in TYPED {
        desk.types(what, line, 2);
    }
}
