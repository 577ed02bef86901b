//! The presets against what the papers say of their experiments (`tests/fidelity.toml`): how
//! often they are played, by how many seats, with which parameters, and how models are asked.

use std::collections::{BTreeMap, BTreeSet};

use agon_coordinator::experiment::{ExperimentFile, expand};
use agon_engine::session::open;
use agon_engine::{PlayerKind, Record, SessionSpec};
use agon_report::{Layout, Pivots, Session};
use agon_tests::tree;
use serde::Deserialize;
use serde_json::Value;

/// Presets that reproduce nothing published: they show something quickly, seat a person, or
/// measure what a paper only mentions.
const OUR_OWN: [&str; 6] = [
    "alympics/human",
    "aucarena/learning",
    "econarena/english-auction",
    "gamma-bench/ciphers",
    "gamma-bench/quick-start",
    "gamma-bench/thinking",
];

type Table = BTreeMap<String, Value>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    experiment: Vec<Experiment>,
}

/// What a paper says of one experiment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    preset: String,
    repeats: u32,
    settings: usize,
    sessions: usize,
    seats: Option<usize>,
    /// By game, parameters that every session has.
    #[serde(default)]
    params: BTreeMap<String, Table>,
    /// By game and parameter, every value that occurs.
    #[serde(default)]
    axes: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
    /// Settings of every model player.
    #[serde(default)]
    players: Table,
}

fn published() -> Vec<Experiment> {
    let text = std::fs::read_to_string(tree::root().join("tests/fidelity.toml")).unwrap();
    toml::from_str::<Published>(&text).unwrap().experiment
}

/// Names of all presets.
fn presets() -> BTreeSet<String> {
    let root = tree::root().join("experiments");
    let papers = std::fs::read_dir(&root)
        .unwrap()
        .map(|paper| paper.unwrap());
    let papers = papers.filter(|paper| {
        !["worlds", "rosters"]
            .iter()
            .any(|other| paper.file_name() == *other)
    });
    let files = papers.flat_map(|paper| {
        let name = paper.file_name().into_string().unwrap();
        let files = std::fs::read_dir(paper.path()).unwrap();
        files.map(move |file| {
            let file = file.unwrap().file_name().into_string().unwrap();
            format!("{name}/{}", file.trim_end_matches(".toml"))
        })
    });
    files.collect()
}

/// Every session of a preset.
fn sessions(preset: &str) -> (u32, Vec<SessionSpec>) {
    let experiments = tree::root().join("experiments");
    let text = std::fs::read_to_string(experiments.join(format!("{preset}.toml"))).unwrap();
    let mut file = ExperimentFile::parse(preset, &text).unwrap();
    for world in file.missing_worlds() {
        let path = experiments.join(format!("worlds/{world}.toml"));
        let text = std::fs::read_to_string(path).unwrap();
        file.add_world(&world, &world, &text).unwrap();
    }
    let document = file.read().unwrap();
    let sessions = expand(&document).unwrap().into_sessions();
    (document.repeats, sessions.map(|one| one.spec).collect())
}

/// Equal, whole numbers also to those with a point.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other,
    }
}

/// Everything in which a preset is not as published.
fn differences(experiment: &Experiment) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, published: &str, own: String| {
        if published != own {
            found.push(format!(
                "{what}: published {published}, the preset has {own}"
            ));
        }
    };
    let (repeats, specs) = sessions(&experiment.preset);
    let settings: BTreeSet<String> = specs
        .iter()
        .map(|spec| {
            format!(
                "{} {}",
                spec.game,
                serde_json::to_string(&spec.setting).unwrap()
            )
        })
        .collect();
    differs(
        "repeats",
        &experiment.repeats.to_string(),
        repeats.to_string(),
    );
    differs(
        "settings",
        &experiment.settings.to_string(),
        settings.len().to_string(),
    );
    differs(
        "sessions",
        &experiment.sessions.to_string(),
        specs.len().to_string(),
    );
    for spec in &specs {
        if let Some(seats) = experiment.seats {
            differs("seats", &seats.to_string(), spec.seats.len().to_string());
        }
        for (name, value) in experiment.params.get(&spec.game).into_iter().flatten() {
            let own = spec.params.get(name).cloned().unwrap_or_default();
            if !same(value, &own) {
                differs(
                    &format!("{}.{name}", spec.game),
                    &value.to_string(),
                    own.to_string(),
                );
            }
        }
        let models = spec
            .seats
            .iter()
            .filter(|seat| seat.kind == PlayerKind::Model);
        for model in models {
            for (name, value) in &experiment.players {
                let own = model.settings.get(name).cloned().unwrap_or_default();
                if !same(value, &own) {
                    let what = format!("{name} of {}", model.name);
                    differs(&what, &value.to_string(), own.to_string());
                }
            }
        }
    }
    for (game, axes) in &experiment.axes {
        for (name, values) in axes {
            let of_game = specs.iter().filter(|spec| spec.game == *game);
            let own: BTreeSet<String> = of_game
                .filter_map(|spec| spec.params.get(name))
                .map(Value::to_string)
                .collect();
            let values: BTreeSet<String> = values.iter().map(Value::to_string).collect();
            differs(
                &format!("{game}.{name}"),
                &format!("{values:?}"),
                format!("{own:?}"),
            );
        }
    }
    found.dedup();
    found
}

