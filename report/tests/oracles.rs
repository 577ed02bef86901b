//! Holds the statistics against vectors from reference libraries.
//!
//! The vectors, cases and tolerance alike, are read from `tests/oracles`, or from the folder
//! in `AGON_ORACLES`.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use agon_report::Ratings;
use agon_report::accumulator::Accumulator;
use agon_report::statistics::aggregate::{
    interquartile_mean, mean_superiority, performance_profile,
};
use agon_report::statistics::agreement::{Scale, alpha};
use agon_report::statistics::bootstrap::{DRAWS, draw_again, percentile_interval};
use agon_report::statistics::strength::{Contests, Model};
use agon_report::statistics::{
    Interval, detectable_effect, gaussian_density, holm, mean_interval, paired_effect,
    paired_t_test, persona_divergence, power, ratio, sign_flip_test, spearman, superiority,
    trueskill, wilcoxon_test, wilson_interval,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, MapAccess, Visitor};

/// The folder of check vectors.
fn folder() -> PathBuf {
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracles");
    std::env::var_os("AGON_ORACLES").map_or_else(ours, PathBuf::from)
}

/// A file of vectors.
fn read<File: DeserializeOwned>(name: &str) -> File {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[derive(Deserialize)]
struct Vectors<Case> {
    tolerance: f64,
    cases: Vec<Case>,
}

/// Runs a check on every case; a file without cases checks nothing and fails.
fn every_case<Case: DeserializeOwned>(
    name: &str,
    most_tolerance: f64,
    check: impl Fn(&Case, &dyn Fn(&str, f64, f64)),
) {
    let vectors: Vectors<Case> = read(name);
    assert!(!vectors.cases.is_empty(), "{name} has no cases");
    let tolerance = vectors.tolerance;
    assert!(tolerance <= most_tolerance, "{name} tolerates {tolerance}");
    for (place, case) in vectors.cases.iter().enumerate() {
        check(case, &|what, ours, theirs| {
            let near = (ours - theirs).abs() <= tolerance;
            assert!(near, "{name}, case {place}: {what} is {ours}, not {theirs}");
        });
    }
}

/// A JSON object in the order in which it was written.
struct Ordered<Value>(Vec<(String, Value)>);

impl<'de, Value: Deserialize<'de>> Deserialize<'de> for Ordered<Value> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<Value>(PhantomData<Value>);
        impl<'de, Value: Deserialize<'de>> Visitor<'de> for Entries<Value> {
            type Value = Ordered<Value>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[derive(Deserialize)]
struct Environment {
    mu: f64,
    sigma: f64,
    beta: f64,
    tau: f64,
    draw_probability: f64,
}

#[derive(Deserialize)]
struct Rated {
    mu: f64,
    sigma: f64,
}

#[derive(Deserialize)]
struct RatedSession {
    profit: Ordered<f64>,
    after: Ordered<Rated>,
}

#[derive(Deserialize)]
struct Championship {
    sessions: Vec<RatedSession>,
}

#[test]
fn ratings_are_those_of_the_reference() {
    every_case("trueskill.json", 1e-4, |case: &Championship, near| {
        let mut ratings = Ratings::default();
        for session in &case.sessions {
            let entries = session.profit.0.iter();
            let (players, profits): (Vec<&str>, Vec<f64>) = entries
                .map(|(player, profit)| (player.as_str(), *profit))
                .unzip();
            ratings.rate(&players, &profits).unwrap();
            assert_eq!(session.after.0.len(), players.len());
            for (player, theirs) in &session.after.0 {
                let ours = ratings.rating(player).unwrap();
                near(&format!("mu of {player}"), ours.mu, theirs.mu);
                near(&format!("sigma of {player}"), ours.sigma, theirs.sigma);
            }
        }
    });
}

#[test]
fn the_reference_has_our_environment() {
    #[derive(Deserialize)]
    struct File {
        environment: Environment,
    }
    let File { environment } = read("trueskill.json");
    for (ours, theirs) in [
        (trueskill::MU, environment.mu),
        (trueskill::SIGMA, environment.sigma),
        (trueskill::BETA, environment.beta),
        (trueskill::TAU, environment.tau),
        (trueskill::DRAW_PROBABILITY, environment.draw_probability),
    ] {
        assert!((ours - theirs).abs() < 1e-12, "{ours}, not {theirs}");
    }
}

#[derive(Deserialize)]
struct Columns {
    x: Vec<f64>,
    y: Vec<f64>,
    rho: Option<f64>,
    p: Option<f64>,
}

#[test]
fn rank_correlations_are_those_of_the_reference() {
    every_case("spearman.json", 1e-9, |case: &Columns, near| {
        let ours = spearman(&case.x, &case.y).unwrap();
        assert_eq!(ours.is_some(), case.rho.is_some(), "{:?}", case.rho);
        let Some((ours, theirs)) = ours.zip(case.rho) else {
            return;
        };
        near("rho", ours.rho, theirs);
        assert_eq!(ours.p.is_some(), case.p.is_some(), "{:?}", case.p);
        if let Some((ours, theirs)) = ours.p.zip(case.p) {
            near("p", ours, theirs);
        }
    });
}

#[derive(Deserialize)]
struct Profile {
    truth: Vec<f64>,
    inferred_weights: Vec<f64>,
    epsilon: f64,
    kl_nats: f64,
}

#[test]
fn persona_divergences_are_those_of_the_reference() {
    every_case("persona_kl.json", 1e-9, |case: &Profile, near| {
        let ours = persona_divergence(&case.truth, &case.inferred_weights, case.epsilon);
        near("divergence", ours.unwrap(), case.kl_nats);
    });
}

#[derive(Deserialize)]
struct Pairs {
    a: Vec<f64>,
    b: Vec<f64>,
    mean_difference: f64,
    p_exact_sign_flip: f64,
    #[serde(rename = "wilcoxon_W")]
    wilcoxon_w: f64,
    wilcoxon_p_exact: f64,
}

#[test]
fn paired_tests_are_those_of_the_reference() {
    every_case("paired_tests.json", 1e-9, |case: &Pairs, near| {
        let signs = sign_flip_test(&case.a, &case.b).unwrap();
        near(
            "mean difference",
            signs.mean_difference,
            case.mean_difference,
        );
        near("p of signs", signs.p, case.p_exact_sign_flip);
        let ranks = wilcoxon_test(&case.a, &case.b).unwrap();
        near("W", ranks.w, case.wilcoxon_w);
        near("p of ranks", ranks.p, case.wilcoxon_p_exact);
    });
}

#[derive(Deserialize)]
struct Sample {
    data: Vec<f64>,
    at: Vec<f64>,
    density: Vec<f64>,
}

#[test]
fn densities_are_those_of_the_reference() {
    every_case("kde.json", 1e-9, |case: &Sample, near| {
        let ours = gaussian_density(&case.data, &case.at).unwrap().unwrap();
        assert_eq!(ours.len(), case.density.len());
        for (ours, theirs) in ours.into_iter().zip(&case.density) {
            near("density", ours, *theirs);
            // Densities are small numbers: the tolerance holds relative to them too.
            near("share of the density", ours / theirs, 1.0);
        }
    });
}

/// What is asked about an interval.
fn ends(near: &dyn Fn(&str, f64, f64), ours: Option<Interval>, theirs: [f64; 2]) {
    let ours = ours.unwrap();
    near("lower end", ours.low, theirs[0]);
    near("upper end", ours.high, theirs[1]);
}

fn of(numbers: &[f64]) -> Accumulator {
    let mut all = Accumulator::default();
    numbers.iter().for_each(|number| all.add(*number));
    all
}

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Vec<f64>>,
    interval: [f64; 2],
}

