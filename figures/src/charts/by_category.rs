//! Dots with intervals, paired dots, and bars: marks by category, several series side by side. Which
//! way the categories run is `across`'s business.

use crate::chart::{ByCategory, CategorySeries};
use crate::clip;
use crate::figure::{Panel, Spacing};
use crate::frame::Frame;
use crate::mark::Mark;
use crate::palette::Palette;
use crate::plan::{Plan, baseline};
use crate::scene::{Paint, Scene, Stroke};
use crate::texture;

use super::across::{self, Across, dodge, measure};
use super::tip::tip;

/// Between the dots of one category at most.
const DOT_STEP: f64 = 5.2;

/// Room of one bar of several in rows.
const BAR_STEP: f64 = 7.5;

/// Radius of dots.
const DOT: f64 = 2.3;

/// Half the length of the ends of an interval.
const CAP: f64 = 1.5;

/// All marks, intervals and baselines; bars rise from zero.
pub(super) fn plan(panel: &Panel, data: &ByCategory, from_zero: bool) -> Plan {
    let marks = data.series.iter().flat_map(|series| &series.marks);
    let values = marks.flatten().flat_map(Mark::extent);
    let baselines = data.baselines.iter().map(|baseline| baseline.value);
    let count = data.series.len() as f64;
    let each = if from_zero { BAR_STEP } else { DOT_STEP };
    let step = (count * each + 4.0).max(12.0);
    let names = data.categories.clone();
    across::plan(
        panel,
        data.direction,
        names,
        values.chain(baselines),
        from_zero,
        step,
    )
}

/// Dots with intervals.
pub(super) fn dots(
    scene: &mut Scene,
    panel: &Panel,
    data: &ByCategory,
    frame: &Frame,
    palette: &Palette,
) {
    let across = Across::of(frame, data.direction);
    across.guides(scene, data.categories.len(), data.series.len());
    baselines(scene, data, &across);
    for (index, series) in data.series.iter().enumerate() {
        let offset = dodge(index, data.series.len(), across.names().slot(), DOT_STEP);
        let paint = Paint::Series(palette.look(&series.name).colour());
        each(panel, data, series, &across, |category, mark, said| {
            let along = across.names().middle(category) + offset;
            scene.group(Some(said), mark.link.clone(), |scene| {
                interval(scene, &across, along, mark, Stroke::new(paint, 1.0));
                dot(scene, &across, along, mark, series, palette);
            });
        });
    }
}

/// Dots of one category on one line, joined.
pub(super) fn pairs(
    scene: &mut Scene,
    panel: &Panel,
    data: &ByCategory,
    frame: &Frame,
    palette: &Palette,
) {
    let across = Across::of(frame, data.direction);
    across.guides(scene, data.categories.len(), 1);
    baselines(scene, data, &across);
    for category in 0..data.categories.len() {
        let along = across.names().middle(category);
        let marks = data
            .series
            .iter()
            .filter_map(|series| series.mark(category));
        let values = marks.filter(|mark| is_drawn(&across, mark.value));
        let line: Vec<_> = values.map(|mark| across.place(along, mark.value)).collect();
        for part in clip::line(&line, &frame.area) {
            scene.path(vec![part], Stroke::new(Paint::Soft, 0.8));
        }
    }
    for series in &data.series {
        let paint = Paint::Series(palette.look(&series.name).colour());
        each(panel, data, series, &across, |category, mark, said| {
            let along = across.names().middle(category);
            scene.group(Some(said), mark.link.clone(), |scene| {
                interval(scene, &across, along, mark, Stroke::new(paint, 0.7));
                dot(scene, &across, along, mark, series, palette);
            });
        });
    }
}

/// Bars from zero, or from the lower end of a logarithmic axis.
pub(super) fn bars(
    scene: &mut Scene,
    panel: &Panel,
    data: &ByCategory,
    frame: &Frame,
    palette: &Palette,
) {
    let across = Across::of(frame, data.direction);
    let slot = across.names().slot();
    let thickness = (slot * 0.8 / data.series.len().max(1) as f64).min(16.0);
    let zero = match across.values().spacing {
        Spacing::Linear => 0.0,
        Spacing::Logarithmic => across.values().from,
    };
    for (index, series) in data.series.iter().enumerate() {
        let offset = dodge(index, data.series.len(), slot, thickness);
        let look = palette.look(&series.name);
        each(panel, data, series, &across, |category, mark, said| {
            let along = across.names().middle(category) + offset;
            scene.group(Some(said), mark.link.clone(), |scene| {
                let area = across.bar(along, thickness * 0.92, zero, mark.value);
                texture::bar(scene, area, look);
                let has_interval = mark.low.is_some() && mark.high.is_some();
                if has_interval {
                    // A light edge keeps the interval visible on dark bars.
                    interval(scene, &across, along, mark, Stroke::new(Paint::Paper, 2.0));
                    interval(scene, &across, along, mark, Stroke::new(Paint::Ink, 0.8));
                }
            });
        });
    }
    baselines(scene, data, &across);
}

/// Calls for every mark of a series that can be drawn, with its category and tooltip.
fn each(
    panel: &Panel,
    data: &ByCategory,
    series: &CategorySeries,
    across: &Across<'_>,
    mut draw: impl FnMut(usize, &Mark, String),
) {
    for (category, name) in data.categories.iter().enumerate() {
        let mark = series.mark(category);
        if let Some(mark) = mark.filter(|mark| is_drawn(across, mark.value)) {
            let axis = measure(panel, data.direction);
            draw(category, mark, tip(&[name, &series.name], axis, mark));
        }
    }
}

fn is_drawn(across: &Across<'_>, value: f64) -> bool {
    across.values().spacing == Spacing::Linear || value > 0.0
}

fn dot(
    scene: &mut Scene,
    across: &Across<'_>,
    along: f64,
    mark: &Mark,
    series: &CategorySeries,
    palette: &Palette,
) {
    let look = palette.look(&series.name);
    let at = across.place(along, mark.value);
    if clip::holds(&across.frame.area, at) {
        scene.marker(look.marker(), at, DOT, Paint::Series(look.colour()));
    }
}

/// A line between the ends of an interval, with caps.
fn interval(scene: &mut Scene, across: &Across<'_>, along: f64, mark: &Mark, stroke: Stroke) {
    let (Some(low), Some(high)) = (mark.low, mark.high) else {
        return;
    };
    if !is_drawn(across, low) || !is_drawn(across, high) {
        return;
    }
    let line = [across.place(along, low), across.place(along, high)];
    let caps = [low, high].map(|end| {
        [
            across.place(along - CAP, end),
            across.place(along + CAP, end),
        ]
    });
    let all = [line, caps[0], caps[1]];
    let parts = all
        .iter()
        .flat_map(|line| clip::line(line, &across.frame.area));
    let parts: Vec<_> = parts.collect();
    if !parts.is_empty() {
        scene.path(parts, stroke);
    }
}

fn baselines(scene: &mut Scene, data: &ByCategory, across: &Across<'_>) {
    let names = across.names();
    for (index, line) in data.baselines.iter().enumerate() {
        let ends = [
            across.place(names.start, line.value),
            across.place(names.end, line.value),
        ];
        for part in clip::line(&ends, &across.frame.area) {
            scene.group(Some(line.name.clone()), None, |scene| {
                scene.path(vec![part], baseline(index));
            });
        }
    }
}