#[test]
fn every_preset_is_played_as_its_paper_says() {
    let published = published();
    for experiment in &published {
        let found = differences(experiment);
        assert!(found.is_empty(), "{}: {found:#?}", experiment.preset);
    }
    let listed: BTreeSet<String> = published.into_iter().map(|one| one.preset).collect();
    let own: BTreeSet<String> = OUR_OWN.map(str::to_owned).into();
    assert_eq!(
        presets(),
        &listed | &own,
        "presets without published numbers"
    );
}

#[test]
fn another_number_would_be_noticed() {
    let mut experiment = published().remove(0);
    assert_eq!(experiment.preset, "alympics/resources");
    experiment.repeats += 1;
    experiment
        .players
        .insert("explain".to_owned(), false.into());
    let params = experiment.params.get_mut("water_allocation").unwrap();
    params.insert("rounds".to_owned(), 21.into());
    let axes = experiment.axes.get_mut("water_allocation").unwrap();
    axes.get_mut("supply_min").unwrap().push(25.into());
    let found = differences(&experiment);
    for what in ["repeats", "explain", "rounds", "supply_min"] {
        assert!(
            found.iter().any(|one| one.contains(what)),
            "{what}: {found:#?}"
        );
    }
}

#[test]
fn the_documentation_has_a_command_for_every_preset() {
    let text = std::fs::read_to_string(tree::root().join("docs/fidelity.md")).unwrap();
    for preset in presets() {
        assert!(text.contains(&format!("`{preset}`")), "{preset}");
    }
}

/// Tables 5 to 9 of gamma-Bench: each published cell has the column that one's own has.
#[test]
fn every_published_cell_of_gamma_bench_stands_beside_ones_own() {
    let cells = tree::root().join("report/data/gamma_bench_tables.csv");
    let mut published: BTreeMap<String, usize> = BTreeMap::new();
    for row in std::fs::read_to_string(cells).unwrap().lines().skip(1) {
        let (table, _) = row.split_once(',').unwrap();
        *published.entry(table.to_owned()).or_default() += 1;
    }
    assert_eq!(published.len(), 5);
    for (table, cells) in published {
        let preset = table.replacen("gamma-bench-", "gamma-bench/", 1);
        let mut pivots = Pivots::default();
        for spec in sessions(&preset).1 {
            pivots.add(&played_by_rules(spec));
        }
        let shown = pivots.beside_published(&table, Layout::Text(100)).unwrap();
        let rows = shown.lines().filter_map(|line| {
            let (_, row) = line.split_once("gpt-3.5-turbo-0125")?;
            Some(
                row.split_whitespace()
                    .filter(|cell| cell.parse::<f64>().is_ok()),
            )
        });
        assert_eq!(rows.map(Iterator::count).sum::<usize>(), cells, "{shown}");
    }
}

/// The session as equilibrium players play it.
fn played_by_rules(mut spec: SessionSpec) -> Session {
    for seat in &mut spec.seats {
        seat.kind = PlayerKind::Rule;
        seat.settings = [("strategy".to_owned(), "equilibrium".into())].into();
    }
    let play = open(&spec).unwrap();
    let line = Record::new(spec, play, Vec::new(), Vec::new()).to_line();
    Session::from_line(line.unwrap().as_bytes()).unwrap()
}
