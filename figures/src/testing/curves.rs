//! Made-up trajectories, clouds and profiles: ten series over twenty rounds, thirteen long names,
//! costs over several powers of ten.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{Axis, Baseline, Chart, Curves, Figure, Mark, Panel, Point, Series};

use super::numbers::{MODELS, Numbers};

const CAPTION: &str = "n = 20 sessions per model; bands: 95 % t intervals over session means.";

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("lines", lines()),
        ("multiples", multiples()),
        ("scatter", scatter()),
        ("steps", steps()),
    ]
}

fn trajectory(name: &str, seed: u64) -> Series {
    let mut numbers = Numbers::new(seed);
    let start = numbers.normal(55.0, 8.0);
    let points = (1..=20).map(|round| {
        let mean = start * (-f64::from(round) * 0.03 * (seed as f64 % 5.0)).exp();
        let value = mean + numbers.normal(0.0, 1.5);
        let mark = Mark::new(value).between(value - 4.0, value + 4.0).of(20);
        Point::new(round, mark)
    });
    Series::new(name, points.collect())
}

fn choices(series: Vec<Series>) -> Panel {
    let curves = Curves {
        series,
        baselines: vec![Baseline::new("Nash equilibrium", 0.0)],
    };
    let (x, y) = (
        Axis::new("round").whole(),
        Axis::new("mean choice").unit("points"),
    );
    Panel::new(x, y, Chart::Lines(curves))
}

fn lines() -> Figure {
    let names = MODELS.iter().take(10).zip(1..);
    let series = names.map(|(name, seed)| trajectory(name, seed));
    Figure::new(vec![choices(series.collect())])
        .title("Guessing game: choices fall towards the equilibrium")
        .caption(CAPTION)
}

fn multiples() -> Figure {
    let names = MODELS.iter().take(6).zip(1..);
    let panels = names.map(|(name, seed)| choices(vec![trajectory(name, seed)]).title(*name));
    Figure::new(panels.collect()).same_scale().caption(CAPTION)
}

fn scatter() -> Figure {
    let mut numbers = Numbers::new(5);
    let mut point = || {
        let cost = 10f64.powf(numbers.normal(-1.0, 0.8));
        let score = numbers.normal(60.0, 12.0);
        let mark = Mark::new(score).between(score - 5.0, score + 5.0).of(20);
        Point::new(cost, mark.link("sessions/1"))
    };
    let names = MODELS.iter().take(8);
    let series = names.map(|name| Series::new(*name, (0..3).map(|_| point()).collect()));
    let curves = Curves {
        series: series.collect(),
        baselines: vec![Baseline::new("chance", 50.0)],
    };
    let cost = Axis::new("cost per session").unit("$").logarithmic();
    let score = Axis::new("score").unit("points");
    Figure::new(vec![Panel::new(cost, score, Chart::Scatter(curves))])
        .caption("n = 20 sessions per point; 95 % t intervals.")
}

fn steps() -> Figure {
    let names = MODELS.iter().take(6).enumerate();
    let series = names.map(|(index, name)| {
        let points = (0..=20).map(|step| {
            let share = f64::from(step) / 20.0;
            Point::new(share, 1.0 - share.powf(0.4 + index as f64 * 0.4))
        });
        Series::new(*name, points.collect())
    });
    let curves = Curves {
        series: series.collect(),
        baselines: Vec::new(),
    };
    let share = Axis::new("share of runs with score above τ").range(0.0, 1.0);
    let panel = Panel::new(Axis::new("normalised score τ"), share, Chart::Steps(curves));
    Figure::new(vec![panel]).title("Performance profiles")
}
