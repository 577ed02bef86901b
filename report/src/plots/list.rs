//! The figures by name: those of the papers with their sources, a file for each, and general ones. A
//! new figure is a line in one of them; `docs/figures.md` lists all.

mod alympics;
mod auctions;
mod econarena;
mod gamma_bench;
mod general;

use super::spec::{Plot, PlotPanel};

const fn plot(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    games: &'static [&'static str],
    panels: &'static [PlotPanel],
) -> Plot {
    Plot {
        name,
        about,
        source,
        games,
        panels,
    }
}

/// All figures, family by family.
pub fn plots() -> impl Iterator<Item = &'static Plot> {
    let families = [
        gamma_bench::PLOTS,
        alympics::PLOTS,
        auctions::PLOTS,
        econarena::PLOTS,
        general::PLOTS,
    ];
    families.into_iter().flatten()
}

/// The figure of this name.
pub fn find(name: &str) -> Option<&'static Plot> {
    plots().find(|plot| plot.name == name)
}

/// The figures that sessions of these games have something to show in: those of papers, or where a
/// game is of none, general ones.
pub fn for_games(games: &[&str]) -> Vec<&'static Plot> {
    let fits = |plot: &&Plot| plot.games.iter().any(|game| games.contains(game));
    let mut found: Vec<&'static Plot> = plots().filter(fits).collect();
    let general = ["payoffs", "fouls"];
    found.extend(plots().filter(|plot| general.contains(&plot.name)));
    found
}

/// All figures that sessions of these games have something to show in, every general one among them.
pub fn every_for_games(games: &[&str]) -> Vec<&'static Plot> {
    let fits =
        |plot: &&Plot| plot.games.is_empty() || plot.games.iter().any(|game| games.contains(game));
    plots().filter(fits).collect()
}
