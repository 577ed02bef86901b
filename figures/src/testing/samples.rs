//! Made-up samples: forty bids a box, by day and by model, with densities and histograms of the same
//! kind.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{Axis, Chart, Direction, Figure, Panel, Sample, Samples};

use super::numbers::{MODELS, Numbers};

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("boxes", boxes_by_day()),
        ("boxes-rows", boxes_by_model()),
        ("densities", densities()),
        ("histograms", histograms()),
    ]
}

fn sample(category: &str, series: &str, seed: u64, mean: f64) -> Sample {
    let mut numbers = Numbers::new(seed);
    let values: Vec<f64> = (0..40).map(|_| numbers.normal(mean, 6.0)).collect();
    Sample::new(category, series, values)
}

fn bid() -> Axis {
    Axis::new("bid").unit("$")
}

fn boxes_by_day() -> Figure {
    let samples = (1..=10u32).flat_map(|day| {
        [("rule players", 1.0), ("models", 3.0)].map(|(series, slope)| {
            let seed = u64::from(day) * 7 + series.len() as u64;
            let mean = 30.0 + f64::from(day) * slope;
            sample(&format!("day {day}"), series, seed, mean)
        })
    });
    let samples = Samples {
        samples: samples.collect(),
        direction: Direction::Columns,
        bins: None,
    };
    let panel = Panel::new(Axis::new("day"), bid(), Chart::Boxes(samples));
    Figure::new(vec![panel]).caption("n = 40 bids per box.")
}

fn boxes_by_model() -> Figure {
    let names = MODELS.iter().take(6).zip(90..);
    let samples = names.map(|(name, seed)| sample(name, "", seed, 40.0));
    let samples = Samples {
        samples: samples.collect(),
        ..Samples::default()
    };
    let panel = Panel::new(bid(), Axis::new("model"), Chart::Boxes(samples));
    Figure::new(vec![panel]).caption("n = 40 bids per box.")
}

fn by_model() -> Samples {
    let names = MODELS.iter().take(4).zip(0u32..);
    let samples = names.map(|(name, index)| {
        sample(
            "",
            name,
            u64::from(index) + 70,
            30.0 + 8.0 * f64::from(index),
        )
    });
    Samples {
        samples: samples.collect(),
        ..Samples::default()
    }
}

fn densities() -> Figure {
    let density = Axis::new("density").unit("1/$");
    let panel = Panel::new(bid(), density, Chart::Densities(by_model()));
    Figure::new(vec![panel]).caption("n = 40 bids per model; the lines at the bottom are the bids.")
}

fn histograms() -> Figure {
    let panel = Panel::new(bid(), Axis::new("bids"), Chart::Histograms(by_model()));
    Figure::new(vec![panel]).caption("n = 40 bids per model.")
}
