//! Convergence (sections 3.2 and 4.3, figure 5): mean action of a player run by run, its
//! distance from the equilibrium, and how fast that distance falls.

use std::collections::BTreeMap;

use super::{PATHS, RUNS};
use crate::gathered::Gathered;
use crate::row::Row;
use crate::statistics::slope;

/// The paths of all players; sessions of one run have none.
pub(super) fn paths(gathered: &Gathered<Vec<Row>>) -> Vec<Row> {
    let known = gathered.rows(RUNS.name);
    let paths = gathered.rows(PATHS.name).into_iter().map(|path| {
        let name = path.word("player");
        let own = known.iter().filter(|row| row.word("player") == name);
        let own: BTreeMap<u64, &Row> = own.map(|row| (row.count("run"), row)).collect();
        let runs = (1..=path.count("runs")).map(|run| {
            let empty = || gathered.empty(RUNS.name, &[name.into(), (run as u32).into()]);
            let found = own.get(&run).copied().cloned();
            found.unwrap_or_else(empty).split(1).1
        });
        convergence(name, runs.collect())
    });
    paths.collect()
}

/// `slope` is the least-squares slope of the distance, per run; `log_slope` that of its natural
/// logarithm; `half_life` the runs in which the distance halves, where it falls.
fn convergence(player: &str, runs: Vec<Row>) -> Row {
    // A run without any valid action is no point of the line.
    let known = runs
        .iter()
        .filter_map(|run| Some((run.number("run")?, run.number("distance")?)));
    let (at, distances): (Vec<f64>, Vec<f64>) = known.unzip();
    let logarithms: Vec<f64> = distances.iter().map(|distance| distance.ln()).collect();
    // The logarithm of 0 is not finite, and then there is no slope.
    let log_slope = slope(&at, &logarithms).ok().flatten();
    let halved = log_slope.filter(|slope| *slope < 0.0);
    Row::default()
        .with("player", player)
        .with("runs", runs)
        .with("slope", slope(&at, &distances).ok().flatten())
        .with("log_slope", log_slope)
        .with(
            "half_life",
            halved.map(|slope| -std::f64::consts::LN_2 / slope),
        )
}
