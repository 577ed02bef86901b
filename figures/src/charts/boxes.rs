//! Box plots, with every observation in a strip beside its box. The points of a strip are spread in
//! the same way each time; five numbers come from `samples`.

use crate::chart::{Sample, Samples};
use crate::clip;
use crate::figure::Panel;
use crate::frame::Frame;
use crate::mark::Mark;
use crate::number::short;
use crate::palette::{Look, Palette};
use crate::plan::Plan;
use crate::samples::{FiveNumbers, five_numbers};
use crate::scene::{Area, Fill, Item, Paint, Scene, Stroke};

use crate::texture;

use super::across::{self, Across, dodge, measure};
use super::tip::tip;

/// Room of one box with its strip, and at most.
const STEP: f64 = 13.0;
const WIDEST: f64 = 26.0;

/// The golden ratio spreads the points of a strip evenly, always in the same way.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Categories, and the range of all observations.
pub(super) fn plan(panel: &Panel, samples: &Samples) -> Plan {
    let values = samples.samples.iter().flat_map(|sample| &sample.values);
    let step = (series(samples).len() as f64 * STEP + 4.0).max(17.0);
    let names = categories(samples);
    let values = values.map(|mark| mark.value);
    across::plan(panel, samples.direction, names, values, false, step)
}

fn categories(samples: &Samples) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for sample in &samples.samples {
        if !names.contains(&sample.category) {
            names.push(sample.category.clone());
        }
    }
    names
}

fn series(samples: &Samples) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for sample in &samples.samples {
        if !names.contains(&&*sample.series) {
            names.push(&sample.series);
        }
    }
    names
}

/// A box and a strip per sample.
pub(super) fn draw(
    scene: &mut Scene,
    panel: &Panel,
    samples: &Samples,
    frame: &Frame,
    palette: &Palette,
) {
    let across = Across::of(frame, samples.direction);
    let (categories, series) = (categories(samples), series(samples));
    let slot = across.names().slot();
    let room = (slot * 0.84 / series.len().max(1) as f64).min(WIDEST);
    across.guides(scene, categories.len(), 2);
    for sample in &samples.samples {
        let category = categories.iter().position(|name| *name == sample.category);
        let index = series.iter().position(|name| *name == sample.series);
        let (Some(category), Some(index)) = (category, index) else {
            continue;
        };
        let offset = dodge(index, series.len(), slot, WIDEST);
        let along = across.names().middle(category) + offset;
        let look = palette.look(&sample.series);
        let paint = Paint::Series(look.colour());
        let values: Vec<f64> = sample.values.iter().map(|mark| mark.value).collect();
        if let Some(numbers) = five_numbers(&values) {
            let said = box_tip(sample, &numbers);
            scene.group(Some(said), None, |scene| {
                let middle = along - room * 0.22;
                one_box(scene, &across, middle, room * 0.42, &numbers, look);
            });
        }
        for (index, mark) in sample.values.iter().enumerate() {
            let jitter = (index as f64 * GOLDEN).fract();
            let at = across.place(along + room * (0.08 + 0.36 * jitter), mark.value);
            if clip::holds(&frame.area, at) {
                point(scene, panel, samples, sample, mark, at, paint);
            }
        }
    }
}

fn box_tip(sample: &Sample, numbers: &FiveNumbers) -> String {
    let names = [&*sample.category, &*sample.series];
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    format!(
        "{}: median {}, quartiles {} and {}, whiskers {} and {}, n = {}",
        names.join(", "),
        short(numbers.median),
        short(numbers.first),
        short(numbers.third),
        short(numbers.low),
        short(numbers.high),
        sample.values.len()
    )
}

fn one_box(
    scene: &mut Scene,
    across: &Across<'_>,
    along: f64,
    thickness: f64,
    numbers: &FiveNumbers,
    look: Look,
) {
    let edge = Stroke::new(Paint::Series(look.colour()), 0.8);
    for (from, to) in [(numbers.low, numbers.first), (numbers.third, numbers.high)] {
        let line = [across.place(along, from), across.place(along, to)];
        for part in clip::line(&line, &across.frame.area) {
            scene.path(vec![part], edge);
        }
    }
    let area: Area = across.bar(along, thickness, numbers.first, numbers.third);
    texture::faint_bar(scene, area, look);
    let half = thickness / 2.0;
    let median = [
        across.place(along - half, numbers.median),
        across.place(along + half, numbers.median),
    ];
    for part in clip::line(&median, &across.frame.area) {
        scene.path(vec![part], Stroke::new(Paint::Ink, 1.3));
    }
}

fn point(
    scene: &mut Scene,
    panel: &Panel,
    samples: &Samples,
    sample: &Sample,
    mark: &Mark,
    centre: (f64, f64),
    paint: Paint,
) {
    let axis = measure(panel, samples.direction);
    let said = tip(&[&sample.category, &sample.series], axis, mark);
    scene.group(Some(said), mark.link.clone(), |scene| {
        scene.items.push(Item::Circle {
            centre,
            radius: 1.0,
            fill: Fill::faint(paint, 0.65),
            stroke: Stroke::NONE,
        });
    });
}
