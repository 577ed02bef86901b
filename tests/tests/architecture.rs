//! The arrows between the rooms: which package may import which. The table is
//! that of ARCHITECTURE.md; any other arrow fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agon_tests::tree;

/// Room, and the packages of ours that it may import.
const ARROWS: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("proto", &[]),
    ("outlets", &[]),
    ("figures", &["outlets"]),
    ("service-kit", &["proto", "outlets"]),
    ("redis-link", &["service-kit"]),
    ("identity", &["outlets", "service-kit", "redis-link"]),
    ("sim-llm", &["proto", "service-kit"]),
    (
        "agent-gateway",
        &["proto", "outlets", "service-kit", "redis-link", "identity"],
    ),
    ("agents", &["engine"]),
    ("referee", &["engine", "service-kit"]),
    (
        "worker",
        &["engine", "agents", "proto", "referee", "service-kit"],
    ),
    (
        "coordinator",
        &[
            "engine",
            "proto",
            "outlets",
            "service-kit",
            "redis-link",
            "identity",
            "report",
        ],
    ),
    ("report", &["engine", "outlets", "figures"]),
    ("web", &["engine", "service-kit", "report"]),
    (
        "cli",
        &[
            "engine",
            "proto",
            "outlets",
            "service-kit",
            "identity",
            "sim-llm",
            "agent-gateway",
            "agents",
            "referee",
            "worker",
            "coordinator",
            "report",
            "web",
            "figures",
        ],
    ),
    (
        "tests",
        &[
            "engine",
            "proto",
            "outlets",
            "service-kit",
            "identity",
            "sim-llm",
            "agent-gateway",
            "agents",
            "referee",
            "worker",
            "coordinator",
            "report",
            "cli",
        ],
    ),
];

/// Packages that make a crate impure or tie it to a runtime; the engine has none.
const NOT_IN_THE_ENGINE: &[&str] = &[
    "tokio", "tracing", "tonic", "prost", "reqwest", "redis", "rusqlite", "rand", "chrono",
];

/// Methods of `f32` and `f64` of which std (1.95) says under "Unspecified precision" that
/// their result varies by platform, version and call; and those that may return either
/// zero where a positive and a negative one meet.
const LEFT_OPEN_BY_STD: &[&str] = &[
    "abs_sub",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp_m1",
    "gamma",
    "hypot",
    "ln",
    "ln_1p",
    "ln_gamma",
    "log",
    "log10",
    "log2",
    "powf",
    "powi",
    "sin",
    "sin_cos",
    "sinh",
    "tan",
    "tanh",
    "to_degrees",
    "to_radians",
    "clamp",
    "max",
    "min",
];

/// Only these rooms may see a store.
const STORES: &[&str] = &["redis", "rusqlite"];

#[test]
fn imports_between_rooms_follow_the_table() {
    for (room, dependencies) in manifests() {
        let (_, allowed) = ARROWS
            .iter()
            .find(|(name, _)| *name == room)
            .unwrap_or_else(|| panic!("the room `{room}` has no line in the table of arrows"));
        for dependency in dependencies {
            if let Some(ours) = dependency.strip_prefix("agon-") {
                assert!(allowed.contains(&ours), "{room} must not import {ours}");
            }
        }
    }
}

#[test]
fn the_engine_depends_on_nothing_impure() {
    let manifests = manifests();
    for package in NOT_IN_THE_ENGINE {
        assert!(
            !manifests["engine"].contains(*package),
            "the engine must not use {package}"
        );
    }
}

/// What makes the same record or reply mean something else on another machine.
const SURROUNDINGS: &[&str] = &[
    "std::env",
    "env::var",
    "std::fs",
    "SystemTime",
    "Instant::now",
];

#[test]
fn games_and_readers_of_replies_look_at_nothing_around_them() {
    let pure = |name: &String| name.starts_with("engine/src/") || name.starts_with("agents/src/");
    let mut looked_at = 0;
    for file in tree::files(".rs") {
        let name = tree::short(&file);
        if !pure(&name) || name.contains("tests") {
            continue;
        }
        looked_at += 1;
        let text = fs::read_to_string(&file).unwrap();
        for surrounding in SURROUNDINGS {
            assert!(!text.contains(surrounding), "{name} looks at {surrounding}");
        }
    }
    assert!(looked_at > 200, "only {looked_at} sources were found");
}

#[test]
fn the_engine_bans_every_method_whose_result_std_leaves_open() {
    let text = fs::read_to_string(tree::root().join("engine/clippy.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let banned = table["disallowed-methods"].as_array().unwrap();
    let banned: BTreeSet<&str> = banned
        .iter()
        .filter_map(|entry| entry.get("path")?.as_str())
        .collect();
    for method in LEFT_OPEN_BY_STD {
        for primitive in ["f32", "f64"] {
            let path = format!("{primitive}::{method}");
            assert!(banned.contains(&*path), "{path} is not banned");
        }
    }
}

#[test]
fn only_a_process_of_the_tests_raises_versions() {
    let raising = tree::files("rs").into_iter().filter(|file| {
        let text = fs::read_to_string(file).unwrap();
        text.contains("versions::raise(")
    });
    let raising: Vec<String> = raising.map(|file| tree::short(&file)).collect();
    let expected = ["tests/src/bin/agon-next.rs", "tests/tests/architecture.rs"];
    assert_eq!(raising, expected);
}

#[test]
fn only_the_coordinator_and_the_gateway_see_a_store() {
    for (room, dependencies) in manifests() {
        let may = [
            "redis-link",
            "identity",
            "coordinator",
            "agent-gateway",
            "tests",
        ]
        .contains(&room.as_str());
        for store in STORES {
            assert!(
                may || !dependencies.contains(*store),
                "{room} must not use {store}"
            );
        }
    }
}

#[test]
fn the_unmaintained_back_off_crate_stays_in_one_file() {
    for file in tree::files(".rs") {
        let name = tree::short(&file);
        if name == "service-kit/src/backoff.rs" || name == "tests/tests/architecture.rs" {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let names_it = text.contains("use backoff::") || text.contains("::backoff::Exp");
        assert!(!names_it, "{name} names the backoff crate");
    }
    for (room, dependencies) in manifests() {
        assert!(
            room == "service-kit" || !dependencies.contains("backoff"),
            "{room} uses backoff"
        );
    }
}

/// Room to the packages in its `[dependencies]`, development ones left out.
fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let root = tree::root();
    let mut manifests = BTreeMap::new();
    for file in tree::files("Cargo.toml") {
        let folder = file.parent().unwrap();
        if folder == root {
            continue;
        }
        let room = tree::short(folder);
        let text = fs::read_to_string(&file).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let dependencies = manifest
            .get("dependencies")
            .and_then(|table| table.as_table());
        let names = dependencies
            .map(|table| table.keys().cloned().collect())
            .unwrap_or_default();
        manifests.insert(room, names);
    }
    assert!(
        manifests.len() >= ARROWS.len(),
        "the manifests were not found"
    );
    manifests
}