#[test]
fn intervals_of_means_are_those_of_the_formula_solved_by_search() {
    every_case("mean_intervals.json", 1e-5, |case: &Groups, near| {
        let groups: Vec<Accumulator> = case.groups.iter().map(|group| of(group)).collect();
        ends(near, mean_interval(&groups), case.interval);
    });
}

#[derive(Deserialize)]
struct Rate {
    successes: u64,
    n: u64,
    interval: [f64; 2],
}

#[test]
fn intervals_of_rates_are_those_of_the_reference() {
    every_case("rates.json", 1e-9, |case: &Rate, near| {
        ends(near, wilson_interval(case.successes, case.n), case.interval);
    });
    assert_eq!((wilson_interval(0, 0), wilson_interval(2, 1)), (None, None));
}

#[derive(Deserialize)]
struct Clustered {
    clusters: Vec<(f64, f64)>,
    mean: f64,
    error: f64,
}

#[test]
fn errors_of_clusters_are_those_of_the_reference() {
    every_case("clustered.json", 1e-9, |case: &Clustered, near| {
        let ours = ratio(&case.clusters).unwrap();
        near("mean", ours.value, case.mean);
        near("standard error", ours.error.unwrap(), case.error);
    });
}

#[derive(Deserialize)]
struct Effects {
    a: Vec<f64>,
    b: Vec<f64>,
    size: f64,
    interval: [f64; 2],
    superiority: f64,
    paired_t: f64,
}

#[test]
fn effects_are_those_of_the_reference() {
    every_case("effects.json", 1e-6, |case: &Effects, near| {
        let differences: Vec<f64> = case.a.iter().zip(&case.b).map(|(a, b)| a - b).collect();
        let effect = paired_effect(&of(&differences)).unwrap();
        near("size", effect.size, case.size);
        ends(near, Some(effect.interval), case.interval);
        let chance = superiority(&case.a, &case.b).unwrap();
        near("superiority", chance, case.superiority);
        let p = paired_t_test(&case.a, &case.b).unwrap();
        near("p of t", p, case.paired_t);
    });
}

