//! Experiments that are small to write and large to expand, and files that are large to read. Each
//! is refused with the bound, the figure and what to do, or taken one cell at a time.

use super::*;

/// A file with these lines before its player, inside it, and inside its game.
fn file(top: &str, player: &str, game: &str) -> String {
    format!(
        "name = \"x\"\n{top}\n[players.subject]\nkind = \"rule\"\n{player}\n\
         [[games]]\ngame = \"guess_two_thirds\"\n{game}\n"
    )
}

fn random(top: &str, game: &str) -> String {
    file(top, "strategy = \"random\"", game)
}

/// A player of so many fixed answers.
fn specified(answers: usize) -> String {
    format!(
        "strategy = \"specified\"\nanswers = [{}]",
        "1,".repeat(answers)
    )
}

fn list(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    numbers.join(",")
}

/// Tables of a world of so many items and kinds of bidders.
fn world(items: usize, personas: usize) -> String {
    let items = (0..items).map(|item| {
        let suits = item % personas;
        format!("[[worlds.w.items]]\nname = \"i{item}\"\nstarting_price = 1\ntrue_value = 2\nsuits = [\"p{suits}\"]\n")
    });
    let personas = (0..personas)
        .map(|persona| format!("[[worlds.w.personas]]\nname = \"p{persona}\"\ntext = \"t\"\n"));
    items.chain(personas).collect()
}

fn seeds(count: usize) -> String {
    format!("[games.grid]\nseed = [{}]", list(count))
}

/// Each with a part of what is said of it.
fn refused() -> Vec<(&'static str, String, &'static str)> {
    let long = "a".repeat(90_000);
    let longer = "a".repeat(2_000_000);
    let axes: String = (0..65)
        .map(|axis| format!("\"params.a{axis}\" = [1]\n"))
        .collect();
    let paths: Vec<String> = (0..65)
        .map(|path| format!("{{ \"params.a{path}\" = 1 }}"))
        .collect();
    let idle =
        format!("[players.idle]\nkind = \"rule\"\nstrategy = \"random\"\nnote = \"{longer}\"");
    let keys: String = (0..50_000).map(|key| format!("key{key} = 1\n")).collect();
    vec![
        (
            "a document of 17 MB",
            format!("description = \"{}\"", "a".repeat(17 << 20)),
            "bytes, and 16777216 are the most; split the experiment",
        ),
        (
            "4 million line ends",
            "\n".repeat(4_100_000),
            "words, signs and gaps, and 4000000 are the most",
        ),
        (
            "700,000 numbers",
            file("", &specified(700_000), ""),
            "700009 values, and 600000 are the most",
        ),
        (
            "200,000 tables in a list",
            random(&format!("model.x = [{}]", "{},".repeat(110_000)), ""),
            "tables, and 100000 are the most",
        ),
        (
            "110,000 tables of dotted keys",
            (0..40_000)
                .map(|key| format!("a{key}.b.c.d = 1\n"))
                .collect(),
            "tables, and 100000 are the most",
        ),
        (
            "110,000 headings",
            (0..110_000).map(|key| format!("[a{key}]\n")).collect(),
            "tables, and 100000 are the most",
        ),
        (
            "brackets without an end",
            format!("x = {}", "[".repeat(4_000_000)),
            "words, signs and gaps",
        ),
        (
            "more sessions than are queued",
            random("repeats = 10000000\nseries.length = 3", ""),
            "30000000 sessions up to here with 10000000 repeats of series of 3; 10000000 are the most",
        ),
        (
            "a grid beyond all numbers",
            random(
                "",
                &format!(
                    "[games.grid]\n{}",
                    (0..30)
                        .map(|axis| format!("\"params.a{axis}\" = [{}]\n", list(10)))
                        .collect::<String>()
                ),
            ),
            "far more settings up to here, and 200000 are the most",
        ),
        (
            "65 axes of one value",
            random("", &format!("[games.grid]\n{axes}")),
            "varies 65 axes, and 64 are the most",
        ),
        (
            "rows of 65 paths",
            random("", &format!("rows = [{}]", paths.join(","))),
            "varies 65 paths, and 64 are the most",
        ),
        (
            "500,000 answers at ten seats",
            file("", &specified(500_000), ""),
            "the players of 10 seats would have 9.5 MiB, and a session's spec has 1.0 MiB at most",
        ),
        (
            "a session of ten million moves",
            random(
                "",
                "seats = [{ player = \"subject\", count = 1000 }]\nparams.rounds = 10000",
            ),
            "a session of 1000 seats with 10000 moves each would be too long, by estimate it has \
             1082000000 bytes, and 104857600 are the most; play fewer rounds or seats",
        ),
        (
            "rounds that a grid varies",
            random(
                "",
                "seats = [{ player = \"subject\", count = 500 }]\n[games.grid]\n\
                 \"params.rounds\" = [5, 2000]",
            ),
            "a session of 500 seats with 2000 moves each would be too long",
        ),
        (
            "a persona at 1000 seats",
            file(
                "",
                &format!("strategy = \"random\"\nnote = \"{long}\""),
                "seats = [{ player = \"subject\", count = 1000 }]",
            ),
            "the players of 1000 seats would have 85.9 MiB",
        ),
        (
            "parameters of 2 MB",
            random("", &format!("params.note = \"{longer}\"")),
            "the parameters would have 1.9 MiB",
        ),
        (
            "a varied player that sits nowhere",
            random(
                "",
                &format!(
                    "seats = [\"subject\", \"subject\"]\n[games.grid]\n\"players.idle.x\" = [{}]\n{idle}",
                    list(1_000)
                ),
            ),
            "the settings of its cells come to 51",
        ),
        (
            "a world of 9000 items in 1000 cells",
            format!(
                "name = \"x\"\n[players.subject]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngame = \"english_auction\"\nseats = [\"subject\", \"subject\"]\nworld = {{ name = \"w\", items = 9, matched = 3, personas = [[\"p1\"], [\"p2\"]] }}\n{}\n{}",
                seeds(1_000),
                world(9_000, 50)
            ),
            "the settings of its cells come to 51",
        ),
        (
            "a seat of 101 personas",
            format!(
                "name = \"x\"\n[players.subject]\nkind = \"rule\"\nstrategy = \"random\"\n[[games]]\ngame = \"english_auction\"\nseats = [\"subject\", \"subject\"]\nworld = {{ name = \"w\", personas = [[{}], []] }}\n{}",
                "\"p1\",".repeat(101),
                world(10, 2)
            ),
            "a seat has 101 personas, and 100 are the most",
        ),
        (
            "a team's name of a megabyte",
            random(&format!("team = \"{}\"", "a".repeat(1_000_000)), ""),
            "the name of a team must be 1 to 64 letters",
        ),
        (
            "50,000 unknown keys",
            format!("{keys}{}", random("", "")),
            "key0: unknown key",
        ),
        (
            "100,000 errors of syntax",
            "= = =\n".repeat(100_000),
            "x.toml:1:",
        ),
        (
            "a message of a megabyte",
            random("", &format!("seats = [\"{}\"]", "a".repeat(1_000_000))),
            "no player \"aaa",
        ),
    ]
}