#[derive(Deserialize)]
struct Power {
    n: u64,
    size: f64,
    power: f64,
    detectable: f64,
}

#[test]
fn the_power_of_pairs_is_that_of_the_reference() {
    every_case("powers.json", 1e-4, |case: &Power, near| {
        near("power", power(case.size, case.n).unwrap(), case.power);
        let detectable = detectable_effect(case.n).unwrap();
        near("detectable effect", detectable, case.detectable);
    });
}

#[derive(Deserialize)]
struct Adjusted {
    p: Vec<f64>,
    holm: Vec<f64>,
}

#[test]
fn adjusted_p_values_are_those_of_the_reference() {
    every_case("holm.json", 1e-12, |case: &Adjusted, near| {
        for (ours, theirs) in holm(&case.p).into_iter().zip(&case.holm) {
            near("p", ours, *theirs);
        }
    });
}

#[derive(Deserialize)]
struct ManyPairs {
    differences: Vec<f64>,
    w: f64,
    p: f64,
}

#[test]
fn ranks_of_many_pairs_are_as_normal_as_those_of_the_reference() {
    every_case("wilcoxon_many.json", 1e-9, |case: &ManyPairs, near| {
        let nothing = vec![0.0; case.differences.len()];
        let ours = wilcoxon_test(&case.differences, &nothing).unwrap();
        near("W", ours.w, case.w);
        near("p", ours.p, case.p);
    });
}

#[derive(Deserialize)]
struct Strengths {
    players: usize,
    sessions: Vec<Vec<(usize, f64)>>,
    bradley_terry: Vec<f64>,
    plackett_luce: Vec<f64>,
}

#[test]
fn strengths_are_those_of_the_reference() {
    every_case("strengths.json", 1e-4, |case: &Strengths, near| {
        let models = [
            (Model::BradleyTerry, &case.bradley_terry),
            (Model::PlackettLuce, &case.plackett_luce),
        ];
        for (model, theirs) in models {
            let mut contests = Contests::new(model, case.players);
            for session in &case.sessions {
                contests.add(session).unwrap();
            }
            let weights = vec![1.0; case.sessions.len()];
            let ours = contests.strengths(&weights).unwrap();
            for (ours, theirs) in ours.iter().zip(theirs) {
                near("strength", *ours, *theirs);
            }
        }
    });
}

#[derive(Deserialize)]
struct Aggregates {
    games: Vec<Vec<f64>>,
    others: Vec<Vec<f64>>,
    interquartile_mean: f64,
    superiority: f64,
    thresholds: Vec<f64>,
    profile: Vec<f64>,
}

#[test]
fn numbers_over_games_are_those_of_the_reference() {
    every_case("aggregates.json", 1e-9, |case: &Aggregates, near| {
        let middle = interquartile_mean(&case.games).unwrap();
        near("interquartile mean", middle, case.interquartile_mean);
        let both = case.games.iter().zip(&case.others);
        let both = both.map(|(own, other)| (own.clone(), vec![other.clone()]));
        let chance = mean_superiority(&both.collect::<Vec<_>>()).unwrap();
        near("superiority", chance, case.superiority);
        let games: Vec<&[f64]> = case.games.iter().map(Vec::as_slice).collect();
        let profile = performance_profile(&games, &case.thresholds).unwrap();
        for ((ours, _), theirs) in profile.iter().zip(&case.profile) {
            near("profile", *ours, *theirs);
        }
    });
}

#[derive(Deserialize)]
struct Agreement {
    records: Vec<Vec<f64>>,
    ordinal: f64,
    interval: f64,
}

#[test]
fn agreement_of_judges() {
    every_case("agreements.json", 1e-9, |case: &Agreement, near| {
        let of = |scale| alpha(case.records.iter().map(Vec::as_slice), scale).unwrap();
        near("ordinal alpha", of(Scale::Ordinal), case.ordinal);
        near("interval alpha", of(Scale::Interval), case.interval);
    });
}

#[derive(Deserialize)]
struct Bootstrap {
    numbers: Vec<f64>,
    interval: [f64; 2],
}

#[test]
fn sets_drawn_again_spread_as_those_of_the_reference() {
    every_case("bootstraps.json", 0.4, |case: &Bootstrap, near| {
        let mut means = Vec::new();
        draw_again(&[case.numbers.len()], DRAWS, |places| {
            let drawn = places[0].iter().map(|place| case.numbers[*place]);
            means.extend(of(&drawn.collect::<Vec<_>>()).mean());
        });
        ends(near, percentile_interval(&mut means), case.interval);
    });
}