#[test]
fn what_is_too_large_is_refused_with_the_bound_and_the_figure() {
    let cases = refused();
    assert!(cases.len() >= 20);
    let mut otherwise = Vec::new();
    for (name, text, said) in cases {
        let error = check(&text).map(|_| ()).expect_err(name);
        assert!(error.0.len() <= 50, "{name}: {} errors", error.0.len());
        let error = error.to_string();
        if !error.contains(said) {
            otherwise.push(format!("{name}: {}", &error[..error.len().min(300)]));
        }
        assert!(
            error.len() < 400_000,
            "{name}: {} bytes of errors",
            error.len()
        );
    }
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}

#[test]
fn repeats_and_idle_players_take_no_time_and_no_memory() {
    let repeated = file("repeats = 10000", &specified(1_000), "");
    let idle = format!(
        "[players.idle]\nkind = \"rule\"\nstrategy = \"random\"\nnote = \"{}\"",
        "a".repeat(2_000_000)
    );
    let idle = random(
        "",
        &format!(
            "seats = [\"subject\", \"subject\"]\n{}\n{idle}",
            seeds(5_000)
        ),
    );
    for (text, sessions) in [(repeated, 10_000), (idle, 5_000)] {
        let document = check(&text).unwrap();
        let expansion = expand(&document).unwrap();
        assert_eq!(expansion.len(), sessions);
        // Made as they are taken.
        assert_eq!(expansion.into_sessions().take(3).count(), 3);
    }
}

#[test]
fn a_document_is_as_bounded_when_it_is_handed_in() {
    let text = random("", "");
    let good = check(&text).unwrap();
    for (key, value, said) in [
        (
            "description",
            json!("a".repeat(17 << 20)),
            "bytes, and 16777216 are the most",
        ),
        (
            "model",
            json!({ "x": vec![1; 700_000] }),
            "values, and 600000 are the most",
        ),
        (
            "model",
            json!({ "x": vec![json!({}); 110_000] }),
            "tables, and 100000 are the most",
        ),
    ] {
        let mut tree: Value = serde_json::from_slice(&good.to_json()).unwrap();
        tree[key] = value;
        let faults = ExperimentDocument::from_json(tree.to_string().as_bytes()).unwrap_err();
        assert!(faults.to_string().contains(said), "{faults}");
        assert!(
            faults.to_string().contains("split the experiment"),
            "{faults}"
        );
    }
    let pretty = serde_json::to_vec_pretty(&good).unwrap();
    assert_eq!(ExperimentDocument::from_json(&pretty).unwrap(), good);
}
